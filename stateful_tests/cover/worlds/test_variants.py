"""Variants: the engine on toys, and the catalogue: nothing is missing, everything fits, all of it goes away again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from impl.broker.consumer_manager import ConsumerManager
from impl.client import rebalance, rebalance_push
from impl.client.process_queue import ProcessQueue
from impl.common.headers.shape import SHAPES
from impl.decisions import allocation, retry_level, start_offset
from impl.decisions.allocation import AllocateMessageQueueByMachineRoom
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import ConsumeFromWhere, Source
from impl.hash_map import HashMap
from impl.hosts.simulation.tape import RandomTape
from impl.remoting import custom_headers
from impl.remoting.remoting_command import RemotingCommandError
from impl.variants.catalogue import BUGS, NO_REPAIR, NOT_EXPRESSIBLE, REPAIRS
from impl.variants.stack import active
from impl.variants.subjects import variants_of
from impl.variants.variant import Replacement, Variant, VariantError, around, load_variant, replace
from invariants.hazards import HAZARDS
from stateful_tests.stories.storm import STORMY, group_world
from stateful_tests.worlds.subjects import DECLARED

PUSH = vars(rebalance_push)
"""What RebalancePushImpl's module has imported by name."""

# The engine -----------------------------------------------------------------------------------------------------------


class Clock:
    """A toy."""

    unit = "ms"

    def tick(self, by: int) -> int:
        return by

    async def wait(self, by: int) -> int:
        return by


class Watch(Clock):
    """Another one."""


def scaled(factor: int) -> Callable[[Callable[[Clock, int], int]], Callable[[Clock, int], int]]:
    def make(original: Callable[[Clock, int], int]) -> Callable[[Clock, int], int]:
        def tick(self: Clock, by: int) -> int:
            return factor * original(self, by)

        return tick

    return make


@replace(Clock, "tick")
def backwards(self: Clock, by: int) -> int:
    del self
    return -by


DOUBLED, TENFOLD = (Replacement(Clock, "tick", scaled(factor), around=True) for factor in (2, 10))


def bug(*replacements: Replacement, name: str = "a", over: tuple[str, ...] = ()) -> Variant:
    return Variant(name, "bug", "It is wrong.", "nowhere", replacements=replacements, over=over)


def test_a_replacement_is_there_in_the_block_alone() -> None:
    shipped = vars(Clock)["tick"]
    with active([bug(backwards)]):
        assert Clock().tick(3) == Watch().tick(3) == -3
    assert vars(Clock)["tick"] is shipped
    with pytest.raises(KeyError), active([bug(backwards)]):
        raise KeyError
    assert vars(Clock)["tick"] is shipped
    with active([]):
        assert vars(Clock)["tick"] is shipped


def test_replacements_around_stack_in_their_order_and_a_shared_one_is_made_once() -> None:
    with active([bug(backwards), bug(DOUBLED, name="b"), bug(TENFOLD, DOUBLED, name="c")]):
        assert Clock().tick(3) == -60
    with active([bug(DOUBLED)]), active([bug(TENFOLD, name="b")]):
        assert Clock().tick(3) == 60
    with active([bug(DOUBLED)]):
        assert Clock().tick(3) == 6


def test_who_replaces_what_another_variant_has_replaced_says_so() -> None:
    other = Replacement(Clock, "tick", lambda self, by: by + 1)  # noqa: ARG005  # a method
    message = r"variants a and b both replace Clock.tick: name a in `over` of b"
    with pytest.raises(VariantError, match=message), active([bug(backwards), bug(other, name="b")]):
        pass
    with active([bug(backwards), bug(other, name="b", over=("a",))]):
        assert Clock().tick(3) == 4


def test_the_innermost_function_is_replaced_and_what_stands_around_stays() -> None:
    with active([bug(DOUBLED), bug(backwards, name="b")]):
        assert Clock().tick(3) == -6
    with active([bug(DOUBLED), bug(TENFOLD, name="b"), bug(backwards, name="c", over=("a",))]):
        assert Clock().tick(3) == -30


def deaf(_: Callable[[Clock, int], int]) -> Callable[[Clock, int], int]:
    def tick(self: Clock, by: int) -> int:
        del self
        return by

    return tick


