"""Changes: what a commit can say is in place while a block runs, and gone afterwards; a mistake is one line."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest

from impl.client import process_queue, rebalance_push
from impl.client.process_queue import ProcessQueue
from impl.hosts.simulation.tape import RandomTape, ReplayTape
from impl.variants.change import Field, constant, field, new, patch
from impl.variants.places import put
from impl.variants.stack import active
from impl.variants.subjects import covers, foundation_of, variants_of
from impl.variants.variant import Replacement, Variant, VariantError, load_variant, replace
from invariants.verdict import BadInputError, Outcome
from stateful_tests.machines import judge, machine
from stateful_tests.machines.search import Effort
from stateful_tests.stories.storm import STORMY, group_world
from stateful_tests.worlds import run as worlds_run
from stateful_tests.worlds.run import Plan, SeenError, run
from stateful_tests.worlds.subjects import subject_named, subject_on

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "changes").glob("*.py"))
NOT_CALLED = {"longer_lease", "rebalance_every_10_s", "unregister_own_address"}
"""Constants are not called, and no broker says goodbye in the world of these tests."""

# What a commit can say ------------------------------------------------------------------------------------------------


class Meter:
    """A toy."""

    LIMIT = 3
    unit = "ms"

    def __init__(self) -> None:
        self.read_ms = 5

    def read(self, by: int) -> int:
        return self.read_ms * by

    @property
    def full(self) -> bool:
        return self.read_ms > self.LIMIT

    @staticmethod
    def scaled(by: int) -> int:
        return by


@dataclass(slots=True)
class Slotted:
    """A toy with slots, as most of the implementation's records are."""

    name: str


class Louder(Meter):
    """An heir."""

    def read(self, by: int) -> int:
        return 2 * super().read(by)


def change(*replacements: Replacement) -> Variant:
    return Variant("mine", "change", "It is another.", replacements=replacements)


def state() -> list[dict[str, Any]]:
    """What stands in the toys."""
    return [dict(vars(owner)) for owner in (Meter, Slotted, Louder)]


def test_the_body_of_a_class_replaces_methods_properties_static_methods_and_constants() -> None:
    @patch(Meter)
    class Changed:
        LIMIT = 9

        def read(self, by: int) -> int:
            def more(value: int) -> int:
                return value + Meter().read_ms

            return more(by)

        @property
        def full(self) -> bool:
            return False

        @staticmethod
        def scaled(by: int, times: int = 10) -> int:
            return times * by

    before, meter = state(), Meter()
    replacements: Any = Changed
    variant = change(*replacements)
    with active([variant], [variant]) as calls:
        assert (meter.read(3), meter.LIMIT, meter.full, Meter.scaled(2)) == (8, 9, False, 20)
        assert Meter.scaled(2, times=3) == 6  # type: ignore[call-arg]  # it is there in the block
    assert calls == {"Meter.read": 1, "Meter.full": 1, "Meter.scaled": 2}
    assert (meter.read(3), meter.LIMIT, meter.full, Meter.scaled(2)) == (15, 3, True, 2)
    assert state() == before


def test_what_is_new_is_added_and_super_is_that_of_the_owner() -> None:
    @patch(Louder)
    class Changed:
        MOST = new(7)

        def read(self, by: int) -> int:
            return 3 + int(super().read(by))  # type: ignore[misc]  # of the owner

        @new
        def twice(self, by: int) -> int:
            return 2 * int(self.read(by))

        @new  # type: ignore[prop-decorator]  # a property is an object as any other
        @property
        def full(self) -> bool:
            return not super().full  # type: ignore[misc]  # of the owner

    before, louder, replacements = state(), Louder(), list[Any](Changed)  # type: ignore[call-overload]  # as above
    with active([change(*replacements)]):
        assert (louder.read(2), vars(Louder)["twice"](louder, 2), louder.full, vars(Louder)["MOST"]) == (
            13, 26, False, 7)
    assert state() == before
    assert louder.read(2) == 20


def test_a_field_is_added_to_objects_with_slots_too_and_forgotten() -> None:
    @patch(Slotted)
    class Changed:
        count = field(0)
        owners = field(factory=list)

    before, one, other = state(), Slotted("a"), Slotted("b")
    replacements: Any = Changed
    with active([change(*replacements)]):
        for each in (one, other, one):
            object.__setattr__(each, "count", getattr(each, "count") + 1)  # noqa: B009 - mypy knows no such field
            getattr(each, "owners").append(each.name)  # noqa: B009 - the same
        assert [(getattr(each, "count"), getattr(each, "owners")) for each in (one, other)] == [  # noqa: B009 - the same
            (2, ["a", "a"]), (1, ["b"])]
    assert state() == before
    assert not hasattr(one, "count")
    with active([change(*replacements)]):
        assert getattr(one, "count") == 0  # noqa: B009 - the same
    assert [vars(made.value)["_values"] for made in replacements if isinstance(made.value, Field)] == [{}, {}]


