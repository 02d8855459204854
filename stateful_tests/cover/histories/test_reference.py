from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from invariants.histories import messages, sequences
from invariants.histories.context import context
from invariants.histories.judging import followed
from invariants.histories.operations import OF_MESSAGES, Operation
from spark_fuzz.histories.files import SCHEMA
from spark_fuzz.histories.passes import SUBJECT, followed_pass, messages_pass
from stateful_tests.histories.compare import differences
from stateful_tests.histories.drawn import drawn


def test_the_checker_says_what_the_reference_says() -> None:
    compared = list(differences(range(1_500)))
    assert [(seed, differs) for seed, differs, _ in compared if differs] == []
    assert 0 < sum(found for *_, found in compared) < len(compared)


@pytest.mark.parametrize("check", ["_lost", "_phantom", "_duplicated", "_skipped", "_unresolved", "_early",
                                   "_misfiltered", "_dead_letters"])
def test_a_check_that_is_mute_differs_from_the_reference(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, check, lambda *_: iter(()))
    assert any(differs for _, differs, _ in differences(range(300)))


@pytest.mark.parametrize("check", ["_commits", "_is_delivered"])
def test_a_follower_that_is_mute_differs_from_the_reference(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequences.Member, check, lambda *_: iter(()))
    assert any(differs for _, differs, _ in differences(range(300)))


def sorted_batches(history: list[Operation], subject: str, rows: int) -> Iterator[pa.RecordBatch]:
    """As Spark gives them: all of one subject together, in batches of so many rows."""
    if not history:
        return
    hashed = {name: at for at, name in enumerate(sorted({str(_subject(one, subject)) for one in history}))}
    table = pa.Table.from_pylist([one._asdict() for one in history], SCHEMA).append_column(
        SUBJECT, pa.array([hashed[str(_subject(one, subject))] for one in history], pa.int64()))
    keys = [SUBJECT, "seq"] if subject == "client" else [SUBJECT, "group", "process", "queue", "offset", "seq"]
    order = sorted(range(len(history)), key=lambda at: [
        (value is not None, value) for value in (table.column(key)[at].as_py() for key in keys)])
    yield from table.take(pa.array(order)).combine_chunks().to_batches(rows)


def _subject(one: Operation, subject: str) -> object:
    if subject == "message":
        return one.message
    return (one.process, one.key) if one.group is None else (one.process, one.group, one.queue)


@pytest.mark.parametrize("rows", [1, 3, 100])
def test_passes_over_batches_say_what_the_checks_say(rows: int) -> None:
    for seed in range(250):
        history = drawn(seed)
        known = context(history)
        of_messages = [one for one in history if one.kind in OF_MESSAGES]
        by_pass = set(messages_pass(known)(sorted_batches(of_messages, "message", rows)))
        by_checks = {told for name in {one.message for one in of_messages}
                     for told in messages.judged([one for one in of_messages if one.message == name], known)}
        assert by_pass == by_checks, seed
        orderly = sequences.orderly(known)
        of_clients = [one for one in history if sequences.is_followed(one, orderly) is not None]
        by_pass = set(followed_pass(known)(sorted_batches(of_clients, "client", rows)))
        assert by_pass == set(followed(history, known)), seed


def test_ordinary_messages_are_cleared_by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Iterator[Operation]:
        raise AssertionError("an ordinary message is judged one by one")

    history = [one for number in range(50) for one in ordinary(number)]
    batches = list(sorted_batches(history, "message", 7))
    monkeypatch.setattr("spark_fuzz.histories.passes.operations", refuse)
    committed = Operation("committed", "a", 1_000, group="g", queue="q", offset=50)
    assert list(messages_pass(context([committed, *history]))(iter(batches))) == []
    assert sum(batch.num_rows for batch in batches) == len(history)


def ordinary(number: int) -> list[Operation]:
    """A message that is sent, acknowledged, delivered and consumed."""
    message, place = f"m{number}", {"group": "g", "queue": "q", "offset": number}
    return [Operation("send", "p", 2 * number, message), Operation("acknowledged", "p", 2 * number + 1, message,
                                                                   queue="q", offset=number),
            Operation("delivered", "a", 2 * number, message, **place),  # type: ignore[arg-type]  # by their names
            Operation("consumed", "a", 2 * number + 1, message, **place)]  # type: ignore[arg-type]  # same
