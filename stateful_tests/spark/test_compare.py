"""Comparisons of a change with its base, in this process: the same units, book and table as on Spark."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path

import pytest
from rich.console import Console, Group
from typer.testing import CliRunner

from invariants import evidence
from invariants.__main__ import app
from invariants.report.compared import COMPARED, Comparison as Shown
from invariants.report.page import render
from invariants.report.shapes import read
from invariants.runs import OF_KIND, WORSE
from invariants.verdict import BadInputError, ExitStatus, Outcome, Verdict, exit_status
from spark_fuzz import commands, pairing, pairs, touched
from spark_fuzz.cluster import Cluster
from spark_fuzz.compare_table import comparison_view
from spark_fuzz.comparing import Comparing, aim_of
from spark_fuzz.differences import Effect
from spark_fuzz.feed import Feed
from spark_fuzz.likely import Arm
from spark_fuzz.simulation import Aim
from spark_fuzz.work import Unit, attempt
from stateful_tests.spark import planted
from stateful_tests.worlds import run
from stateful_tests.worlds.evidence import replay_run
from stateful_tests.worlds.subjects import subject_on

ENDLESS = """
from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.variants.variant import Variant, replace


@replace(ConsumerGroupInfo, "add_subscriptions")
async def spin(self, sub_list, threads):
    while True:
        pass


VARIANT = Variant("spin", "change", "It never ends.", "a mistake", replacements=(spin,))
"""
TALKS = """
from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.variants.variant import Variant, replace


@replace(ConsumerGroupInfo, "add_subscriptions")
async def talk(self, sub_list, threads):
    for sub in sub_list:
        self.subscription_table.{put}
    for _ in range(500):
        await threads.interleave("again")
    return {updated}


VARIANT = Variant("talk", "change", "It takes its time.", "a mistake", replacements=(talk,))
"""
UNCALLED = """
from impl.namesrv.route_info_manager import RouteInfoManager
from impl.variants.variant import Variant, replace


@replace(RouteInfoManager, "delete_topic")
def keep(self, topic):
    return None


