"""The campaign about decisions: every claim about every allocation strategy, on all small sizes and on random inputs.

The subjects are the rows of a table of `invariants.allocation.Shipped`: a strategy, a family of inputs (equal lists,
unequal ones, an id that stands twice, …) and what is expected. Every row is judged on each size of n <= 64 queues and
m <= 24 members, small sizes first, then on random sizes and names by seed, without end. Whoever has a table of
strategies of their own gives its place, "module:NAME", and has them judged in the same way.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from importlib import import_module
from itertools import count, groupby, islice
from pathlib import Path
from typing import Any

from impl.decisions.java_text import utf16_key
from impl.decisions.message_queue import MessageQueue
from invariants.allocation.answers import Answer, Failure, Observed, observe
from invariants.allocation.cases import Case, View
from invariants.allocation.claims import STRATEGY_CLAIMS
from invariants.allocation.shipped import Shipped
from invariants.verdict import BadInputError
from spark_fuzz.work import Row, Unit, feed

TABLE = "invariants.allocation.shipped:SHIPPED"
QUEUES, MEMBERS = 64, 24
"""Every size up to these is judged."""

COLUMNS = {
    "subject": "string", "property": "string", "inputs": "long", "violated": "long", "silent": "long",
    "rank": "long", "case": "string", "sentence": "string", "digest": "binary",
}
"""A row per claim of a unit. inputs are the cases that were judged, violated of them falsify the claim; silent ones
could not be judged, for some member's call gave no list (which is a claim of its own, the only one that such a case
judges). rank orders counterexamples, the smallest first; rank, case (as JSON) and sentence belong to the smallest one
of the unit and are None without any. digest stands for all answers of the unit."""

_FIRST = ((1, 8), (1, 4))  # queues and members of the first unit of each subject: every expected violation is in it
_UNIT_US = 2_000_000  # estimated CPU time of a unit
_WEIGHTS = {"AVG": 1, "CONSISTENT_HASH": 4, "CONFIG": 8}  # CPU time of a case, relative to AVG; others take 2
_JOINS = ", a member joins"  # how the id of a unit says so
_MARKS = "-@"  # what stands before one of these in a name is a machine room, or as good as one
_ALPHABET = "abcXYZ0189.#_ é订消𝄞"


# Subjects -------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def subjects(table: str = TABLE) -> dict[str, Shipped]:
    """The rows of a table by key, in order; raises BadInputError when "module:NAME" is no such table."""
    module, _, name = table.partition(":")
    try:
        rows = tuple(getattr(import_module(module), name))
        keyed = {key(row): row for row in rows}
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise BadInputError(f"{table}: no table of strategies ({error}); give MODULE:NAME of Shipped rows") from error
    if len(keyed) != len(rows):
        raise BadInputError(f"{table}: two rows have the same name, inputs and note; tell them apart")
    return keyed


def key(row: Shipped) -> str:
    """What names a row within its table."""
    return " | ".join([row.name, *row.details().values()])


def judged(row: Shipped, *, joins: bool) -> list[str]:
    """The properties of a row that cases with a joiner, or those without, are asked about."""
    return [name for name in row.expected if STRATEGY_CLAIMS[name].joins == joins]


# Units ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Block:
    """All sizes between two bounds, both included."""

    queues: tuple[int, int]
    members: tuple[int, int]

    def sizes(self) -> Iterator[tuple[int, int]]:
        """The sizes, smallest sum first."""
        (n1, n2), (m1, m2) = self.queues, self.members
        return iter(sorted(((n, m) for n in range(n1, n2 + 1) for m in range(m1, m2 + 1)), key=lambda s: (sum(s), s)))

    def __str__(self) -> str:
        (n1, n2), (m1, m2) = self.queues, self.members
        return f"n {n1}-{n2} m {m1}-{m2}"


def first(table: str = TABLE) -> list[Unit]:
    """The smallest sizes of each subject: every violation that is expected of the shipped strategies is among them."""
    (n1, n2), (m1, m2) = _FIRST
    return [unit for unit in grid(table) if unit.body["queues"] == (n1, n2) and unit.body["members"] == (m1, m2)]


def grid(table: str = TABLE) -> list[Unit]:
    """Units that cover every size up to QUEUES and MEMBERS once for each subject, few members first."""
    units = [
        _grid_unit({"table": table, "subject": name, "joins": joins}, block)
        for name, row in subjects(table).items() for joins in (False, True) if judged(row, joins=joins)
        for block in _blocks(row, joins=joins)
    ]
    return sorted(units, key=lambda unit: (unit.body["members"][1], unit.body["queues"][1]))


def judged_by(unit_id: str) -> tuple[str, bool]:
    """The subject of a unit, and whether a member joins, from the unit's id."""
    subject = unit_id.rpartition(" | ")[0]
    return subject.removesuffix(_JOINS), subject.endswith(_JOINS)


