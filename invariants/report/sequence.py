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
    y -- height of the arrow, or the lower edge of the box.
    text_x -- the middle of its text.
    name, lines -- the action, and its arguments line by line; the name's baseline is at 20, a line is 14 high.
    height -- least height of the strip.
    words -- the step as one sentence for those who cannot see the drawing.
    """

    number: int
    step: Step
    shape: str
    x1: float
    x2: float
    y: float
    text_x: float
    name: str
    lines: tuple[str, ...]
    height: float
    final: bool
    words: str


@dataclass(frozen=True, slots=True)
class Diagram:
    """Lifelines and strips of one trace; width in pixels."""

    width: float
    lifelines: tuple[Lifeline, ...]
    strips: tuple[Strip, ...]


def diagram(trace: Trace) -> Diagram:
    """Lay a trace out; a step without a flow stands on the first lifeline that its arguments name, else on all."""
    names = trace.lifelines or ("",)
    pitch = _pitch(trace, names)
    edge = max(_head_width(names[0]), _head_width(names[-1]), pitch * 0.8, 2 * _LOOP) / 2 + _MARGIN
    places = {name: round(edge + at * pitch, 1) for at, name in enumerate(names)}
    widest_box = max((_text_width(step) + 24 for step in trace.steps), default=0)
    width = round(max(2 * edge + (len(names) - 1) * pitch, widest_box + 2 * _MARGIN), 1)
    lifelines = tuple(Lifeline(name, _short(name), places[name]) for name in names)
    strips = tuple(_strip(step, at, places, width, at == len(trace.steps)) for at, step in enumerate(trace.steps, 1))
    return Diagram(width, lifelines, strips)


def _pitch(trace: Trace, names: tuple[str, ...]) -> float:
    """The distance of two lifelines that gives heads, and texts of arrows between neighbours, their place."""
    at = {name: place for place, name in enumerate(names)}
    wanted = [_head_width(name) for name in names] if len(names) > 1 else []
    for step in trace.steps:
        span = abs(at[step.flow[0]] - at[step.flow[1]]) if step.flow else 0
        if span:
            wanted.append(_text_width(step) / span)
    return min(max([*wanted, _NARROWEST]) + _GAP, _WIDEST)


def _strip(step: Step, number: int, places: dict[str, float], width: float, final: bool) -> Strip:
    shape, x1, x2 = _extent(step, places, width)
    lines = _lines(step)
    below = 20 + _LINE * len(lines)
    y = below + (10 if shape == "box" else 11)
    text_x = _text_place((x1 + x2) / 2, _text_width(step), width)
    return Strip(
        number=number, step=step, shape=shape, x1=round(x1, 1), x2=round(x2, 1), y=y, text_x=round(text_x, 1),
        name=step.action, lines=lines, height=y + (30 if shape == "loop" else 14), final=final,
        words=_words(step, number),
    )


def _extent(step: Step, places: dict[str, float], width: float) -> tuple[str, float, float]:
    if step.flow and step.flow[0] != step.flow[1]:
        return "arrow", places[step.flow[0]], places[step.flow[1]]
    if step.flow:
        return "loop", places[step.flow[0]], places[step.flow[0]]
    own = [value for _, value in step.arguments if value in places]
    centre = places[own[0]] if own else (min(places.values()) + max(places.values())) / 2
    half = (_text_width(step) + 24) / 2
    span = half if own else max(half, (max(places.values()) - min(places.values())) / 2 + 12)
    centre = min(max(centre, span + 2), width - span - 2)
    return "box", centre - span, centre + span


def _text_place(middle: float, text_width: float, width: float) -> float:
    """The middle of the text: over its arrow or in its box, moved inwards where it would leave the picture."""
    return min(max(middle, text_width / 2 + 4), width - text_width / 2 - 4)


def _lines(step: Step) -> tuple[str, ...]:
    said = ", ".join(f"{name}={value}" for name, value in step.arguments)
    return tuple(textwrap.wrap(said, _LONGEST, break_long_words=False, break_on_hyphens=False))


def _text_width(step: Step) -> float:
    return max([len(step.action) * _NAME_PX, *(len(line) * _ARGUMENT_PX for line in _lines(step))])


def _head_width(name: str) -> float:
    return len(_short(name)) * _ARGUMENT_PX + 24


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[:12]}…{name[-12:]}"


def _words(step: Step, number: int) -> str:
    said = ", ".join(f"{name} {value}" for name, value in step.arguments)
    way = f", from {step.flow[0]} to {step.flow[1]}" if step.flow else ""
    return f"Step {number}: {step.action}{f' ({said})' if said else ''}{way}{', environment' * step.environment}"
