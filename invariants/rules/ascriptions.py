"""What findings of followers are put down to: hazards that no repair ends, where their own cause was seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import inf
from typing import Any

from impl import events
from impl.decisions.allocation import AllocateMessageQueueByConfig, AllocateMessageQueueByMachineRoom
from impl.decisions.message_queue import MessageQueue
from invariants.finding import Finding
from invariants.rules import deadlines
from invariants.rules.excuse import FOR_EVER, cause
from invariants.rules.match import Match, machine_of
from invariants.rules.past import said
from invariants.rules.rule import Ascription, Kept, on


class DividedByAnswers(Ascription):
    """What is common: among whom members divide is what a broker has answered them last; a failure is no answer."""

    lists = Kept("at client_id group topic", begins=(events.ConsumerIdsFetched,), value=lambda _, event: event)


class one_owner_per_queue_is_lost(DividedByAnswers):
    """Nobody waits for the former owner when a group, or what it knows of its queues, has changed.

    Who has another route may ask another broker, for as long as it has that route.
    """

    judges = "one_owner_per_queue"
    excuses = (
        cause("D1", "a member came, left, ended or stood still, or learnt another route",
              by=Match(events.ConsumerRegistered, events.ConsumerRemoved, events.ConsumerStarted,
                       events.ConsumerStopping, events.RouteUpdated, events.ProcessKilled, events.ProcessPaused, of="",
                       having=lambda event: getattr(event, "added", True)), lasts=deadlines.rebalanced),
        cause("D1", "a broker started, and its members join it one after another",
              by=Match(events.BrokerStarted, of=""), lasts=deadlines.lists_are_whole),
        cause("D1", "its members divide different queues of the topic, or among different members",
              when=lambda rule, found: rule.differ(said(found, "group"), said(found, "mq"))),
    )

    def differ(self, group: str, mq: MessageQueue | None) -> bool:
        """Whether members of the group that run have different routes of a topic, or divide by different answers."""
        topic, routes, answers = None if mq is None else mq.topic, set(), set()
        for (at, of), member in self.facts.consumers.items():
            if of == group:
                answer = self.lists.get((at, member.client_id, group, topic))
                answers.add(None if answer is None or answer.client_ids is None else frozenset(answer.client_ids))
                routes.add(self.facts.routes.get((at, group, topic)))
        return any(len(known - {None}) > 1 for known in (routes, answers))


class one_owner_of_settled_members_is_lost(DividedByAnswers):
    """A member divides by the answer of a broker whose list lacks members who live."""

    judges = "one_owner_while_nobody_joins"
    excuses = (
        cause("D2", "a broker has answered who started, or got a topic, and had not heard of all members",
              when=lambda rule, found: rule.lacks(found, lambda broker, _: ((broker,),), rule.begun_ms)),
        cause("D4", "a broker has answered who lost a member whose connection broke, or did not hear of it",
              when=lambda rule, found: rule.lacks(
                  found, lambda broker, member: ((broker, member), (member, broker), (broker, ""), (member, "")),
                  rule.struck_ms)),
    )

    # Brokers that have begun; pairs of machines that were cut off, or of a machine and "".
    begun_ms = Kept("at", survives="all", begins=(events.BrokerStarted, events.TopicConfigUpdated))
    struck_ms = Kept("one other", survives="all", begins=(
        Match(events.ConnectionSevered, of="one=at other"), Match(events.PartitionBegan, of="one=at other=target"),
        Match(events.ConnectionRefused, of="one=at other=server"),
        Match(events.ConsumerRemoved, of="one=at other=connection.machine")))

    @on(events.ProcessPaused, events.ProcessKilled)
    def is_struck(self, ms: int, at: str, event: events.ProcessPaused | events.ProcessKilled) -> None:
        self.struck_ms[at, ""] = ms + getattr(event, "ms", 0)

    def lacks(self, found: Finding, keys: Callable[[str, str], Iterable[Any]], seen_ms: Kept) -> bool:
        """Whether somebody divides by an answer that lacks a member, and this was seen of the two lately.

        keys -- of what was seen, for the machines of broker and member.
        """
        since_ms = found.time_ms - deadlines.lists_are_whole(self.bounds)
        return any(seen_ms.get(key, -inf) >= since_ms for answer in self.lists.values()
                   for member in self._missing(answer) for key in keys(machine_of(answer.broker_addr), member))

    def _missing(self, answer: events.ConsumerIdsFetched) -> Iterator[str]:
        """The machines of the members that an answer lacks; a failure is no answer."""
        for (machine, group), started in self.facts.consumers.items() if answer.client_ids is not None else ():
            if group == answer.group and started.client_id not in (answer.client_ids or ()):
                yield machine


class filter_of_another_member_counts(Ascription):
    """The table has one expression for a topic, and the greatest version wins."""

    judges = "pull_is_filtered_by_own_expression"
    excuses = (
        *(cause(hazard, "members subscribed a topic with two expressions",
                when=lambda rule, _: any(len(expressions) > 1 for expressions in rule.expressions.values()))
          for hazard in ("B-3", "L3")),
        cause("L4", "a clock was set or drifts",
              by=Match(events.ClockJumped, events.ClockDrifts, of=""), lasts=FOR_EVER),
        cause("L4", "an expression came with a lesser version than one that came before it",
              when=lambda rule, _: bool(rule.behind)),
    )

    # The expressions of each topic, the greatest version, and the topics in which a new expression had a lesser one.
    expressions, greatest, behind = (Kept("at group topic", survives="all") for _ in range(3))

    @on(events.ConsumerRegistered)
    def subscribed(self, _: int, at: str, event: events.ConsumerRegistered) -> None:
        for topic, expression, version in event.subscriptions:  # the table may keep another one that is newer
            key = at, event.group, topic
            known, greatest = self.expressions.setdefault(key, set()), self.greatest.get(key, version)
            if expression not in known and version < greatest:
                self.behind[key] = version
            known.add(expression)
            self.greatest[key] = max(version, greatest)


class listeners_overlap_behind_a_lease(Ascription):
    """A listener that runs cannot be stopped when the lease ends."""

    judges = "listeners_do_not_overlap ordered_messages_stay_in_order"
    excuses = (
        cause("D7", "a listener worked for longer than its client believes in the lock", when=lambda rule, found: any(
            found.time_ms - begun_ms > deadlines.CLIENT_LEASE_MS for begun_ms in rule.facts.busy.values())),
    )


class settled_members_share_a_queue(Ascription):
    """Lists that are configured by hand may overlap."""

    judges = "one_owner_when_settled"
    excuses = (
        cause("A-4", "a member has a list that was configured by hand",
              when=lambda rule, _: any(isinstance(one.strategy, AllocateMessageQueueByConfig)
                                       for one in rule.views.consumers())),
    )


class settled_members_leave_a_queue_out(Ascription):
    """What a strategy is not told of it gives to nobody."""

    judges = "every_queue_owned_when_settled"
    excuses = (
        cause("L13", "a strategy knows only the queues, or the rooms, that were configured",
              when=lambda rule, _: any(isinstance(one.strategy, (
                  AllocateMessageQueueByConfig, AllocateMessageQueueByMachineRoom)) for one in rule.views.consumers())),
    )


class route_names_another_broker(Ascription):
    """An id belongs to whoever registered it last."""

    judges = "live_broker_stays_routed"
    excuses = (
        cause("N-15", "two brokers of one name were started with one id",
              when=lambda rule, _: any(len(brokers) > 1 for brokers in rule.started.values())),
    )

    started = Kept("broker_name broker_id", survives="all")

    @on(events.BrokerStarted)
    def starts(self, _: int, at: str, event: events.BrokerStarted) -> None:
        self.started.setdefault((event.broker_name, event.broker_id), set()).add(at)
