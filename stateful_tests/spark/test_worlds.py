from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import pytest
from typer.testing import CliRunner

from invariants.__main__ import app
from invariants.runs import NOTICED, WITHIN
from invariants.verdict import BadInputError, ExitStatus, Outcome, Verdict, exit_status
from spark_fuzz import __main__ as command, commands, runs
from spark_fuzz.cluster import Cluster
from spark_fuzz.crew import Crew, Done
from spark_fuzz.sightings import Sightings
from spark_fuzz.simulation import Aim, search_unit, subject_of, units
from spark_fuzz.work import Row, Unit, attempt
from stateful_tests.spark import planted
from stateful_tests.spark.processes import disk_of, gone, standalone, workers
from stateful_tests.worlds.run import Plan

WORLDS = [
    search_unit(Plan("repaired", "subscriptions", "storm", "swarm"), 0, 0, 0),
    search_unit(Plan("shipped", "orderly", "network", "priority"), 0, 0, 0),
]
UNITS = [Unit(unit.id, {**unit.body, "seeds": (0, 1)}) for unit in WORLDS]
Undisturbed: TypeAlias = tuple[list[Verdict], dict[str, str]]
SELECTED = ["--workload", "broadcasting", "--profile", "calm", "--profile", "storm", "--strategy", "uniform"]
LIMIT = 4

ELSEWHERE = """
import json, sys
for name in ("hypothesis", "pytest", "z3", "pyspark", "numpy"):
    sys.modules[name] = None
from spark_fuzz import runs
from spark_fuzz.work import Unit, attempt
for name, body in json.load(sys.stdin):
    for row in attempt(runs.work, Unit(name, body)):
        print(json.dumps({k: v.hex() if isinstance(v, bytes) else v for k, v in {**row, "cpu_us": 0}.items()}))
"""


def plain(rows: list[Row]) -> list[str]:
    told = [{name: value.hex() if isinstance(value, bytes) else value for name, value in {**row, "cpu_us": 0}.items()}
            for row in rows]
    return sorted(json.dumps(row, sort_keys=True) for row in told)


@pytest.fixture(scope="module")
def here() -> list[str]:
    """The rows of this process, whose hashes are seeded by chance."""
    return plain([row for unit in UNITS for row in attempt(runs.work, unit)])


def test_a_worker_has_the_rows_of_this_process(cluster: Cluster, here: list[str]) -> None:
    assert plain(cluster.run_units(UNITS, runs.work)) == here
    assert any('"failure"' in row for row in here)


def test_rows_depend_on_no_hash_and_on_no_test_framework(here: list[str]) -> None:
    given = json.dumps([(unit.id, unit.body) for unit in UNITS])
    started = [
        subprocess.Popen(  # noqa: S603 - this Python
            [sys.executable, "-c", ELSEWHERE], env={**os.environ, "PYTHONHASHSEED": seed}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) for seed in "012"
    ]
    for process in started:
        assert process.stdin
        process.stdin.write(given)
        process.stdin.close()
        process.stdin = None
    for process in started:
        out, err = process.communicate()
        assert plain([json.loads(line) for line in out.splitlines()]) == here, err


# Campaigns ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bug(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a bug that is found at once."""
    file = tmp_path_factory.mktemp("variant") / "early.py"
    file.write_text(planted.EARLY, encoding="utf-8")
    return file


def campaigned(folder: Path, cluster: Cluster, bug: Path, limit: int = LIMIT) -> list[Verdict]:
    aim = Aim(("repaired", subject_of(str(bug))), ("broadcasting",), ("calm", "storm"), ("uniform",), limit=limit)
    return list(commands.campaign_worlds(10.0, aim, out=folder, cluster=cluster))


def compared(verdicts: list[Verdict]) -> list[Verdict]:
    """What does not depend on the machine and the folder."""
    return [replace(one, replay="", cost={name: number for name, number in one.cost.items() if name != "cpu_seconds"})
            for one in verdicts]


