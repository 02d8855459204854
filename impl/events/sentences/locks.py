"""Sentences about the locks of queues."""

from __future__ import annotations

from typing import Any

from impl.events import locks as told
from impl.events.sentences.said import Said


def _granted(event: told.LockGranted, before: Any) -> str:
    if event.holder != event.client_id:
        return "{at} tells {client_id} that it has the lock of {mq}; the lock is {holder}'s by now"
    if isinstance(before, told.LockGranted) and before.holder == event.holder:
        return "{at} renews the lock of {mq} for {client_id}"
    if isinstance(before, told.LockGranted):
        return "{at} gives the lock of {mq} to {client_id}; {before.holder} had it"
    return "{at} gives the lock of {mq} to {client_id}"


def _believed(event: told.LockBelieved, _: Any) -> str:
    return "{at} believes that it has the lock of {mq}" if event.locked else "{at} believes no more in its lock of {mq}"


def _answered(event: told.LocksAnswered, _: Any) -> str:
    granted = "{granted}" if event.granted else "none"
    return f"{{at}} answers {{client_id}}, who asks for the locks of {{asked}}: it gets {granted}"


SENTENCES: dict[type, Said] = {
    told.LockGranted: Said(_granted, "lock renewals"),
    told.LockReleased: Said("{at} frees the lock of {mq}, as {client_id} asks", "locks freed"),
    told.LockBelieved: Said(_believed, "locks believed in"),
    told.RenewalRefused: Said("{at} is refused the locks of {mqs}", "renewals refused"),
    told.LocksAnswered: Said(_answered, "answers with locks"),
    told.LocksHeard: Said("{at} hears in time who has the locks of {mqs}", "answers about locks"),
}
