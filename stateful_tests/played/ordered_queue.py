"""Traces of `OrderedQueue`, done with the ProcessQueue and the offset store of an ordered consumer."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

from impl.client.offset_store import FindBrokerResult, MQBrokerError, RemoteBrokerOffsetStore
from impl.client.process_queue import ProcessQueue
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import PullRequest
from impl.client.rebalance_push import RebalancePushImpl
from impl.common.heartbeat_data import CLUSTERING
from impl.common.message import MessageExt
from impl.common.request_code import ResponseCode
from impl.decisions.allocation import AllocateMessageQueueAveragely
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import ConsumeFromWhere
from impl.ports.threads import UNINTERRUPTED, run_now
from stateful_tests.played.trace import PlayedTrace

_GROUP, _MQ, _ANOTHER = "G", MessageQueue("T", "broker-a", 0), MessageQueue("T", "broker-a", 1)


class PlayedOrderedQueue(PlayedTrace):
    """given -- the offsets that a listener was given, in order. begun -- the first pulls."""

    parts = "impl.client.process_queue, impl.client.offset_store and the first pull of impl.client.push_consumer"

    def begin(self) -> None:
        """The queue is taken, and nothing is pulled."""
        self.queue = ProcessQueue(lambda: 0, locked=True)
        self.stored, self.knows = 0, True
        self.given: list[int] = []
        self.begun: list[Any] = []
        self.offsets = RemoteBrokerOffsetStore(cast("Any", self), _GROUP)
        self.pull = PullRequest(_GROUP, _MQ, self.queue, 0)
        node = SimpleNamespace(trace=self.begun.append, now_ms=lambda: 0, interleave=UNINTERRUPTED.interleave)
        instance = SimpleNamespace(client_id="c", admin=None)
        rebalance = RebalancePushImpl(
            cast("Any", node), cast("Any", instance), _GROUP, CLUSTERING, AllocateMessageQueueAveragely(),
            orderly=True, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, consume_timestamp_ms=0,
            offset_store=self.offsets, execute_pull_request=lambda _: None)
        self.consumer = SimpleNamespace(
            rebalance_impl=rebalance, node=node, instance=instance, group=_GROUP, offset_store=self.offsets)

    def find_broker_address_in_subscribe(self, *_: Any, **__: Any) -> FindBrokerResult:
        """See OffsetRpc."""
        return FindBrokerResult("broker-a:10911", slave=False)

    async def query_consumer_offset(self, *_: Any) -> int:
        """See OffsetRpc."""
        if not self.knows:
            raise MQBrokerError(ResponseCode.QUERY_NOT_FOUND, "")
        return 0

    @property
    def memory(self) -> int | None:
        """What would be committed now; None: nothing."""
        return self.offsets.clone_offset_table("").get(_MQ)

    def append(self) -> str:
        """See the model."""
        self.stored += 1
        return f"the queue ends at {self.stored}"

    # The first pull ---------------------------------------------------------------------------------------------------

    def answer(self) -> str:
        """See the model; the consumer asks when it begins."""
        return "the broker knows an offset"

    def _begin(self) -> str:
        run_now(DefaultMQPushConsumerImpl._has_order(cast("Any", self.consumer), self.pull))  # noqa: SLF001 - it begins so
        return f"it begins at {self.begun[-1].offset}"

    def begin_pulls(self) -> str:
        """See the model."""
        return self._begin()

    def begin_elsewhere(self) -> str:
        """See the model."""
        self.knows = False
        return self._begin()

    def forget(self) -> str:
        """See the model: the timer has looked at the table before the queue was there."""
        run_now(self.offsets.persist_all({_ANOTHER}, UNINTERRUPTED))
        return "the timer forgets it"

    # Consuming --------------------------------------------------------------------------------------------------------

    def _put(self, offset: int) -> str:
        self.pull.next_offset = max(self.pull.next_offset, offset + 1)
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
        offset = self._commit()
        self.queue.take_messages(len(others))
        return f"commit: {offset}"

    def _commit(self) -> int:
        """ConsumeMessageOrderlyService#processConsumeResult."""
        offset = self.queue.commit()
        self.offsets.update_offset(_MQ, offset, increase_only=False)
        return offset

    def commit_stray(self) -> str:
        """See the model."""
        return f"commit: {self._commit()}"

    def correct_ordered(self) -> str:
        """See the model."""
        DefaultMQPushConsumerImpl.correct_tags_offset(cast("Any", self.consumer), self.pull)
        return f"correctTagsOffset: {self.memory}"

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
        yield "remembers", self.memory is not None
        if self.memory is not None:
            yield "memory", self.memory
        yield "begun", self.pull.previously_locked
        stray = self._stray
        for name, tree_map in (("turn", self.queue.msg_tree_map),
                               ("done", self.queue.consuming_msg_orderly_tree_map)):
            own = [one.queue_offset for one in tree_map.values() if one.queue_offset != stray]
            if own:
                yield name, own[0]
        yield "stray", stray in [one.queue_offset for one in self.queue.msg_tree_map.values()]
        yield "strayed", stray in [one.queue_offset for one in self.queue.consuming_msg_orderly_tree_map.values()]