def evidence(folder: Path) -> dict[str, str]:
    """What the evidence of a folder says, but for where it lies."""
    found: dict[str, str] = {}
    for file in sorted((folder / "evidence").iterdir()):
        text = file.read_text(encoding="utf-8")
        found[file.name] = text.replace(str(folder), "DIR")
    for name in ("coverage.json", "failures.json"):
        found[name] = (folder / name).read_text(encoding="utf-8")
    return found


def different(found: list[Verdict], folder: Path, undisturbed: Undisturbed) -> list[str]:
    """The lines in which verdicts and evidence differ: few enough to be read."""
    before, now = (
        {"verdicts": "\n".join(one.to_json() for one in compared(verdicts)), **files}
        for verdicts, files in (undisturbed, (found, evidence(folder)))
    )
    return [
        line for name in sorted({*before, *now}) for line in unified_diff(
            before.get(name, "").splitlines(), now.get(name, "").splitlines(), name, name, n=0, lineterm="")
    ]


@pytest.fixture(scope="module")
def undisturbed(
    cluster: Cluster, bug: Path, tmp_path_factory: pytest.TempPathFactory,
) -> Undisturbed:
    """Verdicts and evidence of a campaign that nothing happens to."""
    folder = tmp_path_factory.mktemp("undisturbed")
    return compared(campaigned(folder, cluster, bug)), evidence(folder)


def test_a_campaign_notices_the_bug_and_leaves_the_control_alone(
    undisturbed: Undisturbed,
) -> None:
    noticed = next(one for one in undisturbed[0] if one.property == NOTICED)
    control = [one for one in undisturbed[0] if one.subject.name == "repaired"]
    assert noticed.outcome is Outcome.HOLDS
    assert str(noticed.evidence).removeprefix("evidence/") in undisturbed[1]
    assert {one.outcome for one in control} <= {Outcome.HOLDS, Outcome.VIOLATED, Outcome.NOT_MET}
    assert exit_status(undisturbed[0]) is ExitStatus.AS_EXPECTED


def test_a_run_in_parts_has_the_verdicts_and_evidence_of_a_run_in_one(
    cluster: Cluster, bug: Path, tmp_path: Path, undisturbed: Undisturbed,
) -> None:
    for limit in (1, 3, LIMIT):
        found = campaigned(tmp_path, cluster, bug, limit)
    assert different(found, tmp_path, undisturbed) == []


def test_a_full_disk_is_one_line_and_what_was_written_stays(
    cluster: Cluster, bug: Path, tmp_path: Path, undisturbed: Undisturbed,
) -> None:
    campaigned(tmp_path, cluster, bug, 1)
    kept = (tmp_path / "verdicts.jsonl").read_text("utf-8")
    with disk_of(1_000), pytest.raises(BadInputError, match=r"^[^\n]+$") as refused:
        campaigned(tmp_path, cluster, bug, 3)
    assert str(tmp_path) in str(refused.value)
    assert (tmp_path / "verdicts.jsonl").read_text("utf-8") == kept
    assert different(campaigned(tmp_path, cluster, bug), tmp_path, undisturbed) == []


def test_a_killed_worker_changes_nothing(
    cluster: Cluster, bug: Path, tmp_path: Path, undisturbed: Undisturbed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    killed: list[int] = []
    original = Crew.take

    def kill(self: Crew, wait_s: float) -> list[Done]:
        if not killed and (living := workers()):
            killed.append(living[0])
            os.kill(living[0], signal.SIGKILL)
        return original(self, wait_s)

    monkeypatch.setattr(Crew, "take", kill)
    found = campaigned(tmp_path, cluster, bug)
    assert killed
    assert different(found, tmp_path, undisturbed) == []


def started(folder: Path, bug: Path, master: str) -> subprocess.Popen[str]:
    """The command that does the same in a process of its own; whatever it starts is known by the folder."""
    temporary = folder.parent / f"{folder.name}-tmp"
    temporary.mkdir()
    process = subprocess.Popen(  # noqa: S603 - this Python
        [sys.executable, "-m", "spark_fuzz", "--master", master, "--minutes", "10", "--out", str(folder),
         "--units", str(LIMIT), "--subject", "repaired", "--variant", str(bug), *SELECTED],
        env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )
    until = time.monotonic() + 180
    while not (folder / "units-000000.parquet").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)
    return process


