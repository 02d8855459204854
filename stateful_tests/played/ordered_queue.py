"""Traces of `OrderedQueue`, done with the ProcessQueue of an ordered consumer."""

from __future__ import annotations

from collections.abc import Iterator

from impl.client.process_queue import ProcessQueue
from impl.common.message import MessageExt
from stateful_tests.played.trace import PlayedTrace


class PlayedOrderedQueue(PlayedTrace):
    """given -- the offsets that a listener was given, in order. memory -- what ProcessQueue#commit answered last."""

    parts = "impl.client.process_queue"

    def begin(self) -> None:
        """Nothing is pulled."""
        self.queue = ProcessQueue(lambda: 0)
        self.stored = self.memory = 0
        self.given: list[int] = []

    def append(self) -> str:
        """See the model."""
        self.stored += 1
        return f"the queue ends at {self.stored}"

    def _put(self, offset: int) -> str:
        self.queue.put_message([MessageExt(offset)])
        return f"putMessage({offset})"

    def pull_ordered(self) -> str:
        """See the model."""
        return self._put(self.number_in("next"))

    def pull_again(self, offset: str) -> str:
        """See the model."""
        return self._put(int(offset))

    def _take(self) -> str:
        self.given += [one.queue_offset for one in self.queue.take_messages(1)]
        return f"takeMessages: {self.given[-1]}"

    def take_message(self) -> str:
        """See the model."""
        return self._take()

    def take_stray(self) -> str:
        """See the model."""
        return self._take()

    def commit(self) -> str:
        """Settle the first message; a commit settles all that are taken, so that others go back for that moment."""
        others = [one for one in self.queue.consuming_msg_orderly_tree_map.values()
                  if one.queue_offset != self.number_in("done")]
        if [one for one in others if one.queue_offset != self._stray]:
            self.queue.make_message_to_consume_again(others)
        else:
            others = []
        self.memory = self.queue.commit()
        self.queue.take_messages(len(others))
        return f"commit: {self.memory}"

    def commit_stray(self) -> str:
        """See the model."""
        self.memory = self.queue.commit()
        return f"commit: {self.memory}"

    def suspend(self) -> str:
        """See the model."""
        own = [one for one in self.queue.consuming_msg_orderly_tree_map.values() if one.queue_offset != self._stray]
        last = own[-1]
        self.queue.make_message_to_consume_again([last])
        return f"makeMessageToConsumeAgain({last.queue_offset})"

    @property
    def _stray(self) -> int | None:
        """What was pulled once more and is not settled, as the model has it."""
        return self.number_in("place") if self.is_true("stray") or self.is_true("strayed") else None

    def seen(self) -> Iterator[tuple[str, int | bool | str]]:
        """See PlayedTrace."""
        yield "stored", self.stored
        yield "memory", self.memory
        stray = self._stray
        for name, tree_map in (("turn", self.queue.msg_tree_map),
                               ("done", self.queue.consuming_msg_orderly_tree_map)):
            own = [one.queue_offset for one in tree_map.values() if one.queue_offset != stray]
            if own:
                yield name, own[0]
        yield "stray", stray in [one.queue_offset for one in self.queue.msg_tree_map.values()]
        yield "strayed", stray in [one.queue_offset for one in self.queue.consuming_msg_orderly_tree_map.values()]
