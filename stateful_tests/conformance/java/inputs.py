"""Fresh inputs for the live comparison: what a broker and its clients may come up with, and what they had better not.

Everything is drawn from one seeded generator; the same seed gives the same inputs under every hash seed.
"""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from impl.decisions.java_text import utf16_key
from impl.decisions.message_queue import MessageQueue
from stateful_tests.conformance.java import message_inputs, text_inputs

_T = TypeVar("_T")

STRATEGIES = ("AVG", "CIRCLE", "HASH", "CONFIG", "ROOM", "NEARBY")
_TOPICS = ("TopicTest", "T-1", "%RETRY%G", "%DLQ%G", "订单", "T\ud800", "𝄞", "")
_GROUPS = ("G", "CG_order", "消费组", "\udfff", "")
_BROKERS = (
    "b", "B_0", "broker-a", "broker-b", "机房@a", "r1@a", "r1@b", "r2@b", "r3@c", "n@0", "a@b@c", "r1@", "r1@b@", "@b",
    "@", "@@", "", " ", " @ ", "é@a", "𝄞@a", "\udc00@a", "r1@\ud800",
)
_ROOMS = ("r1", "r2", "r3", "n", "机房", "", " ", "é", "𝄞", "\udc00", "a")
_ALPHABET = 'ab01@@-_ .#%\\"[],订é\u3000\ud800\udfff𝄞\x00'
_EDGE_IDS = (-(2**31), -1, 7, 2**31 - 1)
_BLANK = ("", " ", "\t", "\u3000", "\u00a0", "\x1f ")
_MAX_QUEUES, _MAX_MEMBERS, _MAX_VIRTUAL_NODES = 32, 24, 64
_JAVA_ORDER = functools.cmp_to_key(MessageQueue.compare_to)


@dataclass(frozen=True)
class Scene:
    """What all members of a group are asked about; None is Java's null."""

    group: str
    queues: list[MessageQueue] | None
    ids: list[Any] | None

    @functools.cached_property
    def texts(self) -> tuple[str, str]:
        """Queues and ids as the worker takes them: JSON rows [broker name, queue id, topic], and names."""
        return queues_text(self.queues), json.dumps(self.ids)


@dataclass(frozen=True, slots=True)
class Input:
    """One call of one strategy.

    strategy -- the description that the worker's `allocation.official` takes: kind and configuration as JSON values.
    scene, me -- the arguments of allocate.
    """

    strategy: Mapping[str, Any]
    scene: Scene
    me: str | None


def queues_text(queues: Sequence[MessageQueue] | None) -> str:
    """Rows [broker name, queue id, topic] as JSON; `null` for None."""
    return json.dumps(None if queues is None else [[mq.broker_name, mq.queue_id, mq.topic] for mq in queues])


