"""A simulated run as people look at it: the tape as sentences, and a sequence diagram of what led to the failure.

Shown are the choices that were not boring, what the machines reported, the messages that brought it about, and those
that were lost. Of a long run what happens most often is left out, until LINES are left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from pydantic import Field

from invariants.report import sequence
from invariants.report.shapes import Shape, Step, Trace, Words, read
from invariants.report.words import number
from invariants.verdict import BadInputError

LINES = 60
_WORDS = 48  # characters of one value in the diagram

Line = tuple[tuple[int, int], Step]  # what sorts it, and how it is drawn


class Told(Shape):
    """A choice of the tape: when (ms), to whom, what."""

    time_ms: int
    who: Words = ""
    sentence: Words = ""


class Reported(Shape):
    """An event that a machine reported."""

    time_ms: int
    machine: Words = ""
    event: Words = ""
    fields: dict[Words, Words] = Field(default_factory=dict)


class Message(Shape):
    """A message; received_ms -- None: it never arrived."""

    source: Words = Field(alias="from")
    target: Words = Field(alias="to")
    sent_ms: int
    received_ms: int | None = None
    text: Words = ""


class Run(Shape):
    """Evidence of kind "run", as `stateful_tests.worlds.evidence` writes it."""

    plan: dict[Words, Words]
    choices: tuple[Any, ...]
    lifelines: tuple[Words, ...]
    told: tuple[Told, ...]
    events: tuple[Reported, ...]
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class RunDrawing:
    """A run and its picture; left_out -- how many lines the picture does not show."""

    run: Run
    trace: Trace
    diagram: sequence.Diagram
    left_out: int


def drawing(evidence: Mapping[str, Any]) -> RunDrawing:
    """Read evidence of kind "run" and lay it out; raises BadInputError when a part of it is missing."""
    run = read(Run, evidence)
    lines = sorted([*_told(run.told), *_reported(run.events), *_sent(run.messages, run.events)], key=itemgetter(0))
    if not lines:
        raise BadInputError("evidence: a run without anything that happened; the file is cut off")
    everything = Trace(steps=tuple(_telling([step for _, step in lines])), lifelines=run.lifelines)
    named = {step.arguments.get("on") for step in everything.steps} | set(everything.ends())
    trace = everything.model_copy(update={"lifelines": tuple(name for name in run.lifelines if name in named)})
    return RunDrawing(run, trace, sequence.diagram(trace), len(lines) - len(trace.steps))


def _telling(shown: Sequence[Step]) -> Sequence[Step]:
    """At most LINES steps: the commonest are left out first, faults never unless there are too many of them alone."""
    while len(shown) > LINES:
        often = Counter(step.action for step in shown if not step.environment).most_common(1)
        if not often:
            return shown[-LINES:]
        shown = [step for step in shown if step.action != often[0][0] or step.environment]
    return shown


def _told(told: Sequence[Told]) -> Iterator[Line]:
    for one in told:
        on = {"on": one.who} if one.who else {}
        yield (one.time_ms, 0), _step(one.sentence, one.time_ms, on, environment=True)


def _reported(events: Sequence[Reported]) -> Iterator[Line]:
    for one in events:
        yield (one.time_ms, 2), _step(one.event, one.time_ms, {"on": one.machine, **one.fields})


def _sent(messages: Sequence[Message], events: Sequence[Reported]) -> Iterator[Line]:
    """Messages that never arrived, and those in whose millisecond something happened where they arrived."""
    moved = {(one.machine, one.time_ms) for one in events}
    for one in messages:
        sent, arrived, flow = one.sent_ms, one.received_ms, (one.source, one.target)
        if arrived is None:
            yield (sent, 1), _step(f"{one.text}: lost", sent, {}, flow, environment=True)
        elif (one.target, arrived) in moved:
            late = {} if arrived - sent <= 1 else {"sent": f"{number(sent)} ms"}
            yield (arrived, 1), _step(one.text, arrived, late, flow)


def _step(action: str, at: int, arguments: Mapping[str, str], flow: tuple[str, str] | None = None, *,
          environment: bool = False) -> Step:
    said = {name: value[:_WORDS] for name, value in arguments.items()}
    return Step(action=action, arguments=said, cite=f"{number(at)} ms", flow=flow, environment=environment)
