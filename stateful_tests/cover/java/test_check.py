"""Java strategies of a user: official classes, and small ones written here as bytes (the wheel has no compiler)."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from impl.decisions.allocation import AllocateMessageQueueAveragely
from impl.decisions.message_queue import MessageQueue
from invariants.verdict import BadInputError, Outcome
from stateful_tests.conformance.java import artefacts, check
from stateful_tests.conformance.java.check import (
    JavaStrategy,
    JavaStrategyDiedError,
    JavaStrategyError,
    JavaStrategyHungError,
    check_java,
)
from stateful_tests.conformance.java.inputs import queues_text
from stateful_tests.conformance.java.process import JavaProcess
from stateful_tests.decisions import check as judge

pytestmark = pytest.mark.java

REBALANCE = "org.apache.rocketmq.client.consumer.rebalance"
STRATEGY = "org/apache/rocketmq/client/consumer/AllocateMessageQueueStrategy"
ALLOCATE = "(Ljava/lang/String;Ljava/lang/String;Ljava/util/List;Ljava/util/List;)Ljava/util/List;"
PUBLIC, SUPER, ABSTRACT, PRIVATE = 0x0001, 0x0020, 0x0400, 0x0002
QUEUES = [MessageQueue("T", f"b{number // 4}", number % 4) for number in range(8)]
IDS = ["c0", "c1", "c2"]


# A writer of tiny class files (Java Virtual Machine Specification 4) --------------------------------------------------


class Pool:
    """A constant pool; each method answers the index of an entry."""

    def __init__(self) -> None:
        self.entries: list[bytes] = []

    def _index(self, entry: bytes) -> int:
        if entry not in self.entries:
            self.entries.append(entry)
        return self.entries.index(entry) + 1

    def utf8(self, text: str) -> int:
        return self._index(struct.pack(">BH", 1, len(text)) + text.encode("ascii"))

    def named(self, name: str, tag: int = 7) -> int:
        """A class (7) or a string constant (8)."""
        return self._index(struct.pack(">BH", tag, self.utf8(name)))

    def member(self, owner: str, name: str, descriptor: str, tag: int = 10) -> int:
        """A field (9), a method (10) or an interface method (11)."""
        both = self._index(struct.pack(">BHH", 12, self.utf8(name), self.utf8(descriptor)))
        return self._index(struct.pack(">BHH", tag, self.named(owner), both))


Code = Callable[[Pool], bytes]


def throwing(text: str) -> Code:
    """Throw new IllegalStateException(text)."""
    def code(pool: Pool) -> bytes:
        kind = "java/lang/IllegalStateException"
        constructor = pool.member(kind, "<init>", "(Ljava/lang/String;)V")
        made = struct.pack(">BHBBB", 0xBB, pool.named(kind), 0x59, 0x12, pool.named(text, 8))
        return made + struct.pack(">BHB", 0xB7, constructor, 0xBF)
    return code


def hanging(_pool: Pool) -> bytes:
    """A goto to itself."""
    return b"\xa7\x00\x00"


def hanging_in_pairs(pool: Pool) -> bytes:
    """If cidAll.size() is 2, a goto to itself; else return mqAll."""
    size = pool.member("java/util/List", "size", "()I", 11)
    return b"\x19\x04" + struct.pack(">BHBB", 0xB9, size, 1, 0) + b"\x05\xa0\x00\x06\xa7\x00\x00\x2d\xb0"


def sleeping(pool: Pool) -> bytes:
    """Thread.sleep(300); return mqAll."""
    return struct.pack(">BHBBH", 0x11, 300, 0x85, 0xB8, pool.member("java/lang/Thread", "sleep", "(J)V")) + b"\x2d\xb0"


def taking_all(_pool: Pool) -> bytes:
    """Return mqAll."""
    return b"\x2d\xb0"


def answering_null(_pool: Pool) -> bytes:
    """Return null."""
    return b"\x01\xb0"


def answering_ids(_pool: Pool) -> bytes:
    """Return cidAll: a list of strings, which Java's generics do not notice."""
    return b"\x19\x04\xb0"


def clearing(pool: Pool) -> bytes:
    """mqAll.clear(); return cidAll, cleared as well."""
    clear = pool.member("java/util/List", "clear", "()V", 11)
    return b"".join(load + struct.pack(">BHBB", 0xB9, clear, 1, 0) for load in (b"\x2d", b"\x19\x04")) + b"\x2d\xb0"