class Line:
    """A toy that waits, and one that stands over it and reports."""

    async def put(self, text: str) -> str:
        return text

    def size(self, of: str) -> int:
        return len(of)


class ReportedLine(Line):
    reports: ClassVar[list[str]] = []

    async def put(self, text: str) -> str:
        await Pause()
        answer = await super().put(text)
        await Pause()
        self.reports.append(answer)
        return answer

    def size(self, of: str) -> int:
        return 100 + super().size(of)


class Pause:
    """Lets another thread run."""

    def __await__(self) -> Generator[None]:
        yield


def test_a_new_parameter_reaches_a_method_through_a_class_that_does_not_know_it() -> None:
    @patch(Line)
    class Changed:
        async def put(self, text: str, mark: str = "") -> str:
            await Pause()
            return f"{text}{mark}"

        def size(self, of: str, *, times: int = 1) -> int:
            return times * len(of)

    replacements: Any = Changed
    before, line = [dict(vars(owner)) for owner in (Line, ReportedLine)], ReportedLine()
    with active([change(*replacements)]):
        made: Any = line
        assert [made.size("ab", times=3), made.size("ab"), Line().size("ab")] == [106, 102, 2]
        threads = [made.put("a", "!"), made.put("b"), made.put("c", mark="?")]
        steps = [thread.__await__() for thread in threads]
        for _ in range(3):
            for one in steps:
                next(one)
        assert [answer(one) for one in reversed(steps)] == ["c?", "b", "a!"]
        thrown = made.put("d", "!").__await__()
        next(thrown)
        with pytest.raises(KeyError):
            thrown.throw(KeyError())
        closed = made.put("e", "!").__await__()
        next(closed)
        closed.close()
    assert ReportedLine.reports == ["c?", "b", "a!"]
    assert [dict(vars(owner)) for owner in (Line, ReportedLine)] == before


def answer(steps: Generator[None]) -> str:
    """What a coroutine returns at its next step."""
    with pytest.raises(StopIteration) as end:
        next(steps)
    return str(end.value.value)


def test_a_constant_of_a_module_changes_where_it_was_imported_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    longer = constant(process_queue, "REBALANCE_LOCK_MAX_LIVE_TIME_MS", 65_000)
    monkeypatch.setattr(rebalance_push, "UNRELATED_MS", process_queue.REBALANCE_LOCK_MAX_LIVE_TIME_MS, raising=False)
    pq = ProcessQueue(lambda: 60_000)
    pq.last_lock_timestamp = 0
    assert pq.is_lock_expired()
    with active([change(longer)]):
        assert not pq.is_lock_expired()
        assert vars(rebalance_push)["UNRELATED_MS"] == 30_000
    assert pq.is_lock_expired()


def test_what_was_imported_by_another_name_changes_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    owner, importer = ModuleType("toys_of_constants"), ModuleType("toys_of_constants.importer")
    file = tmp_path / "importer.py"
    file.write_text("from toys_of_constants import LIMIT as MOST\nLIMIT = 5\n", "utf-8")
    vars(owner)["LIMIT"], importer.__file__ = 5, str(file)
    vars(importer).update(MOST=5, LIMIT=5)
    for module in (owner, importer):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    put(owner, "LIMIT", 5, 6)
    assert (vars(owner)["LIMIT"], vars(importer)["MOST"], vars(importer)["LIMIT"]) == (6, 6, 5)


def test_a_change_takes_the_place_of_what_a_repair_has_put_there() -> None:
    one, other = (Replacement(Meter, "read", made) for made in (lambda self, by: -by, lambda self, by: by + 1))  # noqa: ARG005 - methods
    repair = Variant("base", "repair", "It is right.", replacements=(one,))
    with active([repair, change(other)]):
        assert Meter().read(3) == 4
    with pytest.raises(VariantError, match="both replace"), active([repair, Variant(
            "mine", "bug", "It is wrong.", replacements=(other,))]):
        pass


# Mistakes -------------------------------------------------------------------------------------------------------------


def nothing(self: object) -> None:
    del self


