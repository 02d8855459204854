"""What findings of followers are put down to: hazards that no repair ends, where their own cause was seen."""

from __future__ import annotations

from impl.events import (
    BrokerStarted,
    ClockDrifts,
    ClockJumped,
    ConnectionRefused,
    ConnectionSevered,
    ConsumerRegistered,
    ConsumerRemoved,
    ConsumerStarted,
    ConsumerStopping,
    PartitionBegan,
    ProcessKilled,
    ProcessPaused,
    RouteUpdated,
    SubscriptionUpdated,
    TopicConfigUpdated,
)
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, cause
from invariants.rules.match import Match
from invariants.rules.rule import Ascription, Kept, on


class one_owner_per_queue_is_lost(Ascription):
    """Nobody waits for the former owner when a group, or what it knows of its queues, has changed."""

    judges = "one_owner_per_queue"
    excuses = (
        cause("D1", "a member came, left, ended or stood still, or learnt another route",
              by=Match(ConsumerRegistered, ConsumerRemoved, ConsumerStarted, ConsumerStopping, RouteUpdated,
                       ProcessKilled, ProcessPaused, of="",
                       having=lambda event: getattr(event, "added", True)), lasts=deadlines.rebalanced),
        cause("D1", "a broker started, and its members join it one after another",
              by=Match(BrokerStarted, of=""), lasts=deadlines.lists_are_whole),
    )


class one_owner_of_settled_members_is_lost(Ascription):
    """A broker answers with a list that lacks members who live."""

    judges = "one_owner_while_nobody_joins"
    excuses = (
        cause("D2", "a broker started, or got a topic, and had not heard of all members",
              by=Match(BrokerStarted, TopicConfigUpdated, of=""), lasts=deadlines.lists_are_whole),
        cause("D4", "a broker lost a member whose connection broke, or did not hear of it",
              by=Match(ConnectionSevered, PartitionBegan, ConnectionRefused, ConsumerRemoved, ProcessPaused,
                       ProcessKilled, of=""), lasts=deadlines.lists_are_whole),
    )


class filter_of_another_member_counts(Ascription):
    """The table has one expression for a topic, and the greatest version wins."""

    judges = "pull_is_filtered_by_own_expression"
    excuses = (
        *(cause(hazard, "members subscribed a topic with two expressions",
                when=lambda rule, _: any(len(expressions) > 1 for expressions in rule.expressions.values()))
          for hazard in ("B-3", "L3")),
        cause("L4", "a clock was set or drifts", by=Match(ClockJumped, ClockDrifts, of=""), lasts=FOR_EVER),
    )

    expressions = Kept("at group topic", survives="all")

    @on(SubscriptionUpdated)
    def subscribed(self, _: int, at: str, event: SubscriptionUpdated) -> None:
        self.expressions.setdefault((at, event.group, event.topic), set()).add(event.sub_string)


class listeners_overlap_behind_a_lease(Ascription):
    """A listener that runs cannot be stopped when the lease ends."""

    judges = "listeners_do_not_overlap"
    excuses = (
        cause("D7", "a listener worked for longer than its client believes in the lock", when=lambda rule, told: any(
            told.since_ms - begun_ms > deadlines.CLIENT_LEASE_MS for begun_ms in rule.facts.busy.values())),
    )
