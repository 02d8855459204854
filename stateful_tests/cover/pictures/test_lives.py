"""The life of a message, drawn of what was planted: each station that it has come through has its lane."""

from __future__ import annotations

import pytest

from impl.hosts.simulation.tape import ReplayTape
from invariants.pictures.marks import FINDING
from invariants.pictures.text import LONGEST, WIDEST, below, lines
from stateful_tests.worlds.evidence import exhibit
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, lived, run


class Drawn:
    """A row as the picture has it."""

    def __init__(self, row: dict[str, object]) -> None:
        """Its fields."""
        self.__dict__.update(row)


@pytest.mark.parametrize(("bug", "name", "lanes", "said"), [
    ("seeded-units-name-ends", "acknowledged_is_delivered", ("producer", "broker", "log of", "/", "offset of"),
     "and it was never delivered"),
    ("seeded-batch-comes-again", "settled_is_over",
     ("producer", "broker", "log of", "/", "consumer", "listener of", "offset of"), "is given it"),
    ("seeded-broker-gives-ids", "delivered_was_sent", ("/", "consumer", "listener of"), "is given it"),
])
def test_a_message_is_followed_through_every_station(bug: str, name: str, lanes: tuple[str, ...], said: str) -> None:
    plan = Plan(f"repaired+{bug}", "stored_sync", "calm")
    record = run(plan, STRATEGIES[plan.strategy](0), judged=False)
    found = next(one for one in record.seen if one.property == name)
    tape = ReplayTape(record.choices)
    with lived(plan, tape) as (world, again):
        shown = exhibit(plan, tape, world, again, found.key)
    assert shown is not None
    picture = shown["picture"]
    at = [next(place for place, lane in enumerate(picture["lifelines"]) if part in lane) for part in lanes]
    assert at == sorted(at)
    assert [said in row["text"] for row in picture["rows"] if row["mark"] == FINDING] == [True]
    drawn = lines(picture["lifelines"], [Drawn(row) for row in picture["rows"]])  # type: ignore[misc]  # has its fields
    drawn += below(picture["claim"], picture["names"])
    assert max(map(len, drawn)) <= WIDEST
    assert len(drawn) <= LONGEST