@pytest.mark.parametrize(("replacement", "cure"), [
    (Replacement(Meter, "raed", nothing), r"there is none; correct the name \(did you mean read\?\)"),
    (Replacement(Meter, "zzz", nothing), "there is none; correct the name, or say `new`"),
    (Replacement(Louder, "full", property(nothing)), "inherited; name Meter.full, or say `new` to override it"),
    (Replacement(Meter, "read", nothing, added=True), "it is there already; leave `new` or `field` out"),
    (Replacement(Meter, "full", nothing), "it is a property; make yours one"),
    (Replacement(Meter, "scaled", nothing), "it is a static method; make yours one"),
    (Replacement(Meter, "full", lambda _: nothing, around=True), "it is a property; `around` needs a function"),
    (Replacement(Meter, "LIMIT", nothing), "it is no function; name one"),
    (Replacement(Slotted, "name", 3), "it is a field of each object; name the function that assigns it"),
    (Replacement(process_queue, "ProcessQueue", 3), "it is a class; name its functions"),
    (Replacement(Meter, "read", lambda self, by, more: by), "more parameters need a default"),  # noqa: ARG005 - a method
])
def test_what_does_not_fit_is_refused_in_one_line(replacement: Replacement, cure: str) -> None:
    before = state()
    with pytest.raises(VariantError, match=cure) as error, active([change(replacement)]):
        pass
    assert "\n" not in str(error.value)
    assert state() == before


