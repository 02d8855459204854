"""What is promised of an allocation strategy as a whole: claims over the answers of any, ours, Java's or a user's.

A strategy is a function (group, me, queues, members) -> queues. A *case* says what each member sees; `observe` asks
the strategy for each member; each claim looks at the answers and says in one sentence what is wrong, or None. The
premise of the promises is that all members see equal, sorted lists of distinct elements (EQUAL_LISTS). The other kinds
of inputs break it on purpose, one way each: the hazards. SHIPPED is the table of what is expected of RocketMQ's
strategies.

Everything here is a pure function of plain values: an executor on a cluster can import it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from impl.decisions import allocation
from impl.decisions.java_text import utf16_key
from impl.decisions.message_queue import MessageQueue
from model.language.expectation import Expectation, expectation

Strategy: TypeAlias = Callable[[str, str, list[MessageQueue], list[str]], Any]
"""(group, me, all queues, all members) -> my queues; None means none, as RebalanceImpl#rebalanceByTopic reads it."""

GROUP = "group"


# Cases ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class View:
    """What one member hands to its strategy: its own id, the queues and the members that it sees, in its order."""

    me: str
    queues: tuple[MessageQueue, ...]
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One situation of a group.

    views -- of each member; two processes with one client id are two views.
    joiner -- the member that joined last: before, the others saw the same without it. None: nobody joined.
    """

    views: tuple[View, ...]
    joiner: str | None = None

    def queues(self) -> list[MessageQueue]:
        """Every queue that some member sees, sorted."""
        views = _distinct(self.views, lambda view: view.queues)  # they mostly share one list
        return list(_in_order(tuple(itertools.chain.from_iterable(view.queues for view in views))))

    def before(self) -> Case:
        """The case before the joiner came; views that shared a list share it still."""
        staying = {id(view.members): tuple(one for one in view.members if one != self.joiner)
                   for view in _distinct(self.views, lambda view: view.members)}
        return Case(tuple(View(view.me, view.queues, staying[id(view.members)])
                          for view in self.views if view.me != self.joiner))

    def to_json(self) -> dict[str, Any]:
        """The case as evidence writes it."""
        views = [{"me": view.me, "queues": [[queue.topic, queue.broker_name, queue.queue_id] for queue in view.queues],
                  "members": list(view.members)} for view in self.views]
        return {"views": views, "joiner": self.joiner}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Case:
        """The case that evidence means; KeyError, TypeError or ValueError when it means none."""
        views = [View(str(view["me"]), tuple(MessageQueue(*row) for row in view["queues"]), tuple(view["members"]))
                 for view in data["views"]]
        return cls(tuple(views), data["joiner"])


def _distinct(views: Iterable[View], part: Callable[[View], object]) -> list[View]:
    """Of the views that have the very same list or text as that part, one."""
    return list({id(part(view)): view for view in views}.values())


@lru_cache(maxsize=64)
def _in_order(queues: tuple[MessageQueue, ...]) -> tuple[MessageQueue, ...]:
    """Sorted, each once; kept, for every claim asks, and to compare costs more than to look up."""
    return tuple(sorted(dict.fromkeys(queues)))


def equal_lists(queues: Sequence[MessageQueue], members: Sequence[str], joiner: str | None = None) -> Case:
    """The case in which every member sees these queues and members, sorted as RebalanceImpl#rebalanceByTopic does."""
    seen, ids = tuple(sorted(queues)), tuple(sorted(members, key=utf16_key))
    return Case(tuple(View(me, seen, ids) for me in ids), joiner)


# Answers --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that gave no list of queues: it raised, or it answered something else. The text says which."""

    text: str


Answer: TypeAlias = tuple[Any, ...] | Failure