def test_a_killed_driver_leaves_no_process_and_a_resumed_run_has_the_same_verdicts(
    cluster: Cluster, bug: Path, tmp_path: Path, undisturbed: Undisturbed,
) -> None:
    process = started(tmp_path / "killed", bug, "local[2]")
    process.kill()
    process.communicate()
    assert gone(str(tmp_path / "killed-tmp"), 20)
    assert different(campaigned(tmp_path / "killed", cluster, bug), tmp_path / "killed", undisturbed) == []


@pytest.mark.quality
def test_a_cluster_that_loses_an_executor_and_a_worker_has_the_same_verdicts(
    bug: Path, tmp_path: Path, undisturbed: Undisturbed,
) -> None:
    with standalone(tmp_path, workers=2) as master:
        process = started(tmp_path / "out", bug, master.address)
        for killed in (master.executors()[:1], master.workers()[:1]):
            assert killed
            os.kill(killed[0], signal.SIGKILL)
            time.sleep(0.5)
        _, told = process.communicate()
        assert process.returncode == ExitStatus.AS_EXPECTED, told
    found = [Verdict.from_json(line) for line in (tmp_path / "out" / "verdicts.jsonl").read_text().splitlines()]
    assert different(found, tmp_path / "out", undisturbed) == []
    assert list((tmp_path / "work").glob("app-*/*/rocketproof.zip"))


# Shares ---------------------------------------------------------------------------------------------------------------

SMALLEST = Aim(("repaired",), ("smallest", "smallest_ordered"), ("threads", "storm"), ("uniform",), limit=LIMIT)
NAMED = [*(f"--workload={name}" for name in SMALLEST.workloads), *(f"--profile={name}" for name in SMALLEST.profiles),
         "--strategy=uniform"]


def shares_of(folder: Path) -> str:
    return json.dumps(json.loads((folder / "coverage.json").read_text(encoding="utf-8"))["repaired"]["scopes"])