def exiting(pool: Pool) -> bytes:
    """System.exit(3)."""
    return struct.pack(">BBH", 0x06, 0xB8, pool.member("java/lang/System", "exit", "(I)V")) + b"\x01\xb0"


def printing(pool: Pool) -> bytes:
    """Print to standard output; return mqAll."""
    out = pool.member("java/lang/System", "out", "Ljava/io/PrintStream;", 9)
    println = pool.member("java/io/PrintStream", "println", "(Ljava/lang/String;)V")
    return struct.pack(">BHBBBH", 0xB2, out, 0x12, pool.named("noise", 8), 0xB6, println) + b"\x2d\xb0"


def class_file(
    name: str, allocate: Code = taking_all, constructor: Code = lambda _pool: b"", *, access: int = PUBLIC,
    constructor_access: int = PUBLIC, interface: str = STRATEGY, version: int = 49,
) -> bytes:
    """The bytes of a class in the unnamed package, with allocate, getName and a no-arg constructor.

    version -- 49 is Java 5: no stack maps to write.
    """
    pool = Pool()
    this, above, implemented = pool.named(name), pool.named("java/lang/Object"), pool.named(interface)
    calls_super = struct.pack(">BBH", 0x2A, 0xB7, pool.member("java/lang/Object", "<init>", "()V"))
    methods = [
        method(pool, constructor_access, "<init>", "()V", calls_super + constructor(pool) + b"\xb1"),
        method(pool, PUBLIC, "allocate", ALLOCATE, allocate(pool)),
        method(pool, PUBLIC, "getName", "()Ljava/lang/String;", struct.pack(">BBB", 0x12, pool.named(name, 8), 0xB0)),
    ]
    head = struct.pack(">IHHH", 0xCAFEBABE, 0, version, len(pool.entries) + 1)
    shape = struct.pack(">HHHHHH", access | SUPER, this, above, 1, implemented, 0)
    return head + b"".join(pool.entries) + shape + struct.pack(">H", len(methods)) + b"".join(methods) + b"\x00\x00"


def method(pool: Pool, access: int, name: str, descriptor: str, code: bytes) -> bytes:
    attribute = struct.pack(">HHI", 4, 6, len(code)) + code + struct.pack(">HH", 0, 0)
    body = struct.pack(">HI", pool.utf8("Code"), len(attribute)) + attribute
    return struct.pack(">HHHH", access, pool.utf8(name), pool.utf8(descriptor), 1) + body


