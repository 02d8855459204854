"""Written histories of what records say of themselves."""

from __future__ import annotations

import invariants.rules.records  # noqa: F401  # declares the rules
from impl.events import MessageAppended
from invariants.refinement.follower import Record
from invariants.views import Written as Said
from stateful_tests.rules.written import Tables, Written

B, THERE = "broker-a", "DefaultCluster"


def appended(topic: str = "orders", key: str | None = "k1") -> Record:
    """A broker writes a record down."""
    return 0, B, MessageAppended(B, topic, 0, 0, 0, 100, key)


def of(cluster: str | None) -> Tables:
    """The record says that it is in this cluster; None: in none. The broker is in THERE."""
    properties = (("KEYS", "red"),) if cluster is None else (("CLUSTER", cluster), ("KEYS", "red"))
    return Tables(written=Said(1, (0, "0A", 1), properties), cluster=THERE)


HISTORIES = (
    *(Written("record_says_its_cluster", (appended(),), (appended(),), of(cluster), of(THERE),
              says=f"of the cluster {cluster}") for cluster in (None, "Another")),
    *(Written("record_says_its_cluster", (appended(),), kept, of(None))
      for kept in ((appended(key=None),), (appended(f"{THERE}_REPLY_TOPIC"),))),
    Written("record_says_its_cluster", (appended(),), (appended(),), of(None), Tables(written=None, cluster=THERE)),
)
