"""What the host does to machines, as excuses: a rule names the field that holds the machine.

That a process ends or stands still reaches tables and duties by itself (`invariants.rules.rule`). What is here excuses
whoever was struck from what goes wrong behind it.
"""

from __future__ import annotations

from math import inf
from typing import Any

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import MASTER_ID
from invariants.rules import deadlines
from invariants.rules.bounds import Deadline
from invariants.rules.excuse import FOR_EVER, Excuse
from invariants.rules.match import Match, machine_of
from invariants.rules.rule import Told


def clock_was_set(machine: str) -> Excuse:
    """The clock of the machine in this field was set, or runs at another speed."""
    return Excuse(
        f"the clock of the machine ({machine}) was set or drifts",
        by=Match(events.ClockJumped, events.ClockDrifts, of=f"{machine}=at"), lasts=FOR_EVER,
    )


def was_cut_off(machine: str, lasts: float | Deadline = FOR_EVER) -> tuple[Excuse, ...]:
    """A connection of the machine broke, or nothing passed from or to it."""
    return (
        Excuse(f"a connection of the machine ({machine}) was broken",
               by=Match(events.ConnectionSevered, events.PartitionBegan, of=f"{machine}=at"), lasts=lasts),
        Excuse(f"a connection to the machine ({machine}) was broken",
               by=Match(events.ConnectionSevered, of=f"{machine}=other"), lasts=lasts),
        Excuse(f"nothing passed to the machine ({machine})",
               by=Match(events.PartitionBegan, of=f"{machine}=target"), lasts=lasts),
    )


def has_shut_down(broker: str) -> Excuse:
    """The broker that runs on the machine has shut down, whose process may live on."""
    return Excuse("the broker has shut down, and nobody can reach it",
                  by=Match(events.BrokerShutDown, of=f"{broker}=at"), lasts=FOR_EVER,
                  until=Match(events.BrokerStarted, of=f"{broker}=at"))


def ended_or_stood_still(machine: str, lasts: float | Deadline) -> Excuse:
    """The process of the machine was killed or paused, so shortly before that its effects last."""
    return Excuse(f"the process of the machine ({machine}) ended or stood still shortly before",
                  by=Match(events.ProcessKilled, events.ProcessPaused, of=f"{machine}=at"), lasts=lasts)


def was_cut_off_from(machine: str, other: str, lasts: Deadline, hazard: str = "") -> tuple[Excuse, ...]:
    """Between the two machines a connection broke, or nothing passed; lasts -- how long that may be felt.

    hazard -- what it is a cause of; without one it excuses.
    """
    broke = tuple(
        Excuse(f"a connection between the machines ({machine}, {other}) was broken",
               by=Match(events.ConnectionSevered, of=f"{one}=at {two}=other"), lasts=lasts, hazard=hazard)
        for one, two in ((machine, other), (other, machine)))
    return (*broke, *(
        Excuse(f"nothing passed between the machines ({machine}, {other})",
               by=Match(events.PartitionBegan, of=f"{one}=at {two}=target"), lasts=lasts, hazard=hazard)
        for one, two in ((machine, other), (other, machine))))


def broker_was_away(rule: Any, told: Told) -> bool:
    """Whether the broker of the queue that is told of is away, or was away, slow or cut off since shortly before."""
    name, since_ms = _queue_and_time(rule, told)
    if _had_no_master(rule, name, inf):
        return True
    lasts_ms = deadlines.handed_over(rule.bounds)
    return any(one.ms + getattr(one.event, "ms", 0) + lasts_ms >= since_ms for one in rule.past.of(*_AWAY) if name in {
        rule.facts.broker_name(machine) for machine in (one.at, *_others(one.event))})


def _queue_and_time(rule: Any, told: Told) -> tuple[str, int]:
    """The broker of the queue that is told of, and since when that is wrong: now, unless something else is said."""
    name = next(one.broker_name for one in told.about if isinstance(one, MessageQueue))
    return name, rule.past.records[-1][0] if told.since_ms is None else told.since_ms