CLASSES: dict[str, bytes] = {
    "TakesAll": class_file("TakesAll"),
    "Throws": class_file("Throws", throwing("boom")),
    "Hangs": class_file("Hangs", hanging),
    "HangsInPairs": class_file("HangsInPairs", hanging_in_pairs),
    "Sleeps": class_file("Sleeps", sleeping),
    "Null": class_file("Null", answering_null),
    "Ids": class_file("Ids", answering_ids),
    "Clears": class_file("Clears", clearing),
    "Exits": class_file("Exits", exiting),
    "Prints": class_file("Prints", printing),
    "Abstract": class_file("Abstract", access=PUBLIC | ABSTRACT),
    "Hidden": class_file("Hidden", constructor_access=PRIVATE),
    "Refuses": class_file("Refuses", constructor=throwing("no licence")),
    "Newer": class_file("Newer", version=1000),
    "Other": class_file("Other", interface="java/lang/Runnable"),
    "Lacks": class_file("Lacks", interface="com/example/Missing"),
    "Misnamed": class_file("Renamed"),
    "Cut": class_file("Cut")[:60],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class folder that holds CLASSES."""
    try:
        artefacts.jars()
    except BadInputError as error:
        pytest.fail(str(error))
    path = tmp_path_factory.mktemp("classes with blank")
    for name, content in CLASSES.items():
        (path / f"{name}.class").write_bytes(content)
    return path


@pytest.fixture(scope="module")
def averagely(folder: Path) -> Iterator[JavaStrategy]:
    """The official default strategy as if it were the user's; the folder is a class path without RocketMQ."""
    with check_java(str(folder), f"{REBALANCE}.AllocateMessageQueueAveragely") as strategy:
        yield strategy


# A strategy that works ------------------------------------------------------------------------------------------------


def test_a_java_strategy_is_a_function(averagely: JavaStrategy) -> None:
    shares = [averagely("G", me, QUEUES, IDS) for me in IDS]
    assert shares == [QUEUES[:3], QUEUES[3:6], QUEUES[6:]]
    assert averagely("G", "stranger", QUEUES, IDS) == []
    assert averagely("G", "消费者\ud800", QUEUES, ["c", "消费者\ud800"]) == QUEUES[4:]


def test_what_it_throws_names_the_java_class(averagely: JavaStrategy) -> None:
    with pytest.raises(JavaStrategyError, match=r"java\.lang\.IllegalArgumentException: currentCID is empty") as caught:
        averagely("G", "", QUEUES, IDS)
    assert caught.value.java_class == "java.lang.IllegalArgumentException"
    assert caught.value.message == "currentCID is empty"
    for queues, ids in ((None, IDS), (QUEUES, None), ([], IDS), (QUEUES, [])):
        with pytest.raises(JavaStrategyError, match="null or "):
            averagely("G", "c0", queues, ids)


def test_a_batch_holds_answers_and_errors(averagely: JavaStrategy) -> None:
    found = averagely.batch([("G", "c0", QUEUES, IDS), ("G", None, QUEUES, IDS), ("G", "c2", QUEUES, IDS)])
    assert found[::2] == [QUEUES[:3], QUEUES[6:]]
    assert isinstance(found[1], JavaStrategyError)


def test_the_same_question_is_asked_again(averagely: JavaStrategy, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str | None]] = []
    batch = averagely.batch

    def counting(calls: list[check.Call]) -> list[check.Answer]:
        asked.append([me for _, me, _, _ in calls])
        return batch(calls)

    monkeypatch.setattr(averagely, "batch", counting)
    for me in ("c1", "c0", "c0", "c2"):
        assert averagely("H", me, QUEUES, IDS) == AllocateMessageQueueAveragely().allocate("H", me, QUEUES, IDS)
    assert asked == [["c1", "c0", "c2"], ["c0", "c1", "c2"]], "the others are asked ahead; each answer serves once"


