"""What operators report: the orders that they give servers, and that they were answered SUCCESS.

A kind of order is "topic", "group" (its configuration), "key value", "permission" (to write to a broker, at a name
server), or "route" (of a topic, at a name server).
"""

from __future__ import annotations

from typing import NamedTuple


class OrderGiven(NamedTuple):
    """An operator is about to send an order.

    name -- of the topic or the group, "namespace key", or the broker name. wanted -- how it is to be; None: it is to
    go. A topic has queues to read and to write, permission and system flags; a group the fields of its configuration
    without the name; a key its value; of a permission it is whether the broker may be written.
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
