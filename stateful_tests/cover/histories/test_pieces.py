"""Histories that are judged in pieces, as on Spark: the same is said as of a whole one."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from invariants.histories import judging, sequences
from invariants.histories.checks import Told
from invariants.histories.operations import Operation
from invariants.histories.verdicts import Tally
from spark_fuzz.histories import blocks, passes
from spark_fuzz.histories.files import SCHEMA
from spark_fuzz.histories.hashes import hashed
from spark_fuzz.histories.on_spark import judged
from stateful_tests.histories.drawn import drawn


class Rows:
    """What Spark's RDD does, in this process."""

    def __init__(self, parts: Iterable[Iterable[Any]]) -> None:
        """Partitions."""
        self.parts = [list(part) for part in parts]
        self.context = SimpleNamespace(broadcast=lambda value: SimpleNamespace(value=value))

    def map(self, work: Callable[[Any], Any]) -> Rows:
        """Each row."""
        return Rows(map(work, part) for part in self.parts)

    def flatMap(self, work: Callable[[Any], Iterable[Any]]) -> Rows:  # noqa: N802 - Spark's name
        """Each row gives several."""
        return Rows(chain.from_iterable(map(work, part)) for part in self.parts)

    def repartitionAndSortWithinPartitions(self, count: int, partition: Callable[[Any], int]) -> Rows:  # noqa: N802 - same
        """A shuffle."""
        to: dict[int, list[Any]] = defaultdict(list)
        for key, value in self.collect():
            to[partition(key)].append((key, value))
        return Rows(sorted(to[at], key=lambda row: row[0]) for at in range(count))

    def mapPartitions(self, work: Callable[[Iterator[Any]], Iterable[Any]]) -> Rows:  # noqa: N802 - same
        """Each partition."""
        return Rows(work(iter(part)) for part in self.parts)

    def collect(self) -> list[Any]:
        """All rows."""
        return list(chain.from_iterable(self.parts))


def told(path: Path, history: Sequence[Operation], group_rows: int, partitions: int) -> Counter[Told]:
    """What is said of a history in row groups of so many rows."""
    file = path / "history.parquet"
    with pq.ParquetWriter(file, SCHEMA) as to:
        for at in range(0, len(history), group_rows):
            to.write_table(pa.Table.from_pylist([one._asdict() for one in history[at:at + group_rows]], SCHEMA))
    spark = SimpleNamespace(defaultParallelism=partitions, parallelize=lambda rows, _: Rows([row] for row in rows))
    return Counter(judged(spark, [str(file)], None, Tally(), lambda _: None))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is large is small: each row group is a piece, and clients fill blocks of their own."""
    monkeypatch.setattr("spark_fuzz.histories.on_spark.LEAST_ROWS", 1)
    monkeypatch.setattr("spark_fuzz.histories.on_spark.MOST_ROWS", 1)
    monkeypatch.setattr(blocks, "_MANY", 3)
    monkeypatch.setattr(blocks, "_BLOCK_ROWS", 5)
    monkeypatch.setattr(passes, "_FEW", 2)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("group_rows", "partitions"), [(3, 1), (10, 3), (1_000, 2)])
def test_pieces_say_what_the_checks_say(tmp_path: Path, group_rows: int, partitions: int) -> None:
    for seed in range(30):
        history = drawn(seed)
        if seed % 3 == 0:
            random.Random(seed).shuffle(history)  # noqa: S311 - a history, no secret
        if history:
            assert told(tmp_path, history, group_rows, partitions) == Counter(judging.judged(history)), seed


def ordinary(number: int, member: str = "a") -> list[Operation]:
    """A message that is sent, acknowledged, delivered and consumed."""
    message, place = f"m{number}", {"group": "g", "queue": "q", "offset": number}
    return [Operation("send", "p", 2 * number, message), Operation("acknowledged", "p", 2 * number + 1, message,
                                                                   queue="q", offset=number),
            Operation("delivered", member, 2 * number, message, **place),  # type: ignore[arg-type]  # by their names
            Operation("consumed", member, 2 * number + 1, message, **place)]  # type: ignore[arg-type]  # same


def test_ordinary_messages_are_settled_by_numpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Iterator[Operation]:
        raise AssertionError("an ordinary message is judged one by one")

    monkeypatch.setattr("spark_fuzz.histories.passes.messages.judged", refuse)
    history = [*chain.from_iterable(map(ordinary, range(50))), Operation("committed", "b", 1, None, "g", "q", 50)]
    assert not told(tmp_path, history, 1_000, 2)
    random.Random(0).shuffle(history)  # noqa: S311 - same
    assert not told(tmp_path, history, 7, 2)


@pytest.mark.usefixtures("small")
def test_a_message_that_is_whole_in_one_piece_is_judged_with_what_another_has_of_it(tmp_path: Path) -> None:
    whole = [*chain.from_iterable(map(ordinary, range(10))),
             *(Operation("committed", "c", at, None, "g", "q", 0) for at in range(4))]
    again = ordinary(3)[2]._replace(seq=1_000)
    other = [one._replace(process="z") if one.process == "p" else one for one in ordinary(3, "b")]
    for more in ([again], other):
        said = told(tmp_path, [*whole, *more], 4, 2)
        assert said
        assert said == Counter(judging.judged([*whole, *more]))


def test_of_a_long_client_only_a_few_operations_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Operation] = []
    take = sequences.Member.take

    def seeing(self: sequences.Member, one: Operation) -> Iterator[Told]:
        seen.append(one)
        return take(self, one)

    monkeypatch.setattr(sequences.Member, "take", seeing)
    monkeypatch.setattr(blocks, "_MANY", 100)
    monkeypatch.setattr(blocks, "_BLOCK_ROWS", 300)
    member = {"group": "g", "queue": "q"}
    history: list[Operation] = [Operation("assigned", "a", 0, orderly=True, offset=0, **member)]  # type: ignore[arg-type]  # by their names
    for at in range(1_000):
        history += ordinary(at + 1)
        history.append(Operation("committed", "a", 10_000 + at, offset=7 if at == 500 else at + 1, **member))  # type: ignore[arg-type]  # same
    said = told(tmp_path, history, 5_000, 2)
    assert said == Counter(judging.judged(history))
    assert [one.check for one in said] == ["regressed"]  # type: ignore[union-attr]  # a finding
    assert len(seen) < 2 * len(history)


def test_equal_names_have_equal_hashes_wherever_they_stand() -> None:
    names = ["", "a", "b", "ab", "abcdefgh", "abcdefghi", "x" * 40, "x" * 41, "é", None, "abcdefgh\0"]
    column = pa.array([*names, *names])
    found = hashed(column)
    assert len(set(found.tolist())) == len(names)
    assert (found[:len(names)] == found[len(names):]).all()
    assert (hashed(column.dictionary_encode()) == found).all()
    assert (hashed(column.slice(5, 9)) == found[5:14]).all()
    assert hashed(pa.array([], pa.string())).dtype == np.uint64