VARIANT = Variant("keep", "change", "Topics stay.", "nobody deletes one", replacements=(keep,))
"""
SMALLEST = ("smallest", "threads", "focus")
RACES = [*((SMALLEST, seed, seed + 1) for seed in (2, 3, 24, 49, 71, 75)),
         (("subscriptions", "threads", "focus"), 7, 10)]
"""Worlds in which heartbeats overtake each other."""
NEWEST = ("put(sub.topic, max(sub, self.subscription_table.get(sub.topic) or sub, "
          "key=lambda one: one.sub_version))")
CALM = [(("smallest", "calm", "uniform"), 0, 1)]


def compared(
    folder: Path, text: str, base: str | None, seeds: Iterable[tuple[Arm, int, int]], asked: Iterable[Unit] | None = (),
) -> Comparing:
    """The book of a comparison of a file of this text, after these worlds; the evidence is written."""
    file = folder / "change.py"
    file.write_text(text, encoding="utf-8")
    seeds = list(seeds)
    aim = aim_of(str(file), base, workloads=list(dict.fromkeys(arm[0] for arm, *_ in seeds)))
    book = Comparing(aim, folder)
    subjects = (aim.base, aim.changed)
    units = [Unit(f"{arm} {begin}", {"subjects": subjects, "arm": arm, "seeds": (begin, end)})
             for arm, begin, end in seeds]
    for unit in (*units, *(touched.units(aim.base, aim.changed) if asked is None else asked)):
        book.add(attempt(pairs.work, unit))
    for question in list(book.questions()):
        book.add(attempt(pairs.work, question))
    while book.settle():
        pass
    for name, document in book.evidence().items():
        evidence.write(folder / "evidence" / name, dict(document))
    return book


def told(book: Comparing) -> tuple[Shown, str]:
    """What compare.json says, and the terminal."""
    found = read(Shown, json.loads(book.files()[COMPARED]))
    console = Console(width=200)
    with console.capture() as capture:
        console.print(Group(comparison_view(found)), crop=False)  # as `Desk.print` does
    return found, capture.get()


def rows(book: Comparing) -> dict[str, Verdict]:
    """The verdicts by property."""
    return {row.property: row for row in book.verdicts()}


# What a change is said to do ------------------------------------------------------------------------------------------


def test_a_real_repair_comes_out_fixed(tmp_path: Path) -> None:
    book = compared(tmp_path, planted.ONE_STEP, "shipped", RACES)
    row = rows(book)["refines_subscription"]
    assert row.subject.details["effect"] == Effect.FIXED
    assert (row.expected, row.outcome) == (Outcome.HOLDS, Outcome.HOLDS)
    assert row.cost["changed_violated"] == 0 < row.cost["base_violated"]
    assert exit_status(book.verdicts()) == ExitStatus.AS_EXPECTED
    stored = evidence.read(tmp_path / str(row.evidence))
    assert stored["plan"]["subject"] == "shipped"
    assert replay_run(stored).outcome is Outcome.VIOLATED
    assert book.so_far() == "so far fixed: refines_subscription"
    found, shown = told(book)
    assert found.rows[0].property == "refines_subscription"
    assert "fixed" in found.said
    assert row.replay in shown
    page = render(book.verdicts(), {}, comparisons=[("", json.loads(book.files()[COMPARED]))])
    assert row.replay in page
    assert "compute-subscription beside shipped" in page


def test_the_shipped_loop_copied_out_makes_no_difference(tmp_path: Path) -> None:
    book = compared(tmp_path, planted.SHIPPED_LOOP, "shipped", [(SMALLEST, 2, 8)])
    row = rows(book)[WORSE]
    assert row.outcome is Outcome.HOLDS
    assert str(row.subject.details["said"]).startswith("no difference seen")
    assert (row.cost["same_digest"], row.cost["judged_alike"]) == (6, 6)
    assert exit_status(book.verdicts()) == ExitStatus.AS_EXPECTED
    found = told(book)[0]
    assert (found.news, found.unsettled) == ([], ())
    assert book.so_far() == "so far no difference"


def test_a_planted_bug_given_as_a_change_is_broken(tmp_path: Path) -> None:
    book = compared(tmp_path, planted.EARLY.replace('"bug"', '"change"'), "repaired", CALM)
    row = rows(book)["refines_route_info"]
    assert (row.subject.details["effect"], row.expected, row.outcome) == (
        Effect.BROKEN, Outcome.HOLDS, Outcome.VIOLATED)
    assert rows(book)[WORSE].outcome is Outcome.VIOLATED
    assert exit_status(book.verdicts()) == ExitStatus.DIFFERENT
    stored = evidence.read(tmp_path / str(row.evidence))
    assert stored["plan"]["subject"].endswith("change.py")
    assert replay_run(stored).outcome is Outcome.VIOLATED
    assert "broken" in told(book)[1]


def test_a_change_that_is_never_called_is_not_harmless(tmp_path: Path) -> None:
    book = compared(tmp_path, UNCALLED, "repaired", CALM)
    assert rows(book)[WORSE].outcome is Outcome.NEVER_EXECUTED
    assert exit_status(book.verdicts()) == ExitStatus.UNKNOWN
    assert told(book)[0].said == "never executed"


def test_what_chance_explains_is_told_as_that_while_it_works(tmp_path: Path) -> None:
    book = compared(tmp_path, planted.ONE_STEP, "shipped", RACES[:3])
    assert book.so_far().startswith("so far nothing but chance; most apart: ")
    assert book.so_far().endswith("refines_subscription, broken only in base 3, only in change 0")
    found, shown = told(book)
    assert found.unsettled == (
        "most apart: refines_subscription, broken only in base 3, only in change 0; chance may explain it",)
    assert found.unsettled[0] in shown
    assert f"    {found.goes_on}" in shown.splitlines()
    assert found.goes_on.startswith("rocketproof compare ")
    assert f"--out {tmp_path}" in found.goes_on
    assert "as long as refines_subscription holds (broken 3 → 0 of 3 runs)" in shown
    assert found.goes_on in render(book.verdicts(), {}, comparisons=[("", json.loads(book.files()[COMPARED]))])


def test_what_is_not_believed_yet_is_said_with_the_reason_and_the_command_that_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "change.py"
    file.write_text(planted.EARLY.replace('"bug"', '"change"'), encoding="utf-8")
    aim = aim_of(str(file), "repaired", workloads=(SMALLEST[0],))
    book = Comparing(aim, tmp_path)
    (arm, begin, end), = CALM
    book.add(attempt(pairs.work, Unit("one", {
        "subjects": (aim.base, aim.changed), "arm": arm, "seeds": (begin, end)})))
    assert rows(book)[WORSE].outcome is Outcome.UNKNOWN
    found, shown = told(book)
    assert "not believed yet that refines_route_info is broken: no tape was played again yet" in found.unsettled
    assert found.goes_on in shown


def test_a_change_that_does_not_end_is_one_row_and_ends_the_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run, "STANDS_S", 0.2)
    book = compared(tmp_path, ENDLESS, "shipped", CALM)
    assert not book.given_up(), "a single one could be bad luck"
    book = compared(tmp_path, ENDLESS, "shipped", CALM * 2)
    row, = book.verdicts()
    assert (row.property, row.outcome, exit_status([row])) == (WORSE, Outcome.UNKNOWN, ExitStatus.UNKNOWN)
    assert row.note.startswith("it does not end: seed 0 of smallest: ")
    assert "change.py:6: spin does not end (0.2 s of CPU time are over)" in told(book)[0].headline
    assert book.given_up()


@pytest.mark.parametrize(("put", "updated", "outcome", "said"), [
    ("put(sub.topic, sub)", "True", Outcome.VIOLATED, "broken: notifications_have_a_reason"),
    ("put_if_absent(sub.topic, sub)", "False", Outcome.VIOLATED, "broken: known_version_is_not_refused"),
    (NEWEST, "False", Outcome.UNKNOWN, "talks without end in 2 of 2 runs"),
])
def test_of_a_change_that_talks_without_end_counts_what_was_seen_until_then(
    put: str, updated: str, outcome: Outcome, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run, "MAX_SEGMENTS", 10_000)
    monkeypatch.setattr(run, "MORE_SEGMENTS", 0)
    book = compared(tmp_path, TALKS.format(put=put, updated=updated), "shipped", CALM * 2)
    row = rows(book)[WORSE]
    assert (row.outcome, book.given_up()) == (outcome, False)
    assert said in row.note
    assert "talks without end in 2 of 2 runs" in row.note
    for file in (tmp_path / "evidence").glob("*.json"):
        assert replay_run(json.loads(file.read_text(encoding="utf-8"))).outcome is Outcome.VIOLATED, file


def test_a_campaign_ends_with_a_change_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "STANDS_S", 0.2)
    (tmp_path / "change.py").write_text(ENDLESS, encoding="utf-8")
    subject = subject_on("shipped", str(tmp_path / "change.py"))
    aim = Aim((subject,), ("smallest",), ("calm",), ("uniform", "priority")).checked()
    campaign = commands.of_worlds(aim, tmp_path)
    feed = Feed(campaign.units, campaign.book.add, given_up=campaign.given_up)
    done = 0
    while (unit := feed.next()) is not None and done < 5:
        feed.done(unit, attempt(campaign.work, unit))
        done += 1
    assert (done, feed.over) == (2, True)
    row = campaign.book.verdicts()[0]
    assert (row.property, row.outcome) == (OF_KIND["change"], Outcome.UNKNOWN)
    assert row.note.startswith("it does not end: seed 0 of ")
    assert "change.py:6: spin does not end (0.2 s of CPU time are over)" in row.note


def test_few_pairs_say_nothing(tmp_path: Path) -> None:
    book = compared(tmp_path, planted.SHIPPED_LOOP, "shipped", CALM)
    assert rows(book)[WORSE].outcome is Outcome.UNKNOWN
    assert "give it more time" in rows(book)[WORSE].note


def test_nothing_is_said_of_a_violation_that_was_not_seen_again(tmp_path: Path) -> None:
    book = compared(tmp_path, planted.UNREPEATABLE.replace('"bug"', '"change"'), "repaired", CALM)
    assert rows(book)["refines_route_info"].outcome is Outcome.UNKNOWN
    assert rows(book)[WORSE].outcome is Outcome.UNKNOWN


def test_a_mistake_in_the_file_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"change\.py:\d+: AttributeError"):
        compared(tmp_path, planted.ONE_STEP.replace("self.subscription_table.get", "self.table.get"), "shipped", CALM)


def test_a_file_that_is_none_is_bad_input() -> None:
    with pytest.raises(BadInputError, match=r"no file .*nix\.py"):
        aim_of("nix.py", "shipped")


def test_what_there_was_no_time_for_is_said_and_no_success(tmp_path: Path) -> None:
    (tmp_path / "change.py").write_text(planted.SHIPPED_LOOP, encoding="utf-8")
    aim = aim_of(str(tmp_path / "change.py"), "shipped", workloads=("smallest", "orderly"))
    book = Comparing(aim, tmp_path)
    plan = (unit for unit in pairing.units(aim, book.known) if isinstance(unit, Unit))
    book.add(attempt(pairs.work, next(unit for unit in plan if unit.body["arm"][0] == "smallest")))
    left = rows(book)["abandoned_lock_is_freed"]
    assert (left.outcome, left.subject.details["effect"]) == (Outcome.UNKNOWN, Effect.NOT_LOOKED_AT)
    assert exit_status(book.verdicts()) == ExitStatus.UNKNOWN
    found, shown = told(book)
    assert found.left[0] == "not looked at: 1 of 2 workloads (orderly)"
    assert "recorded calls broker-client-sequences" in found.left[-1]
    assert all(line in shown for line in found.left)


# Other judges ---------------------------------------------------------------------------------------------------------


def test_claims_about_decisions_are_asked_of_a_change(tmp_path: Path) -> None:
    text = """
