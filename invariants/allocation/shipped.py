"""What is expected of RocketMQ's strategies: SHIPPED."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from impl.decisions import allocation
from impl.decisions.message_queue import MessageQueue
from invariants.allocation.answers import Strategy
from invariants.allocation.cases import Case
from invariants.allocation.inputs import (
    DUPLICATE_IDS,
    EQUAL_LISTS,
    LEAVER_STILL_SEEN,
    LISTED_ROOMS,
    NEARBY_ROOMS,
    NO_ROOMS,
    UNEQUAL_ORDERS,
    UNEQUAL_ROUTES,
    UNLISTED_ROOMS,
    UNSEEN_JOINER,
    Inputs,
)
from model.language.expectation import Expectation, expectation

Make: TypeAlias = Callable[[Case], Sequence[Strategy]]
"""The strategy of each member of a case."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """One of RocketMQ's strategies in one configuration, with one family of inputs.

    name -- as getName answers it. expected -- by property; a property
    that is not listed is not judged. note -- the configuration, for people.
    """

    name: str
    inputs: Inputs
    make: Make
    expected: Mapping[str, Expectation]
    note: str = ""

    def details(self) -> dict[str, str]:
        """What tells this subject from others of the same name."""
        return {"inputs": self.inputs.name, **({"configuration": self.note} if self.note else {})}


@dataclass(frozen=True)
class RoomBeforeDash:
    """A machine room resolver: the text before the first dash."""

    def broker_deploy_in(self, message_queue: MessageQueue) -> str:
        """The room of a queue's broker."""
        return message_queue.broker_name.partition("-")[0]

    def consumer_deploy_in(self, client_id: str) -> str:
        """The room of a member."""
        return client_id.partition("-")[0]


def _use(first: allocation.AllocateMessageQueueStrategy,
         others: allocation.AllocateMessageQueueStrategy | None = None) -> Make:
    """The same strategy for every member, or one for the first and one for the others."""
    return lambda case: [first.allocate, *[(others or first).allocate] * (len(case.views) - 1)]


def _configured(choose: Callable[[Case], list[MessageQueue] | None]) -> Make:
    return lambda case: _use(allocation.AllocateMessageQueueByConfig(choose(case)))(case)


def _expect(*texts: str) -> dict[str, Expectation]:
    """Expectations by property, in the order of the claims; a text "x y: …" stands for properties x and y."""
    return {name: expectation(text) for line in texts for names, _, text in [line.partition(": ")]
            for name in names.split()}


_FUNCTION = "allocation_answers allocation_is_in_range allocation_is_deterministic: holds"
_COVER = "allocation_is_total allocation_is_exclusive: holds"
_EVEN = "allocation_is_balanced: holds"
_UNEVEN = "allocation_is_balanced: violated: A-2 uneven by nature"
_STABLE = "allocation_moves_minimally: holds"
_SHIFTING = "allocation_moves_minimally: violated: A-1 members are numbered by their place"

_AVG = _use(allocation.AllocateMessageQueueAveragely())
_CIRCLE = _use(allocation.AllocateMessageQueueAveragelyByCircle())
_HASH = _use(allocation.AllocateMessageQueueConsistentHash())
_BOTH_ROOMS = allocation.AllocateMessageQueueByMachineRoom(frozenset({"r1", "r2"}))
_ROOMS = _use(_BOTH_ROOMS)
_NEARBY_AVG = _use(allocation.AllocateMachineRoomNearby(allocation.AllocateMessageQueueAveragely(), RoomBeforeDash()))
_NEARBY_HASH = _use(allocation.AllocateMachineRoomNearby(
    allocation.AllocateMessageQueueConsistentHash(), RoomBeforeDash()))


def _hazards(name: str, make: Make, *rows: tuple[Inputs, str, str]) -> list[Shipped]:
    return [
        Shipped(name, inputs, make, _expect(f"allocation_is_total: {total}", f"allocation_is_exclusive: {exclusive}"))
        for inputs, total, exclusive in rows]


def _by_place(name: str, make: Make) -> list[Shipped]:
    """The hazards of the strategies that number members by their place in the list."""
    return _hazards(
        name, make,
        (DUPLICATE_IDS, "violated: U3 the later place is nobody's", "violated: D6 both take the first place"),
        (UNSEEN_JOINER, "holds", "violated: D1 the joiner takes what others still hold"),
        (LEAVER_STILL_SEEN, "violated: U1 the leaver's share", "holds"),
        (UNEQUAL_ROUTES, "violated: D3 shifted by a queue", "violated: D3 shifted by a queue"),
        (UNEQUAL_ORDERS, "violated: A-5 two members at one place", "violated: A-5 two members at one place"),
    )