def test_calls_that_are_announced_are_made_in_their_order_and_answered_once(
    averagely: JavaStrategy, monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    batch = averagely.batch

    def counting(calls: list[check.Call]) -> list[check.Answer]:
        asked.append(len(calls))
        return batch(calls)

    monkeypatch.setattr(averagely, "batch", counting)
    calls: list[check.Call] = [("A", me, QUEUES, IDS) for me in (*IDS, *IDS[::-1])]
    calls.append(("A", "c0", QUEUES[:1], ["c0"]))
    averagely.ahead(calls)
    wanted = AllocateMessageQueueAveragely()
    for group, me, queues, ids in calls:
        assert averagely(group, me, queues, ids) == wanted.allocate(str(group), str(me), queues, ids)
    assert asked == [7]
    assert averagely("A", "c0", QUEUES[:1], ["c0"]) == QUEUES[:1]
    assert asked == [7, 1], "an announced answer serves once"


def test_an_announced_call_that_throws_does_so_when_its_turn_comes(averagely: JavaStrategy) -> None:
    averagely.ahead([("G", "c0", QUEUES, IDS), ("G", "", QUEUES, IDS)])
    assert averagely("G", "c0", QUEUES, IDS) == QUEUES[:3]
    with pytest.raises(JavaStrategyError, match="currentCID is empty"):
        averagely("G", "", QUEUES, IDS)


def test_lists_that_the_caller_changes_are_seen(averagely: JavaStrategy) -> None:
    queues, ids = QUEUES[:4], ["c0", "c1"]
    assert averagely("G", "c0", queues, ids) == QUEUES[:2]
    queues.pop()
    ids.append("c2")
    assert averagely("G", "c1", queues, ids) == QUEUES[1:2]


def test_five_thousand_calls_a_second(averagely: JavaStrategy) -> None:
    calls: list[check.Call] = [("G", IDS[number % 3], QUEUES, IDS) for number in range(500)]

    def calls_per_second() -> float:
        begin = time.perf_counter()
        for _ in range(6):
            averagely.batch(calls)
        return 3000 / (time.perf_counter() - begin)

    assert max(calls_per_second() for _ in range(4)) >= 5000


# Strategies that misbehave --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shared(folder: Path) -> Iterator[JavaProcess]:
    """One JVM in which one class after the other is made."""
    del folder
    with JavaProcess() as process:
        yield process


def made(shared: JavaProcess, classpath: Path | str, class_name: str) -> None:
    shared.ask(30.0, **{"do": "make", "class": class_name, "entries": check._entries(str(classpath))})


def asked(shared: JavaProcess) -> check.Answer:
    call = [None, "G", "c0", queues_text(QUEUES), '["c0", "c1"]']
    first, second = check.answers(shared.ask(30.0, do="allocate", calls=[call, call]))
    assert str(first) == str(second)
    return first


def test_jars_and_wildcards_are_class_paths(shared: JavaProcess, folder: Path, tmp_path: Path) -> None:
    jar = tmp_path / "mine.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.write(folder / "TakesAll.class", "TakesAll.class")
    for classpath in (str(jar), f"{tmp_path}/*", f"{tmp_path}{os.pathsep}{jar}"):
        made(shared, folder, "Null")
        made(shared, classpath, "TakesAll")
        assert asked(shared) == QUEUES


def test_null_is_none(shared: JavaProcess, folder: Path) -> None:
    made(shared, folder, "Null")
    assert asked(shared) is None


def test_a_strategy_may_change_its_lists(shared: JavaProcess, folder: Path) -> None:
    made(shared, folder, "Clears")
    assert asked(shared) == []
    made(shared, folder, "TakesAll")
    assert asked(shared) == QUEUES


def test_a_strategy_may_print(shared: JavaProcess, folder: Path) -> None:
    made(shared, folder, "Prints")
    assert asked(shared) == QUEUES


def test_what_is_no_queue_is_a_class_cast(shared: JavaProcess, folder: Path) -> None:
    made(shared, folder, "Ids")
    answer = asked(shared)
    assert isinstance(answer, JavaStrategyError)
    assert answer.java_class == "java.lang.ClassCastException"


def test_a_throwing_strategy_throws(shared: JavaProcess, folder: Path) -> None:
    made(shared, folder, "Throws")
    answer = asked(shared)
    assert isinstance(answer, JavaStrategyError)
    assert str(answer) == "java.lang.IllegalStateException: boom"


def test_a_hanging_strategy_is_killed(folder: Path) -> None:
    with check_java(str(folder), "Hangs", call_limit_s=0.4) as strategy:
        for _ in range(2):  # the second call has a JVM of its own
            begin = time.monotonic()
            with pytest.raises(JavaStrategyHungError, match=r"Hangs does not return within 0\.4 s: me='c0', queues=\["):
                strategy("G", "c0", QUEUES, IDS)
            assert time.monotonic() - begin < 20
        scratch = strategy._process._scratch
    assert not scratch.exists()


def test_an_announced_call_that_hangs_does_so_when_its_turn_comes(folder: Path) -> None:
    with check_java(str(folder), "HangsInPairs", call_limit_s=0.4) as strategy:
        calls: list[check.Call] = [("G", "c0", QUEUES, IDS), ("G", "c1", QUEUES, IDS), ("G", "c2", QUEUES, IDS[1:])]
        strategy.ahead([*calls, ("G", "c3", QUEUES, IDS)])
        assert [strategy(*call) for call in calls[:2]] == [QUEUES, QUEUES]
        with pytest.raises(JavaStrategyHungError, match=r"HangsInPairs does not return .*me='c2'.*ids=\['c1', 'c2'\]"):
            strategy(*calls[2])


def test_a_hanging_class_is_judged_by_the_case_in_which_it_hangs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "JAVA_CALL_LIMIT_S", 0.4)
    rows = {row.property: row for row in judge.check_java_allocation(str(folder), "HangsInPairs", queues=2)}
    answers = rows["allocation_answers"]
    assert answers.outcome is Outcome.VIOLATED
    assert "1 queue, 2 members: HangsInPairs does not return" in answers.note


def test_the_limit_is_for_each_call_of_a_batch(folder: Path) -> None:
    with check_java(str(folder), "Sleeps", call_limit_s=0.5) as strategy:
        assert strategy.batch([("G", "c0", QUEUES, IDS)] * 5) == [QUEUES] * 5