def both(original: Callable[[Clock, int], int]) -> Callable[[Clock, int], int]:
    def tick(self: Clock, by: int) -> int:
        return original(self, by) + original(self, by)

    return tick


TWICE = Replacement(Clock, "tick", both, around=True)
DEAF = Replacement(Clock, "tick", deaf, around=True)


class Board:
    """Nobody makes one; what inherits from it is made."""

    def name(self) -> str:
        return "board"

    def size(self) -> int:
        return 1

    def plain(self) -> int:
        return 1


class White(Board):
    def name(self) -> str:
        return "white"

    def size(self) -> int:
        return 2 * super().size()


def test_what_stands_around_without_calling_hides_a_replacement_which_is_refused() -> None:
    with active([bug(DEAF)]):
        assert Clock().tick(3) == 3
    message = r"variant b replaces .*Clock.tick: that is never called, as a stands around .*; name a in `over` of b"
    with pytest.raises(VariantError, match=message), active([bug(DEAF), bug(backwards, name="b")]):
        pass
    with active([bug(DEAF), bug(backwards, name="b", over=("a",))]):
        assert Clock().tick(3) == -3
    with active([bug(backwards), bug(DEAF, name="b")]):  # who comes later knows what it leaves out
        assert Clock().tick(3) == 3


def test_a_method_that_every_heir_has_of_its_own_is_refused() -> None:
    name, size, plain = (Replacement(Board, one, lambda self: 7) for one in ("name", "size", "plain"))  # noqa: ARG005
    with pytest.raises(VariantError, match=r"Board.name: that is never called, as White has .*; replace White.name"), \
            active([bug(name)]):
        pass
    with active([bug(size, plain)]):
        assert (White().size(), White().plain()) == (14, 7)
    with active([bug(name, Replacement(White, "name", lambda self: f"white {Board.name(self)}"))]):
        assert White().name() == "white 7"


def test_a_table_that_hides_a_method_of_the_implementation_is_named() -> None:
    lost = Replacement(ConsumerManager, "get_or_create_group", lambda self, consumer_data: None)  # noqa: ARG005
    with pytest.raises(VariantError, match=r"as ReportedConsumerManager has a method of its own"), active([bug(lost)]):
        pass


def test_calls_are_counted_where_a_variant_stands_or_would_stand() -> None:
    with active([bug(backwards), bug(DOUBLED, name="b")], [bug(backwards)]) as calls:
        assert [Clock().tick(3), Clock().tick(4)] == [-6, -8]
    assert calls == {"Clock.tick": 2}
    with active([bug(DOUBLED)], [bug(backwards, name="b")]) as calls:
        Clock().tick(3)
    assert calls == {"Clock.tick": 1}
    with active([bug(DOUBLED), bug(TENFOLD, name="b")], [bug(TENFOLD, name="b")]) as calls:
        assert Clock().tick(1) == 20
    assert calls == {"Clock.tick": 1}
    with active([bug(TWICE), bug(backwards, name="b")], [bug(TWICE)]) as calls:
        assert Clock().tick(3) == -6
    assert calls == {"Clock.tick": 1}  # its own calls, not those that it makes
    with active([bug(backwards)], [bug(backwards)]) as calls:
        assert calls == {"Clock.tick": 0}


@pytest.mark.parametrize(("replacement", "cure"), [
    (Replacement(Clock, "tock", backwards.value), "Clock.tock: there is none; correct the name"),
    (Replacement(Watch, "tick", backwards.value), "Watch.tick: it is inherited; name Clock.tick"),
    (Replacement(Clock, "unit", backwards.value), "Clock.unit: it is no function; name one"),
    (Replacement(rebalance, "_in_order", backwards.value),
     r"it is cached, .* name a plain function that calls it: impl.client.rebalance.RebalanceImpl.rebalance_by_topic$"),
    (Replacement(allocation, "md5_hash", backwards.value), "name a plain function that uses it$"),
    (Replacement(allocation, "averagely", backwards.value), "impl.decisions.allocation.averagely: there is none"),
    (Replacement(Clock, "tick", lambda self: 0), r"give its function the parameters \(self, by"),  # noqa: ARG005
    (Replacement(Clock, "wait", lambda self, by: by), "make its function `async def`"),  # noqa: ARG005  # a method
])
def test_a_replacement_that_does_not_fit_is_refused_in_one_line(replacement: Replacement, cure: str) -> None:
    before = dict(vars(Clock))
    with pytest.raises(VariantError, match=cure) as error, active([bug(replacement)]):
        pass
    assert "\n" not in str(error.value)
    assert dict(vars(Clock)) == before


