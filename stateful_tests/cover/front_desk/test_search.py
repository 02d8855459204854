"""What people say leads to the hazards that they have met; what is known of a hazard is shown."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from invariants.__main__ import app, judged_of_runs, outside
from invariants.front_desk import search
from invariants.front_desk.show import shown_hazard
from invariants.hazards import HAZARDS, SYMPTOMS
from invariants.hazards.pages import INDEX, pages


def told(*words: str) -> str:
    result = CliRunner().invoke(app, ["search", *words])
    assert result.exit_code == 0, result.output
    return result.output


def test_rows_say_what_they_are_and_why() -> None:
    rows = [json.loads(line) for line in told("illegal", "offset", "--json", "-").splitlines()]
    assert {"U10", "U16", "X17"} <= {row["name"] for row in rows[:4]}
    assert all(set(row["why"]) <= {"illegal", "offset"} for row in rows)
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)


def test_words_are_compared_by_their_stems() -> None:
    assert search.search("expressions compile")[0].name == search.search("expression compiled")[0].name == "B-26"


def test_parts_of_java_names_are_words() -> None:
    assert search.search("updateSubscription")[0].name.startswith("B-")
    assert {"updat", "subscript"} <= set(search.stems("updateSubscription"))


@pytest.mark.parametrize(("words", "status"), [(["xyzzy"], 3), (["of", "the"], 2), ([], 2)])
def test_a_question_without_an_answer_is_no_success(words: list[str], status: int) -> None:
    assert CliRunner().invoke(app, ["search", *words]).exit_code == status


def test_a_hazard_is_shown_with_its_repair_its_properties_and_its_story() -> None:
    lines = "\n".join(shown_hazard(HAZARDS["B-29"], outside("B-29"), judged_of_runs()))
    assert "put_in_one_step" in lines
    assert "subscription_version_never_goes_back" in lines
    assert "-k test_b29_of_two_first_heartbeats_the_newer_one_is_lost" in lines
    assert "none: nobody waits for the old owner" in "\n".join(shown_hazard(HAZARDS["D1"], outside("D1")))


def test_every_hazard_has_a_place_on_the_pages() -> None:
    made = pages(outside, judged_of_runs())
    text = "".join(text for name, text in made.items() if name != INDEX)
    assert all(f"\n## {name}\n" in text for name in HAZARDS)
    assert all(f"[{name}]" in made[INDEX] for name in HAZARDS)
    assert all(f"### {name}\n" in made[INDEX] for name in SYMPTOMS)


@pytest.mark.parametrize("hazard", HAZARDS.values(), ids=HAZARDS)
def test_symptoms_are_of_the_list(hazard: object) -> None:
    assert set(getattr(hazard, "symptoms", ())) <= set(SYMPTOMS)
