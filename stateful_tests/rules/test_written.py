from __future__ import annotations

import pytest

from impl.events import BrokerStarted
from stateful_tests.rules.collected import HISTORIES
from stateful_tests.rules.histories.sending import (
    DELAYED,
    LEADS,
    OTHER_LEADS,
    QUEUES,
    RESTARTED,
    SLAVE,
    SLAVE_LEADS,
    B,
    Told,
    appended,
    tried,
)
from stateful_tests.rules.written import Written, findings


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.rule)
def test_a_rule_tells_what_is_wrong_and_nothing_else(history: Written) -> None:
    found = findings(history, history.broken)
    assert found
    assert history.causes is None or {one.causes for one in found} == {history.causes}
    assert all(history.says in one.sentence for one in found)
    if history.kept or history.kept_views is not None or history.kept_observed is not None:
        assert findings(history, history.kept, history.kept_views, observed=history.kept_observed) == []


@pytest.mark.parametrize("history", [one for one in HISTORIES if one.observed], ids=lambda history: history.rule)
def test_what_clients_have_observed_is_told_of_the_time_of_an_operation(history: Written) -> None:
    later = [one._replace(time_ms=(one.time_ms or 0) + 7) for one in history.observed]
    told = [one.time_ms for one in findings(history, history.broken) if one.event is None]
    moved = findings(history, history.broken, observed=later)
    assert {*told} <= {one.time_ms for one in history.observed}
    assert [one.time_ms for one in moved if one.event is None] == [ms + 7 for ms in told]


@pytest.mark.parametrize(("behind", "hazards"), [
    ((RESTARTED, appended(3)), ("V19",)),
    (((2, B, BrokerStarted(B, B, 0)), appended(3)), ()),
    ((RESTARTED, appended(3, at=B)), ()),
    ((RESTARTED, appended(3), appended(4)), ()),
    ((appended(3, at=SLAVE),), ("P6", "B-28")),
    ((appended(3, at=SLAVE), appended(4, at=B)), ()),
    ((appended(3, at=SLAVE), appended(4)), ("B-28",)),
])
def test_a_message_that_two_brokers_deliver_is_put_down_to_what_became_of_the_one_that_delivers_it_again(
    behind: tuple[Told, ...], hazards: tuple[str, ...],
) -> None:
    both = DELAYED, tried(0), tried(0, 2, QUEUES[2]), appended(1), appended(1, at=B)
    twice = Written("sent_once_is_stored_once", (LEADS, SLAVE_LEADS, OTHER_LEADS, *both, *behind))
    first, *_, last = findings(twice, twice.broken)
    assert (first.causes, last.causes) == (("P6",), hazards)


@pytest.mark.parametrize(("again", "hazards"), [(1, ("V19",)), (2, ("V19",)), (3, ())])
def test_a_message_that_was_put_off_twice_is_delivered_twice_after_a_start(
    again: int, hazards: tuple[str, ...],
) -> None:
    """Its delay queue has it twice, and the look behind the start begins in front of both."""
    off = DELAYED, tried(0), DELAYED, tried(0, 2, QUEUES[2]), appended(1), appended(2)
    history = Written("sent_once_is_stored_once", (
        LEADS, *off, RESTARTED, *(appended(3 + number) for number in range(again))))
    *_, last = findings(history, history.broken)
    assert last.causes == hazards


def test_what_another_broker_has_put_off_is_delivered_by_that_one() -> None:
    there = (DELAYED[0], B, DELAYED[2])
    history = Written("sent_once_is_stored_once", (
        LEADS, OTHER_LEADS, DELAYED, tried(0), there, tried(0, 2, QUEUES[2]), appended(1), RESTARTED, appended(3),
        appended(4)))
    first, last = findings(history, history.broken)
    assert (first.causes, last.causes) == (("V19",), ())
