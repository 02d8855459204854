"""What is said of pairs of runs, and which worlds they live through."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path

from spark_fuzz import pairing, touched
from spark_fuzz.comparing import aim_of
from spark_fuzz.differences import HOW_LONG, WHETHER, Differences, Effect, quartiles
from spark_fuzz.likely import GUESSED, Arm, Known, Likely
from spark_fuzz.pairs import Pair, Shown as Sight, Side
from stateful_tests.worlds.profiles import PROFILES
from stateful_tests.worlds.run import Plan
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.workloads import WORKLOADS

CHANGES = Path(__file__).parents[2] / "examples/changes"


def side(digest: str = "", *ways: str, broken_ms: int = 0, unknown: str = "") -> Side:
    """A run that shows a property in these ways."""
    shown: dict[tuple[str, ...], Sight] = {("one_owner_when_settled", way): Sight(1, way) for way in ways}
    return Side(digest, digest, unknown, shown, {"ownership_converges": broken_ms}, {"place": 1}, 10, 5, broken_ms)


def found(*sides: tuple[Side, Side]) -> Differences:
    """What these pairs say, on 4.9.3 as shipped."""
    differences = Differences(subject_named("shipped"))
    for number, (base, changed) in enumerate(sides):
        differences.take(Pair(Plan("shipped", "smallest", "calm", "uniform"), number, base, changed))
    return differences


def test_equal_digests_alone_are_no_difference_at_all() -> None:
    differences = found(*[(side("same", "a way"), side("same"))] * 9)
    assert differences.same_digest == 9
    assert differences.judged_alike == 0
    assert differences.effect("one_owner_when_settled") is Effect.FIXED


def test_other_digests_alone_are_no_difference() -> None:
    differences = found(*[(side("one", "a way"), side("other", "a way"))] * 9)
    assert differences.same_digest == 0
    assert {differences.effect(name) for name in differences.names} <= {Effect.UNCHANGED, Effect.NOT_MET}


def test_what_chance_explains_is_unchanged() -> None:
    differences = found(*[(side("one", "a way"), side("other"))] * 3, *[(side("one"), side("other", "a way"))] * 4)
    assert differences.effect("one_owner_when_settled") is Effect.UNCHANGED


def test_one_way_can_be_broken_or_fixed_beneath_a_property_that_is_as_broken_as_before() -> None:
    differences = found(*[(side("one", "before"), side("other", "after"))] * 12)
    whole, after, before = differences.of("one_owner_when_settled")
    assert (whole.effect, after.effect, before.effect) == (Effect.UNCHANGED, Effect.BROKEN, Effect.FIXED)
    assert differences.effect("one_owner_when_settled") is Effect.BROKEN


def test_how_long_a_promise_is_broken_counts() -> None:
    longer = found(*[(side(broken_ms=5_000 * number), side(broken_ms=5_000 * number + 10_000)) for number in range(12)])
    assert longer.effect("ownership_converges") is Effect.BROKEN
    answer, = (one for one in longer.of("ownership_converges") if one.question.asking == HOW_LONG)
    assert answer.changed_ms - answer.base_ms == 10_000
    shorter = found(*[(side(broken_ms=20_000), side(broken_ms=5_000 * (number % 3))) for number in range(12)])
    assert shorter.effect("ownership_converges") is Effect.BETTER
    assert shorter.of("ownership_converges")[0].question.asking == WHETHER


def test_a_pair_that_could_not_be_judged_is_counted_and_not_compared() -> None:
    differences = found((side("one", "a way"), side("one", unknown="too many states")))
    assert (differences.pairs, len(differences.unknown), differences.judged_alike) == (1, 1, 0)
    assert differences.names == ()


def test_pairs_that_never_meet_the_change_say_nothing_of_it() -> None:
    idle = replace(side("same"), calls={"place": 0})
    assert not found(*[(idle, idle)] * 20).enough
    assert found(*[(idle, idle)] * 20, *[(side("same"), side("same"))] * 6).enough


def test_costs_that_never_end_are_longer_than_any() -> None:
    assert quartiles([None, 1, 3, 2]) == (1, 2, 3)
    assert quartiles([None, None, 3]) == (3, None, None)
    assert quartiles([]) == (None, None, None)


# The plan -------------------------------------------------------------------------------------------------------------


def planned(calls: str, apart: str, rounds: int) -> list[Arm]:
    """The arms of a plan in its order: what is replaced is called in one workload, and judges see it in one profile."""
    aim = aim_of("bc-subversion-not-bumped", "repaired", workloads=("smallest", "routes"),
                 profiles=("storm", "threads", "calm"), strategies=("uniform",))
    lived: list[Arm | None] = []

    def known(units: int) -> dict[Arm, Known]:
        had = Counter(arm for arm in lived[:units] if arm is not None)
        return {arm: Known(count, count * (arm[0] == calls), count * (arm[0] == calls and arm[1] == apart))
                for arm, count in had.items()}

    for unit in pairing.units(aim, known):
        if isinstance(unit, int):
            rounds -= 1
            if not rounds:
                break
        else:
            lived.append(unit.body.get("arm"))
    return [arm for arm in lived if arm is not None]


def test_the_time_goes_to_arms_that_call_what_is_replaced() -> None:
    lived = planned("smallest", "threads", 40)
    assert "routes" not in [arm[0] for arm in lived[2 * pairing.ROUND:]], "what the first round says is known then"
    share = [arm[1] for arm in lived].count("threads") / len(lived)
    assert share > 0.6


def fresh(file: str, base: str, most: int) -> list[Arm]:
    """The first arms of a plan, of whose workloads the first calls what is replaced, and no judge sees it."""
    aim = aim_of(file, base, strategies=("uniform",))
    known = {("smallest", "calm", "uniform"): Known(20, 20)}
    given = (one for one in pairing.units(aim, lambda _: known) if not isinstance(one, int))
    arms = (unit.body["arm"] for unit in given if "arm" in unit.body)
    return list(islice((arm for arm in arms if arm not in known), most))


def test_each_workload_is_tried_whatever_is_likely() -> None:
    assert {arm[0] for arm in fresh("bc-subversion-not-bumped", "repaired", len(WORKLOADS))} == {*WORKLOADS}


def test_where_nothing_is_declared_every_profile_is_tried_but_one_that_has_told_nothing() -> None:
    arms = fresh(str(CHANGES / "rebalance_every_10_s.py"), "shipped", len(WORKLOADS))
    assert {arm[1] for arm in arms} == {*PROFILES} - {"calm"}


def test_the_time_goes_first_where_a_property_breaks_that_is_about_the_change() -> None:
    near = touched.near(subject_named(aim_of(str(CHANGES / "compute_subscription.py"), "shipped").changed).changes)
    assert near == {"refines_subscription"}
    likely = Likely(near, {}, {})
    arms = aim_of("bc-subversion-not-bumped", "repaired").arms()
    assert {arm[1] for arm in sorted(arms, key=likely.share)[-10:]} <= {"storm", "threads", "clocks"}
    unknown = Likely(frozenset(), {}, {})
    assert {unknown.share(arm) for arm in arms} == {GUESSED}


def test_a_plan_ends_when_no_arm_calls_what_is_replaced() -> None:
    lived = planned("nowhere", "threads", 1_000)
    assert len(lived) == len(set(lived)) == 6


def test_each_pair_has_a_seed_of_its_own() -> None:
    aim = aim_of("bc-subversion-not-bumped", "repaired", seed=3)
    given = islice(pairing.units(aim, lambda _: {("smallest", "calm", "uniform"): Known(1, 1)}), 100)
    seeds = [unit.body["seeds"] for unit in given if not isinstance(unit, int) and "arm" in unit.body]
    assert seeds == [(3_000_000 + number, 3_000_001 + number) for number in range(len(seeds))]


def test_a_plan_goes_on_while_a_round_is_under_way() -> None:
    aim = aim_of("bc-subversion-not-bumped", "repaired")
    waits = [one for one in islice(pairing.units(aim, lambda _: {}), 40) if isinstance(one, int)]
    assert waits[:2] == [0, 0], "no core waits for the first round"
    assert waits == sorted(waits)


def test_who_wants_only_an_answer_has_an_end_with_it() -> None:
    aim = aim_of("bc-subversion-not-bumped", "repaired", until_answer=True)
    looks = iter([False, True])
    known = {("smallest", "calm", "uniform"): Known(1, 1)}
    given = list(pairing.units(aim, lambda _: known, lambda: next(looks)))
    assert sum(not isinstance(one, int) for one in given) >= 2 * pairing.LOOK
    assert aim.command().endswith("--until-answer --seed 0")
