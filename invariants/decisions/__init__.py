"""What is promised of RocketMQ's decisions, for all inputs: claims over the functions of impl.decisions.

Lengths and positions are bytes, times ms since 1970. A claim that the shipped code violates names its hazards; beside
it stands the claim with the premise under which the same code is right, so that both sides of the border are judged.
Whoever imports this package has all claims declared.
"""

from __future__ import annotations

from importlib import import_module

PARTS = (
    "delivery", "log_records", "recovery", "consume_queues", "message_index", "replicas", "java_arithmetic",
    "allocating", "sending", "pulling", "upkeep",
)
"""The modules that declare claims, in the order in which rows come; a new one belongs here."""

for _part in PARTS:
    import_module(f"{__name__}.{_part}")
