"""Each event of the implementation has a sentence in RocketMQ's words, whatever its fields are."""

from __future__ import annotations

from itertools import product
from typing import Any, get_type_hints

import pytest

from impl import events
from impl.decisions.message_queue import MessageQueue
from impl.events.sentences import SENTENCES, Words
from stateful_tests.cover.pictures.told import KINDS
from stateful_tests.stories.scenes import BROKER, FIRST, LAST

VALUES: dict[Any, tuple[Any, ...]] = {
    str: ("broker-a", "G"), int: (0, -7), int | None: (12, None), bool: (True, False), str | None: ("c1", None),
    MessageQueue: (FIRST,), MessageQueue | None: (FIRST, None), tuple[MessageQueue, ...]: ((FIRST, LAST), ()),
    frozenset[MessageQueue]: (frozenset({FIRST, LAST}), frozenset()),
    frozenset[str]: (frozenset({"orders"}), frozenset()), tuple[str | None, ...]: (("c1", None), ()),
    tuple[str | None, ...] | None: (("c1",), (), None), tuple[int, int] | None: ((3, 1), None),
    tuple[str, ...]: (("compressedRegister = true",), ()),
    tuple[int, int]: ((3, 1),), tuple[int, ...]: ((1, 2, 5),), tuple[tuple[int, int], ...]: (((0, 7),), ()),
    frozenset[tuple[str | None, str, int]]: (frozenset({("orders", "*", 1)}), frozenset({("orders", "A", 2)})),
    frozenset[tuple[MessageQueue, int]]: (frozenset({(FIRST, 3)}),),
    tuple[tuple[MessageQueue, int], ...]: (((FIRST, 3),),),
    tuple[int | str | bool, ...] | None: ((4, "1", True), None), tuple[Any, ...]: (((0, 4), "c1"), ()),
    frozenset[tuple[str, str, str | None]]: (frozenset({("n", "key", None)}),),
}
"""Values of each type that fields of events have."""
ADDRESSES = ("broker-a:10911", "c1:32768")
MANY = 64
"""So many combinations of values are looked at."""


def samples(kind: type) -> list[Any]:
    """Events of a class, with many combinations of values."""
    chosen = [ADDRESSES if name.endswith(("addr", "connection")) else VALUES[of]
              for name, of in get_type_hints(kind).items()]
    return [kind(*values) for values, _ in zip(product(*chosen), range(MANY), strict=False)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_class_of_events_has_a_sentence_for_all_its_values(kind: type) -> None:
    events_of = samples(kind)
    words = Words([(0, BROKER, event) for event in events_of], SENTENCES)
    for event, before in product(events_of, (None, events_of[0], events_of[-1])):
        said = words.sentence(BROKER, event, before)
        assert said
        assert not any(raw in said for raw in ("{", "}", "frozenset", "MessageQueue", "None", "10911", kind.__name__))
    assert words.several(events_of[0])


def test_no_sentence_is_left_over() -> None:
    assert {*SENTENCES} == {*KINDS}


def test_an_older_subscription_that_wins_is_called_so() -> None:
    older, newer = (events.SubscriptionUpdated(BROKER, "G", "orders", "*", 1_645_000_000_000 + ms, True)
                    for ms in (20, 70))
    words = Words([(1, BROKER, older), (2, BROKER, newer), (3, BROKER, older)], SENTENCES)
    assert words.sentence(BROKER, older, newer) == \
        "broker-a replaces version 2 of orders by version 1: an older subscription wins"
    assert words.sentence(BROKER, newer, older) == "broker-a replaces version 1 of orders by version 2"


def test_a_queue_names_its_broker_only_where_the_topic_has_several() -> None:
    taken = events.QueueTaken("c1@DEFAULT", "G", FIRST, 0)
    other = events.QueueTaken("c1@DEFAULT", "G", MessageQueue("orders", "broker-b", 2), 0)
    assert Words([(0, "c1", taken)], SENTENCES).sentence("c1", taken) == \
        "c1 takes queue 0 of orders and begins it at offset 0"
    assert "queue 0 of orders at broker-a" in Words([(0, "c1", taken), (0, "c1", other)], SENTENCES).sentence(
        "c1", taken)
