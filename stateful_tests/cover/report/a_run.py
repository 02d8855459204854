"""A run as evidence has it, with a picture that has each kind of row."""

from __future__ import annotations

from typing import Any

from invariants.pictures.marks import EARLIER, EVENT, FAULT, FINDING, FOLD, GAP, SEEN
from stateful_tests.cover.report import samples

ROW = samples.row("one_owner_per_queue", "campaign", "shipped", "violated", kind="variant",
                  evidence="evidence/run.json")
CLAIM = "At every instant a queue is held by at most one member of the group."


def row(time_ms: int, text: str, **more: str | bool) -> dict[str, Any]:
    """A row of a picture on c2 unless told otherwise."""
    return {"time_ms": time_ms, "at": "c2", "source": "", "target": "", "text": text, "kind": EVENT, "mark": "",
            "began": False, **more}


PICTURE: dict[str, Any] = {
    "lifelines": ["broker-a", "c1", "c2"], "claim": CLAIM, "left_out": 3, "rows": [
        row(101, "c1 takes queue 0 of orders", at="c1", mark=EARLIER),
        row(105, "the network loses a message of broker-a to c1", at="broker-a", source="broker-a", target="c1",
            kind=FAULT, began=True),
        row(105, "18 s", at="", kind=GAP),
        row(110, "broker-a enters c2 in <G>", at="broker-a", source="c2", target="broker-a"),
        row(115, "… 20 offset commits", at="", kind=FOLD),
        row(120, "c2 takes queue 0 of orders", mark=FINDING),
        row(121, "c2 gets the messages 0-9 a second time", mark=SEEN),
    ]}
DOCUMENT: dict[str, Any] = {
    "format": "rocketproof-evidence/1", "kind": "run", "property": ROW.property, "judge": ROW.judge,
    "subject": {"kind": "variant", "name": "shipped", "details": {}}, "replay": "rocketproof replay run.json",
    "sentence": "holds[c2, queue 0] is true", "choices": [0, 3, 0], "digest": "0" * 32,
    "plan": {"subject": "shipped", "workload": "clustering", "profile": "storm"},
    "signature": ["one_owner_per_queue", "QueueTaken"], "time_ms": 120, "picture": PICTURE,
    "told": [{"time_ms": 100, "who": "broker-a", "sentence": "paused 100 ms at registerConsumer"}],
}
