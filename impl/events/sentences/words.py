"""Values of events as people say them in the sentences of one run."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import REPLY_TOPIC_POSTFIX, RETRY_GROUP_TOPIC_PREFIX, is_system_topic
from impl.events.polling import QueuesHeld
from impl.events.sentences.said import Said

_FEW = 5
"""So many names are listed; of more only the number is said."""
_MINUTE_MS = 60_000
_TENTH_MS, _SECOND_MS, _TEN_SECONDS_MS = 100, 1_000, 10_000
_EVERYTHING = "*"
_STARTED = ("message_model", "send_latency_fault_enable")
"""Fields that only starts of consumers and of producers have. Who polls is known by its queues."""
_RETRIES = re.compile(rf"{RETRY_GROUP_TOPIC_PREFIX}([\w-]+)")
_PORT = re.compile(r"(?<=[\w.-]):\d{4,5}\b")
_STAMP, _NULL = re.compile(r"-\d{13}-"), re.compile(r"\bNone\b")
_LONG = re.compile(r"\b(\d{4,}) ms\b")
_REPLIES = f"_{REPLY_TOPIC_POSTFIX}"


class Words:
    """The names that one run gives to its clients, its queues and its versions.

    Versions are numbered by their age, 1 is the oldest: people compare 2 and 3 faster than two times in milliseconds.
    """

    def __init__(self, records: Iterable[tuple[int, str, Any]], sentences: Mapping[type, Said]) -> None:
        """Read all records of the run: time, machine, event. sentences -- by the class of the event."""
        self._sentences = sentences
        self._clients: dict[str, set[str]] = defaultdict(set)
        self._brokers: dict[str, set[str]] = defaultdict(set)
        self._versions: dict[Any, set[Any]] = defaultdict(set)
        self._broker_names: set[str] = set()
        for _, at, event in records:
            for name in getattr(event, "_fields", ()):
                self._read(name, getattr(event, name), at, event)

    def _read(self, name: str, value: Any, at: str, event: Any) -> None:
        if name in _STARTED or isinstance(event, QueuesHeld):
            self._clients[event.client_id].add(at)
        elif isinstance(value, MessageQueue):
            self._brokers[value.topic].add(value.broker_name)
        elif name == "queues":
            for mq in value:
                self._brokers[mq.topic].add(mq.broker_name)
        elif name == "broker_name":
            self._broker_names.add(value)
        elif name == "sub_version":
            self._versions[event.group, event.topic].add(value)
        elif name == "version" and value is not None:
            self._versions[_broker(at, event)].add(value)
        elif name == "subscriptions":
            for topic, _, version in value:
                self._versions[event.group, topic].add(version)

    def sentence(self, at: str, event: Any, before: Any = None) -> str:
        """The sentence about an event of a machine; before -- the event before it about the same things, if any.

        Raises KeyError for an event whose class has no sentence.
        """
        template = self._sentences[event.__class__].template(event, before)
        return _STAMP.sub("-", template.format_map(_Fields(self, at, event, before)))

    def several(self, event: Any) -> str:
        """What many events like this one are called."""
        return self._sentences[event.__class__].several

    # Values -----------------------------------------------------------------------------------------------------------

    def client(self, client_id: str | None) -> str:
        """The machine of a client if the id is of one machine alone, else the id without RocketMQ's default name."""
        machines = self._clients.get(client_id or "", set())
        if len(machines) == 1:
            return next(iter(machines))
        return "a client without an id" if client_id is None else client_id.removesuffix("@DEFAULT")

    def is_shared(self, client_id: str | None) -> bool:
        """Whether clients of several machines have the id."""
        return len(self._clients.get(client_id or "", ())) > 1

    def told(self, sentence: str) -> str:
        """A sentence of somebody else, with the names that this run gives to clients, versions and machines."""
        for client_id in sorted(self._clients, key=len, reverse=True):
            sentence = sentence.replace(client_id, self.client(client_id))
        for of, versions in self._versions.items():
            for version in versions if isinstance(of, tuple) else ():
                sentence = re.sub(rf"\b{version}\b", self.version(of, version), sentence)
        for topic, brokers in self._brokers.items():
            if len(brokers) == 1:
                sentence = sentence.replace(f" of {topic} at {min(brokers)}", f" of {topic}")
        sentence = _NULL.sub("nothing", _STAMP.sub("-", _PORT.sub("", sentence)))
        sentence = _RETRIES.sub(lambda found: retries(found[1]), sentence)
        return _LONG.sub(lambda found: roughly(int(found[1])), sentence)

    def queue(self, mq: MessageQueue) -> str:
        """A queue; its broker is named where the topic has queues at several."""
        at = f" at {mq.broker_name}" if len(self._brokers[mq.topic]) > 1 else ""
        return f"queue {mq.queue_id} of {self.topic(mq.topic)}{at}"

    def queues(self, mqs: Iterable[MessageQueue]) -> str:
        """Several queues, by their topics and brokers."""
        places: dict[tuple[str, str], list[int]] = defaultdict(list)
        for mq in sorted(mqs):
            places[mq.topic, mq.broker_name].append(mq.queue_id)
        said = []
        for (topic, broker), ids in places.items():
            at = f" at {broker}" if len(self._brokers[topic]) > 1 else ""
            said.append(f"queue{'s' * (len(ids) > 1)} {spans(ids)} of {self.topic(topic)}{at}")
        return listed(said) or "no queue"

    def version(self, of: Any, version: Any) -> str:
        """The number of a version among those of the same thing, by age; of -- (group, topic), or a broker."""
        known = sorted(self._versions[of])
        return str(known.index(version) + 1 if version in known else version)

    def version_of(self, group: str | None, topic: str, version: Any) -> str:
        """The number of a version of a topic's subscription; group -- None: any that knows the version."""
        known = [of for of, versions in self._versions.items()
                 if isinstance(of, tuple) and of[1] == topic and version in versions and group in (None, of[0])]
        return self.version(known[0], version) if known else str(version)

    @staticmethod
    def topic(topic: str) -> str:
        """A topic; one for messages that are to be consumed again by its group."""
        return retries(topic.removeprefix(RETRY_GROUP_TOPIC_PREFIX)) if topic.startswith(RETRY_GROUP_TOPIC_PREFIX) \
            else topic

    def topics(self, topics: Iterable[str]) -> str:
        """Topics, but those that every broker makes for itself or for a group."""
        named, clusters = [*topics], {one.removesuffix(_REPLIES) for one in topics if one.endswith(_REPLIES)}
        own = sorted(one for one in named if not (
            is_system_topic(one) or one.endswith(_REPLIES) or one in clusters or one in self._broker_names
            or one.startswith(RETRY_GROUP_TOPIC_PREFIX)))
        return listed(own) or ("the system's topics alone" if named else "no topic")

    def subscriptions(self, event: Any) -> str:
        """What a heartbeat subscribes."""
        said = []
        for topic, text, version in sorted(event.subscriptions, key=str):
            if topic is not None and topic.startswith(RETRY_GROUP_TOPIC_PREFIX):
                continue
            of = f" ({text})" if text != _EVERYTHING else ""
            said.append(f"{topic}{of} in version {self.version((event.group, topic), version)}")
        return listed(said) or "no topic"


