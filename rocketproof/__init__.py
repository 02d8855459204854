"""What tests of one's own import: machines that try a change, or an allocation strategy, in simulated worlds.

The command is `rocketproof`. The rooms of the project (`model`, `invariants`, `impl` and so on) lie below this package
where it is installed. Importing it imports nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rocketproof.home import at_home

if TYPE_CHECKING:
    from hypothesis.stateful import RuleBasedStateMachine

__all__ = ["Strategy", "state_machine"]


class Strategy(Protocol):
    """An allocation strategy of one's own."""

    def allocate(self, consumer_group: str, current_cid: str, mq_all: Any, cid_all: Any, /) -> Any:
        """The queues of the member current_cid: a list of elements of mq_all, or None.

        mq_all -- the queues of a topic, each with topic, broker_name and queue_id. cid_all -- the ids of all members.
        Both are sorted.
        """


def state_machine(
    concept: str, *, variant: str | Path | None = None, base: str | None = None, subject: str | None = None,
    strategy: Strategy | None = None, properties: Sequence[str] = (),
) -> type[RuleBasedStateMachine]:
    """A Hypothesis state machine: programs of deeds and faults, lived through by a simulated RocketMQ and judged.

    `TestMine = state_machine("subscription", variant="mine.py").TestCase` in a test file is a test.

    concept -- as of `rocketproof machine`: consumer_group, running_group, subscription, registration, order_lock or
    route_info. variant -- a file that defines VARIANT; base -- what it lies on: shipped, repaired, repaired-HAZARD; by
    default what its kind says. subject -- instead of both, what is judged; by default `repaired`. strategy -- that all
    members use instead of RocketMQ's. properties -- only their violation fails; by default that of each which the
    subject is expected to keep, and of a variant whatever the same program does not break in its base.

    Raises ValueError, in one sentence, for names and files that cannot be used. A test fails with the shrunk program.
    """
    if subject is not None and (variant is not None or base is not None):
        raise ValueError("give variant and its base, or subject, not both")
    if base is not None and variant is None:
        raise ValueError("say with variant what lies on the base")
    if strategy is not None and variant is not None:
        raise ValueError("give variant or strategy, not both: they are judged one by one")
    with at_home():
        from invariants.verdict import BadInputError
        from stateful_tests.machines.own import own_machine
        from stateful_tests.worlds.subjects import subject_on

        try:
            named = subject or "repaired" if variant is None else subject_on(base, str(variant))
            return own_machine(concept, named, strategy, properties, at_home)
        except BadInputError as error:
            raise ValueError(str(error)) from None
