"""Planted bugs of delayed and half messages: no world has such messages, and these tests see them.

Each test tells of the shipped store, and comes to another end with the bug.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from impl.common.message_const import PROPERTY_CHECK_IMMUNITY_TIME_IN_SECONDS
from impl.decisions.running_flags import DISK_FULL_BIT
from impl.variants.catalogue import BUGS
from impl.variants.stack import active
from stateful_tests.cover.store.delays import DelayBroker
from stateful_tests.cover.store.transactions import TransactionBroker

SECOND_MS = 1_000


def every_delayed_message_is_delivered() -> bool:
    """Also if its put fails once."""
    broker = DelayBroker()
    for body in (b"one", b"two"):
        broker.delayed(body)
    broker.store.running_flags |= DISK_FULL_BIT
    broker.look(2 * SECOND_MS)
    broker.store.running_flags &= ~DISK_FULL_BIT
    broker.look()
    return broker.look() == [b"one", b"two"]


def restart_repeats_no_delivery() -> bool:
    """One message was delivered; then the broker stops and starts."""
    broker = DelayBroker()
    broker.delayed(b"one")
    assert broker.look(2 * SECOND_MS) == [b"one"]
    broker.store.shutdown()
    broker.restart()
    return broker.look(2 * SECOND_MS) == [b"one"]


def half_message_is_still_somewhere() -> bool:
    """Its immunity ends between two looks at the clock: it is put back, or its producer is asked."""
    kept = []
    for early_ms in range(12):
        broker = TransactionBroker()
        broker.prepare(properties={PROPERTY_CHECK_IMMUNITY_TIME_IN_SECONDS: "10"})
        broker.check(10 * SECOND_MS - early_ms)
        kept.append(broker.progress()[0] <= 0 or len(broker.halves()) > 1 or bool(broker.asked))
    return all(kept)


def each_due_half_message_is_asked_for() -> bool:
    """Ten are due at once."""
    broker = TransactionBroker(mapped_file_size_commit_log=65_536, configured_file_size_consume_queue=2_000)
    for _ in range(10):
        broker.prepare()
    broker.check(10 * SECOND_MS)
    return len(broker.asked) == 10


@pytest.mark.parametrize(("name", "holds"), [
    ("rt-delay-skip-on-failure", every_delayed_message_is_delivered),
    ("rt-delay-replayed", restart_repeats_no_delivery),
    ("tx-immunity-boundary", half_message_is_still_somewhere),
    ("tx-queue-full-loses-check", each_due_half_message_is_asked_for),
])
def test_a_planted_bug_breaks_what_the_store_keeps(name: str, holds: Callable[[], bool]) -> None:
    assert holds()
    with active([BUGS[name]]):
        assert not holds()
