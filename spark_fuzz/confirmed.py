"""A failure that a worker has seen again is played once more here, and what people want to see of it is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from invariants.evidence import replayed
from invariants.verdict import Outcome, Verdict
from spark_fuzz.failures import Failure
from spark_fuzz.handover import handover
from stateful_tests.worlds import evidence
from stateful_tests.worlds.subjects import subject_named


def settle(failures: Iterable[Failure], folder: Path) -> bool:
    """Play one tape here that a worker has seen again; whether there was one.

    What was never played here comes first; then what was made much simpler since, or gets no simpler. folder -- of the
    campaign.
    """
    waiting = [one for one in failures if one.confirmed and one.shown != one.best]
    pressing = [one for one in waiting if one.shown is None]
    waiting = pressing or [one for one in waiting if one.wish() is None or _much_simpler(one)]
    best = next((one.best for one in waiting), None)
    if best is None:
        return False
    alike = [one for one in waiting if (one.best.plan, one.best.choices) == (best.plan, best.choices)]
    asked = [(_verdict(one, folder), one.key) for one in alike]
    for failure, document in zip(alike, evidence.documents(best.plan, best.choices, asked), strict=True):
        if document is None or document["digest"] != failure.best.digest.hex():
            failure.doubt = "not so when this process played the tape of a worker"
        failure.shown, failure.document = failure.best, document
    return True


def _verdict(failure: Failure, folder: Path) -> Verdict:
    replay = replayed(folder / "evidence" / file_of(failure))
    return evidence.verdict_of(failure.best.plan, "campaign", failure.key[0], Outcome.VIOLATED, replay=replay,
                               key=failure.key, choices=failure.best.choices)


def _much_simpler(failure: Failure) -> bool:
    """Whether half of the choices that this process has played were left out since."""
    return failure.shown is not None and 2 * failure.best.order[0] <= failure.shown.order[0]


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
