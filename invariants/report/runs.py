"""A simulated run as people look at it: the tape as sentences, and the picture of what led to the failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from invariants.report.scene import Scene, scene
from invariants.report.shapes import Picture, Shape, Words, read
from invariants.verdict import BadInputError


class Told(Shape):
    """A choice of the tape: when (ms), to whom, what."""

    time_ms: int
    who: Words = ""
    sentence: Words = ""


class Run(Shape):
    """Evidence of kind "run", as `stateful_tests.worlds.evidence` writes it."""

    plan: dict[Words, Words]
    choices: tuple[Any, ...]
    told: tuple[Told, ...]
    picture: Picture


@dataclass(frozen=True, slots=True)
class RunDrawing:
    """A run and its picture, laid out."""

    run: Run
    scene: Scene


def drawing(evidence: Mapping[str, Any]) -> RunDrawing:
    """Read evidence of kind "run" and lay it out; raises BadInputError when a part of it is missing."""
    if "picture" not in evidence:
        raise BadInputError("the run was recorded and not played again; the replay command draws it")
    run = read(Run, evidence)
    return RunDrawing(run, scene(run.picture))
