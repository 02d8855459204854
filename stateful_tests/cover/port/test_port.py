"""Programs that answer calls: good ones are judged as classes are, and whatever the others do is a clear row."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from impl.decisions.message_queue import MessageQueue
from invariants.__main__ import app
from invariants.allocation.answers import Failure
from invariants.verdict import BadInputError, Outcome, Verdict
from stateful_tests.child import ChildEndedError, ChildError, ChildGarbageError, ChildHungError
from stateful_tests.conformance.judge import RECORDINGS
from stateful_tests.conformance.port import exchange, judge
from stateful_tests.conformance.port.calls import Call, described
from stateful_tests.conformance.port.examples import ADAPTERS, EXAMPLES
from stateful_tests.conformance.port.exchange import Exchange
from stateful_tests.conformance.port.functions import FUNCTIONS
from stateful_tests.conformance.port.strategy import PortStrategy
from stateful_tests.conformance.replay import lines, stem
from stateful_tests.decisions import check
from stateful_tests.standard_error import beside_progress

EXAMPLE = shlex.join([sys.executable, str(ADAPTERS / "adapter.py")])
QUEUES = [MessageQueue("T", "a", number) for number in range(3)]
PROGRAM = """
import json, os, sys, time
def say(reply, end="\\n"):
    sys.stdout.write((reply if isinstance(reply, str) else json.dumps(reply)) + end); sys.stdout.flush()
def allocate(a):
    queues, members = a["mqAll"], a["cidAll"]
    return queues[members.index(a["cid"])::len(members)]
for line in sys.stdin:
    asked = json.loads(line)
    number = asked["id"]
    if asked["do"] == "hello":
        say({hello})
    elif asked["do"] == "batch":
        {batch}
    else:
        a = asked["a"]
        {call}
"""
HELLO = '{"id": number, "protocol": 1, "name": "toy", "functions": ["allocate", "delay-levels"]}'
CALL = 'say({"id": number, "r": allocate(a)})'
BATCH = 'say({"id": number, "answers": [{"r": allocate(one)} for one in asked["calls"]]})'


@pytest.fixture
def program(tmp_path: Path) -> Any:
    """Writes a program whose answers are these lines; gives the command that starts it."""

    def written(call: str = CALL, hello: str = HELLO, batch: str = BATCH) -> str:
        text = PROGRAM.replace("{hello}", hello).replace("{batch}", batch).replace("{call}", call)
        (tmp_path / "toy.py").write_text(text, encoding="utf-8")
        return shlex.join([sys.executable, str(tmp_path / "toy.py")])

    return written


def run(*words: str | Path) -> Any:
    return CliRunner(env={"COLUMNS": "160"}).invoke(app, list(map(str, words)))


def rows(text: str) -> dict[str, Verdict]:
    return {row.property: row for row in map(Verdict.from_json, text.splitlines())}


def counterexamples(found: Any) -> dict[str, tuple[str, str]]:
    return {one.property: (one.outcome, one.note.split("; not executed")[0]) for one in found}


# Good ones ------------------------------------------------------------------------------------------------------------

BROKEN = """
class Broken:
    def allocate(self, consumer_group, current_cid, mq_all, cid_all):
        at = cid_all.index(current_cid)
        return mq_all[at::len(cid_all)] if len(mq_all) != 3 else mq_all[:at + 1]