SHIPPED: tuple[Shipped, ...] = (
    Shipped("AVG", EQUAL_LISTS, _AVG, _expect(_FUNCTION, _COVER, _EVEN, _SHIFTING)),
    *_by_place("AVG", _AVG),
    Shipped("AVG_BY_CIRCLE", EQUAL_LISTS, _CIRCLE, _expect(_FUNCTION, _COVER, _EVEN, _SHIFTING)),
    *_by_place("AVG_BY_CIRCLE", _CIRCLE),
    Shipped("CONSISTENT_HASH", EQUAL_LISTS, _HASH, _expect(_FUNCTION, _COVER, _UNEVEN, _STABLE)),
    Shipped("CONSISTENT_HASH", EQUAL_LISTS, _use(allocation.AllocateMessageQueueConsistentHash(0)),
            _expect(_FUNCTION, "allocation_is_total: violated: A-6 an empty ring", "allocation_is_exclusive: holds"),
            "no virtual nodes"),
    *_hazards(
        "CONSISTENT_HASH", _HASH,
        (DUPLICATE_IDS, "holds", "violated: D6 both are the same member"),
        (UNSEEN_JOINER, "holds", "violated: D1 the joiner takes what others still hold"),
        (LEAVER_STILL_SEEN, "violated: U1 the leaver's share", "holds"),
        (UNEQUAL_ROUTES, "violated: D3 its owner does not see it", "holds"),
    ),  # nothing is said of unequal orders: rings are equal then, but where two virtual nodes meet in one place
    Shipped("MACHINE_ROOM", LISTED_ROOMS, _ROOMS, _expect(_FUNCTION, _COVER, _EVEN, _SHIFTING)),
    Shipped("MACHINE_ROOM", UNLISTED_ROOMS, _ROOMS,
            _expect(_FUNCTION, "allocation_is_total: violated: L13 unlisted room", "allocation_is_exclusive: holds")),
    Shipped("MACHINE_ROOM", LISTED_ROOMS,
            _use(allocation.AllocateMessageQueueByMachineRoom(frozenset({"r2"})), _BOTH_ROOMS), _expect(
                "allocation_is_total allocation_is_exclusive: violated: A-3 unequal rooms"),
            "members with different consumeridcs"),
    Shipped("MACHINE_ROOM", LISTED_ROOMS, _use(allocation.AllocateMessageQueueByMachineRoom()),
            _expect("allocation_answers: violated: U13 no rooms are set"), "consumeridcs not set"),
    Shipped("CONFIG", EQUAL_LISTS, _configured(lambda _: None),
            _expect(_FUNCTION, "allocation_is_total: violated: A-4 no list is set", "allocation_is_exclusive: holds"),
            "messageQueueList not set"),
    Shipped("CONFIG", EQUAL_LISTS, _configured(Case.queues),
            _expect(_FUNCTION, "allocation_is_total: holds", "allocation_is_exclusive: violated: A-4 everybody's list",
                    _STABLE), "every member lists every queue"),
    Shipped("CONFIG", EQUAL_LISTS, _configured(lambda case: [*case.queues(), MessageQueue("Other", "b", 0)]),
            _expect("allocation_is_in_range: violated: A-4 of another topic"), "the list names another topic too"),
    Shipped("MACHINE_ROOM_NEARBY-AVG", NEARBY_ROOMS, _NEARBY_AVG, _expect(_FUNCTION, _COVER, _UNEVEN, _SHIFTING)),
    Shipped("MACHINE_ROOM_NEARBY-AVG", NO_ROOMS, _NEARBY_AVG,
            _expect("allocation_answers: violated: U13 an id without a room")),
    Shipped("MACHINE_ROOM_NEARBY-CONSISTENT_HASH", NEARBY_ROOMS, _NEARBY_HASH,
            _expect(_FUNCTION, _COVER, _UNEVEN, _STABLE)),
    Shipped("AVG and AVG_BY_CIRCLE", EQUAL_LISTS,
            _use(allocation.AllocateMessageQueueAveragely(), allocation.AllocateMessageQueueAveragelyByCircle()),
            _expect("allocation_is_total allocation_is_exclusive: violated: A-7 unequal strategies"),
            "members with different strategies"),
)
"""What is expected of RocketMQ 4.9.3: strategy and inputs by property."""