class _Fields(dict[str, Any]):
    """The fields of an event as texts."""

    def __init__(self, words: Words, at: str, event: Any, before: Any) -> None:
        super().__init__()
        self._words, self._at, self._event, self._before = words, at, event, before

    def __missing__(self, name: str) -> Any:
        if name == "at":
            return self._at
        if name == "before":
            return _Before(_Fields(self._words, self._at, self._before, None))
        return _text(self._words, self._at, name, self._event)


class _Before:
    """The same for {before.field}."""

    def __init__(self, fields: _Fields) -> None:
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
        return self._fields[name]


def _text(words: Words, at: str, name: str, event: Any) -> str:
    """The value of a field in words; own_id -- how a client is called whose id others have, too."""
    if name == "own_id":
        return f" with the client id {words.client(event.client_id)}" if words.is_shared(event.client_id) else ""
    value = getattr(event, name)
    match name:
        case "version":
            said = words.version(_broker(at, event), value)
        case "sub_version":
            said = words.version((event.group, event.topic), value)
        case "subscriptions":
            said = words.subscriptions(event)
        case "client_id" if hasattr(event, "connection") and words.is_shared(value):
            said = f"{words.client(value)} ({machine(event.connection)})"
        case _:
            said = _BY_FIELD.get(name, _by_type)(words, value)
    return said


def _by_type(words: Words, value: Any) -> str:
    """A value of a field that means what its type says."""
    if isinstance(value, MessageQueue):
        return words.queue(value)
    if isinstance(value, tuple | frozenset):
        return _several(words, value)
    return "none" if value is None else str(value)


