"""Recovers the images of one workload and one kind of crash, and counts what they break."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from random import Random
from typing import NamedTuple

from impl.store.default_message_store import DefaultMessageStore
from stateful_tests.crash.images import Found, MachineCrashes, process_crashes
from stateful_tests.crash.memory import Image
from stateful_tests.crash.programs import Life, Message
from stateful_tests.crash.recovery import SURVIVES, Outcome, Store, broken, lost, outcome

PROCESS, JOURNALLED, MACHINE = "process", "journalled", "machine"
KINDS = {
    PROCESS: "the process is killed; what was written stays",
    JOURNALLED: "the machine loses pages that were not forced; names and lengths of files are durable at once",
    MACHINE: "the machine loses pages, lengths and names that were not forced",
}
"""Kind of crash to what it is."""


class Effort(NamedTuple):
    """How much is recovered.

    images -- up to so many combinations are all recovered; of more, so many are drawn. minutes -- for each workload and
    kind of crash: draw until this time is over, in place of `images`; None: no limit of time. seed -- of the draws.
    """

    images: int = 10_000
    minutes: float | None = None
    seed: int = 0


class Example(NamedTuple):
    """An image that breaks a property, left by a crash after a step.

    stale -- paths that are not as they were written last. sentence -- how it breaks.
    """

    image: Image
    step: int
    stale: tuple[str, ...]
    sentence: str

    def size(self) -> tuple[int, int, int, str]:
        """What makes one smaller than another: fewer stale paths, fewer steps, fewer bytes."""
        written = sum(len(data.rstrip(b"\0")) for data in self.image.values())
        return len(self.stale), self.step, written, self.sentence


class Survey:
    """What the images of a life lead to.

    kind -- of crash. images -- how many there are, equal ones counted each, over all crash points. covered -- how many
    of them were judged; with `exact` it is all. distinct, recoveries -- images that were recovered, and recoveries.
    broken -- property to how many of the covered images break it. smallest -- property to its smallest example.
    """

    def __init__(self, life: Life, kind: str, effort: Effort, store: Store = DefaultMessageStore) -> None:
        """Recover; store -- makes the process that recovers."""
        self.life, self.kind, self._store = life, kind, store
        self.covered = self.distinct = self.recoveries = 0
        self.broken: dict[str, int] = {}
        self.smallest: dict[str, Example] = {}
        self._outcomes: dict[tuple[tuple[str, bytes], ...], Outcome] = {}
        self._written = [found.image for found in process_crashes(life.recorder)]
        started = time.process_time()
        crashes = MachineCrashes(life.recorder, journalled=kind == JOURNALLED)
        self.images = len(self._written) if kind == PROCESS else crashes.count()
        self.exact = kind == PROCESS or crashes.combinations() <= effort.images
        for found in self._chosen(crashes, effort):
            self._judge(found)
        self.cpu_seconds = time.process_time() - started

    def _chosen(self, crashes: MachineCrashes, effort: Effort) -> Iterator[Found]:
        if self.kind == PROCESS:
            return process_crashes(self.life.recorder)
        if self.exact:
            return crashes.all()
        random = Random(f"{effort.seed} {self.life.workload.name} {self.kind}")  # noqa: S311  # nothing secret
        drawn = crashes.drawn(random)
        return islice(drawn, effort.images) if effort.minutes is None else _until(drawn, effort.minutes)

    def _judge(self, found: Found) -> None:
        key = tuple(found.image.items())
        if key not in self._outcomes:
            self._outcomes[key] = outcome(found.image, self.life, self._store)
            self.distinct += 1
            self.recoveries += 1 if self._outcomes[key].again is None else 2
        self.covered += found.crash_points()
        led_to = self._outcomes[key]
        for name, sentence in broken(self.life, led_to, self._acknowledged(found.until - 1)).items():
            steps = range(found.since, found.until)
            if name == SURVIVES:
                steps = range(next(step for step in steps if self._loses(led_to, step)), found.until)
            self.broken[name] = self.broken.get(name, 0) + len(steps)
            self._keep(name, found.image, steps.start, sentence)

    def _acknowledged(self, step: int) -> list[Message]:
        return [message for message, _ in self.life.acknowledged_by(step)]

    def _loses(self, led_to: Outcome, step: int) -> bool:
        return any(lost(led_to.first, self._acknowledged(step)))

    def _keep(self, name: str, image: Image, step: int, sentence: str) -> None:
        written = self._written[step]
        stale = sorted(path for path in {*image, *written} if image.get(path) != written.get(path))
        example = Example(image, step, tuple(stale), sentence)
        if name not in self.smallest or example.size() < self.smallest[name].size():
            self.smallest[name] = example


def _until(drawn: Iterator[Found], minutes: float, now: Callable[[], float] = time.monotonic) -> Iterator[Found]:
    end = now() + 60 * minutes
    for found in drawn:
        yield found
        if now() > end:
            return
