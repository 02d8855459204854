"""`check allocation`: the judge of a user's own strategy, by the same claims as RocketMQ's.

A Python strategy is a class that is made without arguments and has

    allocate(consumer_group, current_cid, mq_all, cid_all) -> list of queues, or None for none

with impl.decisions.message_queue.MessageQueue for queues and texts for members. It is asked about all small groups, and
then about random larger ones, in two child processes with different hash seeds. It works on lists, so it is not
executed symbolically; the rows say so. All members see equal sorted lists, as RebalanceImpl#rebalanceByTopic makes
them.

What a group cannot do without is expected to hold: an answer to every call, in range, total, exclusive,
deterministic. Whether it is balanced, and whether it moves minimally, is told for information: such a row expects what
was found.
"""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from impl.decisions.message_queue import MessageQueue
from invariants.allocation.answers import GROUP, Failure, Observed, Strategy, asked
from invariants.allocation.cases import Case
from invariants.allocation.claims import STRATEGY_CLAIMS
from invariants.allocation.inputs import EQUAL_LISTS
from invariants.claim import Finding
from invariants.verdict import Outcome, Subject, Verdict
from stateful_tests.child import ChildEndedError, ChildGarbageError, ChildHungError
from stateful_tests.conformance.java.check import (
    JavaStrategy,
    JavaStrategyDiedError,
    JavaStrategyError,
    JavaStrategyHungError,
    check_java,
)
from stateful_tests.conformance.port.exchange import CALL_LIMIT_S as PORT_CALL_LIMIT_S
from stateful_tests.conformance.port.strategy import ALLOCATE, PortStrategy
from stateful_tests.decisions.child import CALL_LIMIT_S, ChildStrategy
from stateful_tests.decisions.strategies import (
    MEMBERS,
    QUEUES,
    RANDOM_MEMBERS,
    RANDOM_QUEUES,
    Broken,
    Candidate,
    Judging,
    Row,
    unbroken,
)

EXAMPLES = 100
PROGRAM = "a program"
"""What stands for the language of a strategy that is asked by JSON lines."""
JAVA_CALL_LIMIT_S = 10.0
STOPS = (ChildHungError, ChildEndedError, ChildGarbageError, JavaStrategyHungError, JavaStrategyDiedError)


def check_allocation(reference: str, *, out: Path | None = None, queues: int = QUEUES, members: int = MEMBERS,
                     examples: int = EXAMPLES, seed: int = 0, limit_s: float = CALL_LIMIT_S) -> Iterator[Verdict]:
    """One verdict per property for a Python strategy; violations as soon as they are found, smallest case first.

    reference -- MODULE:CLASS or FILE.py:CLASS. out -- folder for evidence. queues, members -- of the largest
    exhaustive case. examples -- random cases afterwards. limit_s -- wall seconds of one call.

    Raises BadInputError, in one sentence, when the class cannot be imported or made. The children end with the
    iterator.
    """
    command = f"rocketproof check allocation --python {reference}"
    with python_candidate(reference, limit_s) as candidate:
        yield from check_strategy(candidate, command, out=out, queues=queues, members=members, examples=examples,
                                  seed=seed)


def check_java_allocation(classpath: str, class_name: str, *, out: Path | None = None, queues: int = QUEUES,
                          members: int = MEMBERS, examples: int = EXAMPLES, seed: int = 0) -> Iterator[Verdict]:
    """The same for a Java class; see check_java for what it must be and for the errors."""
    command = f"rocketproof check allocation --java {classpath} --class {class_name}"
    with java_candidate(classpath, class_name) as candidate:
        yield from check_strategy(candidate, command, out=out, queues=queues, members=members, examples=examples,
                                  seed=seed)


def check_port_allocation(
    command: str, function: str | None = None, *, out: Path | None = None, queues: int = QUEUES, members: int = MEMBERS,
    examples: int = EXAMPLES, seed: int = 0,
) -> Iterator[Verdict]:
    """The same for a program in any language; see PortStrategy for what it must do and for the errors."""
    function = function or ALLOCATE
    said = f"rocketproof check allocation --exec {shlex.quote(command)} --function {shlex.quote(function)}"
    with port_candidate(command, function) as candidate:
        yield from check_strategy(candidate, said, out=out, queues=queues, members=members, examples=examples,
                                  seed=seed)