def _several(words: Words, value: Any) -> str:
    """A set or a tuple."""
    if not value:
        return "none"
    first = next(iter(value))
    if isinstance(first, MessageQueue):
        return words.queues(value)
    if isinstance(first, tuple) and isinstance(first[0], MessageQueue):
        return listed([f"{words.queue(mq)} at {offset}" for mq, offset in sorted(value)])
    if isinstance(first, tuple):
        return listed([f"{pair[-2]}: {_by_type(words, pair[-1])}" for pair in sorted(value, key=str)])
    if isinstance(first, int):
        return spans(value)
    return listed([str(one) for one in (sorted(value, key=str) if isinstance(value, frozenset) else value)])


def _broker(at: str, event: Any) -> str:
    """The machine of the broker whose data version an event has."""
    return machine(event.broker_addr) if hasattr(event, "broker_addr") else at


def machine(address: str | None) -> str:
    """The machine of "machine:port"."""
    return "nobody" if address is None else address.rpartition(":")[0] or address


def duration(ms: int | None) -> str:
    """A length of time as people say it."""
    if ms is None:
        return "never"
    if abs(ms) < _SECOND_MS:
        return f"{ms} ms"
    return f"{ms / _SECOND_MS:,.10g} s" if abs(ms) < 2 * _MINUTE_MS else f"{ms / _MINUTE_MS:,.1f} min"


def roughly(ms: int) -> str:
    """A long time without the digits that nobody reads."""
    digit = _TENTH_MS if ms < _TEN_SECONDS_MS else _SECOND_MS
    return duration(round(ms / digit) * digit)


def retries(group: str) -> str:
    """The topic of a group for messages that are to be consumed again."""
    return f"the retry topic of {group}"


def spans(numbers: Iterable[int]) -> str:
    """Numbers, neighbours as a span: "0-3, 7"."""
    found: list[list[int]] = []
    for one in sorted(numbers):
        if found and one == found[-1][1] + 1:
            found[-1][1] = one
        else:
            found.append([one, one])
    return listed([str(low) if low == high else f"{low}-{high}" for low, high in found])


def listed(texts: Sequence[str]) -> str:
    """Texts with commas, or how many there are."""
    return ", ".join(texts) if len(texts) <= _FEW else f"{', '.join(texts[:_FEW - 1])} and {len(texts) - _FEW + 1} more"


def _clients(words: Words, client_ids: Iterable[str | None]) -> str:
    often = Counter(words.client(one) for one in client_ids)
    return listed([one if count == 1 else f"{one} ({count} times)" for one, count in often.items()]) or "nobody"


_CODES: Mapping[int, str] = {
    0: "SUCCESS", 1: "SYSTEM_ERROR", 2: "SYSTEM_BUSY", 16: "NO_PERMISSION", 17: "TOPIC_NOT_EXIST", 19: "PULL_NOT_FOUND",
    20: "PULL_RETRY_IMMEDIATELY", 21: "PULL_OFFSET_MOVED", 23: "SUBSCRIPTION_PARSE_FAILED",
    24: "SUBSCRIPTION_NOT_EXIST", 25: "SUBSCRIPTION_NOT_LATEST", 26: "SUBSCRIPTION_GROUP_NOT_EXIST",
    10001: "CONNECT_BROKER_EXCEPTION", 10002: "ACCESS_BROKER_TIMEOUT", 10003: "BROKER_NOT_EXIST_EXCEPTION",
    10004: "NO_NAME_SERVER_EXCEPTION", 10005: "NOT_FOUND_TOPIC_EXCEPTION",
}
"""ResponseCode and ClientErrorCode, by number."""
_BY_FIELD: Mapping[str, Callable[[Words, Any], str]] = {
    "client_id": Words.client, "holder": Words.client, "client_ids": _clients, "members": _clients,
    "topic": lambda _, value: Words.topic(value), "topics": Words.topics,
    "connection": lambda _, value: machine(value),
    "broker_addr": lambda _, value: machine(value),
    "namesrv_addr": lambda _, value: machine(value), "master_addr": lambda _, value: machine(value),
    "answers": lambda _, value: listed([machine(one) for one in value]) or "nobody",
    "addrs": lambda _, value: listed(sorted(machine(one) for one in value)),
    "ms": lambda _, value: duration(value), "seen_after_ms": lambda _, value: duration(value),
    "period_ms": lambda _, value: duration(value), "addr": lambda _, value: machine(value),
    "listed": lambda _, value: listed(sorted(machine(one) for one in value)) or "none",
    "waited_ms": lambda _, value: duration(value),
    "code": lambda _, value: _CODES.get(value, f"code {value}"),
    "error": lambda _, value: value.rpartition(".")[2],
}
"""How fields are said that mean the same in all events that have them."""
