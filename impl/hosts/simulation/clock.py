"""Wall clocks: what System#currentTimeMillis says on each machine, as opposed to the true time of the simulation.

Faults injected here, all by `faults.py` or by a scenario: a *jump* (an operator or NTP sets the clock, also backwards)
and *drift* (the quartz is fast or slow by some parts per million). Timers (sleep, time-outs, periods) go by the same
quartz, so drift stretches them too; a jump does not touch them, as Java's timers go by System#nanoTime.
"""

from __future__ import annotations

from typing import Protocol

EPOCH_MS = 1_645_000_000_000  # wall time of simulated moment 0: a day of February 2022, when 4.9.3 came out
_MILLION = 1_000_000


class TrueTime(Protocol):
    """Whoever knows the true time, in milliseconds since the simulation began."""

    now_ms: int


class WallClock:
    """The clock of one machine; it survives the death of processes. Integer arithmetic only.

    drift_ppm -- how much too fast it runs, in parts per million; negative: too slow. ahead_ms -- what it says minus the
    true time, while it does not drift.
    """

    __slots__ = ("_base_ms", "_jumped_ms", "_since_ms", "_true", "ahead_ms", "drift_ppm")

    def __init__(self, true: TrueTime, offset_ms: int = 0) -> None:
        """Agree with the true time, but for a constant offset in milliseconds."""
        self._true = true
        self._since_ms = true.now_ms
        self._base_ms = EPOCH_MS + true.now_ms + offset_ms
        self._jumped_ms = self.ahead_ms = EPOCH_MS + offset_ms
        self.drift_ppm = 0

    def now_ms(self) -> int:
        """System#currentTimeMillis on this machine."""
        if not self.drift_ppm:
            return self._true.now_ms + self.ahead_ms
        passed = self._true.now_ms - self._since_ms
        return self._base_ms + passed + passed * self.drift_ppm // _MILLION

    def uptime_ms(self) -> int:
        """System#nanoTime in milliseconds: no jump is seen in it."""
        return (self.now_ms() if self.drift_ppm else self._true.now_ms + self.ahead_ms) - self._jumped_ms

    def jump(self, by_ms: int) -> None:
        """Set the clock forward, or back."""
        self._base_ms += by_ms
        self.ahead_ms += by_ms
        self._jumped_ms += by_ms

    def set_drift(self, ppm: int) -> None:
        """Run faster or slower from now on, without a jump; more than -1,000,000."""
        if ppm <= -_MILLION:
            raise ValueError(f"a drift of {ppm} ppm would stop the clock or turn it back: give more than -1000000")
        self._base_ms, self._since_ms = self.now_ms(), self._true.now_ms
        self.ahead_ms = self._base_ms - self._since_ms
        self.drift_ppm = ppm

    def true_ms(self, local_ms: int) -> int:
        """How long a timer of local_ms really takes: the least true time after which local_ms have passed here."""
        if not self.drift_ppm:
            return local_ms
        return -(-local_ms * _MILLION // (_MILLION + self.drift_ppm))
