"""What each member of a group hands to its strategy: cases."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from impl.decisions.java_text import utf16_key
from impl.decisions.message_queue import MessageQueue


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
        return {"views": views} if self.joiner is None else {"views": views, "joiner": self.joiner}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Case:
        """The case that evidence means; KeyError, TypeError or ValueError when it means none."""
        views = [View(str(view["me"]), tuple(MessageQueue(*row) for row in view["queues"]), tuple(view["members"]))
                 for view in data["views"]]
        return cls(tuple(views), data.get("joiner"))


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