def nobody_tells_the_master(rule: Any, told: Told) -> bool:
    """Whether the queue had no master when what is told of began, and no name server of its client has lived since.

    Its client has looked for one: it knows no address to which it could commit.
    """
    asked = _asked_for_the_master(rule, told)
    return bool(asked) and all(_was_away(rule, machine, since_ms) for machine, since_ms in asked)


def hangs_up_on_who_tells(rule: Any, told: Told) -> bool:
    """Whether the queue had no master when what is told of began, and a name server of its client has no power since.

    Its client has left another one. Where one of its name servers does not even refuse connections, a call waits for
    that one first, until its time is over, and then hangs up on the other (NettyRemotingClient#invokeSync,
    #getAndCreateNameserverChannel): it is told nothing, and knows no address to which it could commit.
    """
    return any(_was_away(rule, machine, since_ms, power_loss=True)
               for machine, since_ms in _asked_for_the_master(rule, told))


def _asked_for_the_master(rule: Any, told: Told) -> list[tuple[str, int]]:
    """The name servers of a client that has looked for one since its queue had no master, and since when that is so."""
    name, since_ms = _queue_and_time(rule, told)
    chosen = rule.past.last(events.NameServerChosen, at=told.about[0])
    if chosen is None or chosen.ms < since_ms or not _had_no_master(rule, name, since_ms):
        return []
    return [(machine_of(addr), since_ms) for addr in sorted(chosen.event.listed)]


def _had_no_master(rule: Any, name: str, ms: float) -> bool:
    """Whether whoever had started as the master of this name last had ended, or begun to stop, until then."""
    started = max((one for one in rule.past.of(events.BrokerStarted, broker_name=name, broker_id=MASTER_ID)
                   if one.ms <= ms), default=None)
    return started is not None and any(one.ms <= ms for one in rule.past.of(
        events.ProcessKilled, events.BrokerStopping, since=started.place, at=started.at))


def _was_away(rule: Any, machine: str, since_ms: int, *, power_loss: bool | None = None) -> bool:
    """Whether a machine that has ended, or lost its power, had not started before that time."""
    return any(not any(start.ms < since_ms for start in rule.past.of(
        events.ProcessStarted, since=one.place, at=machine)) for one in rule.past.of(
            events.ProcessKilled, at=machine, power_loss=power_loss))


def a_broker_was_away(rule: Any, told: Told) -> bool:
    """Whether a broker is away, or has stopped or started since shortly before what is told of began to be wrong."""
    since_ms = (told.since_ms or 0) - deadlines.handed_over(rule.bounds)
    return any(one.ms >= since_ms or not isinstance(one.event, events.BrokerStarted)
               for one in _last_of_brokers(rule).values())


def nobody_runs_by(rule: Any, name: str) -> bool:
    """Whether of the machines that have started as brokers of this name each has ended, or begun to stop, since."""
    last = [one for machine, one in _last_of_brokers(rule).items() if rule.facts.broker_name(machine) == name]
    return bool(last) and not any(isinstance(one.event, events.BrokerStarted) for one in last)


def _last_of_brokers(rule: Any) -> dict[str, Any]:
    """The last start, end or begin of a stop of each machine that has started as a broker."""
    return {machine: rule.past.last(events.ProcessKilled, events.BrokerStopping, events.BrokerStarted, at=machine)
            for (machine,) in rule.facts.brokers}


_AWAY = (events.ProcessKilled, events.ProcessPaused, events.BrokerStopping, events.BrokerStarted, events.PartitionBegan,
         events.ConnectionSevered, events.ConnectionRefused, events.MessageLost)


def _others(event: Any) -> tuple[str, ...]:
    return tuple(getattr(event, name) for name in ("other", "target", "server") if hasattr(event, name))
