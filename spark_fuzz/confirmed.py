"""A failure that is believed: it may be played once more here, and is shown to people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from impl.hosts.simulation.tape import QuietTape
from invariants.evidence import replayed
from invariants.verdict import Outcome
from spark_fuzz.failures import Failure, Recording
from spark_fuzz.handover import MADE, handover
from spark_fuzz.runs import Key
from stateful_tests.worlds import evidence
from stateful_tests.worlds.run import run
from stateful_tests.worlds.subjects import subject_named


def settle(failures: Iterable[Failure]) -> bool:
    """Play one tape here that a worker has seen again and no hazard explains; whether there was one.

    What was never played here comes first; then what was made much simpler since, or gets no simpler.
    """
    waiting = [one for one in failures if one.confirmed and not one.expected and one.played != one.best]
    pressing = [one for one in waiting if one.played is None]
    waiting = pressing or [one for one in waiting if one.wish() is None or _much_simpler(one)]
    best = next((one.best for one in waiting), None)
    if best is None:
        return False
    record = run(best.plan, QuietTape(best.choices))
    for failure in waiting:
        if (failure.best.plan, failure.best.choices) == (best.plan, best.choices):
            if record.digest != failure.best.digest.hex() or failure.key not in record.signatures():
                failure.doubt = "not so when this process played the tape of a worker"
            failure.played = failure.best
    return True


def _much_simpler(failure: Failure) -> bool:
    """Whether half of the choices that this process has played were left out since."""
    return failure.played is not None and 2 * failure.best.order[0] <= failure.played.order[0]


def documents(failures: Iterable[Failure], folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """The evidence of those that are believed, by file name; folder -- of the campaign."""
    return {(name := file_of(one)): _document(one.key, shown, folder / "evidence" / name)
            for one in failures if (shown := one.believed) is not None}


@lru_cache(maxsize=MADE)
def _document(key: Key, shown: Recording, file: Path) -> dict[str, Any]:
    """The same object for the same recording, which the ledger writes once."""
    verdict = evidence.verdict_of(shown.plan, "campaign", key[0], Outcome.VIOLATED, replay=replayed(file), key=key,
                                  choices=shown.choices)
    return evidence.document(verdict, json.loads(shown.shown) if shown.shown else _recorded(key, shown))


def _recorded(key: Key, shown: Recording) -> dict[str, Any]:
    """What is known of a run that was not played again."""
    return {"sentence": shown.sentence, "plan": asdict(shown.plan), "choices": list(shown.choices),
            "digest": shown.digest.hex(), "signature": list(key), "time_ms": shown.time_ms}


def tests(failures: Iterable[Failure]) -> Mapping[str, str]:
    """A test to keep for each of them, beside its evidence: {path: text}."""
    return {f"evidence/test_{file_of(one).removesuffix('.json').replace('-', '_')}.py": handover(one.key, shown)
            for one in failures if (shown := one.believed) is not None}


def file_of(failure: Failure) -> str:
    """Name of the evidence file of a way to fail."""
    subject = subject_named(failure.first.plan.subject)
    known = blake2b("\0".join([subject.name, *failure.key]).encode(), digest_size=3).hexdigest()
    return f"{plain(f'{failure.key[0]}-{subject.title}')[:100]}-{known}.json"


def plain(text: str) -> str:
    """A text as a part of a file name."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text)