def _grid_unit(body: Mapping[str, Any], block: _Block) -> Unit:
    joined = _JOINS if body["joins"] else ""
    return Unit(f"{body['subject']}{joined} | {block}", {**body, "queues": block.queues, "members": block.members})


def _blocks(row: Shipped, *, joins: bool) -> Iterator[_Block]:
    """The first block, then bands of members that are wide or cut into pieces, by the estimated CPU time."""
    (_, queues), members = _FIRST
    yield _Block(*_FIRST)
    yield _Block((queues + 1, QUEUES), members)
    costs_us = _costs_us(row, joins=joins)
    low = members[1] + 1
    while low <= MEMBERS:
        high = low
        while high < MEMBERS and sum(costs_us[low : high + 2]) <= _UNIT_US:
            high += 1
        pieces = max(1, round(sum(costs_us[low : high + 1]) / _UNIT_US))
        yield from (_Block(piece, (low, high)) for piece in _pieces(pieces))
        low = high + 1


def _costs_us(row: Shipped, *, joins: bool) -> list[float]:
    """Estimated CPU microseconds by number of members, for all numbers of queues; need not be right."""
    few, many = (sum(1 for _ in row.inputs.cases(4, m, joins)) for m in (4, 6))
    weight = _WEIGHTS.get(row.name, 2) * QUEUES * (QUEUES + 1) / 2
    return [weight * m * (few + (many - few) * (m - 4) / 2) for m in range(MEMBERS + 1)]


def _pieces(pieces: int) -> list[tuple[int, int]]:
    """1 to QUEUES in so many ranges of about equal CPU time, which grows with the square of the upper bound."""
    bounds = sorted({round(QUEUES * (piece / pieces) ** 0.5) for piece in range(1, pieces + 1)})
    return [(low + 1, high) for low, high in zip([0, *bounds], bounds, strict=False) if high > low]


def endless(seed: int, table: str = TABLE) -> Iterator[Unit]:
    """Units of random sizes and names, a round of all subjects after the other."""
    for turn in count():
        for name, row in subjects(table).items():
            for joins in (False, True):
                if judged(row, joins=joins):
                    yield _random_unit(seed, turn, {"table": table, "subject": name, "joins": joins}, row)


def _random_unit(seed: int, turn: int, body: Mapping[str, Any], row: Shipped) -> Unit:
    size = 512 // _WEIGHTS.get(row.name, 2)
    runs = [turn * size, (turn + 1) * size]
    joined = _JOINS if body["joins"] else ""
    name = f"{body['subject']}{joined} | seed {seed} runs {runs[0]}-{runs[1] - 1}"
    return Unit(name, {**body, "seed": seed, "runs": runs})


# Work -----------------------------------------------------------------------------------------------------------------


def work(unit: Unit) -> list[Row]:
    """Judge the cases of a unit; a row per claim."""
    row = subjects(unit.body["table"])[unit.body["subject"]]
    tallies = [_Tally(name) for name in judged(row, joins=unit.body["joins"])]
    answers = blake2b(digest_size=16)
    for rank, case in cases(unit):
        seen = observe(row.make(case), case)
        feed(answers, list(_plain((*seen.answers, *seen.before))))
        silent = seen.failure() is not None
        for tally in tallies:
            tally.take(rank, seen, silent=silent)
    return [{"subject": unit.body["subject"], "digest": answers.digest(), **tally.row()} for tally in tallies]


def cases(unit: Unit) -> Iterator[tuple[int, Case]]:
    """The cases of a unit with their ranks, in order."""
    body = unit.body
    row = subjects(body["table"])[body["subject"]]
    if "runs" in body:
        for run in range(*body["runs"]):
            draw = random.Random(f"{body['seed']} {body['subject']} {body['joins']} {run}")  # noqa: S311 - a test's dice
            yield from _random_case(row, body["joins"], draw)
        return
    for n, m in _Block(tuple(body["queues"]), tuple(body["members"])).sizes():
        for place, case in enumerate(row.inputs.cases(n, m, body["joins"])):
            yield _rank(n, m, place), case


