"""What people say leads to the hazards that they have met; what is known of a hazard is shown."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bench.reports
from invariants.__main__ import app
from invariants.claim import CLAIMS
from invariants.commands.catalogue import judged_of_runs, outside
from invariants.front_desk import search
from invariants.front_desk.catalogue import names
from invariants.front_desk.show import Outside, shown_hazard, shown_of_histories
from invariants.front_desk.words import GLOSSARY, stem, stems
from invariants.hazards import HAZARDS, SYMPTOMS, Hazard
from invariants.hazards.pages import INDEX, pages, replaced
from invariants.histories.checks import CHECKS, PROMISES, Check
from invariants.rules.observed import OBSERVED
from stateful_tests.cover.pictures.stored import DOCS, stored


def with_stored_picture(hazard: str) -> Outside:
    """What is known of a hazard; that its picture is the right one is seen where its stories are told."""
    return replace(outside(hazard), picture=lambda: stored(hazard))


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


@pytest.mark.parametrize(("hazard", "log"), [(one, log) for one in HAZARDS.values() for log in one.logs])
def test_a_line_of_a_log_leads_to_the_hazards_that_have_it_first(hazard: Hazard, log: str) -> None:
    found = search.search(f"2026-01-31 03:00:00 WARN Thread_1 - {log.replace('{}', 'broker-a-1')} 10.0.0.1:10911")
    having = {one.name for one in HAZARDS.values() if any(each in log or log in each for each in one.logs)}
    assert hazard.name in {hit.name for hit in found[:len(having)]}


def test_parts_of_java_names_are_words() -> None:
    assert search.search("updateSubscription")[0].name.startswith("B-")
    assert set(stems("update subscription")) <= set(stems("updateSubscription"))


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
    made = pages(with_stored_picture, judged_of_runs())
    text = "".join(text for name, text in made.items() if name != INDEX)
    assert all(f"\n## {name}\n" in text for name in HAZARDS)
    assert all(f"[{name}]" in made[INDEX] for name in HAZARDS)
    assert all(f"### {name}\n" in made[INDEX] for name in SYMPTOMS)


@pytest.mark.parametrize("hazard", HAZARDS.values(), ids=HAZARDS)
def test_symptoms_are_of_the_list(hazard: Hazard) -> None:
    assert set(hazard.symptoms) <= set(SYMPTOMS)


def test_the_pages_in_docs_are_those_that_are_made() -> None:
    made = pages(with_stored_picture, judged_of_runs())
    assert {path.name: path.read_text("utf-8") for path in DOCS.glob("*.md")} == made


def test_pages_are_replaced_and_others_go(tmp_path: Path) -> None:
    for name in ("A.md", "old.md"):
        (tmp_path / name).write_text("old", "utf-8")
    replaced(tmp_path, {"A.md": "new", "B.md": "new"})
    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == {"A.md": "new", "B.md": "new"}


@pytest.mark.parametrize("hazard", HAZARDS.values(), ids=HAZARDS)
def test_every_hazard_says_what_people_see_and_what_helps(hazard: Hazard) -> None:
    assert hazard.symptoms
    assert hazard.seen
    assert hazard.trigger
    assert hazard.mitigation
    assert hazard.fixed.endswith("(read)")
    assert all(re.fullmatch(r"(apache|alibaba)/rocketmq[a-z-]* #\d+", one) for one in hazard.upstream)


@pytest.mark.parametrize("hazard", HAZARDS.values(), ids=HAZARDS)
def test_every_hazard_names_a_report_or_the_day_on_which_none_was_found(hazard: Hazard) -> None:
    assert bool(hazard.upstream) != bool(hazard.searched)
    assert date.fromisoformat(hazard.searched) if hazard.searched else hazard.upstream


@pytest.mark.parametrize(("question", "one_of"), [
    ("duplicates during a rolling restart", {"D1", "D2", "D8", "D10", "X15"}),
    ("a queue that nobody consumes", {"U1", "U3", "U4", "L13"}),
    ("No route info of this topic", {"N-1", "N-2", "N-7", "N-21"}),
    ("two pods consume the same queues with host networking", {"D6"}),
    ("my changed tag expression does not take effect", {"B-29", "L4"}),
    ("after a reset of offsets the consumer goes on where it was", {"L8", "L14", "X18"}),
])
def test_what_people_write_leads_to_a_hazard(question: str, one_of: set[str]) -> None:
    assert one_of & {hit.name for hit in search.search(question)[:4]}


@pytest.mark.parametrize("symptom", SYMPTOMS)
def test_a_symptom_that_is_found_is_shown_with_its_hazards_and_what_helps(symptom: str) -> None:
    result = CliRunner().invoke(app, ["show", symptom])
    assert result.exit_code == 0, result.output
    behind = [hazard for hazard in HAZARDS.values() if symptom in hazard.symptoms]
    assert all(f"\n{hazard.name}  " in result.output for hazard in behind)
    assert result.output.count("  helps: ") == len(behind)


def test_duplicates_in_a_rolling_restart_are_those_of_restarts_first() -> None:
    found = search.search("duplicates during a rolling restart", judged_of_runs())
    assert "D8" in {hit.name for hit in found[:3]}
    assert all("restart" in stems(HAZARDS[hit.name].sentence + HAZARDS[hit.name].seen) for hit in found[:4])
    assert {hit.name for hit in found} >= {"D8", "X15", "X3", "D2"}


@pytest.mark.parametrize("part", [*bench.reports.reports()], ids=lambda part: part[0])
def test_the_page_says_how_often_search_is_right(part: tuple[str, bench.reports.Reports]) -> None:
    page = (DOCS.parent / "first-answers.md").read_text(encoding="utf-8")
    assert f"| {' | '.join(map(str, bench.reports.measured(*part).values()))} |" in page


def test_reports_are_answered_by_hazards_that_there_are() -> None:
    reports = [one for _, said in bench.reports.reports() for one in said]
    assert len(reports) >= 60
    assert len({report["said"] for report in reports}) == len(reports)
    assert all(report["hazards"] and set(report["hazards"]) <= set(HAZARDS) for report in reports)


@pytest.mark.parametrize("question", ["duplicates during a rolling restart", "one_live_believer", "stuck", "D8"])
def test_every_row_says_what_helps(question: str) -> None:
    found = search.search(question, judged_of_runs())
    assert all(hit.helps for hit in found)
    assert told(question).count(" helps: ") == len(found)
    assert HAZARDS["D8"].mitigation in told("D8")


@pytest.mark.parametrize("name", ["stuck", "D8", "one_live_believer", "lost"])
def test_a_name_is_answered_by_what_has_it(name: str) -> None:
    assert search.search(name, judged_of_runs())[0].name == name


def test_words_that_mean_the_same_are_one() -> None:
    assert stems("redelivered") == stems("twice") == stems("duplicates")
    assert stems("the name servers") == stems("namesrv")
    assert "consum" in stems("re-consumed")


@pytest.mark.parametrize("question", ["重复消费 滚动重启", "滚动重启期间重复消费"])
def test_chinese_finds_what_english_finds(question: str) -> None:
    found = search.search(question, judged_of_runs())
    asked = search.search("duplicates during a rolling restart", judged_of_runs())
    assert [(hit.name, hit.score) for hit in found] == [(hit.name, hit.score) for hit in asked]
    assert set(found[0].why) == {"重复消费", "滚动重启"}


def test_of_chinese_terms_the_longest_is_taken() -> None:
    assert set(stems("顺序消费")) == set(stems("ordered consumption"))
    assert stems("主题") == stems("topic")
    assert set(stems("consumer消费不到消息")) == set(stems("consumer stuck"))


def test_words_that_say_nothing_are_not_asked_for() -> None:
    assert stems("the others come and go") == []
    assert stems("down again") == stems("dead twice")


@pytest.fixture(scope="module")
def said_of_hazards() -> set[str]:
    """The stems that some hazard is told in."""
    return {one for hazard in HAZARDS.values() for one in stems(" ".join(
        [hazard.sentence, hazard.seen, hazard.trigger, hazard.cite, hazard.group, *hazard.symptoms, *hazard.logs]))}


@pytest.mark.parametrize("word", GLOSSARY)
def test_each_word_of_the_glossary_is_one_of_the_catalogue(word: str, said_of_hazards: set[str]) -> None:
    assert stem(word) in said_of_hazards


@pytest.mark.parametrize("word", GLOSSARY)
def test_each_word_of_the_glossary_has_what_is_said_for_it(word: str) -> None:
    languages = GLOSSARY[word]
    assert languages
    assert set(languages) <= {"english", "chinese"}
    assert all(len(said.split()) == len(set(said.split())) for said in languages.values())


@pytest.mark.parametrize(("name", "first"), [
    ("n-28", "N-28  Name servers"), ("Stuck", "stuck  a symptom"), ("ONE_LIVE_BELIEVER", "one_live_believer"),
    ("acknowledged_is_delivered", "acknowledged_is_delivered"),
])
def test_what_is_shown_may_be_written_as_people_write_it(name: str, first: str) -> None:
    result = CliRunner().invoke(app, ["show", name])
    assert (result.exit_code, result.output.splitlines()[0]) == (0, first)


def test_what_has_no_name_is_answered_by_names_like_it_and_by_search() -> None:
    result = CliRunner().invoke(app, ["show", "D88"])
    assert result.exit_code == 2
    assert "nothing is called 'D88'; did you mean 'D8'?" in result.stderr
    assert "`rocketproof search D88` finds hazards by what you see" in result.stderr


def test_a_promise_of_histories_has_the_name_of_no_other_property_than_the_rule_that_judges_worlds_by_it() -> None:
    assert set(PROMISES) & {*names(), *CLAIMS} == {rule.name for rule in OBSERVED.values()}
    assert all(rule.__name__ == CHECKS[check].property for check, rule in OBSERVED.items())


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_a_promise_of_histories_is_shown_with_what_judges_it(check: Check) -> None:
    said = "\n".join(shown_of_histories(check.property))
    assert check.sentence.partition(" ")[0] in said
    assert f"rocketproof history --operations 1000 --fault {check.name} --out history.jsonl" in said
    behind = [hit.name for hit in search.search(check.name.replace("_", " ")) if hit.kind == "hazard"]
    assert f"hazards   {', '.join(behind[:5]) or 'not known'}" in said
