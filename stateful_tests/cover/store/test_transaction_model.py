"""The traces that break what is promised of a transactional message run on a broker, and break it there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from impl.decisions.flags import TRANSACTION_COMMIT_TYPE, TRANSACTION_ROLLBACK_TYPE
from invariants.concepts import CONCEPTS
from model.explorer import explore
from model.scopes import SCOPES
from model.transaction import Transaction
from stateful_tests.cover.store.transactions import TransactionBroker

assert CONCEPTS  # importing them declares properties
ROUND_MS = 60_000
UNDONE = {"commit_locally", "roll_back_locally", "answer_commit", "answer_rollback", "answer_early", "answer_unknown",
          "lose_end", "lose_check"}
"""What happens at the producer, or on the way."""


def traced(hazard: str, name: str) -> list[str]:
    """The actions of the shortest trace that breaks a property."""
    scope = next(one for one in SCOPES if one.name == f"transaction, {hazard}").scope
    steps: Sequence[Any] = explore(scope, [Transaction.concept.properties[name]]).violations[name]["steps"]
    return [step["action"] for step in steps]


def played(actions: Sequence[str]) -> tuple[TransactionBroker, list[str]]:
    """The broker after these steps, and the ends that it has taken."""
    broker, taken = TransactionBroker(), list[str]()
    for action in actions:
        if action == "prepare":
            half = broker.prepare()
        elif action in {"check", "pass_ended"}:
            broker.check(ROUND_MS)
        elif action not in UNDONE:
            how = TRANSACTION_ROLLBACK_TYPE if action.startswith("roll_back") else TRANSACTION_COMMIT_TYPE
            broker.end(half, how, **(about(broker) if "checked" in action else {}))
            taken.append(action)
    return broker, taken


def about(broker: TransactionBroker) -> dict[str, int]:
    """The half message that was asked about last."""
    header = broker.asked[-1][1]
    return {"tran_state_table_offset": header.tran_state_table_offset, "commit_log_offset": header.commit_log_offset}


def test_a_half_message_that_may_end_twice_is_delivered_twice() -> None:
    broker, taken = played(traced("P12", "transaction_is_delivered_once"))
    assert len(taken) == len(broker.bodies("T", 2)) == 2


def test_a_half_message_is_delivered_after_a_rollback() -> None:
    broker, taken = played(traced("T2", "half_message_ends_one_way"))
    assert {one.partition("_")[0] for one in taken} == {"commit", "roll"}
    assert len(broker.bodies("T", 2)) == 1
    assert len(broker.ops()) == 2


@pytest.mark.parametrize("action", ["commit_first", "roll_back"])
def test_an_end_that_comes_first_is_one_end(action: str) -> None:
    broker, _ = played(["prepare", action, "pass_ended"])
    assert len(broker.bodies("T", 2)) == (action == "commit_first")
    assert broker.asked == []
