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
    concept: str, *, variant: str | Path | None = None, subject: str | None = None, strategy: Strategy | None = None,
    properties: Sequence[str] = (),
) -> type[RuleBasedStateMachine]:
    """A Hypothesis state machine: programs of deeds and faults, lived through by a simulated RocketMQ and judged.

    `TestMine = state_machine("subscription", variant="mine.py").TestCase` in a test file is a test.

    concept -- as of `rocketproof machine`: consumer_group, running_group, subscription, registration, order_lock or
    route_info. variant -- a file that defines VARIANT, on top of `repaired`; subject -- instead, what is judged, by its
    name; by default `repaired`. strategy -- that all members use instead of RocketMQ's. properties -- only their
    violation fails; by default that of each which the subject is expected to keep.

    Raises ValueError, in one sentence, for names and files that cannot be used. A test fails with the shrunk program.
    """
    if variant is not None and subject is not None:
        raise ValueError("give variant or subject, not both")
    named = f"repaired+{variant}" if variant is not None else subject or "repaired"
    with at_home():
        from invariants.verdict import BadInputError
        from stateful_tests.machines.own import own_machine

        try:
            return own_machine(concept, named, strategy, properties, at_home)
        except BadInputError as error:
            raise ValueError(str(error)) from None