def _random_case(row: Shipped, joins: bool, draw: random.Random) -> Iterator[tuple[int, Case]]:
    """One case of a random size under random names; none where the family has none of that size."""
    n = 1 + draw.randrange(1 << draw.randrange(4, 10))
    m = 1 + draw.randrange(1 << draw.randrange(2, 7))
    for case in list(islice(row.inputs.cases(n, m, joins), 1 + draw.randrange(m)))[-1:]:
        yield _rank(n, m, 0), renamed(case, draw)


def _rank(n: int, m: int, place: int) -> int:
    """Orders counterexamples: by the sum of queues and members, then by queues, then by the family's own order."""
    return ((n + m) << 40) + (n << 20) + place


def renamed(case: Case, draw: random.Random) -> Case:
    """The case under random names; every order and every machine room stays what it was."""
    seen = sorted({queue for view in case.views for queue in view.queues})
    ids = {one for view in case.views for one in (view.me, *view.members)}
    topics, brokers, members = (_names(names, draw) for names in (
        {queue.topic for queue in seen}, {queue.broker_name for queue in seen}, ids))
    shift = draw.randrange(4)
    queues = {q: MessageQueue(topics[q.topic], brokers[q.broker_name], q.queue_id + shift) for q in seen}
    views = tuple(View(members[view.me], tuple(queues[q] for q in view.queues), tuple(members[c] for c in view.members))
                  for view in case.views)
    return replace(case, views=views, joiner=None if case.joiner is None else members[case.joiner])


def _names(names: Iterable[str], draw: random.Random) -> dict[str, str]:
    """A new name for each: what stands before the last mark, and a random rest, in the old order."""
    old = sorted(names, key=utf16_key)
    rests: set[str] = set()
    while len(rests) < len(old):
        rests.add("".join(draw.choice(_ALPHABET) for _ in range(1 + draw.randrange(12))))
    new = [name[: _head(name)] + rest for name, rest in zip(old, sorted(rests, key=utf16_key), strict=True)]
    if new != sorted(new, key=utf16_key):
        raise ValueError(f"new names would change the order of {old}")
    return dict(zip(old, new, strict=True))


def _head(name: str) -> int:
    """How much of a name says where it is."""
    return max(name.rfind(mark) for mark in _MARKS) + 1


def _plain(answers: Iterable[Answer]) -> Iterator[Any]:
    """Answers as plain values, for the digest."""
    for answer, alike in groupby(answers):
        plain = answer.text if isinstance(answer, Failure) else [
            (q.topic, q.broker_name, q.queue_id) if isinstance(q, MessageQueue) else repr(q) for q in answer]
        yield from (plain for _ in alike)


class _Tally:
    """What one claim of a unit has seen."""

    def __init__(self, name: str) -> None:
        self._claim = STRATEGY_CLAIMS[name]
        self._inputs = self._violated = self._silent = 0
        self._smallest: tuple[int, Case, str] | None = None

    def take(self, rank: int, seen: Observed, *, silent: bool) -> None:
        """Judge what was observed; silent -- some call gave no list."""
        if silent and self._claim is not STRATEGY_CLAIMS["allocation_answers"]:
            self._silent += 1
            return
        self._inputs += 1
        wrong = self._claim.wrong(seen)
        if wrong is not None:
            self._violated += 1
            if self._smallest is None or rank < self._smallest[0]:
                self._smallest = rank, seen.case, wrong

    def row(self) -> Row:
        """The row of the claim; columns as in COLUMNS."""
        rank, case, sentence = self._smallest or (None, None, None)
        return {
            "property": self._claim.name, "inputs": self._inputs, "violated": self._violated, "silent": self._silent,
            "rank": rank, "case": None if case is None else json.dumps(case.to_json(), ensure_ascii=False),
            "sentence": sentence,
        }


# Version --------------------------------------------------------------------------------------------------------------


def version(table: str = TABLE) -> str:
    """Stands for the code that is judged and the code that judges: other code is another campaign."""
    here = Path(__file__).resolve().parent
    module = import_module(table.partition(":")[0]).__file__
    judged_code = sorted((here.parent / "impl" / "decisions").glob("*.py"))
    rooms = sorted((here.parent / "invariants" / "allocation").glob("*.py"))
    judging_code = [*rooms, here / "decisions.py", here / "work.py"]
    content = blake2b(digest_size=6)
    for file in _distinct([*judged_code, *judging_code, *([Path(module)] if module else [])]):
        content.update(file.name.encode() + b"\0" + file.read_bytes())
    return content.hexdigest()


def _distinct(files: Sequence[Path]) -> list[Path]:
    return list(dict.fromkeys(file.resolve() for file in files))
