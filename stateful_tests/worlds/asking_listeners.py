"""Listeners that say themselves when they want to be given again what they have failed with."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from impl.common.message import MessageExt
from stateful_tests.worlds.listeners import Asked, Listener, key_of

LEVELS = 0, 1, 2, 4, -1
"""Delay levels that are asked for; 0: as the broker has it, -1: never again."""
RESTS_MS = -1, 0, 300, 5_000, 60_000
"""How long a queue is to rest; -1: as the consumer has it. RocketMQ takes 10 ms to 30 s."""


class AskingListener(Listener):
    """A Listener that asks for a delay level, or a rest, of its own: another one at each attempt."""

    def asked(self, msgs: Sequence[MessageExt]) -> Asked:
        """See Listener: the first message decides."""
        drawn = zlib.crc32(f"{key_of(msgs[0])} {msgs[0].reconsume_times}".encode())
        if self.orderly:
            return Asked(rest_ms=RESTS_MS[drawn % len(RESTS_MS)])
        return Asked(LEVELS[drawn % len(LEVELS)])
