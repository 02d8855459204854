"""What is put down to filters: a broker has one expression for a topic of a group, whatever its members subscribe."""

from __future__ import annotations

from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from invariants.rules.past import Reported


def expressions(rule: Any, group: str, mq: MessageQueue, since: int = -1) -> list[str]:
    """The expressions by which the broker of a queue has filtered for a group since then, the first one first.

    since -- the place of a record; the expression that was there before counts as well.
    """
    all_put = rule.past.of(events.SubscriptionUpdated, group=group, topic=mq.topic)
    put = [one for one in all_put if _is_of(rule, mq, one)]
    before = [one for one in put if one.place < since][-1:]
    return [one.event.sub_string for one in (*before, *(one for one in put if one.place >= since))]


def members_differ(rule: Any, group: str, mq: MessageQueue) -> bool:
    """Whether members of two clients have told the broker of a queue two expressions of its topic."""
    told = {(one.event.client_id, text) for one in rule.past.of(events.ConsumerRegistered, group=group)
            if _is_of(rule, mq, one) for topic, text, _ in one.event.subscriptions if topic == mq.topic}
    return len({client_id for client_id, _ in told}) > 1 and len({text for _, text in told}) > 1


def was_left_out(rule: Any, group: str, mq: MessageQueue, offset: int) -> bool:
    """Whether an answer to a pull of the group has left out a message, and members of the group differ."""
    return offset in rule.facts.left_out.get((group, mq), ()) and members_differ(rule, group, mq)


def _is_of(rule: Any, mq: MessageQueue, one: Reported) -> bool:
    return bool(rule.facts.broker_name(one.at) == mq.broker_name)
