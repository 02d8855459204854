"""What operators report: the orders that they give servers, what becomes of them, and what they ask for and are told.

A kind of order is "topic", "group" (its configuration), "offset" (of a group), "key value", "permission" (to write to a
broker, at a name server), "route" (of a topic, at a name server), or "illegal" (what no server may do).
"""

from __future__ import annotations

from typing import Any, NamedTuple


class OrderGiven(NamedTuple):
    """An operator is about to send an order.

    name -- of the topic or the group, "group topic queue", "namespace key", or the broker name. wanted -- how it is to
    be; None: it is to go. A topic has queues to read and to write, permission and system flags; a group the fields of
    its configuration without the name; a key its value; of a permission it is whether the broker may be written.
    """

    server: str
    kind: str
    name: str
    wanted: tuple[int | str | bool, ...] | None


class OrderDone(NamedTuple):
    """The server has answered SUCCESS; see OrderGiven."""

    server: str
    kind: str
    name: str
    wanted: tuple[int | str | bool, ...] | None


class InquiryMade(NamedTuple):
    """An operator is about to ask a server for what its tables say; nothing is changed by that.

    what -- "consume stats" (its name is "group topic"), "topic stats", "consumers" or "producers" of a group, and so
    on, as in `invariants.rules.inspections`; "offset of a time" (its name is "topic queue time"), "pull" ("topic queue
    offset messages"; it is told code, next offset, begin and end of the queue, and how many messages there are),
    "refusal": what must be refused, or "busy": a request for the pool that is its name. number -- of the inquiry: no
    other one has it.
    """

    server: str
    what: str
    name: str
    number: int


class InquiryAnswered(NamedTuple):
    """The server has answered; see InquiryMade.

    answer -- in tuples, sorted; empty where there is nothing to tell; "code" and the code of who does not say SUCCESS.
    """

    server: str
    what: str
    name: str
    number: int
    answer: tuple[Any, ...]


class ThreadsHeld(NamedTuple):
    """All threads of a pool of a broker are busy from now on for so long; pool -- its name in the request table."""

    broker: str
    pool: str
    ms: int


class NameServersTold(NamedTuple):
    """A client was told which name servers to ask from now on; listed -- their addresses, sorted."""

    client: str
    listed: tuple[str, ...]


class SpokenOnce(NamedTuple):
    """Somebody is about to tell a broker that he is a producer or a member, and will not say so again."""

    broker: str
    group: str
    client_id: str
