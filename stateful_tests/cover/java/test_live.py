"""The implementation against the running RocketMQ 4.9.3, and that the comparison sees what is wrong."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest
from rich.progress import Progress

from impl.decisions.allocation import AllocateMessageQueueAveragely
from impl.decisions.java_errors import IllegalArgumentError
from impl.decisions.message_queue import MessageQueue
from invariants import evidence
from invariants.verdict import BadInputError, ExitStatus, Outcome, Verdict, exit_status
from stateful_tests.conformance.java import __main__ as command, artefacts, compare
from stateful_tests.conformance.java.check import JavaStrategyError, answers
from stateful_tests.conformance.java.implemented import Answer, implementation
from stateful_tests.conformance.java.inputs import STRATEGIES, Generator, Input, queues_text
from stateful_tests.conformance.java.process import JavaProcess, JavaProcessError

pytestmark = pytest.mark.java

SEED = 20220
ODD_NAMES = ("\x00", "\x1a", "\ud800", "\udc00\ud800", "𝄞", "$ref", "@type", "'", "\\u0041")


@pytest.fixture(scope="module")
def java() -> Iterator[JavaProcess]:
    """One JVM for all tests here."""
    try:
        artefacts.jars()
    except BadInputError as error:
        pytest.fail(str(error))
    with JavaProcess() as process:
        yield process


def last(tallies: Iterator[dict[str, compare.Tally]]) -> dict[str, compare.Tally]:
    return list(tallies)[-1]


def test_six_strategies_answer_as_rocketmq(java: JavaProcess) -> None:
    progressed: list[int] = []
    tallies = last(compare.allocations(java, SEED, 1200, progressed.append))
    found = [(tally.name, tally.rows, tally.different) for tally in tallies.values()]
    assert found == [(kind, 200, 0) for kind in STRATEGIES]
    assert sum(progressed) == 1200
    assert all(tally.errors > 0 for kind, tally in tallies.items() if kind != "CONFIG"), "refusals are compared too"
    assert all(tally.errors < tally.rows / 2 for tally in tallies.values())


def test_small_decisions_answer_as_rocketmq(java: JavaProcess) -> None:
    tallies = last(compare.decisions(java, SEED, 400))
    found = [(tally.name, tally.rows, tally.different) for tally in tallies.values()]
    assert found == [(name, 80 if name in compare.FIFTHS else 400, 0) for name in compare.DECISIONS]


def first_queue_last(given: Input) -> Answer:
    """The planted bug: averagely answers the first queue of a block last."""
    answer = implementation(given)
    if given.strategy["strategy"] != "AVG" or not isinstance(answer, list):
        return answer
    return [*answer[1:], *answer[:1]]


def other_words(given: Input) -> Answer:
    """The planted bug: another message in one refusal."""
    answer = implementation(given)
    if isinstance(answer, IllegalArgumentError) and answer.message == "currentCID is empty":
        return IllegalArgumentError("currentCID is null")
    return answer


def crashing(given: Input) -> Answer:
    """The planted bug: a crash that no Java exception stands for."""
    if given.strategy["strategy"] == "ROOM":
        raise ZeroDivisionError("integer modulo by zero")
    return implementation(given)


def test_a_wrong_share_is_found_and_shown(java: JavaProcess) -> None:
    tally = last(compare.allocations(java, SEED, 1200, answered=first_queue_last))["AVG"]
    assert tally.different > 20
    smallest = tally.smallest[0]
    assert len(smallest.arguments["mqAll"]) == 2
    assert len(smallest.arguments["cidAll"]) == 1, "both queues are one member's: the least whose order can be wrong"
    assert smallest.results[compare.JAVA] != smallest.results["implementation"]
    assert smallest.sentence.startswith('expected {"r": [[')


def test_a_wrong_message_is_found(java: JavaProcess) -> None:
    tallies = last(compare.allocations(java, SEED, 1200, answered=other_words))
    assert all(tallies[kind].different > 0 for kind in ("AVG", "CIRCLE", "HASH", "ROOM", "NEARBY"))
    assert "currentCID is null" in tallies["AVG"].smallest[0].sentence
    assert tallies["CONFIG"].different == 0


def test_a_crash_of_the_implementation_is_a_difference(java: JavaProcess) -> None:
    tally = last(compare.allocations(java, SEED, 120, answered=crashing))["ROOM"]
    assert tally.different == tally.rows == 20
    assert "ZeroDivisionError" in tally.smallest[0].sentence


def test_a_wrong_small_decision_is_found() -> None:
    tally = compare.Tally("string-hash", 1)
    compare._judge(tally, 0, {"a": "ab", "hash": 3106, "single": 3105, "multi": 3105, "none": 3105})
    assert tally.different == 1


def test_any_text_reaches_java_and_comes_back(java: JavaProcess) -> None:
    generator = Generator(SEED)
    names = [generator.text() for _ in range(300)] + list(ODD_NAMES)
    queues = [MessageQueue(name, name[::-1], number) for name in names for number in (-(2**31), 0, 2**31 - 1)]
    text = queues_text(queues)
    call = [{"strategy": "CONFIG", "queues": json.loads(text)}, "G", "c", "null", "null"]
    (answer,) = answers(java.ask(30.0, do="allocate", calls=[call]))
    assert answer == json_again(queues)


def json_again(queues: list[MessageQueue]) -> list[MessageQueue]:
    """As JSON carries them: two halves of a character that meet are one."""
    return [MessageQueue(topic, broker, number) for broker, number, topic in json.loads(queues_text(queues))]


def test_an_exception_that_says_a_lone_surrogate_is_read(java: JavaProcess) -> None:
    nearby = {"strategy": "NEARBY", "inner": {"strategy": "AVG"}, "broker_rooms": [["b", "r"]], "id_rooms": []}
    call = [nearby, "G", "c\ud800", queues_text([MessageQueue("T", "b", 0)]), json.dumps(["c\ud800"])]
    (answer,) = answers(java.ask(30.0, do="allocate", calls=[call]))
    assert isinstance(answer, JavaStrategyError)
    assert answer.java_class == "java.lang.IllegalArgumentException"
    assert answer.message == "Machine room is null for consumer id c\ud800"


def test_inputs_depend_on_the_seed_only() -> None:
    def drawn(seed: int) -> list[Input]:
        return list(itertools.islice(Generator(seed).inputs(), 600))

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_inputs_reach_the_corners() -> None:
    inputs = list(itertools.islice(Generator(SEED).inputs(), 12_000))
    scenes = [given.scene for given in inputs]
    described = [given.strategy for given in inputs]
    assert {None, 0} <= {None if scene.queues is None else len(scene.queues) for scene in scenes}
    assert {None, 0} <= {None if scene.ids is None else len(scene.ids) for scene in scenes}
    assert any(len(set(scene.queues or ())) < len(scene.queues or ()) for scene in scenes), "a queue listed twice"
    assert any(len(set(scene.ids or ())) < len(scene.ids or ()) for scene in scenes), "a member listed twice"
    assert any(scene.queues and scene.queues != sorted(scene.queues) for scene in scenes), "unsorted queues"
    assert {"", " ", None, "\u3000"} <= {given.me for given in inputs}
    assert any(given.me not in (given.scene.ids or (given.me,)) for given in inputs), "a stranger"
    assert {-1, 0, 10, 64} <= {one["virtual_nodes"] for one in described if one["strategy"] == "HASH"}
    inner = {one["inner"] and one["inner"]["strategy"] for one in described if one["strategy"] == "NEARBY"}
    assert inner == {None, *STRATEGIES} - {"NEARBY"}
    names = "".join(mq.broker_name for scene in scenes for mq in scene.queues or ())
    assert {"@", "订", "\ud800", "𝄞"} <= set(names)


# The command ----------------------------------------------------------------------------------------------------------


def rows_of(tallies: dict[str, compare.Tally], folder: Path, stopped: str = "") -> list[Verdict]:
    run = command.Comparison(SEED, 1200)
    run.tallies, run.java_version, run.stopped = tallies, "25", stopped
    return run.verdicts(folder)


def complete() -> dict[str, compare.Tally]:
    return {name: compare.Tally(name, wanted=5, rows=5) for name in command._SUBJECTS}


def test_verdicts_of_a_run_without_differences(tmp_path: Path) -> None:
    rows = rows_of(complete(), tmp_path)
    assert exit_status(rows) is ExitStatus.AS_EXPECTED
    assert len(rows) == len(STRATEGIES) + len(compare.DECISIONS)
    assert {row.judge for row in rows} == {"conform"}
    assert all(set(row.cost) == {"rows", "different", "seconds"} for row in rows)
    assert list(tmp_path.iterdir()) == []


def test_a_difference_is_a_violation_with_evidence(java: JavaProcess, tmp_path: Path) -> None:
    tallies = complete() | last(compare.allocations(java, SEED, 1200, answered=first_queue_last))
    rows = rows_of(tallies, tmp_path)
    (violated,) = [row for row in rows if row.outcome is Outcome.VIOLATED]
    assert exit_status(rows) is ExitStatus.DIFFERENT
    assert violated.subject.name == AllocateMessageQueueAveragely.__name__
    assert violated.evidence is not None
    document = evidence.read(tmp_path / violated.evidence)
    assert document["kind"] == "counterexample"
    assert document["sentence"] == violated.note
    assert document["replay"] == "python -m stateful_tests.conformance.java --seed 20220 --inputs 1200"
    assert set(document["results"]) == {compare.JAVA, "implementation"}


def test_evidence_can_hold_a_lone_surrogate(tmp_path: Path) -> None:
    tallies = complete()
    tallies["AVG"].add(compare.Difference(0, {"cid": "c\ud800"}, {"r": ["\udfff"]}, "differs"), threw=False)
    (violated,) = [row for row in rows_of(tallies, tmp_path) if row.evidence]
    assert evidence.read(tmp_path / str(violated.evidence))["arguments"]["cid"] == "c\\ud800"


@pytest.mark.parametrize("name", ["AVG", "fault-duration"])
def test_an_incomplete_comparison_is_unknown(tmp_path: Path, name: str) -> None:
    tallies = complete()
    tallies[name].rows -= 1
    rows = rows_of(tallies, tmp_path, "stopped by Ctrl-C")
    assert exit_status(rows) is ExitStatus.UNKNOWN
    assert [row.note for row in rows if row.outcome is Outcome.UNKNOWN] == ["stopped by Ctrl-C"]


def test_a_comparison_that_did_not_start_is_unknown(tmp_path: Path) -> None:
    assert {row.outcome for row in rows_of({}, tmp_path)} == {Outcome.UNKNOWN}


@pytest.mark.parametrize("stop", [JavaProcessError("the Java process ended"), KeyboardInterrupt()])
def test_what_stops_a_run_keeps_what_was_found(
    java: JavaProcess, monkeypatch: pytest.MonkeyPatch, stop: BaseException,
) -> None:
    found = {"AVG": compare.Tally("AVG", wanted=60, rows=30)}

    def stopping(*_arguments: object) -> Iterator[dict[str, compare.Tally]]:
        yield found
        raise stop

    class Running:
        java_version = java.java_version

        def __init__(self, _jars: object) -> None:
            pass

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_exception: object) -> None:
            pass

    monkeypatch.setattr(command, "JavaProcess", Running)
    monkeypatch.setattr(command, "allocations", stopping)
    run = command.Comparison(SEED, 360)
    run.run(Progress(disable=True))
    assert run.tallies == found
    assert run.stopped.startswith("stopped")


def test_the_command_compares_and_passes(java: JavaProcess, tmp_path: Path) -> None:
    assert java.alive, "the artefacts are there"
    options = ["--inputs", "60", "--seed", "7", "--json", "-", "--out", str(tmp_path)]
    ran = subprocess.run(  # noqa: S603  our own command
        [sys.executable, "-m", "stateful_tests.conformance.java", *options], cwd=Path(artefacts.__file__).parents[3],
        capture_output=True, text=True, timeout=120, check=False,
    )
    rows = [Verdict.from_json(line) for line in ran.stdout.splitlines()]
    assert ran.returncode == 0
    assert sum(row.cost["rows"] for row in rows if row.subject.name.startswith("Allocate")) == 60
    assert {row.outcome for row in rows} == {Outcome.HOLDS}
    assert "seed 7" in ran.stderr