def test_a_function_is_replaced_wherever_it_was_imported_by_its_name() -> None:
    shipped, late = start_offset.start_offset, ModuleType("imported_late")

    @around(start_offset, "start_offset")
    def one_more(original: Callable[..., int]) -> Callable[..., int]:
        def changed(source: Source, stored: int, max_offset: int, searched_offset: int) -> int:
            return 1 + original(source, stored, max_offset, searched_offset)

        return changed

    with active([bug(one_more)]):
        assert PUSH["start_offset"](Source.STORED, 5, -1, -1) == 6
        assert start_offset.start_offset(Source.STORED, 5, -1, -1) == 6
        vars(late)["start_offset"] = start_offset.start_offset  # as an import in the block would
        sys.modules["imported_late"] = late
    del sys.modules["imported_late"]
    assert PUSH["start_offset"] is start_offset.start_offset is vars(late)["start_offset"] is shipped


def test_a_function_is_replaced_in_the_tables_that_hold_it() -> None:
    shape, fields = SHAPES["CreateTopicRequestHeader"], HashMap[str | None, str | None]()
    fields.put("topicFilterType", "ODD")
    accepts_all = Replacement(custom_headers, "_check_topic", lambda values: None)  # noqa: ARG005  # takes what it took
    with active([bug(accepts_all)], [bug(accepts_all)]) as calls:
        custom_headers.decode_custom_header(shape, fields)
    assert calls == {"impl.remoting.custom_headers._check_topic": 1}
    with pytest.raises(RemotingCommandError):
        custom_headers.decode_custom_header(shape, fields)


# Files of one's own ---------------------------------------------------------------------------------------------------

OWN = """
from impl.client.process_queue import ProcessQueue
from impl.variants.variant import Variant, replace

@replace(ProcessQueue, "is_pull_expired")
def never(self):
    return False

VARIANT = Variant("mine", "bug", "No pull is ever late.", "mine", replacements=(never,))
"""


