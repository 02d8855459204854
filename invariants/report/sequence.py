"""Layout of a sequence diagram: where each step of a trace is drawn, in pixels.

One strip per step, all as wide as the diagram: the lifelines run through it, and an arrow, a loop or a box sits on
them. The page stacks the strips and lets each grow to the height of the text beside it. Nothing here measures fonts:
widths are estimates that err on the wide side.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from invariants.report.shapes import Step, Trace

_NAME_PX = 7.6  # one character of an action's name, 13 px semibold
_ARGUMENT_PX = 6.8  # one character of its arguments, 11 px monospace
_LINE = 14  # height of a line of arguments
_GAP = 14  # between texts of neighbouring lifelines
_NARROWEST, _WIDEST = 104, 184  # distance of two lifelines
_MARGIN = 10
_LONGEST = 26  # characters of one line of arguments, if it has a place to break
_LOOP = 34  # how far the arrow of a message to oneself goes out


@dataclass(frozen=True, slots=True)
class Lifeline:
    """A participant: its name, as much of it as the head shows, and where its line runs."""

    name: str
    shown: str
    x: float


@dataclass(frozen=True, slots=True)
class Strip:
    """One step as drawn.

    shape -- "arrow" from x1 to x2, "loop" out of x1 and back, or "box" from x1 to x2 around its text.
    y -- height of the arrow, or the lower edge of the box. text_x -- the middle of its text.
    lines -- its arguments line by line; the action's baseline is at 20, a line is 14 high.
    height -- least height of the strip. words -- the step as a sentence for those who cannot see the drawing.
    """

    step: Step
    shape: str
    x1: float
    x2: float
    y: float
    text_x: float
    lines: tuple[str, ...]
    height: float
    words: str


@dataclass(frozen=True, slots=True)
class Diagram:
    """Lifelines and strips of one trace; width in pixels."""

    width: float
    lifelines: tuple[Lifeline, ...]
    strips: tuple[Strip, ...]


def diagram(trace: Trace) -> Diagram:
    """Lay a trace out; an element of a flow that has no lifeline gets one at the end.

    A step without a flow stands on the first lifeline that its arguments name, else on all.
    """
    names = tuple(dict.fromkeys([*trace.lifelines, *trace.ends()])) or ("",)
    pitch = _pitch(trace, names)
    edge = max(_head_width(names[0]), _head_width(names[-1]), pitch * 0.8, 2 * _LOOP) / 2 + _MARGIN
    places = {name: round(edge + at * pitch, 1) for at, name in enumerate(names)}
    widest_box = max((_text_width(step) + 24 for step in trace.steps), default=0)
    width = round(max(2 * edge + (len(names) - 1) * pitch, widest_box + 2 * _MARGIN), 1)
    lifelines = tuple(Lifeline(name, _short(name), places[name]) for name in names)
    return Diagram(width, lifelines, tuple(_strip(step, places, width) for step in trace.steps))


def _pitch(trace: Trace, names: tuple[str, ...]) -> float:
    """The distance of two lifelines that gives heads, and texts of arrows between neighbours, their place."""
    at = {name: place for place, name in enumerate(names)}
    wanted = [_head_width(name) for name in names] if len(names) > 1 else []
    for step in trace.steps:
        span = abs(at[step.flow[0]] - at[step.flow[1]]) if step.flow else 0
        if span:
            wanted.append(_text_width(step) / span)
    return min(max([*wanted, _NARROWEST]) + _GAP, _WIDEST)


def _strip(step: Step, places: dict[str, float], width: float) -> Strip:
    shape, x1, x2 = _extent(step, places, width)
    lines = _lines(step)
    y = 20 + _LINE * len(lines) + (10 if shape == "box" else 11)
    half = _text_width(step) / 2 + 4
    text_x = min(max((x1 + x2) / 2, half), width - half)  # moved inwards where it would leave the picture
    height = y + (30 if shape == "loop" else 14)
    return Strip(step, shape, round(x1, 1), round(x2, 1), y, round(text_x, 1), lines, height, _words(step))


def _extent(step: Step, places: dict[str, float], width: float) -> tuple[str, float, float]:
    if step.flow and step.flow[0] != step.flow[1]:
        return "arrow", places[step.flow[0]], places[step.flow[1]]
    if step.flow:
        return "loop", places[step.flow[0]], places[step.flow[0]]
    own = [value for value in step.arguments.values() if value in places]
    centre = places[own[0]] if own else (min(places.values()) + max(places.values())) / 2
    half = (_text_width(step) + 24) / 2
    span = half if own else max(half, (max(places.values()) - min(places.values())) / 2 + 12)
    centre = min(max(centre, span + 2), width - span - 2)
    return "box", centre - span, centre + span


def _lines(step: Step) -> tuple[str, ...]:
    said = ", ".join(f"{name}={value}" for name, value in step.arguments.items())
    return tuple(textwrap.wrap(said, _LONGEST, break_long_words=False, break_on_hyphens=False))


def _text_width(step: Step) -> float:
    return max([len(step.action) * _NAME_PX, *(len(line) * _ARGUMENT_PX for line in _lines(step))])


def _head_width(name: str) -> float:
    return len(_short(name)) * _ARGUMENT_PX + 24


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[:12]}…{name[-12:]}"


def _words(step: Step) -> str:
    said = ", ".join(f"{name} {value}" for name, value in step.arguments.items())
    way = f", from {step.flow[0]} to {step.flow[1]}" if step.flow else ""
    return f"{step.action}{f' ({said})' if said else ''}{way}{', environment' * step.environment}"
