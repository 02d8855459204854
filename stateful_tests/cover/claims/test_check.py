"""`check allocation --python`: whatever a class does: one clear line, what was found is kept, no process is left."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from impl.decisions.message_queue import MessageQueue
from invariants.allocation.answers import Failure
from invariants.evidence import read, replayed
from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from stateful_tests.child import ChildEndedError, ChildHungError
from stateful_tests.decisions.check import candidate_of, check_allocation
from stateful_tests.decisions.child import ChildStrategy
from stateful_tests.decisions.replay import replay_counterexample

ROOT = Path(__file__).parents[3]
STRATEGIES = """
    import os, sys, time
    from impl.decisions.message_queue import MessageQueue

    def circle(me, queues, ids):
        return [queue for k, queue in enumerate(queues) if k % len(ids) == ids.index(me)]

    class Good:
        def allocate(self, consumer_group, current_cid, mq_all, cid_all):
            print("chatter", flush=True)
            sys.stderr.write("more chatter")
            return circle(current_cid, mq_all, cid_all)

    class Overlaps:
        def allocate(self, consumer_group, current_cid, mq_all, cid_all):
            return circle(current_cid, mq_all, cid_all) + mq_all[-1:]

    class HashDependent:
        def allocate(self, consumer_group, current_cid, mq_all, cid_all):
            return [q for q in mq_all if cid_all[hash(q.broker_name + str(q.queue_id)) % len(cid_all)] == current_cid]

    class Raises:
        def allocate(self, consumer_group, current_cid, mq_all, cid_all):
            if len(cid_all) == 2:
                raise KeyError("two\\nlines")
            return circle(current_cid, mq_all, cid_all)

    class Exits:
        def allocate(self, consumer_group, current_cid, mq_all, cid_all):
            sys.exit(7)

    class Hangs:
        def allocate(self, consumer_group, current_cid, mq_all, cid_all):
            while len(cid_all) == 3:
                pass
            return circle(current_cid, mq_all, cid_all)

    class HangsDeaf:
        def allocate(self, consumer_group, current_cid, mq_all, cid_all):
            import signal
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if os.fork() == 0:
                time.sleep(1000)
            time.sleep(1000)

    class Dies:
        def allocate(self, consumer_group, current_cid, mq_all, cid_all):
            os._exit(3)

    class EatsMemory:
        def allocate(self, consumer_group, current_cid, mq_all, cid_all):
            return [mq_all[0]] * (1 << 40)

    class Foreign:
        def allocate(self, consumer_group, current_cid, mq_all, cid_all):
            return [MessageQueue("Other", "x", 1), "text", None]

    class Number:
        def allocate(self, consumer_group, current_cid, mq_all, cid_all):
            return 5

    class Nothing:
        def allocate(self, consumer_group, current_cid, mq_all, cid_all):
            return None

    class NeedsArguments:
        def __init__(self, rooms):
            pass

    class WithoutMethod:
        pass

    class MadeSlowly:
        def __init__(self):
            time.sleep(1000)
"""


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with modules of a user, importable."""
    (tmp_path / "users_strategies.py").write_text(textwrap.dedent(STRATEGIES))
    (tmp_path / "raises_at_import.py").write_text("raise RuntimeError('not today')")
    (tmp_path / "exits_at_import.py").write_text("import sys; sys.exit(0)")
    (tmp_path / "broken_syntax.py").write_text("def allocate(:")
    (tmp_path / "needs_more.py").write_text("import a_module_that_is_not_there")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def checked(name: str, **options: float) -> dict[str, Verdict]:
    effort = {"queues": 4, "members": 3, "examples": 5, **options}
    return {row.property: row for row in check_allocation(f"users_strategies:{name}", **effort)}  # type: ignore[arg-type]


