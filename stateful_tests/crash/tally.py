"""What images of crashes have led to: numbers that can be added, and the smallest example of each violation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from stateful_tests.crash.memory import Image
from stateful_tests.crash.programs import Workload


class Example(NamedTuple):
    """An image that breaks a property, left by a crash of a workload after a step.

    stale -- paths that are not as they were written last. sentence -- how it breaks.
    """

    image: Image
    step: int
    stale: tuple[str, ...]
    sentence: str
    workload: Workload

    def rank(self) -> tuple[int, int]:
        """How `size` begins; the rest takes more time."""
        return len(self.stale), self.step

    def size(self) -> tuple[int, int, int, str, tuple[str, ...]]:
        """What makes one smaller than another: fewer stale paths, fewer steps, fewer bytes."""
        written = sum(len(data.rstrip(b"\0")) for data in self.image.values())
        return *self.rank(), written, self.sentence, self.workload.operations

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {"image": image_to_json(self.image), "step": self.step, "stale": list(self.stale),
                "sentence": self.sentence, "workload": self.workload.to_json()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Example:
        """From what `to_json` gave."""
        return cls(image_from_json(values["image"]), values["step"], tuple(values["stale"]), values["sentence"],
                   Workload.from_json(values["workload"]))


@dataclass
class Tally:
    """What some images have led to.

    covered -- how many were judged, equal ones counted each, over all crash points. distinct -- how many of them differ
    in a byte. recoveries -- how many were made. broken -- property to how many of the covered images break it.
    smallest -- property to its smallest example.
    """

    covered: int = 0
    distinct: int = 0
    recoveries: int = 0
    broken: dict[str, int] = field(default_factory=dict)
    smallest: dict[str, Example] = field(default_factory=dict)

    def keep(self, name: str, example: Example) -> None:
        """Keep the smaller one of two examples of a property."""
        held = self.smallest.get(name)
        if held is None or (example.rank() <= held.rank() and example.size() < held.size()):
            self.smallest[name] = example

    def join(self, other: Tally) -> None:
        """Add what other images have led to, none of which has the bytes of one of these."""
        self.covered += other.covered
        self.distinct += other.distinct
        self.recoveries += other.recoveries
        for name, count in other.broken.items():
            self.broken[name] = self.broken.get(name, 0) + count
        for name, example in other.smallest.items():
            self.keep(name, example)

    def to_json(self) -> str:
        """As one line."""
        return json.dumps({
            "covered": self.covered, "distinct": self.distinct, "recoveries": self.recoveries, "broken": self.broken,
            "smallest": {name: one.to_json() for name, one in self.smallest.items()}}, sort_keys=True)

    @classmethod
    def from_json(cls, line: str) -> Tally:
        """From what `to_json` gave."""
        values = json.loads(line)
        smallest = {name: Example.from_json(one) for name, one in values.pop("smallest").items()}
        return cls(**values, smallest=smallest)


def image_to_json(image: Image) -> dict[str, Any]:
    """Path to length and, in hex, content up to the zeros at the end."""
    return {path: {"length": len(data), "hex": data.rstrip(b"\0").hex()} for path, data in image.items()}


def image_from_json(table: Mapping[str, Any]) -> dict[str, bytes]:
    """From what `image_to_json` gave."""
    return {path: bytes.fromhex(file["hex"]).ljust(file["length"], b"\0") for path, file in table.items()}
