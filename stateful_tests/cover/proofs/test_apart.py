"""A solver that ends its process costs one answer, and says so."""

from __future__ import annotations

import os
import signal
import time

import pytest

from invariants.claim import Claim, Finding
from invariants.concepts import PROPERTIES
from invariants.verdict import Outcome
from model.language import Property
from model.order_lock import OrderLock
from proofs import decisions, explain
from proofs.apart import apart
from proofs.decisions import prove_claim, prove_decisions
from proofs.obligations import Induction
from proofs.prove import Prover, provable

LOCKS = [p for p in OrderLock.concept.properties.values() if provable(p)]
assert PROPERTIES  # importing them declares properties


def told(job: int, how: str) -> str:
    return f"{job}: {how}"


def some_end(job: int) -> str:
    if job == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    if job == 3:
        os._exit(7)
    return f"{job} done"


def test_each_job_has_its_answer_whatever_ends_the_process() -> None:
    assert [*apart(range(5), some_end, told)] == [
        "0 done", "1: signal SIGSEGV", "2 done", "3: exit status 7", "4 done"]
    assert [*apart([3, 1], some_end, told)] == ["3: exit status 7", "1: signal SIGSEGV"]
    assert [*apart([], some_end, told)] == []


def test_what_work_raises_is_raised_here() -> None:
    def refused(job: int) -> str:
        if job == 2:
            raise ValueError(job)
        return ""

    found = apart(range(5), refused, told)
    assert [next(found), next(found)] == ["", ""]
    with pytest.raises(ValueError, match="2"):
        next(found)


def test_an_answer_that_cannot_be_sent_is_an_error_and_no_end() -> None:
    with pytest.raises(Exception, match="pickle"):
        [*apart([1], lambda _: lambda: 0, lambda *_: lambda: 1)]


def test_nobody_goes_on_when_nobody_wants_more() -> None:
    def long(job: int) -> int:
        time.sleep(3_600 * job)  # longer than a test may take
        return os.getpid()

    found = apart(range(2), long, lambda *_: 0)
    child = next(found)
    found.close()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_property_whose_proof_ends_the_process_is_unknown_and_the_others_are_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    verdict = Prover.verdict

    def fatal(self: Prover, declared: Property) -> object:
        if declared is LOCKS[1]:
            os.kill(os.getpid(), signal.SIGSEGV)
        return verdict(self, declared)

    monkeypatch.setattr(Prover, "verdict", fatal)
    rows = {row.property: row for row in Prover((0,)).judge(LOCKS)}
    lost = rows.pop(LOCKS[1].name)
    assert lost.outcome is Outcome.UNKNOWN
    assert lost.note == "the process that asks the solver ended: signal SIGSEGV"
    assert {row.outcome for row in rows.values()} == {Outcome.HOLDS}
    assert {*rows, lost.property} >= {p.name for p in LOCKS}


def test_a_claim_whose_proof_ends_the_process_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fatal(claim: Claim, *arguments: object, **options: object) -> Finding:
        if claim.name == "circle_is_balanced":
            os.kill(os.getpid(), signal.SIGABRT)
        return prove_claim(claim, *arguments, **options)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(decisions, "prove_claim", fatal)
    names = ["averagely_is_total", "circle_is_balanced", "position_is_in_range"]
    rows = [*prove_decisions(names)]
    assert [row.property for row in rows if row.outcome is Outcome.UNKNOWN] == ["allocation_is_balanced"]
    assert [row.outcome for row in rows].count(Outcome.HOLDS) == 2


def test_a_mutation_that_ends_the_process_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = next(p for p in LOCKS if p.broken_by)
    monkeypatch.setattr(Induction, "mutated", lambda self, _: self)
    row, = Prover((0,)).judge([declared])
    assert row.note == f"proved, but also with {declared.broken_by[0]}", "a change of nothing is proved"
    monkeypatch.setattr(Induction, "mutated", lambda *_: os.kill(os.getpid(), signal.SIGSEGV))
    row, = Prover((0,)).judge([declared])
    assert row.outcome is Outcome.HOLDS


def test_an_explanation_that_ends_the_process_is_said_to_be_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explain, "explanation", lambda _: os.kill(os.getpid(), signal.SIGSEGV))
    told: list[str] = []
    declared = LOCKS[0]
    rows = [*Prover((0,)).judge([declared])]
    assert [*explain.with_reasons(rows, {declared.name: declared}, told.append, None)] == rows
    assert told == [f"{declared.name}: not explained, the process that asks the solver ended: signal SIGSEGV"]
