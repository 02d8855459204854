"""Fresh inputs, live: the official RocketMQ 4.9.3 in the worker on one side, impl.decisions here on the other."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from stateful_tests.conformance.adapters import ADAPTERS
from stateful_tests.conformance.adapters.comparison import compare, outcome
from stateful_tests.conformance.java import message_inputs, text_inputs
from stateful_tests.conformance.java.check import answers
from stateful_tests.conformance.java.implemented import Answer, implementation
from stateful_tests.conformance.java.inputs import STRATEGIES, Generator, Input
from stateful_tests.conformance.java.process import JavaProcess

Answered: TypeAlias = Callable[[Input], Answer]

JAVA = "RocketMQ 4.9.3"
FIFTHS = (*message_inputs.NAMES, *text_inputs.NAMES)
DECISIONS = ("string-hash", "messagequeue-order", "queue-selectors", "fault-duration", *FIFTHS)
BATCH = 360  # inputs in a request: a multiple of the strategies
LIMIT_S = 30.0  # for a batch, which takes about a tenth of a second
KEPT = 5  # differences of each subject, smallest first


@dataclass(frozen=True, slots=True)
class Difference:
    """One input on which Java and the implementation differ.

    number -- its place among the inputs of the run. arguments, results -- JSON values, in the words of the recordings.
    sentence -- expected (Java's answer), got (the implementation's). given -- the input of an allocation.
    """

    number: int
    arguments: Mapping[str, Any]
    results: Mapping[str, Any]
    sentence: str
    given: Input | None = None

    @property
    def size(self) -> int:
        """How much there is to read."""
        return len(json.dumps(self.arguments))


@dataclass(slots=True)
class Tally:
    """What the comparison of one subject has found so far."""

    name: str
    wanted: int
    rows: int = 0
    errors: int = 0  # rows in which Java threw: an exception is an answer, and is compared
    different: int = 0
    seconds: float = 0.0
    smallest: list[Difference] = field(default_factory=list)

    def add(self, difference: Difference | None, *, threw: bool) -> None:
        """Count a row, and keep its difference, if there is one, if it is small."""
        self.rows += 1
        self.errors += threw
        if difference is None:
            return
        self.different += 1
        self.smallest = sorted([*self.smallest, difference], key=lambda one: (one.size, one.number))[:KEPT]


# Allocation -----------------------------------------------------------------------------------------------------------


def allocations(
    java: JavaProcess, seed: int, inputs: int, progress: Callable[[int], None] = lambda _inputs: None,
    answered: Answered = implementation,
) -> Iterator[dict[str, Tally]]:
    """Compare so many inputs; the tallies by strategy, again and again as they grow, complete at the end.

    progress -- told how many inputs were compared since it was told last.
    answered -- the implementation under comparison.

    While Java answers a batch, this process answers it too, and draws the next. Raises JavaProcessError when the
    worker does not come back.
    """
    tallies = {kind: Tally(kind, len(range(place, inputs, len(STRATEGIES)))) for place, kind in enumerate(STRATEGIES)}
    drawn = itertools.islice(Generator(seed).inputs(), inputs)
    number, batch = 0, list(itertools.islice(drawn, BATCH))
    with ThreadPoolExecutor(1) as asking:
        while batch:
            asked = asking.submit(java.ask, LIMIT_S, do="allocate", calls=[_call(given) for given in batch])
            following = list(itertools.islice(drawn, BATCH))
            ours = [_timed(tallies[given.strategy["strategy"]], given, answered) for given in batch]
            for given, theirs, own in zip(batch, answers(asked.result()), ours, strict=True):
                tally = tallies[given.strategy["strategy"]]
                tally.add(_difference(number, given, theirs, own), threw=isinstance(theirs, Exception))
                number += 1
            progress(len(batch))
            yield tallies
            batch = following
    for tally in tallies.values():
        tally.smallest[:1] = [shrunk(java, difference, answered) for difference in tally.smallest[:1]]
    yield tallies


def _call(given: Input) -> list[Any]:
    """An input as the worker takes it."""
    return [given.strategy, given.scene.group, given.me, *given.scene.texts]


def _timed(tally: Tally, given: Input, answered: Answered) -> Answer | Exception:
    """The implementation's answer, its time counted."""
    begin = time.perf_counter()
    own = _answer(given, answered)
    tally.seconds += time.perf_counter() - begin
    return own


