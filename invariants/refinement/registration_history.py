"""Judges of histories (`invariants.history`): what becomes of registrations, at both ends of the connection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.events import (
    BrokerLiveRemoved,
    BrokerRegistered,
    BrokerStarted,
    BrokerStopping,
    ConnectionSevered,
    MasterLearned,
    PartitionBegan,
    ProcessKilled,
    ProcessPaused,
    RegistrationAnswered,
    RegistrationFailed,
    RetryTopicAnnounced,
    VersionQueried,
)
from invariants.refinement.follower import Living
from invariants.refinement.judge import HANDLED_MS, Hearing, Judge, machine_of

SUCCESS = 0
HEARD_MS = 60_000
"""Two periods of registration."""
QUIET_MS = 200_000
"""What a process leaves behind when it ends is cleared away by then: connections are idle after 120 s."""
HEARTBEAT_TIMEOUT_MS = 3_000


class _SuccessMeansRegistered(Judge):
    """Of success_means_registered."""

    name = "success_means_registered"

    def hears(self) -> Hearing:
        return {RegistrationAnswered: self.answered}

    def answered(self, _: int, machine: str, event: RegistrationAnswered) -> Iterator[str]:
        if event.code == SUCCESS and not event.known:
            yield f"{machine} answers SUCCESS to {event.broker_addr}, and does not have it"


class _OtherVersionIsRegistered(Judge):
    """Of other_version_is_registered. since_ms -- name server and address to when it was first asked in vain."""

    name = "other_version_is_registered"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.since_ms: dict[tuple[str, str], int] = {}

    def hears(self) -> Hearing:
        return {VersionQueried: self.queried, BrokerRegistered: self.registered, RegistrationFailed: self.failed,
                tuple: self.host}

    def queried(self, ms: int, machine: str, event: VersionQueried) -> None:
        if event.changed:
            self.since_ms.setdefault((machine, event.broker_addr), ms)
        else:
            self.since_ms.pop((machine, event.broker_addr), None)

    def registered(self, _: int, machine: str, event: BrokerRegistered) -> None:
        self.since_ms.pop((machine, event.broker_addr), None)

    def failed(self, _: int, machine: str, event: RegistrationFailed) -> None:
        """It has tried."""
        self._forget(machine_of(event.namesrv_addr), machine)

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            self._forget(machine)
        elif event.__class__ is ProcessPaused:
            for key in self.since_ms:
                self.since_ms[key] = max(self.since_ms[key], ms + event.ms)

    def _forget(self, *machines: str) -> None:
        for key in [key for key in self.since_ms if {*machines} <= {key[0], machine_of(key[1])}]:
            del self.since_ms[key]

    def due(self, now_ms: int) -> Iterator[str]:
        for key, since_ms in [*self.since_ms.items()] if self.since_ms else ():
            if now_ms - since_ms > HANDLED_MS:
                del self.since_ms[key]
                yield f"{key[0]} has another version of {key[1]} for {now_ms - since_ms} ms, and is not registered at"


class _LivingBrokerIsNotDropped(Judge):
    """Of living_broker_is_not_dropped: of a broker whose process runs for long, between machines never cut off.

    heard_ms -- name server and address to its last registration. ended_ms -- machine to its last end. cut -- machines
    whose connections the network has broken or held up. running -- machines of brokers that have not said goodbye.
    """

    name = "living_broker_is_not_dropped"

    def __init__(self, living: Living) -> None:
        super().__init__(living)
        self.heard_ms: dict[tuple[str, str], int] = {}
        self.ended_ms: dict[str, int] = {}
        self.cut: set[str] = set()
        self.running: set[str] = set()

    def hears(self) -> Hearing:
        return {BrokerStarted: self.starts, BrokerStopping: self.stops, BrokerRegistered: self.registered,
                BrokerLiveRemoved: self.removed, tuple: self.host}

    def starts(self, _: int, machine: str, __: BrokerStarted) -> None:
        self.running.add(machine)

    def registered(self, ms: int, machine: str, event: BrokerRegistered) -> None:
        self.heard_ms[machine, event.broker_addr] = ms

    def stops(self, _: int, machine: str, __: BrokerStopping) -> None:
        self.running.discard(machine)

    def host(self, ms: int, machine: str, event: tuple[Any, ...]) -> None:
        if event.__class__ is ProcessKilled:
            self.ended_ms[machine] = ms
            self.running.discard(machine)
        elif event.__class__ in (ConnectionSevered, PartitionBegan):
            self.cut |= {machine, str(event[0])}

    def removed(self, ms: int, machine: str, event: BrokerLiveRemoved) -> Iterator[str]:
        at = machine_of(event.broker_addr)
        heard_ms = self.heard_ms.pop((machine, event.broker_addr), ms - HEARD_MS)
        ended = ms - max(self.ended_ms.get(one, -QUIET_MS) for one in (machine, at)) < QUIET_MS
        if event.why == "destroyed" and ms - heard_ms < HEARD_MS and not ended and at in self.running \
                and not {machine, at} & self.cut:
            yield f"{machine} drops {event.broker_addr}, which lives, {ms - heard_ms} ms after it has registered"


class _SlaveTakesTheMasterItIsTold(Judge):
    """Of slave_takes_the_master_it_is_told."""

    name = "slave_takes_the_master_it_is_told"

    def hears(self) -> Hearing:
        return {MasterLearned: self.learned}

    def learned(self, _: int, machine: str, event: MasterLearned) -> Iterator[str]:
        if event.master_addr is None and any(event.answers):
            told = next(answer for answer in event.answers if answer)
            yield f"{machine} has no master from now on, although it is told of {told}"


class _HeartbeatsDoNotWait(Judge):
    """Of heartbeats_do_not_wait_for_name_servers."""

    name = "heartbeats_do_not_wait_for_name_servers"

    def hears(self) -> Hearing:
        return {RetryTopicAnnounced: self.announced}

    def announced(self, _: int, machine: str, event: RetryTopicAnnounced) -> Iterator[str]:
        if event.waited_ms >= HEARTBEAT_TIMEOUT_MS:
            yield f"{machine} has let a heartbeat of {event.group} wait for {event.waited_ms} ms"


JUDGES: tuple[type[Judge], ...] = (
    _SuccessMeansRegistered, _OtherVersionIsRegistered, _LivingBrokerIsNotDropped, _SlaveTakesTheMasterItIsTold,
    _HeartbeatsDoNotWait,
)
