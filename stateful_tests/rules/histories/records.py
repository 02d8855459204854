"""Written histories of what records say of themselves."""

from __future__ import annotations

import invariants.rules.records  # noqa: F401  # declares the rules
from impl.events import MessageAppended
from invariants.refinement.follower import Record
from stateful_tests.rules.written import Tables, Written

B, THERE = "broker-a", "DefaultCluster"


def appended(topic: str = "orders", key: str | None = "k1") -> Record:
    """A broker writes a record down."""
    return 0, B, MessageAppended(B, topic, 0, 0, 0, 100, key)


def says(cluster: str | None) -> Tables:
    """The record says that it is in this cluster; None: in none. The broker is in THERE."""
    there = 0, 100, "CLUSTER", cluster
    return Tables(says=lambda _, *asked: asked == there, cluster=THERE)


HISTORIES = (
    *(Written("record_says_its_cluster", (appended(),), (appended(),), says(cluster), says(THERE),
              says=f"not that it is in {THERE}") for cluster in (None, "Another")),
    *(Written("record_says_its_cluster", (appended(),), kept, says(None))
      for kept in ((appended(key=None),), (appended(f"{THERE}_REPLY_TOPIC"),))),
)