"""
AS_BROKEN = """i = a["cidAll"].index(a["cid"]); q = a["mqAll"]
        say({"id": number, "r": q[i::len(a["cidAll"])] if len(q) != 3 else q[:i + 1]})"""
BATCH_AS_BROKEN = """answers = []
        for a in asked["calls"]:
            i = a["cidAll"].index(a["cid"]); q = a["mqAll"]
            answers.append({"r": q[i::len(a["cidAll"])] if len(q) != 3 else q[:i + 1]})
        say({"id": number, "answers": answers})"""
BATCHES = HELLO.replace('"name"', '"batch": True, "name"')


@pytest.mark.parametrize("batches", [False, True])
def test_a_program_has_the_claims_and_counterexamples_of_the_same_class_in_python(
    batches: bool, program: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "broken_strategy.py").write_text(BROKEN, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    command = program(AS_BROKEN, BATCHES if batches else HELLO, BATCH_AS_BROKEN)
    asked = check.check_port_allocation(command, queues=4, members=3, examples=5)
    own = check.check_allocation("broken_strategy:Broken", queues=4, members=3, examples=5)
    assert counterexamples(asked) == counterexamples(own)


def test_the_example_is_as_good_as_rocketmq(tmp_path: Path) -> None:
    sizes = ["--queues", "4", "--members", "3", "--examples", "5"]
    result = run("check", "allocation", "--exec", EXAMPLE, *sizes, "--json", "-", "--out", tmp_path)
    found = rows(result.stdout)
    assert result.exit_code == 0, result.output
    assert found["allocation_moves_minimally"].outcome is Outcome.VIOLATED
    assert {row.outcome for name, row in found.items() if name != "allocation_moves_minimally"} == {Outcome.HOLDS}
    again = run(*shlex.split(found["allocation_moves_minimally"].replay)[1:])
    assert "confirmed: allocation_moves_minimally is violated again" in again.stdout


def test_what_a_program_throws_is_a_failure_and_it_goes_on(program: Any) -> None:
    call = 'say({"id": number, "e": "Oops", "m": "no"} if len(a["mqAll"]) == 2 else {"id": number, "r": None})'
    with PortStrategy(program(call)) as strategy:
        assert strategy("G", "a", QUEUES[:2], ["a"]) == Failure("threw Oops: no")
        assert strategy("G", "a", QUEUES[:1], ["a"]) is None


@pytest.mark.parametrize(("answer", "expected"), [
    ('"text"', Failure('answered "text"')), ("7", Failure("answered 7")), ('[["T", "a", 1.5]]', ['["T", "a", 1.5]']),
    ('[["T", "a"], 3]', ['["T", "a"]', "3"]), ('[["T", "a", 0]]', QUEUES[:1]), ("[]", []),
])
def test_an_answer_is_a_list_of_queues_or_shows_what_it_is(answer: str, expected: Any, program: Any) -> None:
    with PortStrategy(program(f'say({{"id": number, "r": {answer}}})')) as strategy:
        assert strategy("G", "a", QUEUES, ["a"]) == expected


def test_calls_that_were_announced_are_one_request_and_handed_out_once(program: Any) -> None:
    batch = 'say({"id": number, "answers": [{"r": [["T", str(len(asked["calls"])), 0]]} for one in asked["calls"]]})'
    calls = [("G", me, QUEUES, ["a", "b"]) for me in ("a", "b")]
    with PortStrategy(program(hello=BATCHES, batch=batch)) as strategy:
        strategy.ahead(calls)
        assert [strategy(*call)[0].broker_name for call in (*calls, calls[0])] == ["2", "2", "1"]


# Hostile ones ---------------------------------------------------------------------------------------------------------

HOSTILE = [
    ("time.sleep(60)", ChildHungError, "does not answer within 0.5 s"),
    ("say('{\"id\"', end=''); time.sleep(60)", ChildHungError,
     "does not answer within 0.5 s after '{\"id\"' without the end of a line"),
    ("say('{', end=''); sys.exit('why')", ChildEndedError,
     "ended with status 1 after '{' without the end of a line (why)"),
    ("sys.exit(7)", ChildEndedError, "ended with status 7"),
    ("os.kill(os.getpid(), 9)", ChildEndedError, "was ended by SIGKILL"),
    ("raise ValueError('mine')", ChildEndedError, "ended with status 1 (ValueError: mine)"),
    ("os.close(1); time.sleep(60)", ChildEndedError, "closed its output"),
    ('say("allocating …")', ChildGarbageError, "wrote a line that is not JSON: 'allocating …'"),
    ('say("debug"); say({"id": number, "r": []})', ChildGarbageError, "wrote a line that is not JSON: 'debug'"),
    ("sys.stdout.buffer.write(bytes([255, 254, 10])); sys.stdout.flush()", ChildGarbageError, "is not JSON"),
    ('say("[1]")', ChildGarbageError, "wrote no JSON object: [1]"),
    ('say({"id": number + 1, "r": []})', ChildGarbageError, "answered id 2 when it was asked 1"),
    ('say({"id": True, "r": []})', ChildGarbageError, "answered id true when it was asked 1"),
    ('say({"r": []})', ChildGarbageError, "answered id null when it was asked 1"),
    ('say({"id": number})', ChildGarbageError, "neither r nor e"),
    ('say({"id": number, "r": [], "e": "x"})', ChildGarbageError, "neither r nor e, or both"),
    ('say("x" * 70_000)', ChildGarbageError, "wrote a line of more than 0 MiB"),
    ('[say("[", end="") for _ in range(50_000)]; say("")', ChildGarbageError, "is not JSON"),
]


@pytest.mark.parametrize(("call", "error", "said"), HOSTILE)
def test_whatever_a_program_does_is_said_and_it_is_gone(
    call: str, error: type[ChildError], said: str, program: Any, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exchange, "LONGEST_BYTES", 1 << 16)
    began = time.monotonic()
    with Exchange(program(call), limit_s=0.5 if "sleep(60)" in call and "close" not in call else 5.0) as asked:
        child = asked._child
        with pytest.raises(error) as told:
            asked.call("allocate", {"mqAll": [], "cidAll": []})
        assert said in str(told.value)
        assert not asked.alive
        with pytest.raises(ChildEndedError):
            asked.call("allocate", {})
    assert child.process.poll() is not None
    assert child._folder is not None
    assert not child._folder.exists()
    assert time.monotonic() - began < 30


def test_a_program_that_does_not_read_is_not_waited_for(program: Any) -> None:
    hello = 'json.loads(\'{"id": 0, "protocol": 1, "functions": ["allocate"], "batch": true}\')); time.sleep(60'
    with Exchange(program(hello=hello), limit_s=0.5) as asked, pytest.raises(ChildHungError):
        asked.batch("allocate", [json.dumps("x" * (1 << 20))])


@pytest.mark.parametrize(("batch", "said"), [
    ('say({"id": number, "answers": []})', "gave no list of 1 answers to a batch"),
    ('say({"id": number, "answers": 5})', "gave no list of 1 answers to a batch"),
    ('say({"id": number, "answers": [5]})', "neither r nor e"),
])
def test_a_batch_has_an_answer_for_each_call(batch: str, said: str, program: Any) -> None:
    with Exchange(program(hello=BATCHES, batch=batch)) as asked, pytest.raises(ChildGarbageError, match=said):
        asked.batch("allocate", ["{}"])


@pytest.mark.parametrize(("hello", "said"), [
    ('{"id": number, "protocol": 2, "functions": ["allocate"]}', "speaks protocol 2, not 1"),
    ('{"id": number, "protocol": 1}', "names no functions that it answers"),
    ('{"id": number, "protocol": 1, "functions": [1]}', "names no functions that it answers"),
    ('"Hello!"', "wrote a line that is not JSON: 'Hello!'"),
    ('{"id": number, "protocol": 1, "functions": ["AVG"]}', "it answers AVG: choose one with --function"),
])
def test_who_does_not_greet_back_is_bad_input(hello: str, said: str, program: Any) -> None:
    result = run("check", "allocation", "--exec", program(hello=hello))
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(beside_progress(result.stderr)) == 1


@pytest.mark.parametrize(("words", "said"), [
    (["check", "allocation", "--exec", "./no-such-program"], "cannot be started (No such file or directory)"),
    (["check", "allocation", "--exec", "'"], "cannot be started (No closing quotation)"),
    (["check", "allocation", "--exec", ""], "--exec has no words; give a program and its arguments"),
    (["check", "allocation", "--function", "AVG"], "say what to check"),
    (["check", "allocation", "--exec", "x", "--python", "a:b"], "one of the three"),
    (["conform", "--exec", EXAMPLE, "--function", "AVGE"], "does not answer 'AVGE'; did you mean 'AVG'"),
    (["conform", "--exec", EXAMPLE, "--file", "names"], "leave --vectors, --file and --variant out"),
    (["conform", "--function", "AVG"], "--function goes with --exec"),
    (["conform", "--functions", "--function", "AVGE"], "no recording is about 'AVGE'; did you mean 'AVG'"),
])
def test_bad_input_is_one_line(words: list[str], said: str) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(beside_progress(result.stderr)) == 1


DIES_AT_THREE = 'say({"id": number, "r": allocate(a)}) if len(a["mqAll"]) < 3 else {end}'


@pytest.mark.parametrize(("end", "said"), [
    ("sys.exit(3)", "ended with status 3"), ('say("garbage")', "wrote a line that is not JSON: 'garbage'"),
    ("time.sleep(60)", "does not answer within 0.5 s"),
])
def test_a_judgement_ends_with_a_row_that_says_what_the_program_did(
    end: str, said: str, program: Any,
) -> None:
    with check.port_candidate(program(DIES_AT_THREE.replace("{end}", end)), "allocate", 0.5) as candidate:
        found = {row.property: row for row in check.check_strategy(candidate, "again", queues=4, members=2, examples=2)}
    answers = found["allocation_answers"]
    assert (answers.outcome, answers.as_expected) == (Outcome.VIOLATED, False)
    assert said in answers.note
    assert answers.note.startswith("3 queues, 1 member: c0 among ['c0']: ")
    assert {row.outcome for name, row in found.items() if name != "allocation_answers"} == {Outcome.UNKNOWN}


def test_the_call_of_a_batch_that_ends_the_program_is_found(program: Any) -> None:
    batch = 'sys.exit(3) if any(len(a["mqAll"]) == 3 for a in asked["calls"]) else ' + BATCH
    with PortStrategy(program(hello=BATCHES, batch=batch)) as strategy:
        calls = [("G", "a", QUEUES[:many], ["a"]) for many in (1, 2, 3)]
        strategy.ahead(calls)
        assert [strategy(*call) for call in calls[:2]] == [QUEUES[:1], QUEUES[:2]]
        with pytest.raises(ChildEndedError, match=r"a among \['a'\]: .* ended with status 3"):
            strategy(*calls[2])
        assert strategy(*calls[0]) == QUEUES[:1]


# Recordings -----------------------------------------------------------------------------------------------------------


def test_each_function_has_recorded_calls_with_an_answer() -> None:
    paths = {stem(path.name): path for path in RECORDINGS.glob("*.jsonl*")}
    for function in FUNCTIONS.values():
        found = lines(paths[function.recording])
        next(found)
        recorded = function.recorded(next(found)[1])
        assert recorded is not None, function.name
        assert {*recorded} <= {"r", "e", "m"}


def test_what_a_port_may_answer_is_told_with_a_recorded_call() -> None:
    result = run("conform", "--functions", "--function", "fault-duration", "--function", "names.blank")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0] == "back-off of a latency (MQFaultStrategy#computeNotAvailableDuration (private))"
    assert "  args: a = {latency, latencyMax, notAvailableDuration}: the two tables (null = defaults)" in lines
    assert '  fault-duration: {"latency":550,"latencyMax":null,"notAvailableDuration":null} → {"r":30000}' in lines
    assert '  names.blank: "" → {"r":true}' in lines
    assert {line.split(":")[0].strip() for line in described() if " → " in line} == {*FUNCTIONS}


def test_a_port_has_a_row_for_each_function_and_a_sentence_about_all(program: Any, tmp_path: Path) -> None:
    call = 'say({"id": number, "r": [True, {}, 1]} if asked["function"] == "delay-levels" else {"id": number, "r": []})'
    hello = HELLO.replace('"delay-levels"', '"delay-levels", "my-own"')
    command = program(call, hello)
    result = run("conform", "--exec", command, "--json", "-", "--out", tmp_path / "out")
    found = {str(row.subject.details["function"]): row for row in map(Verdict.from_json, result.stdout.splitlines())}
    assert result.exit_code == 1
    assert {*found} == {"delay-levels", "my-own"}
    delays = found["delay-levels"]
    assert (delays.outcome, delays.cost["rows"], delays.subject.name) == (Outcome.VIOLATED, 201, "toy: delay-levels")
    assert 0 < delays.cost["different"] <= 201
    assert delays.note.startswith('asked {"text":""} (line 12 of delay-levels): expected {')
    assert (found["my-own"].outcome, found["my-own"].note) == (
        Outcome.UNKNOWN, "not compared: no recording is about it")
    assert f"answers 1 of {len(FUNCTIONS)} recorded functions, 201 calls of them" in result.stderr
    assert run(*shlex.split(delays.replay)[1:]).exit_code == 0
    program('say({"id": number, "e": "x", "m": ""})')
    assert "and is holds now" not in run(*shlex.split(delays.replay)[1:]).stdout


@pytest.mark.parametrize("batches", [False, True])
@pytest.mark.parametrize(("stops", "said"), [
    ("sys.exit(4)", "it ended with status 4"), ("say('x')", "it wrote a line that is not JSON: 'x'"),
])
def test_a_port_that_stops_is_told_with_the_call_that_stops_it(
    stops: str, said: str, batches: bool, program: Any,
) -> None:
    stop = f'({stops}) if "1d" in json.dumps(asked) else '
    call, batch = f'{stop}say({{"id": number, "r": 0}})', stop + BATCH.replace("allocate(one)", "0")
    (row,) = judge.conform(program(call, BATCHES if batches else HELLO, batch), ["delay-levels"])
    assert row.outcome is Outcome.VIOLATED  # by the two answers before
    assert row.note.endswith(f'; 2 rows compared, then asked {{"text":"1d"}} (line 4) {said}')


@pytest.mark.parametrize(("batch", "said"), [
    ("sys.exit(4)", '0 rows compared, then asked {"text":"1s 5s'),
    ('sys.exit(4) if len(asked["calls"]) > 1 else ' + BATCH.replace("allocate(one)", "0"),
     "then it ended with status 4, but not when it was asked one by one"),
])
def test_a_port_that_stops_is_never_a_success(batch: str, said: str, program: Any) -> None:
    (row,) = judge.conform(program(hello=BATCHES, batch=batch), ["delay-levels"])
    assert row.outcome in {Outcome.UNKNOWN, Outcome.VIOLATED}
    assert said in row.note


def test_the_shortest_wrong_answer_is_told_before_a_missing_error(
    program: Any, monkeypatch: pytest.MonkeyPatch,
) -> None:
    function = FUNCTIONS["delay-levels"]
    answers: list[tuple[Any, Any]] = [({"text": "longer"}, {"r": 1}), ({"text": ""}, {"e": "X", "m": ""}),
                                      ({"text": "s"}, {"r": 2})]
    calls = [Call(line, {"a": asked}, recorded) for line, (asked, recorded) in enumerate(answers, 2)]
    monkeypatch.setattr(judge, "calls", lambda one: iter(calls) if one is function else iter(()))
    (row,) = judge.conform(program('say({"id": number, "r": 0})'), ["delay-levels"])
    assert (row.cost["different"], row.cost["different_where_it_throws"]) == (3, 1)
    assert row.note == 'asked {"text":"s"} (line 4 of delay-levels): expected {"r": 2}, got {"r": 0}'


@pytest.mark.parametrize(("said", "told"), [
    (["", "thread 'main' panicked at src/main.rs:6:61:", "called `unwrap` on a `None` value", "stack backtrace:",
      "   2: core::panicking::panic"], "thread 'main' panicked at src/main.rs:6:61: called `unwrap` on a `None` value"),
    (["panic: runtime error: index out of range [3]", "", "goroutine 1 [running]:", "main.allocate({...})",
      "\t/src/main.go:30 +0x1b", "exit status 2"], "panic: runtime error: index out of range [3]"),
    (["/port.js:3", "    throw new TypeError('x')", "TypeError: x", "    at emitErrorCloseNT (node)", "Node.js v20"],
     "TypeError: x"),
    (['Exception in thread "main" java.lang.IllegalStateException: x', "\tat com.example.MyException.go(A.java:3)"],
     'Exception in thread "main" java.lang.IllegalStateException: x'),
    (["reading", "  what():  out of range"], "what():  out of range"),
])
def test_the_line_of_standard_error_that_tells_most_is_told(said: list[str], told: str, program: Any) -> None:
    call = f"print({chr(10).join(said)!r}, file=sys.stderr); sys.exit(1)"
    with Exchange(program(call)) as asked, pytest.raises(ChildEndedError) as caught:
        asked.call("allocate", {})
    assert str(caught.value) == f"ended with status 1 ({told})"


@pytest.mark.parametrize("batches", [False, True])
def test_replay_prints_the_lines_that_ask_the_program(batches: bool, program: Any, tmp_path: Path) -> None:
    command = program(AS_BROKEN, BATCHES if batches else HELLO, BATCH_AS_BROKEN)
    sizes = ["--queues", "3", "--members", "2", "--examples", "1", "--property", "allocation_is_exclusive"]
    result = run("check", "allocation", "--exec", command, *sizes, "--json", "-", "--out", tmp_path / "out")
    (row,) = rows(result.stdout).values()
    said = run(*shlex.split(row.replay)[1:]).stdout.splitlines()
    begin = said.index("What the program was asked:") + 1
    queues = '[["T","b",0],["T","b",1],["T","b",2]]'
    calls = [f'{{"group":"group","cid":"{me}","mqAll":{queues},"cidAll":["c0","c1"]}}' for me in ("c0", "c1")]
    asked = [f'"do":"batch","function":"allocate","calls":[{one}]' if batches
             else f'"do":"call","function":"allocate","a":{one}' for one in calls]
    assert said[begin:begin + 2] == [f'    {{"id":1,{one}}}' for one in asked]


def test_errors_agree_with_errors_and_no_list_with_an_empty_one() -> None:
    function = FUNCTIONS["AVG"]
    assert function.differs({"e": "java.lang.X", "m": "a"}, {"e": "panic"}) is None
    assert function.differs({"r": None}, {"r": []}) is None
    assert function.differs({"r": []}, {"r": None}) is None
    assert function.differs({"e": "java.lang.X", "m": "a"}, {"r": []})
    assert function.differs({"r": []}, {"e": "panic", "m": ""})
    assert FUNCTIONS["delay-levels"].differs({"r": None}, {"r": []})
    row = {"a": {"mqAll": [["T", "a", 0], ["T", "b", 0]]}, "AVG": {"r": [1, ["U", "c", 2]]}}
    assert function.recorded(row) == {"r": [["T", "b", 0], ["U", "c", 2]]}


# Examples -------------------------------------------------------------------------------------------------------------


def test_each_example_is_short() -> None:
    for example in EXAMPLES:
        source = ADAPTERS / (example.source if example.language != "rust" else "rust/src/main.rs")
        assert len(source.read_text(encoding="utf-8").splitlines()) < 60, source


def test_an_example_that_cannot_be_built_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = type(EXAMPLES[0])("x", "adapter.py", (), ("true",), (sys.executable, "-c", "raise SystemExit('no way')"))
    with pytest.raises(BadInputError, match="ended with status 1: no way"):
        broken.built(tmp_path)
    monkeypatch.setenv("PATH", os.devnull)
    assert EXAMPLES[0].missing == ["javac", "java"]