def test_a_strategy_that_exits_is_named(folder: Path) -> None:
    with check_java(str(folder), "Exits") as strategy, pytest.raises(
        JavaStrategyDiedError, match=r"Exits: the Java process ended with status 3.*; under way: me='c1'",
    ):
        strategy("G", "c1", QUEUES, IDS)


# Classes that cannot be used ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("class_name", "sentence"), [
    ("Absent", "class Absent is not on the class path; give the binary name"),
    ("no such name", "class no such name is not on the class path"),
    ("Misnamed", "class Misnamed is not on the class path"),
    ("Other", "Other does not implement org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy"),
    ("org.apache.rocketmq.client.producer.DefaultMQProducer", "DefaultMQProducer does not implement"),
    ("Abstract", "Abstract is abstract"),
    ("org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy", "is abstract"),
    ("Hidden", "Hidden has no public no-arg constructor"),
    (f"{REBALANCE}.AllocateMachineRoomNearby", "AllocateMachineRoomNearby has no public no-arg constructor"),
    ("Refuses", "the constructor of Refuses throws java.lang.IllegalStateException: no licence"),
    ("Newer", "class Newer is compiled for a newer Java than"),
    ("Lacks", "class Lacks needs com/example/Missing, which is not on the class path; add the jar that holds it"),
    ("Cut", "class Cut cannot be loaded: java.lang.ClassFormatError"),
])
def test_a_class_that_cannot_be_used_is_bad_input(
    shared: JavaProcess, folder: Path, class_name: str, sentence: str,
) -> None:
    with pytest.raises(BadInputError) as caught:
        made(shared, folder, class_name)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    assert shared.alive


@pytest.mark.parametrize(("classpath", "sentence"), [
    ("", "the class path is empty"),
    ("/nowhere/classes", "class path entry /nowhere/classes does not exist"),
    ("/nowhere/*", "no jar in that folder"),
])
def test_a_class_path_that_is_not_there_is_bad_input(classpath: str, sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence.replace("*", r"\*")):
        check_java(classpath, "Any")


def test_a_constructor_that_hangs_is_bad_input(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "Waits.class").write_bytes(class_file("Waits", constructor=hanging_constructor))
    monkeypatch.setattr(check, "MAKE_LIMIT_S", 0.5)
    with pytest.raises(BadInputError, match=r"the constructor of Waits does not return within 0\.5 s"):
        check_java(str(folder), "Waits")


def hanging_constructor(_pool: Pool) -> bytes:
    """A goto to itself, after the call of the super constructor."""
    return b"\xa7\x00\x00"


def test_no_jvm_is_bad_input(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(BadInputError, match="no Java runtime there; unset it"):
        check_java(str(folder), "TakesAll")
    (tmp_path / "lib" / "server").mkdir(parents=True)
    (tmp_path / "lib" / "server" / "libjvm.so").write_text("no library")
    with pytest.raises(BadInputError, match=r"libjvm\.so: does not start .*set JAVA_HOME to a Java 17 or newer"):
        check_java(str(folder), "TakesAll")


# Nothing stays behind -------------------------------------------------------------------------------------------------


def test_a_killed_parent_leaves_no_worker(folder: Path) -> None:
    code = (
        "import sys, time\n"
        "from stateful_tests.conformance.java.check import check_java\n"
        "from impl.decisions.message_queue import MessageQueue\n"
        "strategy = check_java(sys.argv[1], 'Hangs', call_limit_s=60.0)\n"
        "print(strategy._process._child.process.pid, strategy._process._scratch, flush=True)\n"
        "strategy('G', 'c', [MessageQueue('T', 'b', 0)], ['c'])\n"
    )
    root = Path(artefacts.__file__).parents[3]
    command = [sys.executable, "-c", code, str(folder)]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as parent:  # noqa: S603  our own code
        assert parent.stdout is not None
        pid, scratch = parent.stdout.readline().split(maxsplit=1)
        time.sleep(0.3)  # the call that hangs is under way
        parent.kill()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and (Path(scratch.strip()).exists() or is_alive(int(pid))):
        time.sleep(0.1)
    assert not is_alive(int(pid))
    assert not Path(scratch.strip()).exists()


def is_alive(pid: int) -> bool:
    """Whether the process runs; a zombie that nobody has reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