from impl.decisions import allocation
from impl.variants.variant import Variant, replace


@replace(allocation, "averagely_owns")
def everything(n, m, i, k):
    return True


VARIANT = Variant("everything", "change", "Everybody owns everything.", "a toy", replacements=(everything,))
"""
    (tmp_path / "change.py").write_text(text, encoding="utf-8")
    aim = aim_of(str(tmp_path / "change.py"), "shipped")
    asked = [unit for unit in touched.units(aim.base, aim.changed) if unit.body["asked"] == touched.CLAIMED]
    book = compared(tmp_path, text, "shipped", (), asked)
    assert rows(book)["allocation_is_exclusive"].outcome is Outcome.VIOLATED
    assert exit_status(book.verdicts()) == ExitStatus.DIFFERENT
    proofs = json.loads(book.files()[COMPARED])["proofs"]
    assert "averagely_is_exclusive" in proofs[0]["sentence"]


# On Spark -------------------------------------------------------------------------------------------------------------


def test_a_comparison_on_spark_says_the_same_and_goes_on(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "change.py").write_text(planted.EARLY.replace('"bug"', '"change"'), encoding="utf-8")
    monkeypatch.setattr(commands, "open_cluster", lambda *_: nullcontext(cluster))
    words = ["compare", str(tmp_path / "change.py"), "--base", "repaired", "--workload", "smallest",
             "--profile", "calm", "--minutes", "0.05", "--out", str(tmp_path / "out")]
    ended = []
    for _ in range(8):  # a slow machine finds the difference, and has no time left to play its tape again
        result = CliRunner().invoke(app, words)
        ended.append(result.exit_code)
        assert ended[-1] in (ExitStatus.DIFFERENT, ExitStatus.UNKNOWN), result.output
        assert "broken" in result.stdout
        assert "refines_route_info" in (tmp_path / "out" / "report.html").read_text("utf-8")
        if ended[-2:] == [ExitStatus.DIFFERENT] * 2:
            break
    assert ended[-2:] == [ExitStatus.DIFFERENT] * 2, result.output
    replays = [json.loads(line)["replay"] for line in (tmp_path / "out" / "verdicts.jsonl").read_text().splitlines()
               if json.loads(line)["property"] == "refines_route_info"]
    assert CliRunner().invoke(app, shlex.split(replays[0])[1:]).exit_code == ExitStatus.AS_EXPECTED


@pytest.mark.parametrize(("words", "said"), [
    (["nix.py"], "no file"), (["bc-subversion-not-bumped", "--base", "shopped"], "no subject"),
    (["bc-subversion-not-bumped", "--workload", "nix"], "no workload"),
    (["bc-subversion-not-bumped", "--minutes", "0"], "--minutes 0"),
])
def test_bad_input_is_one_line(words: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["compare", *words])
    assert (result.exit_code, result.stdout) == (ExitStatus.BAD_INPUT, ""), result.output
    assert said in result.stderr
