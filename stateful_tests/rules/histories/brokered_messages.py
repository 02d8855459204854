"""Written histories of messages on their way through a broker."""

from __future__ import annotations

import invariants.rules.brokered_messages  # noqa: F401  # declares the rules
from impl.decisions.route_queues import QueueData
from impl.events import DeadLetterTaken, MessageAppended, PullRetried, SendBackTaken
from stateful_tests.rules.written import Tables, Written

B, G, RETRY = "broker-a", "G", "%RETRY%G"
NOTHING = (1, B, SendBackTaken(B, G, 7))
ONE_QUEUE = Tables(topics={RETRY: QueueData(B, 1, 1, 6, 0)})


def appended(topic: str, at: str = B, offset: int = 9) -> tuple[int, str, MessageAppended]:
    """A broker appends a record."""
    return 1, at, MessageAppended(at, topic, 0, 0, offset, 100, "k")


def kept(queue_id: int = 0) -> tuple[int, str, SendBackTaken]:
    """A broker takes a message back, and says where its copy is."""
    return 1, B, SendBackTaken(B, G, 7, 9, RETRY, queue_id)


HISTORIES = (
    Written("dead_letter_is_there_at_once", broken=((1, B, DeadLetterTaken(B, G, "k", 18)),),
            kept=((1, B, DeadLetterTaken(B, G, "k", 0)),), says="waits at broker-a for delay level 18"),
    Written("accepted_send_back_is_kept", broken=(NOTHING,), kept=(appended("SCHEDULE_TOPIC_XXXX"), kept()),
            says="no copy of the message at 7", views=Tables(retry_queue_nums=1), causes=()),
    Written("accepted_send_back_is_kept", broken=(NOTHING,), views=Tables(retry_queue_nums=0), causes=("M2",)),
    Written("accepted_send_back_is_kept", broken=(appended("orders"), kept()), kept=(appended(RETRY), kept()),
            views=Tables(retry_queue_nums=1), causes=()),
    Written("accepted_send_back_is_kept", broken=(appended("%DLQ%G"), kept(), kept()),
            kept=(appended("%DLQ%G"), kept(), appended("%DLQ%G"), kept()), views=Tables(retry_queue_nums=1)),
    Written("accepted_send_back_is_kept", broken=(appended(RETRY, "broker-b"), appended(RETRY, offset=8), kept()),
            views=Tables(retry_queue_nums=1)),
    Written("retry_is_where_it_is_read", broken=(kept(1),), kept=(kept(0), NOTHING), views=ONE_QUEUE,
            says="for queue 1 of %RETRY%G"),
    Written("retry_is_where_it_is_read", broken=(kept(0),), views=Tables(topics={})),
    Written("retried_pull_goes_on", broken=((1, B, PullRetried(B, G, "orders", 0, 9, 9)),),
            kept=((1, B, PullRetried(B, G, "orders", 0, 9, 10)),), says="from 9 on as before"),
)
