"""Kinds of inputs: EQUAL_LISTS is the premise of the promises, and the others break it on purpose, one way each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from impl.decisions.message_queue import MessageQueue
from invariants.allocation.cases import Case, equal_lists


@dataclass(frozen=True, slots=True)
class Inputs:
    """A family of cases.

    name -- of the family. sentence -- what is true of its members' views. cases -- for n queues and m members, some
    cases of that size, in a fixed order; with a joiner only if joins is True.
    """

    name: str
    sentence: str
    cases: Callable[[int, int, bool], Iterator[Case]]

    def up_to(self, queues: int, members: int, *, joins: bool) -> Iterator[Case]:
        """Every case of at least one and at most so many queues and members, smallest sum first."""
        sizes = itertools.product(range(1, queues + 1), range(1, members + 1))
        ordered = sorted(sizes, key=lambda size: (sum(size), size))
        return itertools.chain.from_iterable(self.cases(n, m, joins) for n, m in ordered)


Names: TypeAlias = tuple[list[MessageQueue], list[str]]


def _plain(n: int, m: int) -> Names:
    return [MessageQueue("T", "b", k) for k in range(n)], [f"c{i}" for i in range(m)]


def _machines(n: int, m: int) -> Names:
    """Two brokers; members as RocketMQ names them, whose order is that of text: 10.0.0.10 comes before 10.0.0.9."""
    queues = [MessageQueue("TopicTest", "broker-a" if k % 2 else "broker-b", k // 2) for k in range(n)]
    return queues, [f"10.0.0.{9 + i}@{7 + i}#{1_000_000 - i}" for i in range(m)]


def _unicode(n: int, m: int) -> Names:
    return [MessageQueue("订单", "Überbroker", k) for k in range(n)], [f"消费者{chr(0x4E00 + i)}@1" for i in range(m)]


def _both(names: Names, *, joins: bool) -> Iterator[Case]:
    queues, members = names
    case = equal_lists(queues, members)
    if not joins:
        yield case
    elif len(members) > 1:
        yield from (replace(case, joiner=joiner) for joiner in members)


def _equal(n: int, m: int, joins: bool) -> Iterator[Case]:
    for naming in (_plain, _machines, _unicode):
        yield from _both(naming(n, m), joins=joins)


EQUAL_LISTS = Inputs("equal lists", "every member sees the same sorted lists of distinct queues and members", _equal)


def _in_rooms(mark: str, rooms: Sequence[int]) -> Callable[[int, int, bool], Iterator[Case]]:
    """Every way to place few queues and members in rooms, and one way to place many; names are room + mark + rest."""
    few = 3

    def placed(many: int) -> list[tuple[int, ...]]:
        if many <= few:
            return list(itertools.product(rooms, repeat=many))
        return [tuple(rooms[number % len(rooms)] for number in range(many))]

    def cases(n: int, m: int, joins: bool) -> Iterator[Case]:
        for of_queues, of_members in itertools.product(placed(n), placed(m)):
            queues = [MessageQueue("T", f"r{room}{mark}b", k) for k, room in enumerate(of_queues)]
            yield from _both((queues, [f"r{room}-c{i}" for i, room in enumerate(of_members)]), joins=joins)

    return cases


LISTED_ROOMS = Inputs("equal lists, every room configured", "equal lists; every queue is in a configured machine room",
                      _in_rooms("@", (1, 2)))
UNLISTED_ROOMS = Inputs("equal lists, a room not configured", "equal lists; a queue may be in a room not configured",
                        _in_rooms("@", (1, 2, 3)))
NEARBY_ROOMS = Inputs("equal lists in rooms", "equal lists; queues and members are in machine rooms",
                      _in_rooms("-", (1, 2, 3)))
NO_ROOMS = Inputs("equal lists, a member without a room", "equal lists; no room can be told from a member's id",
                  lambda n, m, joins: _both(([MessageQueue("T", "r1-b", k) for k in range(n)],
                                             [f"-c{i}" for i in range(m)]), joins=joins))


def _odd(name: str, sentence: str, cases: Callable[[list[MessageQueue], list[str]], Iterator[Case]],
         naming: Callable[[int, int], Names] = _plain, least_queues: int = 1) -> Inputs:
    """A family without joiner in which at least two members share an id, leave, or see different things."""

    def of_size(n: int, m: int, joins: bool) -> Iterator[Case]:
        return iter(()) if joins or m == 1 or n < least_queues else cases(*naming(n, m))

    return Inputs(name, sentence, of_size)


def _duplicate(queues: list[MessageQueue], members: list[str]) -> Iterator[Case]:
    yield equal_lists(queues, [*members[:-1], members[0]])


def _unseen(queues: list[MessageQueue], members: list[str]) -> Iterator[Case]:
    views = equal_lists(queues, members).views
    for joiner in members:
        others = tuple(one for one in views[0].members if one != joiner)
        yield Case(tuple(view if view.me == joiner else replace(view, members=others) for view in views))


def _still_seen(queues: list[MessageQueue], members: list[str]) -> Iterator[Case]:
    views = equal_lists(queues, members).views
    for leaver in members:
        yield Case(tuple(view for view in views if view.me != leaver))


def _at_two_brokers(n: int, m: int) -> Names:
    return [MessageQueue("T", "b" if k else "a", k) for k in range(n)], _plain(0, m)[1]


def _routes(queues: list[MessageQueue], members: list[str]) -> Iterator[Case]:
    views = equal_lists(queues, members).views
    for behind in members:
        yield Case(tuple(view if view.me != behind else replace(view, queues=view.queues[1:]) for view in views))


def _orders(queues: list[MessageQueue], members: list[str]) -> Iterator[Case]:
    first, *others = equal_lists(queues, members).views
    yield Case((first, *(replace(view, members=tuple(reversed(view.members))) for view in others)))


DUPLICATE_IDS = _odd("two processes with one client id", "equal lists in which one id stands twice", _duplicate)
UNSEEN_JOINER = _odd("a joiner that the others do not see yet", "only the joiner's own list has the joiner", _unseen)
LEAVER_STILL_SEEN = _odd("a leaver that the others still see", "all lists have a member that is gone", _still_seen)
UNEQUAL_ROUTES = _odd("a member with an old route", "one member does not see the first queue yet", _routes,
                      _at_two_brokers, least_queues=2)
UNEQUAL_ORDERS = _odd("members in different orders", "the lists are equal as sets but not sorted alike", _orders)
