from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from invariants.verdict import BadInputError, Outcome, Verdict
from spark_fuzz import campaign, decisions
from spark_fuzz.campaign import Campaign, run
from spark_fuzz.cluster import Cluster
from spark_fuzz.commands import campaign_decisions
from spark_fuzz.crew import Crew, Done
from spark_fuzz.ledger import open_ledger
from spark_fuzz.work import Row, Unit, attempt
from stateful_tests.spark import toys
from stateful_tests.spark.processes import gone, workers

BROKEN = "stateful_tests.spark.toys:BROKEN"
LIMIT = 16


def judged(folder: Path, cluster: Cluster, limit: int = LIMIT, table: str = decisions.TABLE) -> list[Verdict]:
    return list(campaign_decisions(10.0, out=folder, cluster=cluster, limit=limit, table=table))


def compared(verdicts: list[Verdict]) -> list[Verdict]:
    """What does not depend on the machine and the folder."""
    return [replace(one, replay="", cost={name: number for name, number in one.cost.items() if name != "cpu_seconds"})
            for one in verdicts]


def stored(folder: Path) -> list[Verdict]:
    return [Verdict.from_json(line) for line in (folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def undisturbed(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    return compared(judged(tmp_path_factory.mktemp("undisturbed"), cluster))


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """The command in a process of its own, whose children are known by the folder in their command lines."""
    temporary = folder.parent / f"{folder.name}-tmp"
    temporary.mkdir()
    return subprocess.Popen(  # noqa: S603 - this Python
        [sys.executable, "-m", "spark_fuzz", "--decisions", "--master", "local[2]", "--out", str(folder), *arguments],
        env={**os.environ, "TMPDIR": str(temporary)}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 120
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


def test_rows_returned_are_the_rows_stored_and_name_evidence_that_is_there(cluster: Cluster, tmp_path: Path) -> None:
    found = judged(tmp_path, cluster, 2, BROKEN)
    assert found == stored(tmp_path)
    named = [tmp_path / one.evidence for one in found if one.evidence]
    assert len(named) == 2
    assert sorted((tmp_path / "evidence").iterdir()) == sorted(named)


def test_a_planted_bug_is_found_with_its_smallest_counterexample(cluster: Cluster, tmp_path: Path) -> None:
    found = {(one.subject.name, one.property): one for one in judged(tmp_path, cluster, 2, BROKEN)}
    lost = found["loses a queue", "allocation_is_total"]
    assert (lost.outcome, lost.note) == (Outcome.VIOLATED, "5 queues, 3 members: T/b:4 has no owner")
    raised = found["raises for four", "allocation_answers"]
    assert (raised.outcome, raised.note[:19]) == (Outcome.VIOLATED, "1 queue, 4 members:")


def test_a_run_in_parts_has_the_verdicts_of_a_run_in_one(
    cluster: Cluster, tmp_path: Path, undisturbed: list[Verdict],
) -> None:
    for limit in (5, 7, LIMIT - 12):
        found = judged(tmp_path, cluster, limit)
    assert compared(found) == undisturbed


def test_killed_workers_change_no_verdict(
    cluster: Cluster, tmp_path: Path, undisturbed: list[Verdict], monkeypatch: pytest.MonkeyPatch,
) -> None:
    killed: set[int] = set()
    original = Crew.take

    def kill(self: Crew, wait_s: float) -> list[Done]:
        """Called while units are done: a Python worker, forked from the daemon, is killed with -9."""
        living = [pid for pid in workers() if pid not in killed]
        if living and len(killed) < 2:
            killed.add(living[0])
            os.kill(living[0], signal.SIGKILL)
        return original(self, wait_s)

    monkeypatch.setattr(Crew, "take", kill)
    found = list(campaign_decisions(10.0, out=tmp_path, cluster=cluster, limit=LIMIT))
    assert len(killed) == 2
    assert compared(found) == undisturbed


def test_a_killed_driver_leaves_no_process_and_a_resumed_run_has_the_same_verdicts(
    cluster: Cluster, tmp_path: Path, undisturbed: list[Verdict],
) -> None:
    folder = tmp_path / "killed"
    process = started(folder, "--minutes", "10", "--units", str(LIMIT))
    wait_for(folder / "units-000000.parquet", process)
    process.kill()
    process.communicate()
    assert gone(f"{folder}-tmp", 20)
    parts = [judged(folder, cluster, 1)]
    with open_ledger(folder, header(), decisions.COLUMNS) as ledger:
        done = len(ledger.done)
    assert 0 < done < LIMIT
    parts.append(judged(folder, cluster, LIMIT - done))
    assert compared(parts[-1]) == undisturbed


def header() -> dict[str, object]:
    version = ".".join(map(str, sys.version_info[:2]))
    return {"campaign": f"decisions of {decisions.TABLE}", "seed": 0, "version": decisions.version(), "python": version}


def test_ctrl_c_keeps_what_was_found_and_leaves_no_process(tmp_path: Path) -> None:
    folder = tmp_path / "interrupted"
    process = started(folder, "--minutes", "10", "--json", str(tmp_path / "rows.jsonl"))
    wait_for(folder / "units-000001.parquet", process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert [line for line in err.splitlines() if "interrupted" in line] == [
        "rocketproof: interrupted; what was found is kept, give the command again to go on",
    ]
    assert "Traceback" not in out + err
    assert gone(f"{folder}-tmp", 5)
    assert list((tmp_path / "interrupted-tmp").iterdir()) == []
    rows = [Verdict.from_json(line) for line in (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows == stored(folder)
    assert any(row.outcome is not Outcome.UNKNOWN for row in rows)


def test_a_disk_that_fills_up_ends_it_with_the_verdicts_so_far(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(campaign, "STORE_S", 0.0)
    judged(tmp_path, cluster)
    written = len(list(tmp_path.glob("units-*.parquet")))
    (tmp_path / f".units-{written:06d}.parquet.tmp").mkdir()  # nothing can be written there
    seen: list[Verdict] = []
    given_so_far = map(seen.append, campaign_decisions(10.0, out=tmp_path, cluster=cluster, limit=2 * LIMIT))
    with pytest.raises(BadInputError, match="units and their verdicts are kept"):
        list(given_so_far)
    assert seen == stored(tmp_path)
    assert any(one.outcome is Outcome.VIOLATED for one in seen)


class Nothing:
    """A book that reads nothing from its rows."""

    def __init__(self) -> None:
        self.units: list[str] = []

    def add(self, rows: Iterable[Row]) -> None:
        self.units += [str(row["unit"]) for row in rows]

    def inputs(self) -> int:
        return len(self.units)

    def verdicts(self) -> list[Verdict]:
        return []

    def evidence(self) -> dict[str, dict[str, object]]:
        return {}


def test_first_units_are_done_however_short_the_time(cluster: Cluster, tmp_path: Path) -> None:
    units = [Unit(f"unit-{n}", {"n": n}) for n in range(40)]
    book = Nothing()
    columns = {"property": "string", "runs": "long", "total": "long", "digest": "binary"}
    toy = Campaign({"campaign": "toy"}, columns, units[:7], units[7:], toys.squares, book)
    with open_ledger(tmp_path, toy.header, columns) as ledger:
        reached = list(run(toy, cluster, ledger, 1e-9))
    assert book.units[:7] == [unit.id for unit in units[:7]]
    assert len(book.units) < 40
    assert [one.inputs for one in reached] == sorted(one.inputs for one in reached)


def test_rows_of_a_former_run_are_read_in_the_order_of_the_plan(cluster: Cluster, tmp_path: Path) -> None:
    units = [Unit(f"unit-{n}", {"n": n}) for n in range(12)]
    columns = {"property": "string", "runs": "long", "total": "long", "digest": "binary"}
    with open_ledger(tmp_path, {}, columns) as ledger:
        ledger.add([row for unit in reversed(units[1::3]) for row in attempt(toys.squares, unit)])
        ledger.add(attempt(toys.squares, units[8]))
    book = Nothing()
    asked = Unit("question", {"n": 3})
    toy = Campaign({}, columns, (), units, toys.squares, book,
                   questions=lambda: [asked] if units[4].id in book.units and asked.id not in book.units else [])
    with open_ledger(tmp_path, {}, columns) as ledger:
        list(run(toy, cluster, ledger, 60.0))
    assert [name for name in book.units if name != asked.id] == [unit.id for unit in units]
    again = Nothing()
    toy = replace(toy, book=again, questions=lambda: (
        [asked] if units[4].id in again.units and asked.id not in again.units else []))
    with open_ledger(tmp_path, {}, columns) as ledger:
        assert list(ledger.rows()).count(asked.id) == 1
        list(run(toy, cluster, ledger, 60.0))
        assert not list(tmp_path.glob("units-00001*"))
    assert again.units == [*(unit.id for unit in units[:5]), asked.id, *(unit.id for unit in units[5:])]


def test_the_time_is_kept_and_no_core_waits_for_another(cluster: Cluster, tmp_path: Path) -> None:
    units = (Unit(f"unit-{n}", {"n": n}) for n in itertools.count())
    columns = {"property": "string", "runs": "long", "total": "long", "digest": "binary"}
    toy = Campaign({}, columns, (), units, toys.sleeps, Nothing())

    def took_s(folder: Path, *, of: Campaign, for_s: float) -> tuple[float, float]:
        began = time.monotonic()
        with open_ledger(folder, toy.header, columns) as ledger:
            *_, last = run(of, cluster, ledger, for_s)
        return time.monotonic() - began, sum(last.worked_s.values())

    # What a campaign costs here and now besides its units.
    opening_s, _ = took_s(tmp_path / "opening", of=replace(toy, units=list(itertools.islice(units, 1))), for_s=60.0)
    whole_s, worked_s = took_s(tmp_path / "whole", of=toy, for_s=12.0)
    assert 11.0 < whole_s < 13.2 + opening_s
    assert worked_s > 0.9 * (12.0 - opening_s) * cluster.cores


def test_so_many_units_are_done_in_any_case_and_stored_ones_count(cluster: Cluster, tmp_path: Path) -> None:
    units = [Unit(f"unit-{n}", {"n": n}) for n in range(40)]
    columns = {"property": "string", "runs": "long", "total": "long", "digest": "binary"}
    done = []
    for _ in range(2):
        toy = Campaign({"campaign": "toy"}, columns, (), units, toys.squares, Nothing(), least=9)
        with open_ledger(tmp_path, toy.header, columns) as ledger:
            list(run(toy, cluster, ledger, 1e-9))
            done.append(len(ledger.done))
    assert 9 <= done[0] < done[1] <= done[0] + cluster.cores