@pytest.fixture(scope="module")
def shares_here(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same without Spark: unit by unit in this process."""
    alone = Sightings(SMALLEST.checked(), tmp_path_factory.mktemp("alone"))
    given = (unit for unit in units(SMALLEST.checked(), alone.flat, alone.found) if isinstance(unit, Unit))
    for unit in islice(given, LIMIT):
        alone.add(attempt(runs.work, unit))
    return json.dumps(json.loads(alone.files()["coverage.json"])["repaired"]["scopes"])


def test_shares_are_exact_and_those_of_this_process(cluster: Cluster, tmp_path: Path, shares_here: str) -> None:
    found = [one for one in commands.campaign_worlds(10.0, SMALLEST, out=tmp_path, cluster=cluster)
             if one.property == WITHIN]
    assert [one.subject.details["scope"] for one in found] == ["group, 1 broker", "group, 2 brokers", "order lock"]
    assert {one.outcome for one in found} == {Outcome.HOLDS}
    assert all(0 < one.cost["states"] <= one.cost["reachable_states"] for one in found)
    assert all(0 < one.cost["steps"] <= one.cost["reachable_steps"] for one in found)
    assert shares_of(tmp_path) == shares_here
    assert [line.split(":")[0] for line in commands.covered(found)] == [
        f"visited, repaired, {one.subject.details['scope']}" for one in found]


@pytest.mark.quality
def test_shares_of_two_executors_are_those_of_this_process(tmp_path: Path, shares_here: str) -> None:
    with standalone(tmp_path, 2) as master:
        subprocess.run(  # noqa: S603 - this Python
            [sys.executable, "-m", "spark_fuzz", "--master", master.address, "--minutes", "10",
             "--out", str(tmp_path / "out"), "--units", str(LIMIT), "--subject", "repaired", *NAMED],
            check=False, stdout=subprocess.DEVNULL,
        )
    assert shares_of(tmp_path / "out") == shares_here
    assert '"states": [0,' not in shares_here


# Commands -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [
    ["--subject", "repired"], ["--variant", "no-such-bug"], ["--variant", "nowhere.py"], ["--workload", "clusterin"],
    ["--profile", "strom"], ["--strategy", "unifrom"], ["--minutes", "0"], ["--master", "spark://127.0.0.1:1"],
    ["--decisions", "--workload", "orderly"],
])
def test_bad_input_is_2_and_one_line_of_both_commands(arguments: list[str], tmp_path: Path) -> None:
    for result in (CliRunner().invoke(app, ["campaign", "--out", str(tmp_path / "out"), *arguments]),
                   CliRunner().invoke(command.app, ["--out", str(tmp_path / "out"), *arguments])):
        assert result.exit_code == 2, result.output
        assert len([line for line in result.stderr.splitlines() if line.startswith("rocketproof: ")]) == 1
        assert "Traceback" not in result.output


def test_a_variant_file_that_names_no_function_is_2(tmp_path: Path) -> None:
    (tmp_path / "missing.py").write_text(planted.MISSING, encoding="utf-8")
    result = CliRunner().invoke(app, ["campaign", "--variant", str(tmp_path / "missing.py")])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no_such_function: there is none; correct the name" in result.stderr


def test_a_mistake_in_a_file_is_one_line_and_nothing_else(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(commands, "open_cluster", lambda *_: nullcontext(cluster))
    file = tmp_path / "early.py"
    file.write_text(planted.EARLY.replace("broker_live_table", "broker_life_table"), encoding="utf-8")
    result = CliRunner().invoke(app, ["campaign", "--variant", str(file), *SELECTED, "--minutes", "5"])
    assert result.exit_code == 2, result.output
    assert "change_breaks_nothing" not in result.stdout
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("rocketproof: ")]
    assert line.startswith(f"rocketproof: {file}:13: AttributeError: ")


def test_a_property_that_is_asked_for_has_a_row_though_a_bug_is_planted(
    cluster: Cluster, bug: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(commands, "open_cluster", lambda *_: nullcontext(cluster))
    rows = tmp_path / "rows.jsonl"
    words = ["campaign", "--variant", str(bug), *SELECTED, "--minutes", "5", "--until-failure", "--json", str(rows)]
    result = CliRunner().invoke(app, [*words, "--property", "refines_route_info"])
    told = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    assert [(row["property"], row["outcome"]) for row in told] == [
        (NOTICED, "holds"), ("refines_route_info", "violated")]
    assert result.exit_code == 0
    assert "repaired+early: it was noticed: refines_route_info: " in result.stdout


def test_a_folder_of_another_campaign_or_version_is_2_and_its_verdicts_stay(
    cluster: Cluster, bug: Path, tmp_path: Path,
) -> None:
    campaigned(tmp_path, cluster, bug, 1)
    kept = (tmp_path / "verdicts.jsonl").read_text(encoding="utf-8")
    other = CliRunner().invoke(app, ["campaign", "--subject", "repaired", *SELECTED, "--out", str(tmp_path)])
    assert other.exit_code == 2
    assert "holds another campaign" in other.stderr
    header = json.loads((tmp_path / "campaign.json").read_text(encoding="utf-8"))
    (tmp_path / "campaign.json").write_text(json.dumps({**header, "version": "old"}), encoding="utf-8")
    words = ["campaign", "--subject", "repaired", "--variant", str(bug), *SELECTED, "--out", str(tmp_path)]
    assert "version old, now" in CliRunner().invoke(app, words).stderr
    assert (tmp_path / "verdicts.jsonl").read_text(encoding="utf-8") == kept
