"""What is so of offsets in a run: how far clients are, what they were told, and for how long somebody stood still."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from math import inf
from typing import Any

import pytest

from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullCode
from impl.events import (
    DiskFilled,
    GroupOffsetsRemoved,
    MessageAppended,
    MessagesFound,
    MessagesSettled,
    OffsetAnswered,
    OffsetCommitted,
    OffsetCorrected,
    OffsetSent,
    OffsetUpdated,
    ProcessPaused,
    PullAnswered,
    PullBegun,
    PullFailed,
    PullSuspended,
    QueueTaken,
    SubscriptionUpdated,
    TimerJobBegan,
    TimerJobEnded,
)
from invariants.rules.bounds import Bounds
from invariants.rules.facts import Facts
from invariants.rules.offset_facts import (
    Progress,
    Span,
    is_of_another,
    is_on_another,
    is_on_the_same,
    put_last,
    time_outside,
    was_corrected,
    was_forgotten,
    was_read_early,
)
from invariants.rules.past import Past
from invariants.rules.rule import Rule
from invariants.rules.watch import Run
from stateful_tests.rules.written import Tables

B, C, G = "broker-a", "c1", "G"
MQ = MessageQueue("orders", B, 0)
MINE = C, G, MQ
Record = tuple[int, str, Any]


def facts_of(*records: Record) -> Facts:
    """What is so behind these records."""
    facts = Facts()
    hears = [*chain.from_iterable(table.hears() for table in facts.tables()), *facts.before()]
    for ms, at, event in records:
        for kind, hear in hears:
            if kind is type(event):
                hear(ms, at, event)
    return facts


def past_of(*records: Record) -> Past:
    """The same records, for who looks back."""
    past = Past()
    past.records.extend(records)
    return past


# Time -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("until_ms", "spans", "outside"), [
    (10, [], 10), (10, [(2, 5)], 7), (10, [(4, 6), (2, 5)], 6), (10, [(2, 8), (3, 5)], 4), (10, [(-5, 2)], 8),
    (10, [(12, 20)], 10), (10, [(8, 20)], 8), (0, [(0, 5)], 0), (inf, [], inf), (inf, [(5, inf)], inf),
])
def test_the_time_outside_of_spans_is_counted_once_and_all_of_a_time_that_does_not_end(
    until_ms: float, spans: list[Span], outside: float,
) -> None:
    assert time_outside(0, until_ms, spans) == outside


@pytest.mark.parametrize(("since_ms", "still_ms"), [(0, 8), (10, 8), (12, 6), (18, 0), (19, 0), (30, 0)])
def test_a_process_stands_still_from_its_pauses_on(since_ms: int, still_ms: int) -> None:
    facts = facts_of((10, C, ProcessPaused(5)), (12, C, ProcessPaused(6)), (11, "c2", ProcessPaused(99)))
    assert facts.stood_still_ms(C, since_ms) == still_ms
    assert facts.standing_ms == {(C,): 18, ("c2",): 110}


def test_what_a_client_was_told_is_recent_for_as_long_but_for_the_time_it_stood_still() -> None:
    told = 10, B, OffsetAnswered(B, G, "orders", 0, f"{C}:1", 7)
    for still, last_ms in (((12, "c2", ProcessPaused(5)), 10), ((12, C, ProcessPaused(5)), 15)):
        facts = facts_of(told, still)
        assert [one.offset for one in facts.recent_answers(*MINE, last_ms)] == [7]
        assert facts.recent_answers(*MINE, last_ms + 1) == []


@pytest.mark.parametrize(("since_ms", "until_ms", "had_none"), [
    (0, 9, False), (0, 10, True), (12, 13, True), (20, 39, True), (21, 39, False), (21, 40, True), (99, 99, True),
])
def test_a_disk_has_no_room_while_it_is_full(since_ms: int, until_ms: int, had_none: bool) -> None:
    fills = [(ms, B, DiskFilled(percent)) for ms, percent in ((5, 99), (10, 100), (20, 99), (30, 0), (40, 100))]
    assert facts_of(*fills).had_no_room(B, since_ms, until_ms) is had_none
    assert not facts_of(*fills).had_no_room("broker-b", since_ms, until_ms)


# Pulls ----------------------------------------------------------------------------------------------------------------


def answered(code: PullCode = PullCode.SUCCESS, going_on: int = 9) -> Record:
    """A broker answers a pull."""
    return 4, C, PullAnswered(*MINE, code, going_on)


def pulls(ms: int) -> Record:
    """A pull begins."""
    return ms, C, PullSuspended(*MINE, 5)


FAILED = (3, C, PullFailed(*MINE))


@pytest.mark.parametrize(("records", "began_ms"), [
    ((), None), ((pulls(1),), 1), ((pulls(1), pulls(2)), None), ((pulls(1), pulls(2), FAILED), None),
    ((pulls(1), pulls(2), FAILED, FAILED), None), ((pulls(1), pulls(2), answered(), answered(), pulls(5)), 5),
    ((pulls(1), FAILED, pulls(5)), 5),
])
def test_a_pull_has_begun_when_no_other_one_is_on_its_way(records: tuple[Record, ...], began_ms: int | None) -> None:
    assert facts_of(*records).pulled_ms(C, answered()[2]) == began_ms


TAKEN = (1, C, QueueTaken(*MINE, 5))
FILTERS, WANTS_ALL = ((0, B, SubscriptionUpdated(B, G, "orders", text, 1, attached=True)) for text in ("red", "*"))
FOUND = (4, C, MessagesFound(*MINE, (6, 7)))
SETTLED = (5, C, MessagesSettled(*MINE, (6,)))


@pytest.mark.parametrize(("records", "end", "may_commit", "left_out"), [
    # Of what is found the client goes on behind what the broker says; only who filters may pass the rest.
    ((FILTERS, answered(), FOUND), 8, 6, {5, 8}), ((FILTERS, answered(), FOUND, SETTLED), 8, 7, {5, 8}),
    ((FILTERS, answered(), FOUND, (5, C, MessagesSettled(*MINE, (6, 7)))), 8, 9, {5, 8}),
    ((WANTS_ALL, answered(), FOUND, (5, C, MessagesSettled(*MINE, (6, 7)))), 8, 8, {5, 8}),
    ((FILTERS, answered(going_on=8), FOUND, (5, C, MessagesSettled(*MINE, (6, 7)))), 8, 8, {5}),
    ((FILTERS, answered(going_on=6), (4, C, MessagesFound(*MINE, (5,))), (5, C, MessagesSettled(*MINE, (5,)))),
     6, 6, set()),
    # Of an answer without messages.
    ((FILTERS, answered(PullCode.PULL_RETRY_IMMEDIATELY, 8)), 5, 8, {5, 6, 7}),
    ((WANTS_ALL, answered(PullCode.PULL_RETRY_IMMEDIATELY, 8)), 5, 5, {5, 6, 7}),
    ((FILTERS, answered(PullCode.PULL_RETRY_IMMEDIATELY, 5)), 5, 5, set()),
    ((FILTERS, answered(PullCode.PULL_NOT_FOUND, 8)), 5, 5, {5, 6, 7}),
    ((FILTERS, answered(PullCode.PULL_OFFSET_MOVED, 8)), 5, 5, set()),
    # Of messages that the client has dropped, each of them: that is so when it pulls again.
    ((FILTERS, answered()), 5, 5, set()), ((FILTERS, answered(), pulls(6)), 5, 9, set()),
    ((WANTS_ALL, answered(), pulls(6)), 5, 5, set()), ((FILTERS, answered(PullCode.PULL_NOT_FOUND), pulls(6)), 5, 5,
                                                       {5, 6, 7, 8}),
    ((FILTERS, answered(PullCode.PULL_RETRY_IMMEDIATELY), answered(going_on=7), pulls(6)), 5, 9, {5, 6, 7, 8}),
])
def test_how_far_a_client_is_and_what_it_may_commit(
    records: tuple[Record, ...], end: int, may_commit: int, left_out: set[int],
) -> None:
    facts = facts_of(TAKEN, *records)
    progress: Progress = facts.progress[MINE]
    assert (progress.end, progress.may_commit) == (end, may_commit)
    assert facts.left_out.get((G, MQ), set()) == left_out


def test_nothing_is_known_of_a_queue_that_nobody_was_seen_to_take() -> None:
    facts = facts_of(FILTERS, answered(), FOUND, SETTLED, answered(PullCode.PULL_RETRY_IMMEDIATELY), pulls(6),
                     (7, C, PullBegun(*MINE, 6)), (8, B, OffsetAnswered(B, G, "orders", 0, f"{C}:1", 7)))
    assert MINE not in facts.progress
    assert facts.left_out == {(G, MQ): set()}


def test_what_is_open_holds_up_all_behind_it_and_what_is_settled_has_its_time() -> None:
    found = (4, C, MessagesFound(*MINE, (5, 6, 7)))
    progress: Progress = facts_of(TAKEN, found, SETTLED).progress[MINE]
    assert (progress.all_below, progress.open, progress.settled_ms) == (5, {5, 7}, {6: 5})
    assert facts_of(TAKEN, found, (9, C, MessagesSettled(*MINE, (5, 6, 7)))).progress[MINE].all_below == 8


def test_the_greatest_offset_that_a_client_was_told_is_kept() -> None:
    told = [(ms, B, OffsetAnswered(B, G, "orders", 0, f"{C}:1", offset)) for ms, offset in ((2, 9), (3, 7))]
    assert facts_of(TAKEN, *told).progress[MINE].told == 9
    assert facts_of(TAKEN, told[1], (4, C, PullBegun(*MINE, 8))).progress[MINE].told == 8


# Trails ---------------------------------------------------------------------------------------------------------------


def remembers(offset: int, at: str = C, ms: int = 2) -> Record:
    """A client puts an offset into its memory."""
    return ms, at, OffsetUpdated(at, G, MQ, offset)


def test_of_equal_offsets_in_a_row_a_trail_has_the_first() -> None:
    noted = facts_of(remembers(5), remembers(5, ms=3), remembers(6), remembers(6, "c2"), remembers(5, "c2"),
                     remembers(5, ms=4)).remembered[G, MQ]
    assert [(one.ms, one.at, one.offset) for one in noted] == [
        (2, C, 5), (2, C, 6), (2, "c2", 6), (2, "c2", 5), (4, C, 5)]


def test_a_broker_has_committed_the_last_of_each_queue() -> None:
    commits = [(2, B, OffsetCommitted(B, G, "orders", queue_id, offset))
               for queue_id, offset in ((0, 5), (1, 6), (0, 4))]
    assert facts_of(*commits).committed == {(B, G, "orders"): {0: 4, 1: 6}}
    assert facts_of(*commits, (3, B, GroupOffsetsRemoved(B, G))).committed == {}


@pytest.mark.parametrize(("connection", "other", "answers"), [
    ("c1:1", "c2:1", (True, False, False)), ("c1:1", "c1:1", (False, True, False)),
    ("c1:1", "c1:2", (False, False, True)), ("", "c2:1", (False, False, False)), ("c1:1", "", (False, False, False)),
    ("", "", (False, False, False)), ("c1:1", "c1:", (False, False, False)),
])
def test_two_commits_come_from_two_machines_on_one_connection_or_on_two_of_one_machine(
    connection: str, other: str, answers: tuple[bool, bool, bool],
) -> None:
    asked: tuple[Callable[[str, str], bool], ...] = is_of_another, is_on_the_same, is_on_another
    assert tuple(one(connection, other) for one in asked) == answers


# Looking back ---------------------------------------------------------------------------------------------------------


BEGAN, ENDED = (2, C, TimerJobBegan(C, "persistAllConsumerOffset", 5_000)), (
    2, C, TimerJobEnded(C, "persistAllConsumerOffset"))
OF_ANOTHER, HEARTBEATS = (2, C, TimerJobBegan("c1@2", "persistAllConsumerOffset", 5_000)), (
    2, C, TimerJobBegan(C, "sendHeartbeatToAllBroker", 5_000))


@pytest.mark.parametrize(("records", "was"), [
    ((BEGAN, TAKEN, remembers(6)), True), ((BEGAN, TAKEN), False), ((BEGAN, remembers(6)), False),
    ((BEGAN, remembers(6), TAKEN), False), ((TAKEN, remembers(6)), False), ((TAKEN, BEGAN, remembers(6)), False),
    ((BEGAN, TAKEN, ENDED, remembers(6)), False), ((BEGAN, TAKEN, remembers(6), ENDED), True),
    ((BEGAN, ENDED, BEGAN, TAKEN, remembers(6)), True), ((BEGAN, ENDED, TAKEN, BEGAN, remembers(6)), False),
    ((OF_ANOTHER, TAKEN, remembers(6)), False), ((HEARTBEATS, TAKEN, remembers(6)), False),
    ((TAKEN, BEGAN, TAKEN, remembers(6)), True), ((BEGAN, TAKEN, remembers(5), ENDED, remembers(6)), False),
])
def test_the_timer_may_forget_what_was_taken_and_remembered_while_it_was_at_it(
    records: tuple[Record, ...], was: bool,
) -> None:
    assert was_forgotten(past_of(*records), *MINE) is was


CORRECTED = (10, C, OffsetCorrected(*MINE, 5))


@pytest.mark.parametrize(("records", "was"), [
    ((CORRECTED, TAKEN, remembers(6, ms=15)), True), ((CORRECTED, TAKEN, remembers(6, ms=16)), False),
    ((TAKEN, CORRECTED, remembers(6, ms=15)), False), ((CORRECTED, remembers(6, ms=15)), False),
    ((TAKEN, remembers(6, ms=15)), False), ((CORRECTED, TAKEN), False), ((), False),
])
def test_a_correction_may_forget_what_was_remembered_of_a_later_holding_soon(
    records: tuple[Record, ...], was: bool,
) -> None:
    assert was_corrected(past_of(*records), *MINE, within_ms=5) is was


SENT = (4, C, OffsetSent(*MINE, 6))


@pytest.mark.parametrize(("records", "was"), [
    ((remembers(7), SENT), True), ((remembers(6), SENT), False), ((SENT, remembers(7)), False), ((SENT,), False),
    ((remembers(7), CORRECTED, SENT), False), ((remembers(7), (*SENT[:2], OffsetSent(*MINE, 5))), False),
])
def test_what_is_sent_was_read_early_where_a_listener_has_put_more_into_memory_before(
    records: tuple[Record, ...], was: bool,
) -> None:
    assert was_read_early(past_of(*records), G, MQ, 6) is was


def test_what_is_put_last_is_of_a_broker_of_the_name_at_its_place_of_the_queue() -> None:
    run = Run(Facts(), Tables(), Bounds())  # type: ignore[arg-type]  # tables that are written
    run.past.records.extend([(1, at, MessageAppended(at, topic, queue_id, place, log_offset, 100, "k"))
                             for at, topic, queue_id, place, log_offset in (
        (B, "orders", 0, 4, 100), (B, "orders", 0, 4, 200), ("broker-b", "orders", 0, 4, 300),
        (B, "orders", 1, 4, 400), (B, "orders", 0, 5, 500), (B, "invoices", 0, 4, 600))])
    last = put_last(Rule(run), MQ, 4)
    assert last is not None
    assert last.event.commit_log_offset == 200
    assert put_last(Rule(run), MQ, 3) is None
