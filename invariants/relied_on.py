"""What users of RocketMQ rely on first: the README says whether it is kept, and these rows lead every report."""

from __future__ import annotations

from collections.abc import Mapping

RELIED_ON: Mapping[str, str] = {
    "acknowledged_is_delivered": "What is acknowledged is delivered",
    "acknowledged_survives_crash": "What is acknowledged survives a crash of its broker",
    "send_outcome_is_honest": "What a producer is told of a send is so",
    "delivered_was_sent": "Nothing is delivered that nobody has sent",
    "nothing_is_skipped": "Nothing is skipped when a queue changes hands",
    "settled_is_over": "What is settled does not come again to who keeps the queue",
    "committed_offset_never_goes_back": "Who commits goes forward",
    "one_owner_per_queue": "A queue has one owner",
    "ownership_converges": "Soon after members came or went every queue has an owner",
    "listeners_do_not_overlap": "Ordered queues have one listener at a time",
    "ordered_messages_stay_in_order": "Ordered messages stay in order",
    "broadcaster_goes_on_where_it_ended": "A broadcasting member goes on where it ended",
    "pull_is_filtered_by_own_expression": "Filters are one's own",
    "retry_waits_its_delay": "A delayed message waits",
    "delayed_message_comes_at_last": "And comes when its delay is over",
}
"""By property, in the order in which people read them: what it means to its users."""
