from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from invariants import evidence
from invariants.commands.evidence import replayed
from invariants.front_desk.replay import stored_outcome
from invariants.runs import REACHED
from invariants.verdict import BadInputError, Outcome
from model.language.open.nearness import Wanted
from model.language.open.trails import VISITED
from spark_fuzz import runs
from spark_fuzz.asked import Asked
from spark_fuzz.cluster import Cluster
from spark_fuzz.commands import campaign_worlds, worlds_folder
from spark_fuzz.sightings import Sightings
from spark_fuzz.simulation import Aim, search_unit, units
from spark_fuzz.towards import TOLD, TRAILS, said
from spark_fuzz.work import attempt
from stateful_tests.spark.books import done, planned, short
from stateful_tests.worlds.steering import Begun

TWO_OWNERS = Wanted("one_owner", "take", "Rebalancing", {"Broker": 1, "Member": 2, "Queue": 1}, [
    (("up", 0), True), (("answer", 0), [0, 1]), (("fetched", 0), True), (("holds", 0, 0), False),
    (("holds", 1, 0), True)])
"""Runs come there soon."""
FAR = replace(TWO_OWNERS, cells=[*TWO_OWNERS.cells, (("up", 1), False)])
NOBODY = replace(TWO_OWNERS, cells=[(("nothing",), True)])
"""No model that follows has what it speaks of."""


def aim_in(folder: Path, *, limit: int | None = None) -> Aim:
    """A campaign in few worlds towards the states of a folder."""
    (folder / "two.json").write_text(TWO_OWNERS.text(), "utf-8")
    return Aim(("shipped",), ("smallest",), ("threads", "network"), ("uniform",), limit=limit, towards=str(folder))


def test_a_campaign_ends_when_all_that_is_wanted_is_reached(tmp_path: Path) -> None:
    aim = aim_in(tmp_path).checked()
    book = Sightings(aim, tmp_path / "out")
    rows = done(book, aim)
    arms = aim.arms()
    searched = list(dict.fromkeys(row["unit"] for row in rows if row["kind"] == "judged"))
    assert searched[:2] == [search_unit(arm, 0, 0, 0).id for arm in arms]
    assert len(searched) < 8
    said_first = book.files()[TOLD].splitlines()[0]
    assert re.match(r"a state after which take breaks one_owner: reached in \d+ steps, [1-9]\d* run", said_first)
    assert len(book.files()[TRAILS].splitlines()) > 3
    assert any(one.property == "one_owner_per_queue" for one in book.verdicts())  # the runs are judged as all runs are
    reached = book.verdicts()[-1]
    assert (reached.property, reached.outcome, reached.as_expected) == (REACHED, Outcome.HOLDS, True)
    assert reached.subject.name == "shipped"
    assert reached.note == said_first.partition("one_owner: ")[2]
    assert reached.replay == f"rocketproof replay {tmp_path / 'out' / str(reached.evidence)}"


def test_a_reached_state_is_evidence_that_can_be_replayed(tmp_path: Path) -> None:
    aim = aim_in(tmp_path).checked()
    book = Sightings(aim, tmp_path)
    done(book, aim)
    (name, document), = ((name, one) for name, one in book.evidence().items() if one["property"] == REACHED)
    file = tmp_path / "evidence" / name
    evidence.write(file, dict(document))
    stored = evidence.read(file)
    assert document["table"]["rows"][-1][1] == "take"
    assert (stored_outcome(stored), replayed(stored).outcome) == (Outcome.HOLDS, Outcome.HOLDS)
    assert replayed({**stored, "wanted": FAR.text()}).outcome is Outcome.UNKNOWN


def test_a_state_that_no_run_has_reached_is_unknown_and_says_what_was_tried(tmp_path: Path) -> None:
    aim = Aim(("shipped", "repaired"), ("smallest",), ("calm",), ("uniform",), wanted=(FAR.text(), NOBODY.text()))
    aim = aim.checked()
    book = Sightings(aim, tmp_path)
    book.add(attempt(runs.work, short(search_unit(aim.arms()[0], 0, 0, 0, wanted=aim.wanted), 1)))
    near, nobody = book.verdicts()[-2:]
    assert {one.outcome for one in (near, nobody)} == {Outcome.UNKNOWN}
    assert near.note.startswith("not reached in 1 run; nearest, 1 cell away: a run of shipped, smallest, calm")
    assert nobody.note.startswith("nobody can be there")
    assert near.subject.name == "shipped, repaired"
    assert near.replay.startswith("rocketproof campaign --subject shipped --subject repaired")
    assert not [one for one in book.evidence().values() if one["property"] == REACHED]


def test_a_row_about_another_property_leaves_wanted_states_out(tmp_path: Path) -> None:
    aim = aim_in(tmp_path).checked()
    assert [one.property for one in Sightings(aim, tmp_path, Asked(("one_owner_per_queue",))).verdicts()] == [
        "one_owner_per_queue"]
    assert [one.property for one in Sightings(aim, tmp_path, Asked((REACHED,))).verdicts()] == [REACHED]


def test_a_campaign_towards_other_states_is_another_one(tmp_path: Path) -> None:
    aim = aim_in(tmp_path).checked()
    assert f"--towards {tmp_path}" in aim.command()
    other = Aim(("shipped",), ("smallest",), ("threads", "network"), ("uniform",)).checked()
    assert aim.header() != other.header()
    assert worlds_folder(aim) != worlds_folder(other)
    with pytest.raises(BadInputError, match="no counterexample to induction"):
        Aim(towards=str(tmp_path / "nowhere")).checked()


def test_runs_of_a_turn_begin_as_the_book_says(tmp_path: Path) -> None:
    aim = aim_in(tmp_path).checked()
    first, second = aim.arms()
    named = {0: [Begun(first), Begun(second)], 1: [Begun(second, b"\1\2"), Begun(second)], 2: []}
    plan = list(units(aim, lambda *_: True, lambda: False, named.__getitem__))
    assert [one for one in plan if isinstance(one, int)] == [0, 0, 2]
    assert [unit.body["plan"]["profile"] for unit in planned(iter(plan))] == [
        one.profile for one in (first, second, second, second)]
    assert [unit.body["given"] for unit in planned(iter(plan))] == ["", "", "0102", ""]
    assert len({unit.id for unit in planned(iter(plan))}) == 4


def test_spark_tells_what_came_of_each_state(cluster: Cluster, tmp_path: Path) -> None:
    aim = aim_in(tmp_path, limit=2)
    assert list(campaign_worlds(1, aim, out=tmp_path / "out", cluster=cluster))
    lines = list(said(tmp_path / "out", tmp_path))
    assert lines[0].startswith("a state after which take breaks one_owner: ")
    assert lines[-1].endswith(f"`rocketproof prove FILE.py --cti {tmp_path}` goes them first")
    assert (tmp_path / VISITED).exists()