def check_strategy(candidate: Candidate, command: str, *, out: Path | None = None, queues: int = QUEUES,
                   members: int = MEMBERS, examples: int = EXAMPLES, seed: int = 0) -> Iterator[Verdict]:
    """The same for anything that can be called; command -- shows the verdicts again."""
    demanded = {claim.name: Outcome.HOLDS for claim in STRATEGY_CLAIMS.values() if claim.demanded}
    row = Row("check", candidate.subject, demanded, {}, command, seed, asked=candidate.requests)
    judging = Judging(candidate, dict(STRATEGY_CLAIMS))
    for broken in judging.exhaust(queues, members):
        yield row.violated(broken, judging.cost(), _information(broken.claim.name)).saved(out)
    small = judging.cases
    for broken in judging.explore(examples, seed) if judging.stopped is None else ():
        yield row.violated(broken, judging.cost(), _information(broken.claim.name)).saved(out)
    yield from (finding.saved(out) for finding in _no_answer(judging, row))
    scope = (f"{small} small cases (up to {queues} queues, {members} members), {judging.cases - small} random ones "
             f"(up to {RANDOM_QUEUES} and {RANDOM_MEMBERS}); not executed symbolically: a strategy works on lists")
    yield from (finding.saved(out) for finding in unbroken(judging, row, scope))


def _information(name: str) -> str:
    return "" if STRATEGY_CLAIMS[name].demanded else " (for information: a trade-off, not an error)"


def _no_answer(judging: Judging, row: Row) -> Iterator[Finding]:
    """A call that did not return, or ended its process, falsifies the claim that every call is answered."""
    claim = judging.left.get("allocation_answers")
    if judging.stopped is None or judging.stopped_at is None or claim is None:
        return
    judging.left.pop(claim.name)
    silence = tuple(Failure("was not asked to the end") for _ in judging.stopped_at.views)
    seen = Observed(judging.stopped_at, silence, silence)
    yield row.violated(Broken(claim, seen, str(judging.stopped)), judging.cost())


# Drivers --------------------------------------------------------------------------------------------------------------


@contextmanager
def python_candidate(reference: str, limit_s: float | None = None) -> Iterator[Candidate]:
    """A Python class in two children with different hash seeds; they end with the context."""
    limit_s = limit_s or CALL_LIMIT_S
    subject = Subject("class", reference, {"inputs": EQUAL_LISTS.name, "language": "Python"})
    with (ChildStrategy(reference, limit_s=limit_s, hash_seed=1) as first,
          ChildStrategy(reference, limit_s=limit_s, hash_seed=2) as second):
        yield Candidate(subject, EQUAL_LISTS, _everybody(first), _everybody(second), STOPS)


@contextmanager
def java_candidate(classpath: str, class_name: str, limit_s: float | None = None) -> Iterator[Candidate]:
    """A Java class in a JVM of its own, which ends with the context."""
    limit_s = limit_s or JAVA_CALL_LIMIT_S
    details = {"inputs": EQUAL_LISTS.name, "language": "Java", "classpath": classpath}
    with check_java(classpath, class_name, limit_s) as strategy:
        call = functools.partial(_thrown_is_a_failure, strategy)

        yield Candidate(Subject("class", class_name, details), EQUAL_LISTS, _everybody(call), None, STOPS,
                        lambda cases: strategy.ahead(_calls(cases)))


@contextmanager
def port_candidate(command: str, function: str, limit_s: float = PORT_CALL_LIMIT_S) -> Iterator[Candidate]:
    """A function of a program, which ends with the context."""
    details = {"inputs": EQUAL_LISTS.name, "language": PROGRAM, "function": function}
    with PortStrategy(command, function, limit_s) as strategy:
        yield Candidate(Subject("class", command, details), EQUAL_LISTS, _everybody(strategy), None, STOPS,
                        lambda cases: strategy.ahead(_calls(cases)),
                        lambda case: list(dict.fromkeys(map(strategy.request, _calls([case])))))


def _calls(cases: Sequence[Case]) -> list[tuple[str, str, list[MessageQueue], list[str]]]:
    """What will be asked about cases, in this order."""
    views = [view for case in cases for view in asked(case)]
    return [(GROUP, view.me, list(view.queues), list(view.members)) for view in views]


def candidate_of(subject: Subject) -> AbstractContextManager[Candidate]:
    """The class that a subject of kind "class" names, ready to be called."""
    if subject.details.get("language") == "Java":
        return java_candidate(str(subject.details["classpath"]), subject.name)
    if subject.details.get("language") == PROGRAM:
        return port_candidate(subject.name, str(subject.details["function"]))
    return python_candidate(subject.name)


def _everybody(strategy: Strategy) -> Callable[[Case], Sequence[Strategy]]:
    return lambda case: [strategy] * len(case.views)


def _thrown_is_a_failure(strategy: JavaStrategy, *call: Any) -> Any:
    try:
        return strategy(*call)
    except JavaStrategyError as error:
        return Failure(f"threw {error}"[:200])