def test_a_file_of_ones_own_is_a_variant_on_top_of_the_repairs(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(OWN, "utf-8")
    assert load_variant(str(path)).name == "mine"
    assert [variant.name for variant in variants_of(f"repaired+{path}")] == [*REPAIRS, "mine"]
    with active(variants_of(f"repaired+{path}")):
        assert ProcessQueue(lambda: 10**9).is_pull_expired() is False


@pytest.mark.parametrize(("source", "cure"), [
    ("x = 1", "defines no VARIANT: assign it"),
    ("VARIANT = 1", "defines no VARIANT: assign it"),
    ("import no_such_module\n", "cannot be imported: mend it first .ModuleNotFoundError"),
    ("def", "cannot be imported: mend it first .SyntaxError"),
    (None, "no file .*: give the path of a Python file that defines VARIANT"),
    (OWN.replace("is_pull_expired", "is_push_expired"), "ProcessQueue.is_push_expired: there is none"),
    (OWN.replace("(never,)", "(never,), over=('nobody',)"), "there is no such repair"),
])
def test_a_file_that_is_no_variant_is_refused_in_one_line(tmp_path: Path, source: str | None, cure: str) -> None:
    path = tmp_path / "mine.py"
    if source is not None:
        path.write_text(source, "utf-8")
    with pytest.raises(VariantError, match=cure) as error, active(variants_of(f"repaired+{path}")):
        pass
    assert "\n" not in str(error.value)


# The catalogue --------------------------------------------------------------------------------------------------------

REPAIRED_HAZARDS = sorted({hazard for repair in REPAIRS.values() for hazard in repair.hazards})
SUBJECTS = ("shipped", "repaired", *(f"repaired+{name}" for name in BUGS), *(f"repaired-{h}" for h in REPAIRED_HAZARDS))

KNOWN_ENTRIES = """
ns-unregister-by-id ns-stale-expiry-wipes-fresh ns-first-register-partial ns-dataversion-never-equal
ns-prime-slave-perm-wiped ns-clusterinfo-unlocked
bc-sub-overwrite-flipflop bc-subversion-not-bumped bc-topic-group-index-value bc-fast-close-misses-short-heartbeat
bc-same-client-id bc-reconnect-listed-twice bc-divergent-member-view bc-unsubscribed-still-member
rb-machineroom-wrong-list rb-nearby-leftover-imbalance rb-unsigned-underflow rb-one-topic-aborts-all rb-two-pull-loops
rb-mutate-while-iterating
ol-consume-while-releasing ol-locked-flag-not-set ol-lock-everyone ol-fast-path-race ol-infinite-retry
ol-unlock-missing-on-leave ol-go-retrylater-skips
po-error-read-as-absent po-fetch-failure-commits-zero po-commit-map-race po-reset-vs-inflight po-commit-flag-to-slave
po-search-by-time po-broadcast-illegal-loop po-deleted-group-keeps-offset po-cpp-ordered-early-commit
po-shadowed-result
fc-size-not-reduced fc-visible-before-cached fc-expired-then-failed fc-permit-leak-on-panic fc-commit-interleave
rt-delay-skip-on-failure rt-delay-progress-constant rt-delay-replayed rt-slave-clamps-with-own-queue
rt-limit-default-minus-one rt-wrong-batch-sent-back
tx-immunity-boundary tx-check-exception-stalls tx-queue-full-loses-check tx-clock-skew
pr-latency-ignores-last pr-avoid-becomes-force pr-async-no-retry-on-connect pr-counter-wraps
pr-retry-single-broker-null pr-go-shadowed-last-broker
xl-subversion-units xl-allocation-functions-differ xl-shared-client-closed
st-cq-duplicate-dispatch st-cq-gap-on-failed-append st-find-file-race st-index-slot-count st-index-time-overflow
st-initial-reput st-offset-lock-granularity st-offset-table-key st-reput-thread-dies st-reput-wrong-increment
st-stale-min-offset st-truncation-not-crash-safe
fl-error-swallowed fl-second-flush-unchecked fl-timeout-is-ok
ha-delay-table-not-reloaded ha-five-wakeups ha-garbage-ack ha-report-starved ha-rust-append-start
cl-delete-middle cl-multipath-ratio cl-recover-position-error
"""
KNOWN = KNOWN_ENTRIES.split()


def test_every_hazard_that_a_property_names_is_repaired_or_said_to_have_no_repair() -> None:
    named = {hazard for declared in DECLARED.values() for hazard in declared.expected.hazards}
    assert named - set(REPAIRED_HAZARDS) - set(NO_REPAIR) == set()
    assert len(named) > 25
    assert set(REPAIRED_HAZARDS) & set(NO_REPAIR) == set()


def test_every_known_bug_of_these_parts_is_planted_or_said_not_to_be_expressible() -> None:
    seeded = {name for name in BUGS if name.startswith("seeded-")}
    assert set(KNOWN) ^ (set(BUGS) - seeded | set(NOT_EXPRESSIBLE)) == {"ol-unlock-other-topics"}  # a second mutation
    assert set(BUGS) & set(NOT_EXPRESSIBLE) == set()
    assert len(seeded) > 10


def test_each_variant_says_what_it_is() -> None:
    for variants, kind in ((REPAIRS, "repair"), (BUGS, "bug")):
        for name, variant in variants.items():
            assert (variant.name, variant.kind) == (name, kind)
            assert variant.sentence.endswith(".")
            assert variant.cite
            assert variant.replacements or variant.undoes
            assert {*variant.undoes, *variant.over} <= set(REPAIRS)
    assert not any(repair.undoes or repair.over for repair in REPAIRS.values())
    assert not any(planted.hazards for planted in BUGS.values())
    assert {hazard for hazard in NO_REPAIR if hazard in HAZARDS} >= {"D1", "D2", "D3", "D4", "D7"}


Standing = dict[str, dict[str, Any]]
"""Module, or module and class, to what stands there under each name."""


def everything() -> Standing:
    """What stands under every name in the implementation and in whoever has imported from it."""
    found: Standing = {}
    for module in [module for name, module in sys.modules.items() if name.partition(".")[0] in ("impl", "invariants")]:
        found[module.__name__] = dict(vars(module))
        found |= {f"{module.__name__}.{name}": dict(vars(value)) for name, value in vars(module).items()
                  if isinstance(value, type) and value.__module__ == module.__name__}
    return found


def changed(before: Standing, after: Standing) -> list[tuple[str, str]]:
    found = []
    for owner in before | after:
        old, new = before.get(owner, {}), after.get(owner, {})
        if [*map(id, old.values())] != [*map(id, new.values())]:  # or only their order has
            found += [(owner, name) for name in old | new if old.get(name) is not new.get(name) and name != "__doc__"]
    return found


def test_every_subject_can_be_had_and_goes_away_without_a_trace() -> None:
    variants_of("repaired")
    before = everything()
    for subject in SUBJECTS:
        with active(variants_of(subject)):
            inside = changed(before, everything())
            places = {(r.owner.__name__, r.attribute) for v in variants_of(subject) for r in v.replacements}
            assert {(owner.rpartition(".")[2], name) for owner, name in inside} >= {
                (owner.rpartition(".")[2], name) for owner, name in places
            }
            assert bool(inside) is (subject != "shipped")
        assert changed(before, everything()) == []
    assert len(SUBJECTS) > 80


def test_a_subject_has_the_variants_that_its_name_says() -> None:
    assert variants_of("shipped") == ()
    assert variants_of("repaired") == tuple(REPAIRS.values())
    assert [v for v in REPAIRS.values() if v not in variants_of("repaired-N-1")] == [REPAIRS["unregister_own_address"]]
    undone = variants_of("repaired+ns-unregister-by-id")
    assert undone == (*variants_of("repaired-N-1"), BUGS["ns-unregister-by-id"])


@pytest.mark.parametrize(("subject", "cure"), [
    ("repaird", "no subject 'repaird': say shipped, repaired"),
    ("repaired+ns-unregister-by-name", "no planted bug 'ns-unregister-by-name': say ns-unregister-by-id"),
    ("repaired-B-99", "no repair is for hazard 'B-99': say one of B-1, B-10"),
    ("repaired-D1", "hazard D1 has no repair that could be left out"),
    ("repaired+", "no planted bug ''"),
])
def test_a_subject_that_is_none_is_refused_in_one_line(subject: str, cure: str) -> None:
    with pytest.raises(VariantError, match=cure) as error:
        variants_of(subject)
    assert "\n" not in str(error.value)


# Planted bugs ---------------------------------------------------------------------------------------------------------

ROOMS = [MessageQueue("T", f"{room}@b", k) for room in ("r1", "r2") for k in range(4)]
DECISIONS: dict[str, Callable[[], object]] = {
    "rb-machineroom-wrong-list": lambda: AllocateMessageQueueByMachineRoom(frozenset({"r2"})).allocate(
        "G", "a", ROOMS, ["a", "b"]),
    "rb-unsigned-underflow": lambda: allocation.averagely_range(1, 3, 2),
    "ol-infinite-retry": lambda: retry_level.goes_to_dead_letters(16, 0, 16),
    "po-fetch-failure-commits-zero": lambda: PUSH["start_offset"](Source.NONE, -2, -1, -1),
    "po-shadowed-result": lambda: PUSH["start_offset_source"](
        ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, -1, retry_topic=True),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_a_bug_of_a_decision_changes_it(name: str) -> None:
    right = DECISIONS[name]()
    with active(variants_of(f"repaired+{name}")):
        assert DECISIONS[name]() != right
    assert DECISIONS[name]() == right


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_runs(name: str) -> None:
    orderly = len(name) % 2 == 0
    with active(variants_of(f"repaired+{name}")), group_world(RandomTape(3), STORMY, orderly=orderly) as world:
        world.strike()
        world.run(60_000)
        world.heal()
        world.run(10_000)
        assert world.simulation.kernel.segments > 500