class Generator:
    """Endless inputs from a seed: each scene is put to all six strategies, and to each on behalf of two members."""

    def __init__(self, seed: int) -> None:
        """Begin with a seed, any int."""
        self._random = random.Random(seed)  # noqa: S311 -- a test's dice

    def inputs(self) -> Iterator[Input]:
        """The inputs, the six kinds of strategy in turn."""
        while True:
            scene = Scene(self._random.choice(_GROUPS), self._queues(), self._ids())
            for kind in STRATEGIES * 2:
                strategy = self._strategy(kind, scene.queues, scene.ids)
                yield Input(strategy, scene, self._me(scene.ids))

    def text(self) -> str:
        """Any text, lone surrogates included, as JSON would carry it (two halves that meet are one character)."""
        drawn = "".join(self._random.choices(_ALPHABET, k=self._random.randint(0, 9)))
        return str(json.loads(json.dumps(drawn)))

    def _chance(self, percent: int) -> bool:
        return self._random.randrange(100) < percent

    # Queues --------------------------------------------------------------------------------------------------------

    def _queues(self) -> list[MessageQueue] | None:
        """Queues of a topic at some brokers: null or empty at times, mostly sorted, repeated or odd now and then."""
        if self._chance(2):
            return None if self._chance(50) else []
        topics = [self._random.choice(_TOPICS) for _ in range(2 if self._chance(10) else 1)]
        found: list[MessageQueue] = []
        for _ in range(self._random.randint(1, 6)):
            broker = self.text() if self._chance(15) else self._random.choice(_BROKERS)
            topic = self._random.choice(topics)
            found += [MessageQueue(topic, broker, number) for number in range(self._random.choice((1, 1, 2, 3, 4, 8)))]
        if self._chance(10):
            found.append(MessageQueue(topics[0], "b", self._random.choice(_EDGE_IDS)))
        if not self._chance(15):
            found = list(dict.fromkeys(found))
        return self._arranged(found[:_MAX_QUEUES], _JAVA_ORDER)

    def _arranged(self, elements: list[_T], key: Callable[[_T], Any]) -> list[_T]:
        """Sorted as Java's caller sorts, mostly; else shuffled or backwards."""
        arranged = sorted(elements, key=key)
        drawn = self._random.randrange(10)
        if drawn == 0:
            arranged.reverse()
        elif drawn <= 2:  # noqa: PLR2004 -- one in five
            self._random.shuffle(arranged)
        return arranged

    # Members -------------------------------------------------------------------------------------------------------

    def _client_id(self) -> Callable[[], str]:
        """A way to name members: short, address and process, address and instance, not ASCII, anything."""
        number = self._random.randrange
        return self._random.choice((
            lambda: f"c{number(40)}", lambda: f"10.0.{number(3)}.{number(99)}@{number(900)}#{number(10**9)}",
            lambda: f"192.168.1.{number(30)}@DEFAULT", lambda: f"消费者{number(30)}@1", lambda: f"\ud800{number(30)}𝄞",
            self.text,
        ))

    def _ids(self) -> list[Any] | None:
        """The members of a group: null or empty at times, sorted as a rule, one listed twice or null now and then."""
        if self._chance(2):
            return None if self._chance(50) else []
        name = self._client_id()
        found = sorted({name() for _ in range(self._random.randint(1, _MAX_MEMBERS))}, key=utf16_key)
        if self._chance(10):
            found.append(self._random.choice(found))
        arranged: list[Any] = self._arranged(found, utf16_key)
        if self._chance(1):
            arranged[self._random.randrange(len(arranged))] = None
        return arranged

    def _me(self, ids: list[Any] | None) -> str | None:
        """A member as a rule; else blank, null or a stranger."""
        drawn = self._random.randrange(100)
        if ids and drawn < 88:  # noqa: PLR2004 -- percent
            chosen: str | None = self._random.choice(ids)
            return chosen
        if drawn < 92:  # noqa: PLR2004 -- percent
            return self._random.choice((*_BLANK, None))
        return self._client_id()()

    # Strategies ----------------------------------------------------------------------------------------------------

    def _strategy(self, kind: str, queues: list[MessageQueue] | None, ids: list[Any] | None) -> Mapping[str, Any]:
        brokers = sorted({mq.broker_name for mq in queues or ()}, key=utf16_key)
        makers: dict[str, Callable[[], dict[str, Any]]] = {
            "HASH": self._hash, "CONFIG": lambda: self._config(queues), "ROOM": lambda: self._machine_room(brokers),
            "NEARBY": lambda: self._nearby(brokers, queues, ids),
        }
        return {"strategy": kind, **makers.get(kind, dict)()}

    def _hash(self) -> dict[str, Any]:
        """Virtual nodes: the default, none, up to 64, or refused; the default hash, or another on a small ring."""
        if self._chance(8):
            own = self._random.choice(("java", "length", "constant"))
            return {"virtual_nodes": self._random.randint(0, 3), "hash": own}
        if self._chance(1):
            return {"virtual_nodes": -1, "hash": "md5"}
        count = 10 if self._chance(60) else self._random.randint(0, _MAX_VIRTUAL_NODES)
        return {"virtual_nodes": count, "hash": "md5"}

    def _config(self, queues: list[MessageQueue] | None) -> dict[str, Any]:
        """The configured list: null, some of the topic's queues, or foreign ones."""
        if self._chance(5):
            return {"queues": None}
        kept = [mq for mq in queues or () if self._chance(40)]
        rows = [[mq.broker_name, mq.queue_id, mq.topic] for mq in kept]
        return {"queues": rows + [["U", number, "U"] for number in range(self._random.choice((0, 0, 0, 2)))]}

    def _machine_room(self, brokers: list[str]) -> dict[str, Any]:
        """The configured rooms: null, none, some of the brokers' own, others."""
        if self._chance(5):
            return {"rooms": None}
        own = [broker.split("@")[0] for broker in brokers if self._chance(70)]
        return {"rooms": sorted({*own, *self._random.choices(_ROOMS, k=self._random.randint(0, 3))}, key=utf16_key)}

    def _nearby(
        self, brokers: list[str], queues: list[MessageQueue] | None, ids: list[Any] | None,
    ) -> dict[str, Any]:
        """An inner strategy and tables of rooms in which a name may be missing; null for either now and then."""
        inner = self._random.choices((*STRATEGIES[:-1], None), (30, 25, 20, 10, 10, 1))[0]
        rooms = self._random.choices(_ROOMS[:5] if self._chance(95) else _ROOMS, k=self._random.randint(1, 4))
        names = sorted({name for name in ids or () if name is not None}, key=utf16_key)
        return {
            "inner": None if inner is None else self._strategy(inner, queues, ids),
            "broker_rooms": None if self._chance(1) else self._table(brokers, rooms),
            "id_rooms": self._table(names, rooms),
        }

    def _table(self, names: list[str], rooms: list[str]) -> list[list[str]]:
        """[name, room] pairs; in one table of twenty some names are missing."""
        missing = 30 if self._chance(5) else 0
        return [[name, self._random.choice(rooms)] for name in names if not self._chance(missing)]

    # Small decisions -----------------------------------------------------------------------------------------------

    def arguments(self, decision: str) -> Any:
        """The arguments `a` of a row of the recording of that name."""
        if decision in message_inputs.NAMES:
            return message_inputs.MessageInputs(self._random).arguments(decision)
        if decision in text_inputs.NAMES:
            return text_inputs.TextInputs(self._random).arguments(decision)
        return {
            "string-hash": self.text, "messagequeue-order": lambda: [self._fields(), self._fields()],
            "queue-selectors": self._selector, "fault-duration": self._latency,
        }[decision]()

    def _int(self) -> int:
        """An int, often at an edge."""
        edges = (0, 1, -1, 2**31 - 1, -(2**31))
        return self._random.choice(edges) if self._chance(30) else self._random.randint(-(2**31), 2**31 - 1)

    def _fields(self) -> list[Any]:
        """Topic, broker name and queue id; few values, so that two of them often share some."""
        topic = self.text() if self._chance(20) else self._random.choice(_TOPICS[:4])
        broker = self.text() if self._chance(20) else self._random.choice(_BROKERS[:4])
        return [topic, broker, self._int() if self._chance(50) else self._random.randrange(3)]

    def _selector(self) -> dict[str, Any]:
        """An argument of any type that SelectMessageQueueByHash may be given, among 0 to 64 queues."""
        kind = self._random.choice(("String", "Integer", "Long", "Double", "Boolean"))
        values: dict[str, Callable[[], Any]] = {
            "String": self.text, "Integer": self._int, "Long": lambda: self._random.randint(-(2**63), 2**63 - 1),
            "Double": lambda: self._random.uniform(-1e9, 1e9), "Boolean": lambda: self._chance(50),
        }
        return {"selector": "ByHash", "n": self._random.randint(0, 64), "type": kind, "value": values[kind]()}

    def _latency(self) -> dict[str, Any]:
        """A latency, at an edge of the default table at times, and tables of other lengths at times."""
        edge = self._random.choice((50, 100, 550, 1000, 2000, 3000, 15000))
        latency = edge + self._random.randint(-1, 1) if self._chance(40) else self._random.randint(-5, 20000)
        if self._chance(70):
            return {"latency": latency, "latencyMax": None, "notAvailableDuration": None}
        tables = [[self._random.randint(0, 5000) for _ in range(self._random.randint(0, 6))] for _ in range(2)]
        return {"latency": latency, "latencyMax": sorted(tables[0]), "notAvailableDuration": tables[1]}
