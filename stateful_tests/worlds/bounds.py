"""How long the faults of a profile may hold a world up."""

from __future__ import annotations

from impl.hosts.simulation import channel, process
from impl.hosts.simulation.profile import FaultProfile
from invariants.rules.bounds import Bounds


def bounds_of(profile: FaultProfile) -> Bounds:
    """The longest faults that may be injected, by the modules that inject them."""
    delay_ms = max(channel.DELAYS_MS) if profile.delay else 0
    stall_ms = max(channel.STALLS_MS) if profile.write_stall else 0
    return Bounds(
        thread_pause_ms=max(process.PAUSES_MS) if profile.thread_pause else 0,
        delay_ms=delay_ms + stall_ms,
    )