def children() -> list[int]:
    """Workers of this process that are still alive."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text, command = status.read_text(), status.with_name("cmdline").read_bytes()
        except OSError:
            continue
        if f"PPid:\t{os.getpid()}\n" in text and b"decisions.worker" in command and "State:\tZ" not in text:
            found.append(int(status.parent.name))
    return found


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    yield
    assert children() == []


@pytest.mark.usefixtures("users")
def test_a_good_class_holds_and_its_chatter_disturbs_nobody() -> None:
    rows = checked("Good")
    assert [row.property for row in rows.values() if row.outcome is not Outcome.HOLDS] == ["allocation_moves_minimally"]
    assert all(row.as_expected for row in rows.values())
    assert rows["allocation_is_total"].judge == "check"
    assert rows["allocation_is_total"].subject.kind == "class"
    assert rows["allocation_is_total"].replay == "rocketproof check allocation --python users_strategies:Good"


@pytest.mark.usefixtures("users")
@pytest.mark.parametrize(("name", "wanted", "note"), [
    ("Overlaps", "allocation_is_exclusive", "1 queue, 2 members: T/b:0 is owned by c0 and by c1"),
    ("HashDependent", "allocation_is_deterministic", "at the same question again"),
    ("Raises", "allocation_answers", "raised KeyError: 'two\\nlines'"),
    ("Exits", "allocation_answers", "raised SystemExit: 7"),
    ("EatsMemory", "allocation_answers", "raised MemoryError"),
    ("Foreign", "allocation_is_in_range", "c0 takes Other/x:1, which is not in the list that it was given"),
    ("Number", "allocation_answers", "answered int 5, which is no list of queues"),
    ("Nothing", "allocation_is_total", "1 queue, 1 member: T/b:0 has no owner"),
])
def test_a_broken_class_gives_one_clear_line(name: str, wanted: str, note: str) -> None:
    row = checked(name)[wanted]
    assert (row.outcome, row.as_expected) == (Outcome.VIOLATED, False)
    assert note in row.note
    assert "\n" not in row.note


@pytest.mark.usefixtures("users")
@pytest.mark.parametrize(("name", "note", "first"), [
    ("Hangs", "does not return within 0.5 s", "1 queue, 3 members"),
    ("HangsDeaf", "does not return within 0.5 s", "1 queue, 1 member"),
    ("Dies", "ends its process", "1 queue, 1 member"),
])
def test_a_class_that_hangs_or_ends_its_process_is_killed_and_the_rest_is_unknown(
    name: str, note: str, first: str,
) -> None:
    rows = checked(name, limit_s=0.5)
    assert rows["allocation_answers"].outcome is Outcome.VIOLATED
    assert rows["allocation_answers"].note.startswith(first)
    assert note in rows["allocation_answers"].note
    assert {row.outcome for row in rows.values() if row.property != "allocation_answers"} == {Outcome.UNKNOWN}


@pytest.mark.usefixtures("users")
@pytest.mark.parametrize(("reference", "sentence"), [
    ("users_strategies", "is no MODULE:CLASS"), (":Good", "is no MODULE:CLASS"),
    ("users_strategies:", "is no MODULE:CLASS"),
    ("users_strategies.py", "write for example users_strategies.py:ByZone"),
    ("users_strategi.py:Good", "users_strategi.py: there is no such file"),
    ("no_such_module:X", "cannot import no_such_module"), ("needs_more:X", "install what it imports"),
    ("users_strategies:Nope", "has no Nope; name a class that it defines"),
    ("raises_at_import:X", "importing raises_at_import raises RuntimeError: not today"),
    ("exits_at_import:X", "importing exits_at_import raises SystemExit: 0"),
    ("broken_syntax:X", "importing broken_syntax raises SyntaxError"),
    ("users_strategies:NeedsArguments", "it must be made without arguments"),
    ("users_strategies:WithoutMethod", "has no method allocate(consumer_group, current_cid, mq_all, cid_all)"),
])
def test_a_class_that_cannot_be_had_is_bad_input_in_one_line(reference: str, sentence: str) -> None:
    with pytest.raises(BadInputError) as caught:
        next(check_allocation(reference))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_may_be_named_in_another_folder_and_imports_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("PLACES = {}\n", encoding="utf-8")
    (tmp_path / "mine.py").write_text(
        "import beside\nclass Mine:\n    def allocate(self, group, me, queues, members):\n        return queues\n",
        encoding="utf-8")
    with ChildStrategy(f"{tmp_path}/mine.py:Mine") as strategy:
        queues = [MessageQueue("T", "b", 0)]
        assert strategy("G", "a", queues, ["a"]) == queues


@pytest.mark.usefixtures("users")
def test_a_class_that_is_never_made_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stateful_tests.decisions.child.START_LIMIT_S", 1.0)
    with pytest.raises(BadInputError, match="does not return within 1 s"):
        ChildStrategy("users_strategies:MadeSlowly")


@pytest.mark.usefixtures("users")
def test_the_evidence_of_a_class_is_replayed_in_a_child_of_its_own(tmp_path: Path) -> None:
    rows = {row.property: row for row in check_allocation(
        "users_strategies:Overlaps", out=tmp_path / "out", queues=3, members=2, examples=2)}
    body = read(tmp_path / "out" / str(rows["allocation_is_exclusive"].evidence))
    assert body["table"] == {"columns": ["queue", "owner"], "rows": [["T/b:0", "c0, c1"]]}
    again = replay_counterexample(body)
    assert (again.outcome, again.as_expected, again.note) == (
        Outcome.VIOLATED, False, "T/b:0 is owned by c0 and by c1")
    gone = {**body, "subject": {**body["subject"], "name": "users_strategies:Nope"}}
    with pytest.raises(BadInputError, match="has no Nope"):
        replay_counterexample(gone)
    repaired = {**body, "subject": {**body["subject"], "name": "users_strategies:Good"}}
    assert replay_counterexample(repaired).outcome is Outcome.HOLDS


@pytest.mark.usefixtures("users")
def test_evidence_of_a_hang_is_replayed_with_the_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = {row.property: row for row in check_allocation("users_strategies:Hangs", out=tmp_path / "out", limit_s=0.5)}
    body = read(tmp_path / "out" / str(rows["allocation_answers"].evidence))
    monkeypatch.setattr("stateful_tests.decisions.check.CALL_LIMIT_S", 0.5)
    again = replay_counterexample(body)
    assert again.outcome is Outcome.VIOLATED
    assert "does not return within 0.5 s" in again.note


@pytest.mark.usefixtures("users")
def test_who_stops_reading_leaves_no_child() -> None:
    with closing(check_allocation("users_strategies:Overlaps")) as rows:  # type: ignore[type-var]  # a generator
        assert next(rows).outcome is Outcome.VIOLATED
        assert len(children()) == 2
    assert children() == []


@pytest.mark.usefixtures("users")
def test_an_interrupt_leaves_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("stateful_tests.decisions.strategies.observe", interrupt)
    with pytest.raises(KeyboardInterrupt):
        list(check_allocation("users_strategies:Good"))


def test_a_killed_parent_takes_its_child_along(users: Path) -> None:
    code = ("import os; from stateful_tests.decisions.child import ChildStrategy; "
            "one = ChildStrategy('users_strategies:Hangs', limit_s=60); print(one._child.process.pid, flush=True); "
            "from impl.decisions.message_queue import MessageQueue; "
            "one('g', 'a', [MessageQueue('T', 'b', 0)], ['a', 'b', 'c'])")
    parent = subprocess.Popen([  # noqa: S603  # our own code
        sys.executable, "-c", code,
    ], stdout=subprocess.PIPE, cwd=ROOT, text=True, env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{users}"})
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    time.sleep(0.3)  # the call is under way
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{child}").exists()


@pytest.mark.usefixtures("users")
def test_a_child_answers_as_the_class_does() -> None:
    queues = [MessageQueue("T", "b", k) for k in range(3)]
    with ChildStrategy("users_strategies:Good") as good, ChildStrategy("users_strategies:Foreign") as foreign:
        assert good("g", "c1", queues, ["c0", "c1"]) == queues[1:2]
        assert foreign("g", "c0", queues, ["c0"]) == [MessageQueue("Other", "x", 1), "str 'text'", "NoneType None"]
    with ChildStrategy("users_strategies:Nothing") as nothing, ChildStrategy("users_strategies:Raises") as raises:
        assert nothing("g", "c0", queues, ["c0"]) is None
        assert isinstance(raises("g", "c0", queues, ["c0", "c1"]), Failure)
    with pytest.raises(ChildEndedError):
        good("g", "c1", queues, ["c0", "c1"])


@pytest.mark.usefixtures("users")
def test_a_hung_child_is_gone_when_the_error_arrives() -> None:
    with ChildStrategy("users_strategies:HangsDeaf", limit_s=0.5) as strategy:
        with pytest.raises(ChildHungError, match=r"c0 among \['c0'\]: users_strategies:HangsDeaf does not return"):
            strategy("g", "c0", [MessageQueue("T", "b", 0)], ["c0"])
        assert children() == []


@pytest.mark.usefixtures("users")
def test_a_subject_of_kind_class_finds_its_driver() -> None:
    with candidate_of(Subject("class", "users_strategies:Good", {"language": "Python"})) as candidate:
        assert candidate.again is not None


def test_a_command_of_evidence_can_be_put_into_a_shell_wherever_the_file_lies(tmp_path: Path) -> None:
    file = tmp_path / "my out; it's here" / "e.json"
    assert shlex.split(replayed(file)) == ["rocketproof", "replay", str(file)]
