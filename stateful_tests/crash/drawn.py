"""Workloads that are drawn: programs of up to twelve operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from random import Random

from impl.store.message_store_config import FlushDiskType
from stateful_tests.crash.programs import Workload
from stateful_tests.crash.workloads import WORKLOADS, Expected

LEAST, MOST = 3, 12
"""Operations of a program."""
_HAS_INDEX = 0.25  # of the programs
_WEIGHTS = {"put": 6, "batch": 2, "roll": 1, "edge": 1, "refused": 0.5, "dispatch": 5, "flush": 5, "queues": 1,
            "checkpoint": 2, "stop": 1, "kill": 1,
            "delay": 1, "deliver": 1, "offsets": 0.5, "clean": 0.5, "full": 0.5}


def drawn(flush: FlushDiskType, seed: int, number: int) -> Workload:
    """The workload of this number; the same for equal seeds."""
    random = Random(f"crash {flush.value} {seed} {number}")  # noqa: S311  # nothing secret
    has_index = random.random() < _HAS_INDEX
    operations = tuple(_operations(random, random.randint(LEAST, MOST), has_index=has_index))
    return Workload(f"drawn {number} of seed {seed}", "A program that was drawn.", flush, operations, has_index)


def _operations(random: Random, length: int, *, has_index: bool) -> Iterator[str]:
    """A message first; whatever ends the process is followed by a start."""
    yield _words("put", random, has_index=has_index)
    names, weights = list(_WEIGHTS), list(_WEIGHTS.values())
    made = 1
    while made < length:
        name = random.choices(names, weights)[0]
        ends = name in {"stop", "kill"}
        if ends and made + 2 > length:
            continue
        yield _words(name, random, has_index=has_index)
        if ends:
            yield "start"
        made += 1 + ends


def _words(name: str, random: Random, *, has_index: bool) -> str:
    topic = random.choice("AB")
    match name:
        case "put":
            keys = random.sample("klm", random.randint(0, 2)) if has_index else []
            return " ".join(["put", topic, *keys])
        case "batch":
            return f"batch {topic} {random.randint(2, 3)}"
        case "roll" | "edge" | "refused":
            return f"{name} {topic}"
        case "delay":
            return f"delay {topic} 1"
        case "full":
            return f"full {random.choice((76, 86, 91))}"
    return name


def group_of(flush: FlushDiskType) -> str:
    """The name under which drawn workloads are counted together."""
    return f"drawn {flush.value}"


def _any_expected(flush: FlushDiskType) -> Mapping[str, Expected]:
    """What the workloads break that are not drawn: kind of crash to property and hazards.

    What breaks without a hazard in one of them may break without one; with the other way to flush that says nothing.
    """
    found: dict[str, dict[str, list[tuple[str, ...]]]] = {}
    for workload in WORKLOADS.values():
        for kind, broken in workload.expected.items():
            for name, hazards in broken.items():
                if hazards or workload.flush is flush:
                    found.setdefault(kind, {}).setdefault(name, []).append(hazards)
    return {kind: {name: tuple(sorted(set(chain(*given)))) if all(given) else () for name, given in broken.items()}
            for kind, broken in found.items()}


DRAWN: Mapping[str, Mapping[str, Expected]] = {
    group_of(flush): _any_expected(flush) for flush in FlushDiskType}
"""What is expected of drawn workloads of RocketMQ as shipped."""