HEAD = """from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.variants.change import new, patch
from impl.variants.variant import Variant, replace

"""
TAIL = '\n\nVARIANT = Variant("mine", "change", "It is another.", replacements=(changed,))\n'
UPDATE = '@replace(ConsumerGroupInfo, "update_subscription")\nasync def changed(self, sub_list, threads):\n'

Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file; its path."""
    def written(text: str) -> str:
        (tmp_path / "mine.py").write_text(text, "utf-8")
        return str(tmp_path / "mine.py")

    return written


BEFORE_ANY_RUN = [
    (HEAD + "1 / 0\n", "mine.py:5 cannot be imported: mend it first (ZeroDivisionError"),
    (HEAD + "def f(:\n", "mine.py:5 cannot be imported: mend it first (SyntaxError"),
    (HEAD + UPDATE + "    return self.add_subscriptions(sub_lst, threads)" + TAIL,
     "mine.py:7: the name sub_lst is not defined: correct or import it"),
    (HEAD + UPDATE.replace("update_s", "update_S") + "    return True" + TAIL,
     "mine.py:5: variant mine replaces ConsumerGroupInfo.update_Subscription: there is none; correct the name (did"),
    (HEAD + UPDATE.replace("sub_list", "subs") + "    return True" + TAIL,
     "mine.py:5: variant mine replaces ConsumerGroupInfo.update_subscription: give its function the parameters"),
    (HEAD + UPDATE + "    return await super().update_subscription(sub_list, threads)" + TAIL,
     "super() needs a class around it: write the function in a class below `@patch(ConsumerGroupInfo)`"),
    (HEAD + "@patch(ConsumerGroupInfo)\nclass Changed:\n    count: int\n", "count has no first value: say count ="),
    (HEAD + 'VARIANT = Variant("mine", "change", "It is.", replacements=((), ()))\n', "several are given as"),
]


@pytest.mark.parametrize(("text", "said"), BEFORE_ANY_RUN)
def test_a_mistake_is_told_before_anything_runs(text: str, said: str, write: Write) -> None:
    with pytest.raises(VariantError) as error, active(variants_of(f"shipped+{write(text)}")):
        pass
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("body", "said"), [
    ("    return self.add_subscription(sub_list)", "mine.py:7: AttributeError: 'ReportedGroupInfo' object has no"),
    ("    self.subscription_table = None", "mine.py: with it "),
])
def test_an_exception_at_the_first_call_is_one_line(body: str, said: str, write: Write) -> None:
    subject = subject_on("shipped", write(HEAD + UPDATE + body + TAIL))
    with pytest.raises(BadInputError) as error:
        run(Plan(subject, "smallest", "calm"), ReplayTape([]))
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(BadInputError) as error:
        list(judge.judged("subscription", subject, Effort(0, 3, 3)))
    assert said in str(error.value)


def test_an_error_of_a_judge_is_no_mistake_of_the_file(write: Write) -> None:
    subject = subject_named(subject_on("shipped", write(HEAD + UPDATE + "    return True" + TAIL)))
    with pytest.raises(KeyError), subject.telling_mistakes():
        vars(subject)["none"]


def test_what_a_judge_has_seen_in_the_midst_of_a_files_code_is_no_mistake_of_it(write: Write) -> None:
    subject = subject_named(subject_on("shipped", write(HEAD + UPDATE + "    return True" + TAIL)))
    names: dict[str, Any] = {}
    exec(compile("def lived(judge):\n    judge()", subject.composed.files[0], "exec"), names)  # noqa: S102  # as if there

    def seen() -> None:
        raise SeenError

    with pytest.raises(SeenError), subject.telling_mistakes():
        names["lived"](seen)


SPINS = HEAD + UPDATE + '    while True:\n        await threads.interleave("again")' + TAIL
HANGS = HEAD + UPDATE + "    while True:\n        pass" + TAIL


def test_a_change_that_does_not_end_is_unknown_and_no_mistake(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds_run, "MAX_SEGMENTS", 5_000)
    record = run(Plan(subject_on("shipped", write(SPINS)), "smallest", "calm"), ReplayTape([]))
    assert record.endless
    assert re.search(r"mine.py:5: changed does not end \([\d,]+ segments and only ", record.unknown)


def test_a_change_that_never_waits_is_given_up_and_the_same_is_said_each_time(
    write: Write, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worlds_run, "STANDS_S", 0.2)
    plan = Plan(subject_on("shipped", write(HANGS)), "smallest", "calm")
    first, second = (run(plan, ReplayTape([])) for _ in range(2))
    assert first.endless
    assert first.unknown.endswith("mine.py:5: changed does not end (0.2 s of CPU time are over)")
    assert (first.unknown, first.digest) == (second.unknown, second.digest)
    assert not run(Plan("shipped", "smallest", "calm"), ReplayTape([])).endless


@pytest.mark.parametrize(("text", "said"), [
    (SPINS, "changed does not end (15,001 segments and only "),
    (HANGS, "changed does not end (0.2 s of CPU time are over)"),
])
def test_a_search_gives_up_a_change_that_does_not_end_and_says_where(
    text: str, said: str, write: Write, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "MAX_SEGMENTS", 5_000)
    monkeypatch.setattr(machine, "DEED_S", 0.2)
    told: list[str] = []
    (row,) = judge.judged("subscription", subject_on("shipped", write(text)), Effort(0, 5, 3), tell=told.append)
    assert row.outcome is Outcome.UNKNOWN
    assert row.note.startswith("2 programs could not be judged: ")
    assert "mine.py:" in row.note
    assert said in row.note
    assert row.cost["programs"] < 5, "no other is tried"
    assert told == ["0 of 5 programs, 0 deeds, 0 properties broken"]


# Changes as committers make them --------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["shipped", None])
@pytest.mark.parametrize("file", EXAMPLES, ids=[file.stem for file in EXAMPLES])
def test_a_change_of_a_committer_runs_on_its_base(file: Path, base: str | None) -> None:
    subject = subject_named(subject_on(base, str(file)))
    with subject.running() as calls, group_world(RandomTape(3), STORMY, orderly=True) as world:
        world.strike()
        world.run(60_000)
        world.heal()
        world.run(10_000)
    assert bool(sum(calls.values())) is (file.stem not in NOT_CALLED) or base is None


def test_whatever_a_repair_replaces_can_be_changed_above_it() -> None:
    repaired = variants_of("repaired")
    places = {(one.owner, one.attribute): vars(one.owner)[one.attribute]
              for repair in repaired for one in repair.replacements}
    assert len(places) > 60
    for (owner, attribute), function in places.items():
        own = change(Replacement(owner, attribute, function))
        with active((*repaired, own), (own,)) as calls:
            assert len(calls) == 1
        assert covers(repaired, own)
        assert covers(variants_of(foundation_of(own)), own) == []


def test_there_are_changes_of_every_kind_of_code() -> None:
    places = {one.place for file in EXAMPLES for one in load_variant(str(file)).replacements}
    assert len(EXAMPLES) >= 15
    assert len(places) > 20
    assert {load_variant(str(file)).kind for file in EXAMPLES} == {"change", "repair"}


def test_who_calls_the_function_that_is_changed_covers_it_too() -> None:
    called = next(file for file in EXAMPLES if file.stem == "shipped_loop")
    found = covers(variants_of("repaired"), load_variant(str(called)))
    assert [(repair.name, place) for repair, place in found] == [
        ("update_in_one_step", "ConsumerGroupInfo.add_subscriptions"),
        ("put_in_one_step", "ConsumerGroupInfo.add_subscriptions")]
    assert covers(variants_of("repaired-B-29"), load_variant(str(called))) == []


def test_replace_notes_where_it_stands() -> None:
    declared = replace(Meter, "read")(nothing)
    assert declared.where.startswith(f"{__file__}:")
