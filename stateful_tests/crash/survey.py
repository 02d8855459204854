"""Recovers the images of one life and one kind of crash, and counts what they break."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from random import Random
from typing import NamedTuple

from impl.store.default_message_store import DefaultMessageStore
from stateful_tests.crash.images import Found, MachineCrashes, process_crashes
from stateful_tests.crash.memory import Image
from stateful_tests.crash.programs import Life
from stateful_tests.crash.promises import broken
from stateful_tests.crash.recovery import Outcome, Recoveries, Store
from stateful_tests.crash.tally import Example, Tally

PROCESS, JOURNALLED, MACHINE = "process", "journalled", "machine"
KINDS = {
    PROCESS: "the process is killed; what was written stays",
    JOURNALLED: "the machine loses pages that were not forced; names and lengths of files are durable at once",
    MACHINE: "the machine loses pages, lengths and names that were not forced",
}
"""Kind of crash to what it is."""


class Effort(NamedTuple):
    """How much is recovered. images -- up to so many combinations are all recovered; of more, so many are drawn.

    seed -- of the draws.
    """

    images: int = 10_000
    seed: int = 0


class Crashes:
    """The images that crashes of one kind leave of a life."""

    def __init__(self, life: Life, kind: str) -> None:
        """Know them; kind -- of KINDS."""
        self.life, self.kind = life, kind
        self._machine = MachineCrashes(life.recorder, journalled=kind == JOURNALLED)

    @cached_property
    def images(self) -> int:
        """How many there are over all crash points, equal ones counted each."""
        return self.life.recorder.steps + 1 if self.kind == PROCESS else self._machine.count()

    @cached_property
    def combinations(self) -> int:
        """How many `all` lists."""
        return self.images if self.kind == PROCESS else self._machine.combinations()

    def all(self, part: int = 0, of: int = 1) -> Iterator[Found]:
        """Every combination of a part; see MachineCrashes.all. Process crashes have one part."""
        return process_crashes(self.life.recorder) if self.kind == PROCESS else self._machine.all(part, of)

    def chosen(self, effort: Effort) -> tuple[bool, Iterator[Found]]:
        """Whether these are all, and what an effort recovers."""
        if self.kind == PROCESS or self.combinations <= effort.images:
            return True, self.all()
        random = Random(f"{effort.seed} {self.life.workload.name} {self.kind}")  # noqa: S311  # nothing secret
        return False, islice(self._machine.drawn(random), effort.images)


def surveyed(life: Life, images: Iterable[Found], store: Store = DefaultMessageStore) -> Tally:
    """What images of a life lead to; store -- makes the process that recovers."""
    survey = _Survey(life, store)
    for found in images:
        survey.judge(found)
    return survey.tally


class _Survey:
    """What is known of the images of a life so far."""

    def __init__(self, life: Life, store: Store) -> None:
        self._life, self.tally = life, Tally()
        self._recoveries = Recoveries(life, store)
        self._written = [found.image for found in process_crashes(life.recorder)]
        self._judged: dict[tuple[int, int], dict[str, str]] = {}

    def judge(self, found: Found) -> None:
        """Recover an image, and count what that breaks."""
        tally, led_to = self.tally, self._recoveries.of(found.image)
        tally.distinct, tally.recoveries = self._recoveries.distinct, self._recoveries.count
        tally.covered += found.crash_points()
        for since, until in self._life.periods(found.since, found.until):
            for name, sentence in self._broken(led_to, since).items():
                tally.broken[name] = tally.broken.get(name, 0) + until - since
                tally.keep(name, self._example(found.image, since, sentence))

    def _broken(self, led_to: Outcome, step: int) -> dict[str, str]:
        known = self._life.known(step)
        key = id(led_to), id(known)  # outcomes live as long as this, and what is known as long as the life
        if key not in self._judged:
            self._judged[key] = broken(led_to, known)
        return self._judged[key]

    def _example(self, image: Image, step: int, sentence: str) -> Example:
        written = self._written[step]
        stale = sorted(path for path in {*image, *written} if image.get(path) != written.get(path))
        return Example(image, step, tuple(stale), sentence, self._life.workload)