@dataclass(frozen=True)
class Observed:
    """What a strategy answered in one case.

    answers -- of each view; again -- to the same question a second time; before -- of each view of case.before().
    """

    case: Case
    answers: tuple[Answer, ...]
    again: tuple[Answer, ...]
    before: tuple[Answer, ...] = ()

    def failure(self) -> str | None:
        """The first call without an answer, as a sentence."""
        asked = [*zip(self.case.views, self.answers, strict=True), *zip(self.case.views, self.again, strict=True)]
        if self.before:
            asked += zip(self.case.before().views, self.before, strict=True)
        failed = [(view, answer) for view, answer in asked if isinstance(answer, Failure)]
        return None if not failed else f"{failed[0][0].me} among {list(failed[0][0].members)} {failed[0][1].text}"

    @cached_property
    def owners(self) -> dict[MessageQueue, list[str]]:
        """Who takes each queue, in the order of the views; several claims look at it."""
        return _owners(self.case, self.answers)

    def table(self) -> dict[str, list[Any]]:
        """Queue × owner, as people should see it; with a joiner, before and after."""
        owners = self.owners
        if not self.before:
            return {"columns": ["queue", "owner"], "rows": [[shown(q), _names(owners[q])] for q in owners]}
        earlier = _owners(self.case.before(), self.before)
        return {"columns": ["queue", "owner before", f"owner after {self.case.joiner} joined"],
                "rows": [[shown(queue), _names(earlier.get(queue, [])), _names(owners[queue])] for queue in owners]}


def _owners(case: Case, answers: Sequence[Answer]) -> dict[MessageQueue, list[str]]:
    takers: dict[MessageQueue, list[int]] = {queue: [] for queue in case.queues()}
    last: Answer = ()
    taken: list[list[int]] = []
    for place, answer in enumerate(answers):
        if answer != last:  # many members that answer alike are looked up once
            last, taken = answer, _taken(takers, answer)
        for places in taken:
            if not places or places[-1] != place:
                places.append(place)
    return {queue: [case.views[place].me for place in places] for queue, places in takers.items()}


def _taken(takers: dict[MessageQueue, list[int]], answer: Answer) -> list[list[int]]:
    """The takers of each queue of an answer; queues that are none of the case come in, sorted."""
    queues = [queue for queue in _queues(answer) if isinstance(queue, MessageQueue)]
    found = [takers.get(queue) for queue in queues]
    if None in found:
        for queue in sorted(queue for queue in queues if queue not in takers):
            takers.setdefault(queue, [])
    return [takers[queue] if known is None else known for queue, known in zip(queues, found, strict=True)]


def _names(owners: Sequence[str]) -> str:
    return ", ".join(owners) or "nobody"


def shown(queue: object) -> str:
    """A queue as topic/broker:id; anything else as Python shows it."""
    if isinstance(queue, MessageQueue):
        return f"{queue.topic}/{queue.broker_name}:{queue.queue_id}"
    return repr(queue)[:80]


def observe(strategies: Sequence[Strategy], case: Case, *, again: Sequence[Strategy] | None = None,
            stops: tuple[type[Exception], ...] = ()) -> Observed:
    """Ask each member's strategy, twice, and once more about the time before the joiner came.

    strategies -- one for each view of the case. again -- whom to ask the second time, in reverse order (by default the
    same): what runs in another process shows whether answers depend on the process or on what was asked before.
    stops -- exceptions that are no answer but end the whole judgement.
    """
    answers = _ask(strategies, case, stops)
    backwards = Case(case.views[::-1], case.joiner)
    repeated = _ask((again or strategies)[::-1], backwards, stops)[::-1]
    if case.joiner is None:
        return Observed(case, answers, repeated)
    staying = [one for one, view in zip(strategies, case.views, strict=True) if view.me != case.joiner]
    return Observed(case, answers, repeated, _ask(staying, case.before(), stops))


def asked(case: Case) -> Iterator[View]:
    """What `observe` asks about a case, in its order, if the same are asked the second time."""
    yield from case.views
    yield from case.views[::-1]
    if case.joiner is not None:
        yield from case.before().views


def _ask(strategies: Sequence[Strategy], case: Case, stops: tuple[type[Exception], ...]) -> tuple[Answer, ...]:
    return tuple(_answer(strategy, view, stops) for strategy, view in zip(strategies, case.views, strict=True))


def _answer(strategy: Strategy, view: View, stops: tuple[type[Exception], ...]) -> Answer:
    try:
        answer = strategy(GROUP, view.me, list(view.queues), list(view.members))
    except stops:
        raise
    except Exception as error:  # noqa: BLE001  # RebalanceImpl#rebalanceByTopic catches whatever a strategy throws
        return Failure(f"raised {type(error).__name__}: {error}"[:200])
    if answer is None:
        return ()
    if isinstance(answer, Failure):  # a driver that already knows how the call went wrong
        return answer
    if isinstance(answer, list | tuple):
        return tuple(answer)
    return Failure(f"answered {type(answer).__name__} {answer!r}, which is no list of queues"[:200])


