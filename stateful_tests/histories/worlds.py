"""Histories of simulated worlds: what their clients observe, as `rocketproof judge` reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from invariants.histories.checks import Finding
from invariants.histories.judging import judged
from invariants.histories.operations import SEND, Operation, to_json
from invariants.verdict import BadInputError
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, lived


def observed(plan: Plan, seed: int) -> list[Operation]:
    """What the clients of a run observe. Raises BadInputError where nobody sends, or the run does not end."""
    with lived(plan, STRATEGIES[plan.strategy](seed), judged=False) as (world, record):
        history = [one.operation for one in world.notes.history()]
    if record.unknown:
        raise BadInputError(f"--seed {seed}: {record.unknown}")
    if not any(one.kind == SEND for one in history):
        raise BadInputError(f"--workload {plan.workload}: nobody sends in it; give stored or stored_sync")
    return history


def write(path: Path, plan: Plan, seed: int) -> int:
    """Write what the clients of a run observe, a line for each operation; how many. Raises BadInputError."""
    history = observed(plan, seed)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{to_json(one)}\n" for one in history), encoding="utf-8")
    except OSError as error:
        raise BadInputError(f"{path}: cannot be written ({error.strerror}); give another file") from error
    return len(history)


def findings(plan: Plan, seeds: Iterable[int]) -> Iterator[tuple[int, Finding]]:
    """What the checks find in the histories of runs, with the seed of each."""
    for seed in seeds:
        for one in judged(observed(plan, seed)):
            if isinstance(one, Finding):
                yield seed, one
