from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from invariants.verdict import BadInputError
from spark_fuzz import simulation
from spark_fuzz.commands import of_worlds
from spark_fuzz.runs import judged
from spark_fuzz.simulation import Aim, again_unit, is_again, plan_of, search_unit, subject_of
from spark_fuzz.work import Unit
from stateful_tests.spark import planted
from stateful_tests.spark.books import planned
from stateful_tests.worlds.run import Plan
from stateful_tests.worlds.workloads import WORKLOADS

# The plan -------------------------------------------------------------------------------------------------------------


def ids(units: Iterator[Unit | int], count: int) -> list[str]:
    return [unit.id for unit in islice(planned(units), count)]


def test_ids_tell_the_plan_and_are_unique() -> None:
    aim = Aim(("shipped", "repaired")).checked()
    units = list(islice(planned(simulation.units(aim, lambda *_: False, lambda: False)), 1500))
    assert len({unit.id for unit in units}) == len(units)
    assert all(plan_of(unit.id) == Plan(**unit.body["plan"]) for unit in units)
    again = again_unit(Plan(), [("p", "s | t")], b"\1", b"\2", 3)
    assert (is_again(again.id), is_again(units[0].id), plan_of(again.id)) == (True, False, Plan())


def test_seeds_of_an_arm_follow_each_other_and_differ_between_campaigns() -> None:
    plan = Plan("repaired")
    ranges = [search_unit(plan, seed, number, 0).body["seeds"] for seed in (0, 1) for number in (0, 1)]
    assert ranges == [(0, 1), (1, 5), (1_000_000, 1_000_001), (1_000_001, 1_000_005)]


def test_a_campaign_begins_with_a_few_workloads_that_judge_and_visit_everything(tmp_path: Path) -> None:
    aim = Aim(("shipped", "repaired")).checked()
    campaign = of_worlds(aim, tmp_path)
    first = [plan_of(unit.id) for unit in islice(planned(iter(campaign.units)), campaign.least)]
    of_each = [{plan.workload for plan in first if plan.subject == subject} for subject in aim.subjects]
    assert of_each[0] == of_each[1]
    assert {name for one in of_each[0] for name in judged(one)} == {name for one in WORKLOADS for name in judged(one)}
    assert {name for one in of_each[0] for name in WORKLOADS[one].scopes} == {
        name for one in WORKLOADS.values() for name in one.scopes}
    assert len(of_each[0]) < len(WORKLOADS) / 4
    assert {plan_of(unit.id).workload for unit in islice(planned(iter(of_worlds(aim, tmp_path).units)), 200)} == {
        *WORKLOADS}


def test_a_flat_arm_is_left_but_uniform_ones_stay() -> None:
    aim = Aim(("repaired",), ("clustering",), ("storm", "network"), ()).checked()
    flat = {("storm", "uniform"), ("storm", "swarm")}
    units = simulation.units(aim, lambda arm, _: (arm.profile, arm.strategy) in flat, lambda: False)
    given = [unit.body for unit in islice(planned(units), 200)]
    for turn in (2, 3):
        arms = [(body["plan"]["profile"], body["plan"]["strategy"]) for body in given if body["turn"] == turn]
        counts = {arm: arms.count(arm) for arm in dict.fromkeys(arms)}
        assert counts.pop(("storm", "uniform")) == 1
        assert counts == dict.fromkeys([("network", "uniform"), ("network", "swarm"), ("network", "priority"),
                                        ("storm", "priority"), ("storm", "focus")], 2 ** turn)


def test_when_all_are_flat_all_come_back() -> None:
    aim = Aim(("repaired",), ("clustering",), ("storm",), ()).checked()
    units = simulation.units(aim, lambda *_: True, lambda: False)
    given = [unit.body for unit in islice(planned(units), 28)]
    assert [body["turn"] for body in given] == [0] * 4 + [1] * 8 + [2] * 16


def test_calm_worlds_are_not_swarmed_twice() -> None:
    arms = Aim(("repaired",), ("clustering",), ("calm",), ()).checked().arms()
    assert [arm.strategy for arm in arms] == ["uniform", "priority"]


# Names ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("aim", "said"), [
    (Aim(("repired",)), "no subject 'repired'"),
    (Aim(("no-such-bug",)), "no subject 'no-such-bug': say shipped"),
    (Aim(("repaired+no-such-bug",)), "no planted bug 'no-such-bug'"),
    (Aim(("nowhere.py",)), "nowhere.py"),
    (Aim(workloads=("clusterin",)), "no workload 'clusterin'"),
    (Aim(profiles=("strom",)), "no fault profile 'strom'"),
    (Aim(strategies=("unifrom",)), "no strategy 'unifrom'"),
    (Aim(seed=-1), "--seed -1"),
])
def test_a_name_that_is_none_is_one_line(aim: Aim, said: str) -> None:
    with pytest.raises(BadInputError) as refused:
        aim.checked()
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_variant_that_names_a_function_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "missing.py").write_text(planted.MISSING, encoding="utf-8")
    with pytest.raises(BadInputError, match="no_such_function: there is none"):
        Aim((subject_of(str(tmp_path / "missing.py")),)).checked()


def test_two_variants_of_one_name_are_one_line(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(planted.EARLY, encoding="utf-8")
    with pytest.raises(BadInputError, match=r"two.py: its variant is called as that of .*one.py; give"):
        Aim(tuple(subject_of(str(tmp_path / f"{name}.py")) for name in ("one", "two"))).checked()


@pytest.mark.parametrize("file", [
    "impl/store/commit_log.py", "model/language/nodes.py", "invariants/hazards/V.toml", "invariants/rules/delays.py",
    "invariants/refinement/commit_log.py", "invariants/views/brokers.py", "invariants/finding.py",
    "stateful_tests/worlds/deeds.py", "spark_fuzz/runs.py",
])
def test_the_version_stands_for_what_is_judged_and_for_who_judges(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, read = simulation.version.__wrapped__(("repaired",)), Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * path.as_posix().endswith(file))
    assert simulation.version.__wrapped__(("repaired",)) != before


def test_the_version_stands_for_a_variants_file_too(tmp_path: Path) -> None:
    (tmp_path / "early.py").write_text(planted.EARLY, encoding="utf-8")
    assert simulation.version(("repaired",)) != simulation.version((f"repaired+{tmp_path / 'early.py'}",))