# Claims ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StrategyClaim:
    """A claim about strategies.

    name -- of the property. sentence -- what is promised. wrong -- says in a sentence what is wrong with the answers,
    or None. joins -- whether it is about a member that joins. demanded -- whether a group cannot do without it;
    fairness and stability are trade-offs: AVG gives up one, CONSISTENT_HASH the other.
    """

    name: str
    sentence: str
    wrong: Callable[[Observed], str | None]
    joins: bool = False
    demanded: bool = True


CLAIMS: dict[str, StrategyClaim] = {}
"""Every claim about strategies by name, in the order of declaration."""


def strategy_claim(*, joins: bool = False, demanded: bool = True) -> Callable[
        [Callable[[Observed], str | None]], StrategyClaim]:
    """Declare a claim: the function's name is the property, its docstring the promise."""

    def declare(wrong: Callable[[Observed], str | None]) -> StrategyClaim:
        name, sentence = wrong.__name__, (wrong.__doc__ or "").split("\n")[0]
        CLAIMS[name] = StrategyClaim(name, sentence, wrong, joins, demanded)
        return CLAIMS[name]

    return declare


@strategy_claim()
def allocation_answers(seen: Observed) -> str | None:
    """Every call returns a list of queues, and raises nothing."""
    return seen.failure()


@strategy_claim()
def allocation_is_in_range(seen: Observed) -> str | None:
    """A member is given queues of its own list only."""
    listed: tuple[MessageQueue, ...] = ()
    among: frozenset[MessageQueue] = frozenset()
    last: Answer = ()
    for view, answer in zip(seen.case.views, seen.answers, strict=True):
        if view.queues is listed and answer == last:
            continue
        if view.queues is not listed:
            listed, among = view.queues, frozenset(view.queues)
        last = answer
        foreign = [queue for queue in _queues(answer) if not isinstance(queue, MessageQueue) or queue not in among]
        if foreign:
            return f"{view.me} takes {shown(foreign[0])}, which is not in the list that it was given"
    return None


@strategy_claim()
def allocation_is_total(seen: Observed) -> str | None:
    """The members together cover every queue."""
    lonely = [queue for queue, owners in seen.owners.items() if not owners]
    return f"{shown(lonely[0])} has no owner" if lonely else None


@strategy_claim()
def allocation_is_exclusive(seen: Observed) -> str | None:
    """No queue has two owners."""
    shared = [(queue, owners) for queue, owners in seen.owners.items() if len(owners) > 1]
    return f"{shown(shared[0][0])} is owned by {' and by '.join(shared[0][1])}" if shared else None


@strategy_claim()
def allocation_is_deterministic(seen: Observed) -> str | None:
    """Equal arguments give equal answers."""
    for view, first, second in zip(seen.case.views, seen.answers, seen.again, strict=True):
        if first == second:
            continue
        one, other = set(_queues(first)), set(_queues(second))
        if one != other:
            return f"{view.me} takes {_sorted(one)}, and at the same question again {_sorted(other)}"
    return None


@strategy_claim(demanded=False)
def allocation_is_balanced(seen: Observed) -> str | None:
    """The shares of two members differ by at most one queue."""
    sizes = [(len(set(_queues(answer))), view.me) for view, answer in zip(seen.case.views, seen.answers, strict=True)]
    (least, poor), (most, rich) = min(sizes), max(sizes)
    return f"{rich} takes {most} queues and {poor} takes {least}" if most - least > 1 else None


@strategy_claim(joins=True, demanded=False)
def allocation_moves_minimally(seen: Observed) -> str | None:
    """When a member joins, a queue keeps its owner or goes to the joiner."""
    if seen.case.joiner is None:
        return None
    earlier = _owners(seen.case.before(), seen.before)
    for queue, owners in seen.owners.items():
        known = earlier.get(queue, [])
        moved = [one for one in owners if one != seen.case.joiner and one not in known]
        if moved:
            return f"{shown(queue)} goes from {_names(known)} to {moved[0]}, who is not the joiner"
    return None


def _queues(answer: Answer) -> tuple[Any, ...]:
    return () if isinstance(answer, Failure) else answer


def _sorted(queues: set[Any]) -> str:
    return "[" + ", ".join(sorted(map(shown, queues))) + "]"


# Kinds of inputs ------------------------------------------------------------------------------------------------------


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


# The shipped strategies -----------------------------------------------------------------------------------------------


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
