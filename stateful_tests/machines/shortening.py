"""Make a program shorter than Hypothesis left it: there a line that goes takes what later lines draw with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final

from stateful_tests.machines.program import Line, Program

MOST_TRIES: Final = 60
"""How many programs are played for it: some seconds."""


def shortened(program: Program, breaks: Callable[[Program], bool]) -> Program:
    """A program that still breaks what it broke, and does so no more if any of its lines is left out.

    breaks -- whether a program does; it is asked MOST_TRIES times at most.
    """
    left = iter(range(MOST_TRIES))
    while True:
        found = next((one for one in shorter(program) if next(left, None) is not None and breaks(one)), None)
        if found is None:
            return program
        program = found


def shorter(program: Program) -> Iterator[Program]:
    """All programs of a line less: one is left out, or two neighbours that take numbers become one of their sum."""
    for place in range(len(program)):
        yield program[:place] + program[place + 1:]
    for place, (first, second) in enumerate(pairwise(program)):
        if (both := _both(first, second)) is not None:
            yield (*program[:place], both, *program[place + 2:])


def _both(first: Line, second: Line) -> Line | None:
    """One deed for two of the same kind that differ in their numbers at most."""
    if first.rule != second.rule or len(first.arguments) != len(second.arguments):
        return None
    arguments = []
    for (name, one), (_, other) in zip(first.arguments, second.arguments, strict=True):
        if not isinstance(one, int) and one != other:
            return None
        arguments.append((name, one + other if isinstance(one, int) else one))
    return replace(first, arguments=tuple(arguments)) if any(isinstance(v, int) for _, v in arguments) else None
