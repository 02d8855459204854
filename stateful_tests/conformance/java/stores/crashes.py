"""Images of the crash atlas, recovered by the real store and by ours: equal states, and equal files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

from impl.store.default_message_store import DefaultMessageStore
from stateful_tests.conformance.java.stores.real import ROOT
from stateful_tests.conformance.java.stores.recoveries import loaded_alike
from stateful_tests.crash.images import MachineCrashes, process_crashes
from stateful_tests.crash.memory import Image
from stateful_tests.crash.programs import Life, Workload
from stateful_tests.crash.promises import broken
from stateful_tests.crash.recovery import outcome
from stateful_tests.crash.survey import JOURNALLED, KINDS, PROCESS
from stateful_tests.crash.workloads import WORKLOADS

DRAWN = 150  # images of a workload and a kind of crash, from which the classes are made
Class = tuple[str, ...]
"""The properties that an image breaks: what recovery makes of it."""


class Atlas:
    """Images by class. classes -- to those that lead to it, each with its workload and kind of crash."""

    def __init__(self, seed: int, drawn: int = DRAWN) -> None:
        """Draw so many of each workload and kind of crash, and recover them with ours."""
        self.classes: dict[Class, list[tuple[Workload, str, Image]]] = defaultdict(list)
        for workload in WORKLOADS.values():
            life = Life(workload, DefaultMessageStore)
            for kind in KINDS:
                random = Random(f"{seed} {workload.name} {kind}")  # noqa: S311  # images must be the same again
                for image, step in islice(_images(life, kind, random), drawn):
                    found = tuple(sorted(broken(outcome(image, life), life.known(step))))
                    self.classes[found].append((workload, kind, image))

    def drawn(self, seed: int) -> tuple[Workload, str, Image]:
        """One image; each class is as likely as each other."""
        random = Random(seed)  # noqa: S311  # the same again
        return random.choice(self.classes[random.choice(sorted(self.classes))])


def _images(life: Life, kind: str, random: Random) -> Iterator[tuple[Image, int]]:
    """Images and the last step that they are left after."""
    if kind == PROCESS:
        found = list(process_crashes(life.recorder))
        random.shuffle(found)
        return ((one.image, one.until - 1) for one in found)
    crashes = MachineCrashes(life.recorder, journalled=kind == JOURNALLED)
    return ((one.image, one.until - 1) for one in crashes.drawn(random))


def crash_recovery(folder: Path, atlas: Atlas, seed: int) -> str | None:
    """Let both stores load one of the images: what differs."""
    workload, kind, image = atlas.drawn(seed)
    contents = {path.removeprefix(f"{ROOT}/"): data for path, data in image.items()}
    return loaded_alike(folder, contents, workload.config, f"{workload.name}, {kind} crash, image {seed}")