def _answer(given: Input, answered: Answered) -> Answer | Exception:
    """The implementation's answer; a crash is returned, for it differs from whatever Java did."""
    try:
        return answered(given)
    except Exception as error:  # noqa: BLE001 -- whatever it is, Java did something else
        return error


def _difference(number: int, given: Input, theirs: Answer, own: Answer | Exception) -> Difference | None:
    """None for equal queues in equal order, or the same exception with the same message."""
    if theirs == own and not isinstance(own, Exception):
        return None
    recorded = _recorded(theirs)
    sentence = compare(recorded, lambda: _rows(_raised(own)))
    if sentence is None:
        return None
    results = {JAVA: recorded, "implementation": outcome(lambda: _rows(_raised(own)))}
    return Difference(number, _arguments(given), results, sentence, given)


def shrunk(java: JavaProcess, difference: Difference, answered: Answered = implementation) -> Difference:
    """A difference from which no queue and no member can be taken away, found with live calls; one request a step."""
    while difference.given is not None:
        smaller = list(_smaller(difference.given))
        theirs = answers(java.ask(LIMIT_S, do="allocate", calls=[_call(given) for given in smaller]))
        tried = (
            _difference(difference.number, given, answer, _answer(given, answered))
            for given, answer in zip(smaller, theirs, strict=True)
        )
        found = next((one for one in tried if one is not None), None)
        if found is None:
            break
        difference = found
    return difference


def _smaller(given: Input) -> Iterator[Input]:
    """The input without one of its queues, or without one of its other members."""
    scene = given.scene
    for place in range(len(scene.queues or ())):
        queues = [mq for other, mq in enumerate(scene.queues or ()) if other != place]
        yield replace(given, scene=replace(scene, queues=queues))
    for place, member in enumerate(scene.ids or ()):
        if member != given.me:
            ids = [one for other, one in enumerate(scene.ids or ()) if other != place]
            yield replace(given, scene=replace(scene, ids=ids))


def _recorded(answer: Answer) -> dict[str, Any]:
    """An answer in the words of a recording."""
    if isinstance(answer, JavaError):
        return {"e": answer.java_class, "m": answer.message}
    return {"r": _rows(answer)}


def _raised(answer: Answer | Exception) -> list[MessageQueue] | None:
    if isinstance(answer, Exception):
        raise answer
    return answer


def _rows(queues: Sequence[MessageQueue] | None) -> list[list[Any]] | None:
    return None if queues is None else [[mq.topic, mq.broker_name, mq.queue_id] for mq in queues]


def _arguments(given: Input) -> dict[str, Any]:
    """An input in the words of a recording."""
    scene = given.scene
    return {
        "strategy": given.strategy, "group": scene.group, "cid": given.me,
        "mqAll": _rows(scene.queues), "cidAll": scene.ids,
    }


# Other decisions ------------------------------------------------------------------------------------------------------


def decisions(
    java: JavaProcess, seed: int, inputs: int, progress: Callable[[int], None] = lambda _inputs: None,
) -> Iterator[dict[str, Tally]]:
    """Compare so many inputs of each small decision, as `allocations` does; the recordings' adapters judge the rows.

    Of messages as bytes, and of texts, a fifth of them: each is written once and read several times.
    """
    tallies = {name: Tally(name, max(inputs // 5, 1) if name in FIFTHS else inputs) for name in DECISIONS}
    for name, tally in tallies.items():
        generator = Generator(seed)
        for begin in range(0, tally.wanted, BATCH):
            arguments = [generator.arguments(name) for _ in range(min(BATCH, tally.wanted - begin))]
            rows = java.ask(LIMIT_S, do="decide", decision=name, arguments=arguments)["rows"]
            started = time.perf_counter()
            for number, (argument, row) in enumerate(zip(arguments, rows, strict=True), start=begin):
                _judge(tally, number, {"a": argument, **row})
            tally.seconds += time.perf_counter() - started
            progress(len(arguments))
            yield tallies


def _judge(tally: Tally, number: int, row: Mapping[str, Any]) -> None:
    """Count one live row."""
    sentence = ADAPTERS[tally.name](row)
    answered = {key: value for key, value in row.items() if key != "a"}
    found = None if sentence is None else Difference(number, {"a": row["a"]}, {JAVA: answered}, sentence)
    tally.add(found, threw="e" in row)
