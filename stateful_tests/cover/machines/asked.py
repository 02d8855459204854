"""What tests of machines ask: programs that break something, and how their rows are read."""

from __future__ import annotations

import json
from typing import Any

from stateful_tests.machines.search import Effort

D1 = "pause_thread(where='findConsumerIdList: the list is here, and not applied yet', s=1); start(who='consumer2')"
ROUTED, N1 = "live_broker_stays_routed", "change_roles(who='broker-a')"
EASY = Effort(seed=0, examples=20, deeds=5)
"""Enough to find N-1."""
CALM = "start(who='consumer2'); pass_time(s=20)"


def rows(stdout: str) -> list[dict[str, Any]]:
    """The rows among the lines that it has printed."""
    return [json.loads(line) for line in stdout.splitlines() if line.startswith("{")]
