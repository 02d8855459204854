"""Written histories of messages on their way through a broker."""

from __future__ import annotations

import invariants.rules.brokered_messages  # noqa: F401  # declares the rules
from impl.events import DeadLetterTaken, PullRetried, SendBackTaken
from stateful_tests.rules.written import Tables, Written

B, G = "broker-a", "G"

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
)
