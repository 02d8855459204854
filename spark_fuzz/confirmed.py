"""A failure that a worker has seen again is played once more here, and what people want to see of it is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from invariants.evidence import replayed
from invariants.verdict import Outcome
from spark_fuzz.failures import Failure
from spark_fuzz.handover import handover
from stateful_tests.worlds import evidence
from stateful_tests.worlds.run import Plan
from stateful_tests.worlds.subjects import subject_named


def settle(failures: Iterable[Failure], folder: Path) -> bool:
    """Play one tape here that a worker has seen again; whether there was one.

    What was never played here comes first; then what was made much simpler since, or gets no simpler. folder -- of the
    campaign.
    """
    waiting = [one for one in failures if one.confirmed and one.shown != one.best]
    pressing = next((one for one in waiting if one.shown is None), None)
    failure = pressing or next((one for one in waiting if one.wish() is None or _much_simpler(one)), None)
    if failure is None:
        return False
    best, replay = failure.best, replayed(folder / "evidence" / file_of(failure))
    document = _played(failure.key, best.plan, best.choices, replay)
    if document is None or document["digest"] != best.digest.hex():
        failure.doubt = "not so when this process played the tape of a worker"
    failure.shown, failure.document = best, document
    return True


def _much_simpler(failure: Failure) -> bool:
    """Whether half of the choices that this process has played were left out since."""
    return failure.shown is not None and 2 * failure.best.order[0] <= failure.shown.order[0]


def _played(key: tuple[str, ...], plan: Plan, choices: bytes, replay: str) -> dict[str, Any] | None:
    verdict = evidence.verdict_of(plan, "campaign", key[0], Outcome.VIOLATED, replay=replay)
    try:
        return evidence.document(verdict, plan, choices, key)
    except ValueError:
        return None


def documents(failures: Iterable[Failure]) -> Mapping[str, Mapping[str, Any]]:
    """The evidence of those that are the same here, by file name."""
    return {file_of(one): one.document for one in failures if one.believed and one.document}


def tests(failures: Iterable[Failure]) -> Mapping[str, str]:
    """A test to keep for each of them, beside its evidence: {path: text}."""
    return {f"evidence/test_{file_of(one).removesuffix('.json').replace('-', '_')}.py":
            handover(one.key, one.believed, one.document)
            for one in failures if one.believed and one.document}


def file_of(failure: Failure) -> str:
    """Name of the evidence file of a way to fail."""
    subject = subject_named(failure.first.plan.subject)
    known = blake2b("\0".join([subject.name, *failure.key]).encode(), digest_size=3).hexdigest()
    return f"{plain(f'{failure.key[0]}-{subject.title}')[:100]}-{known}.json"


def plain(text: str) -> str:
    """A text as a part of a file name."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text)
