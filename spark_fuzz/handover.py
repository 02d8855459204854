"""A failing tape as a test file that a user can keep: plain pytest and Hypothesis, one tape per example."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import lru_cache
from string import Template
from textwrap import fill

from spark_fuzz.failures import Recording
from spark_fuzz.runs import Key
from stateful_tests.worlds.subjects import subject_named

MADE = 512
"""So many files of evidence are kept as they were made, for each report of a campaign names all of them again."""
_WIDTH = 116
_TOLD = 20  # sentences of a tape that is not simple are cut after so many
_TEST = Template('''\
"""$property of RocketMQ, $subject.

$sentence
$told
Found by a campaign. The test fails as long as the property does; it needs rocketproof and pytest: pytest FILE
"""

from hypothesis import HealthCheck, example, given, settings
from hypothesis.strategies import binary

from impl.hosts.simulation.tape import ReplayTape
from stateful_tests.worlds.run import Plan, run

PLAN = Plan(
$plan
)
CHOICES = {$choices}  # position on the tape: choice; all others are 0, the boring one
TAPE = bytes(CHOICES.get(position, 0) for position in range($length))


@settings(max_examples=20, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(tape=binary(max_size=max(64, 2 * len(TAPE))))
@example(tape=TAPE)
def test_$property(tape):
    """Every tape is a run; a byte is a choice."""
    record = run(PLAN, ReplayTape(tape))
    assert not record.unknown, record.unknown
    assert [one.sentence for one in record.seen if one.property == "$property"] == []
''')


@lru_cache(maxsize=MADE)
def handover(key: Key, recording: Recording) -> str:
    """The text of the test file.

    key -- property and signature of the failure that the recording shows.
    """
    shown = json.loads(recording.shown) if recording.shown else {"told": ()}
    told = [f"{one['time_ms']:9,} ms  {one['who']}: {one['sentence']}" for one in shown["told"]]
    if len(told) > _TOLD:
        told = [*told[:_TOLD], f"… and {len(told) - _TOLD} more"]
    plan = "\n".join(f"    {name}={value!r}," for name, value in asdict(recording.plan).items())
    choices = ", ".join(f"{at}: {value}" for at, value in enumerate(recording.choices) if value)
    return _TEST.substitute(
        property=key[0], subject=_plain(subject_named(recording.plan.subject).title),
        sentence=_filled(_plain(recording.sentence), ""),
        told="\n".join(["", *(_filled(_plain(line), "    ") for line in told), ""]) if told else "", plan=plan,
        choices=f"\n{_filled(choices, '    ')},\n" if choices else "", length=len(recording.choices),
    )


def _plain(text: str) -> str:
    """Text that may stand in a docstring."""
    return text.replace("\\", "/").replace('"', "'")


def _filled(text: str, indent: str) -> str:
    return fill(text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False)
