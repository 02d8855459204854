"""Sentences about processes, machines, connections and clocks."""

from __future__ import annotations

from typing import Any

from impl.events import host
from impl.events.sentences.said import Said


def _severed(event: host.ConnectionSevered, _: Any) -> str:
    if event.seen_after_ms is None:
        return "the connection of {at} to {other} breaks, and {other} never sees it"
    late = " {seen_after_ms} later" if event.seen_after_ms else " at once"
    return f"the connection of {{at}} to {{other}} breaks; {{other}} sees it{late}"


def _started(event: host.ProcessStarted, _: Any) -> str:
    return "{at} starts" if event.incarnation == 1 else "{at} starts again"


def _killed(event: host.ProcessKilled, _: Any) -> str:
    return "the machine of {at} loses its power" if event.power_loss else "{at} is killed (kill -9)"


def _set(event: host.ClockJumped, _: Any) -> str:
    return "the clock of {at} is set ahead by {ms}" if event.ms >= 0 else "the clock of {at} is set back: {ms}"


def _filled(event: host.DiskFilled, _: Any) -> str:
    if not event.percent:
        return "the files of others on the disk of {at} are gone"
    return "files of others fill the disk of {at}: {percent} % of it are taken"


SENTENCES: dict[type, Said] = {
    host.ProcessStarted: Said(_started, "starts"),
    host.ProcessKilled: Said(_killed, "kills"),
    host.ProcessPaused: Said("{at} stands still for {ms}", "pauses"),
    host.ThreadDied: Said("a thread of {at} ({thread}) dies of {error}", "dead threads"),
    host.ConnectionMade: Said("{at} is connected to {server}", "connections"),
    host.ConnectionRefused: Said("{server} refuses a connection of {at}", "refused connections"),
    host.ConnectionSevered: Said(_severed, "broken connections"),
    host.PartitionBegan: Said("from now on nothing passes from {at} to {target}", "partitions"),
    host.MessageLost: Said("the network loses a one-way message of {at} to {other}", "lost messages"),
    host.ClockJumped: Said(_set, "clock settings"),
    host.ClockDrifts: Said("the clock of {at} runs at another speed from now on ({ppm} millionths)", "clock drifts"),
    host.ForceFailed: Said("a force of {path} fails at {at}", "failed forces"),
    host.DiskFilled: Said(_filled, "changes of the space on disks"),
    host.AnsweredAgain: Said("{at} answers a request over {connection} once more", "second answers"),
    host.EventDropped: Said("{at} drops the event {name} of a connection: the queue of events is full",
                            "dropped events of connections"),
    host.NumberDrawn: Said("{at} draws {number} of {n} numbers by chance, for {where}", "numbers drawn by chance"),
    host.WorldHealed: Said("all faults have ended", "ends of all faults"),
}
