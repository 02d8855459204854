"""Written histories of messages on their way through a broker."""

from __future__ import annotations

from typing import Any

import invariants.rules.brokered_messages  # noqa: F401  # declares the rules
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC
from impl.events import DeadLetterTaken, MessageAppended, PullRetried, SendBackTaken, WorldHealed
from invariants.views import StoredRecord
from stateful_tests.rules.histories.promises import MASTER
from stateful_tests.rules.written import Tables, Written

B, G = "broker-a", "G"
HEALED = (9, "", WorldHealed())
KEPT = Tables(brokers=[MASTER], log_records=(StoredRecord(0, RMQ_SYS_SCHEDULE_TOPIC, 0, 0, 100, "k"),))


def put_off(ms: int) -> tuple[int, str, Any]:
    """A broker keeps a message until its delay is over."""
    return come(ms, topic=RMQ_SYS_SCHEDULE_TOPIC)


def come(ms: int, key: str = "k", topic: str = "orders") -> tuple[int, str, Any]:
    """It puts the message into its topic."""
    return ms, B, MessageAppended(B, topic, 0, 0, 0, 100, key)


HISTORIES = (
    Written("dead_letter_is_there_at_once", broken=((1, B, DeadLetterTaken(B, G, "k", 18)),),
            kept=((1, B, DeadLetterTaken(B, G, "k", 0)),), says="waits at broker-a for delay level 18"),
    Written("accepted_send_back_is_kept", broken=((1, B, SendBackTaken(B, G, 7, kept=False)),),
            kept=((1, B, SendBackTaken(B, G, 7, kept=True)),), says="no copy of the message at 7",
            views=Tables(retry_queue_nums=1), causes=()),
    Written("accepted_send_back_is_kept", broken=((1, B, SendBackTaken(B, G, 7, kept=False)),),
            views=Tables(retry_queue_nums=0), causes=("M2",)),
    Written("retry_is_where_it_is_read",
            broken=((1, B, SendBackTaken(B, G, 7, kept=True, queue_id=1, readable=False)),),
            kept=((1, B, SendBackTaken(B, G, 7, kept=True, queue_id=1)),), says="for queue 1 of %RETRY%G"),
    Written("retried_pull_goes_on", broken=((1, B, PullRetried(B, G, "orders", 0, 9, 9)),),
            kept=((1, B, PullRetried(B, G, "orders", 0, 9, 10)),), says="from 9 on as before"),
    Written("delayed_message_comes_at_last", broken=(put_off(1), HEALED), kept=(put_off(1), come(2), HEALED),
            views=KEPT, says="k first"),
    Written("delayed_message_comes_at_last", broken=(put_off(1), come(2, "other"), HEALED),
            kept=(HEALED, put_off(10)), views=KEPT),
    Written("delayed_message_comes_at_last", broken=(put_off(1), HEALED), kept=(put_off(1), HEALED), views=KEPT,
            kept_views=Tables(brokers=[MASTER], log_records=())),
)
