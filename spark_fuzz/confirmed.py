"""A failure that a worker has seen again is played once more here, and what people want to see of it is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
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


def confirmed(failure: Failure | None, folder: Path) -> dict[str, Any] | None:
    """The evidence of a failure that a worker has seen again, from playing its tape here.

    None, and doubt, if it is not the same here; None, too, if it was not seen again. folder -- of the campaign.
    """
    if failure is None or not failure.confirmed:
        return None
    best, replay = failure.best, replayed(folder / "evidence" / file_of(failure))
    document = _played(failure.key, best.plan, best.choices, replay)
    if document is None or document["digest"] != best.digest.hex():
        failure.doubt = "not so when this process played the tape of a worker"
        return None
    return document


@lru_cache(maxsize=1024)
def _played(key: tuple[str, ...], plan: Plan, choices: bytes, replay: str) -> dict[str, Any] | None:
    verdict = evidence.verdict_of(plan, "campaign", key[0], Outcome.VIOLATED, replay=replay)
    try:
        return evidence.document(verdict, plan, choices, key)
    except ValueError:
        return None


def documents(failures: Iterable[Failure], folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """The evidence of those that are the same here, by file name."""
    return {file_of(one): document for one in failures if (document := confirmed(one, folder)) is not None}


def tests(failures: Iterable[Failure], folder: Path) -> Mapping[str, str]:
    """A test to keep for each of them, beside its evidence: {path: text}."""
    return {f"evidence/test_{file_of(one).removesuffix('.json').replace('-', '_')}.py":
            handover(one.key, one.best, document)
            for one in failures if (document := confirmed(one, folder)) is not None}


def file_of(failure: Failure) -> str:
    """Name of the evidence file of a way to fail."""
    subject = subject_named(failure.first.plan.subject)
    known = blake2b("\0".join([subject.name, *failure.key]).encode(), digest_size=3).hexdigest()
    return f"{plain(f'{failure.key[0]}-{subject.title}')[:100]}-{known}.json"


def plain(text: str) -> str:
    """A text as a part of a file name."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text)
