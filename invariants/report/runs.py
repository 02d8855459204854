"""A simulated run as people look at it: the tape as sentences, and a sequence diagram of what led to the failure.

Shown are the choices that were not boring, what the machines reported, the messages that brought it about, and those
that were lost. Of a long run what happens most often is left out, until LINES are left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from invariants.report import sequence, shapes
from invariants.report.shapes import Step, Trace
from invariants.report.words import number
from invariants.verdict import BadInputError

LINES = 60
_WORDS = 48  # characters of one value in the diagram


@dataclass(frozen=True, slots=True)
class Told:
    """A choice of the tape: when (ms, as people read it), to whom, what."""

    at: str
    who: str
    sentence: str


@dataclass(frozen=True, slots=True)
class RunDrawing:
    """A run and its picture; left_out -- how many earlier lines the picture does not show."""

    told: tuple[Told, ...]
    trace: Trace
    diagram: sequence.Diagram
    left_out: int
    choices: int
    plan: tuple[tuple[str, str], ...]


def drawing(evidence: Mapping[str, Any]) -> RunDrawing:
    """Read evidence of kind "run" and lay it out; raises BadInputError when a part of it is missing."""
    told, events, messages = (_objects(evidence, name) for name in ("told", "events", "messages"))
    all_lines = [*_told_steps(told), *_event_steps(events), *_message_steps(messages, events)]
    lines = sorted(all_lines, key=lambda line: line[0])
    if not lines:
        raise BadInputError("evidence: a run without anything that happened; the file is cut off")
    shown = _telling([step for _, step in lines])
    ends = [end for step in shown if step.flow for end in step.flow]
    named = {value for step in shown for name, value in step.arguments if name == "on"} | set(ends)
    lifelines = tuple(name for name in map(shapes.text, _list(evidence, "lifelines")) if name in named)
    trace = Trace((), tuple(shown), lifelines)
    plan = evidence.get("plan")
    if not isinstance(plan, Mapping):
        raise BadInputError("evidence: plan is no object")
    return RunDrawing(
        tuple(Told(number(_ms(one, "time_ms")), shapes.text(one.get("who", "")), shapes.text(one.get("sentence", "")))
              for one in told),
        trace, sequence.diagram(trace), len(lines) - len(shown), len(_list(evidence, "choices")),
        tuple((shapes.text(name), shapes.text(value)) for name, value in plan.items()),
    )


Line = tuple[tuple[int, int], Step]


def _telling(steps: Sequence[Step]) -> list[Step]:
    """At most LINES steps: the commonest are left out first, faults never unless there are too many of them alone."""
    shown = list(steps)
    while len(shown) > LINES:
        often = Counter(step.action for step in shown if not step.environment).most_common(1)
        if not often:
            return shown[-LINES:]
        shown = [step for step in shown if step.action != often[0][0] or step.environment]
    return shown


def _told_steps(told: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    for one in told:
        at, who = _ms(one, "time_ms"), shapes.text(one.get("who", ""))
        yield (at, 0), _step(shapes.text(one.get("sentence", "")), at, {"on": who} if who else {}, environment=True)


def _event_steps(events: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    for one in events:
        at, fields = _ms(one, "time_ms"), one.get("fields")
        said = fields if isinstance(fields, Mapping) else {}
        machine = shapes.text(one.get("machine", ""))
        yield (at, 2), _step(shapes.text(one.get("event", "")), at, {"on": machine, **said})


def _message_steps(messages: Sequence[Mapping[str, Any]], events: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    """Messages that never arrived, and those in whose millisecond something happened where they arrived."""
    moved = {(shapes.text(one.get("machine", "")), _ms(one, "time_ms")) for one in events}
    for one in messages:
        flow = shapes.text(one.get("from", "")), shapes.text(one.get("to", ""))
        text = shapes.text(one.get("text", ""))
        sent, arrived = _ms(one, "sent_ms"), one.get("received_ms")
        if arrived is None:
            yield (sent, 1), _step(f"{text}: lost", sent, {}, flow, environment=True)
        elif (flow[1], arrived) in moved:
            late = {} if arrived - sent <= 1 else {"sent": f"{number(sent)} ms"}
            yield (arrived, 1), _step(text, arrived, late, flow)


def _step(
    action: str, at: int, arguments: Mapping[str, Any], flow: tuple[str, str] | None = None, *,
    environment: bool = False,
) -> Step:
    said = tuple((str(name), shapes.text(value)[:_WORDS]) for name, value in arguments.items())
    return Step(action, said, f"{number(at)} ms", flow, environment, ())


def _ms(item: Mapping[str, Any], key: str) -> int:
    value = item.get(key)
    if not isinstance(value, int):
        raise BadInputError(f"{key}: expected milliseconds, not {shapes.text(value)[:40]}")
    return value


def _list(evidence: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = evidence.get(key)
    if not isinstance(value, list):
        raise BadInputError(f"evidence: {key} is no list")
    return value


def _objects(evidence: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = _list(evidence, key)
    if not all(isinstance(one, Mapping) for one in found):
        raise BadInputError(f"{key}: expected objects")
    return list(found)
