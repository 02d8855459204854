"""Applications that poll with a lite pull consumer: they assign or subscribe, commit, seek, and rest; and they note it.

What is polled counts as consumed when the application polls again: it works on one batch before it asks for the next.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

from impl.client.client_config import ClientConfig
from impl.client.default_lite_pull_consumer import DefaultLitePullConsumer
from impl.client.lite_pull_consumer_config import LitePullConsumerConfig
from impl.client.mq_client_manager import MQClientManager
from impl.client.service_state import RUNNING
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_TAGS, PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.decisions.namespace import without_namespace
from impl.decisions.subscription import SUB_ALL
from impl.events import (
    CommitAsked,
    MessagesPolled,
    PollBegan,
    PollEnded,
    PollerShutDown,
    PollerStopping,
    QueueRested,
    QueueSought,
    SeekRefused,
    TopicLeft,
    TopicTakenAgain,
    TopicWantedAgain,
    WaysMixed,
)
from impl.hash_map import IllegalStateError
from impl.ports.node import Node
from invariants.histories.operations import CONSUMED, DELIVERED
from stateful_tests.worlds.contents import content_of, in_namespace
from stateful_tests.worlds.notes import Notes

POLL_MS = 1_000, 5_000, 0
"""How long an application waits in a poll."""
WORK_MS, TURNS = 200, 40
"""How long it works on a batch, and after how many polls it looks again which queues there are."""
ACT_ONE_IN, LEAVE_ONE_IN = 6, 4
"""One poll of so many is followed by something else; one time of so many a subscriber leaves its topic then."""
REST_MS, LONG_MS = 7_000, 45_000
"""How long it rests a queue, or does without: longer than a pull task waits before it looks again, or a rebalance."""
TOO_FAR, MORE_QUEUES = 1_000_000, 100
"""So far behind the end of a queue, or before its first message, nobody can go; and no topic has so many queues."""
ALL = -1
"""It does without nothing."""


@dataclass(frozen=True)
class Pulling:
    """What a process polls.

    config -- of its consumer. topic -- what it reads; more -- a topic that it subscribes besides, and never leaves; who
    does so goes now and then to where it is in a queue. share -- it assigns each of so many queues whose number leaves
    the other one as the remainder; None: it subscribes. work_ms -- how long it works on a batch. namespace -- of its
    client; empty: none. tags -- what it subscribes of the topic.
    """

    config: LitePullConsumerConfig
    topic: str
    share: tuple[int, int] | None = None
    work_ms: int = WORK_MS
    namespace: str = ""
    more: str = ""
    tags: str = SUB_ALL

    @property
    def group(self) -> str:
        """Its group as brokers are to know it."""
        return in_namespace(self.namespace, self.config.consumer_group)

    @property
    def full_topic(self) -> str:
        """Its topic, likewise."""
        return in_namespace(self.namespace, self.topic)


class Puller:
    """A process that polls for as long as it lives."""

    def __init__(self, node: Node, namesrv_addrs: tuple[str, ...], pulling: Pulling, notes: Notes) -> None:
        """Not started."""
        self.node, self.pulling, self._notes = node, pulling, notes
        client_config = ClientConfig(namesrv_addrs, node.name, namespace=pulling.namespace or None)
        self.consumer = DefaultLitePullConsumer(node, MQClientManager(node), client_config, pulling.config)
        self.group = pulling.group
        self._begins: dict[MessageQueue, int] = {}
        self._ends: dict[MessageQueue, int] = {}
        self._rested_ms: dict[MessageQueue, int] = {}
        self._share: list[MessageQueue] = []
        self._less_until_ms = ALL

    async def run(self) -> None:
        """Start, take queues, and poll; who cannot start does not run."""
        if self.pulling.share is None:
            await self.consumer.subscribe(self.pulling.topic, self.pulling.tags)
            if self.pulling.more:
                await self.consumer.subscribe(self.pulling.more)
        await self.consumer.start()
        while self.consumer.impl.service_state == RUNNING:
            with suppress(JavaError, IllegalStateError):
                await self._assign()
                await self._turn()
            await self.node.sleep(WORK_MS)

    async def _assign(self) -> None:
        """Assign the share of the queues that there are now."""
        if self.pulling.share is not None:
            each, left = self.pulling.share
            known = await self.consumer.fetch_message_queues(self.pulling.topic)
            self._share = sorted(mq for mq in known if mq.queue_id % each == left)
            await self._have_all()

    async def _have_all(self) -> None:
        """Assign all of the share, or subscribe the topic again."""
        self._less_until_ms = ALL
        if self.pulling.share is not None:
            self.consumer.assign(self._share)
            return
        self.node.trace(TopicWantedAgain(self.group, self.pulling.full_topic))
        await self.consumer.subscribe(self.pulling.topic, self.pulling.tags)
        self.node.trace(TopicTakenAgain(self.group, self.pulling.full_topic))

    async def _turn(self) -> None:
        """Poll, and do something else now and then, for some time."""
        for _ in range(TURNS):
            timeout_ms = POLL_MS[self.node.random(len(POLL_MS), "how long a poll waits")]
            self.node.trace(PollBegan(self.group, self.pulling.config.auto_commit, timeout_ms))
            polled = await self.consumer.poll(timeout_ms)
            self.node.trace(PollEnded(self.group, len(polled)))
            self._consume(polled)
            await self.node.sleep(self.pulling.work_ms)
            self._go_on_with_rested()
            if ALL < self._less_until_ms <= self.node.now_ms():
                await self._have_all()
            if self.node.random(ACT_ONE_IN, "whether an application does more than poll") == 1:
                await self._act()

    def _consume(self, msgs: Sequence[MessageExt]) -> None:
        """Work on what was polled, which is of one queue."""
        if not msgs:
            return
        mq = MessageQueue(msgs[0].topic, msgs[0].broker_name or "", msgs[0].queue_id)
        self._begins.setdefault(mq, msgs[0].queue_offset)
        self._ends[mq] = msgs[-1].queue_offset + 1
        keys = tuple(msg.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX) or "" for msg in msgs)
        self.node.trace(MessagesPolled(self.group, self._full(mq), tuple(msg.queue_offset for msg in msgs), keys,
                                       tuple(content_of(msg, self.pulling.namespace) for msg in msgs),
                                       tuple(msg.get_property(PROPERTY_TAGS) or "" for msg in msgs),
                                       self.pulling.tags if mq.topic == self.pulling.topic else SUB_ALL))
        for kind in (DELIVERED, CONSUMED):
            for msg in msgs:
                self._notes.note(kind, self.node.name, msg.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX),
                                 group=self.group, mq=self._full(mq), offset=msg.queue_offset)

    async def _act(self) -> None:
        """Commit by hand, rest a queue, go elsewhere in one or too far, do without, or mix both ways."""
        ways = [self._commit, self._rest, self._seek, self._seek_too_far, self._lessen, self._mix]
        if self.pulling.more:
            ways.append(self._stay)
        await ways[self.node.random(len(ways), "what an application does besides")]()

    async def _commit(self) -> None:
        self.node.trace(CommitAsked(self.group))
        await self.consumer.commit_sync()

    async def _rest(self) -> None:
        mq = self._one_of({*map(self._short, self.consumer.impl.assigned_message_queue.message_queues())}
                          - {*self._rested_ms})
        if mq is not None:
            self.consumer.pause([mq])
            self._rested_ms[mq] = self.node.now_ms()
            self.node.trace(QueueRested(self.group, self._full(mq), rested=True))

    def _go_on_with_rested(self) -> None:
        for mq in [mq for mq, since_ms in self._rested_ms.items() if self.node.now_ms() - since_ms >= REST_MS]:
            del self._rested_ms[mq]
            self.node.trace(QueueRested(self.group, self._full(mq), rested=False))
            self.consumer.resume([mq])

    async def _seek(self) -> None:
        """Go back in a queue to where it was polled first; who commits by hand commits that soon after."""
        mq = self._one_of({*self._begins} - {*self._rested_ms})
        if mq is not None:
            await self._go_to(mq, self._begins[mq])
            await self.node.sleep(WORK_MS)
            if not self.pulling.config.auto_commit:
                await self._commit()

    async def _go_to(self, mq: MessageQueue, offset: int) -> None:
        await self.consumer.seek(mq, offset)
        self._ends[mq] = offset
        self.node.trace(QueueSought(self.group, self._full(mq), offset))

    async def _seek_too_far(self) -> None:
        """Go to where the queue has nothing, or into one that is not there: that is refused."""
        mq = self._one_of({*self._begins} - {*self._rested_ms})
        if mq is not None:
            nowhere = (mq, TOO_FAR), (mq, -TOO_FAR), (mq._replace(queue_id=mq.queue_id + MORE_QUEUES), 0)
            where, offset = nowhere[self.node.random(len(nowhere), "where there is nothing")]
            with suppress(JavaError):
                await self._go_to(where, offset)

    async def _stay(self) -> None:
        """Go to where it is in a queue: behind what was polled last, which is often the end of the queue."""
        mq = self._one_of({*self._ends} - {*self._rested_ms})
        if mq is not None:
            offset = self._ends[mq]
            try:
                await self._go_to(mq, offset)
            except JavaError:
                self.node.trace(SeekRefused(self.group, self._full(mq), offset))

    async def _lessen(self) -> None:
        """Do without one of the queues that were assigned for a while, or without the topic that was subscribed."""
        if self._less_until_ms == ALL and len(self._share) > 1:
            without = self._share[self.node.random(len(self._share), "without which queue")]
            self.consumer.assign([mq for mq in self._share if mq != without])
            self._less_until_ms = self.node.now_ms() + REST_MS
        elif self.pulling.share is None and self._less_until_ms == ALL and (
                self.node.random(LEAVE_ONE_IN, "whether it leaves the topic") == 1):
            self.consumer.unsubscribe(self.pulling.topic)
            self._rested_ms.clear()
            self.node.trace(TopicLeft(self.group, self.pulling.full_topic))
            lasts_ms = REST_MS, LONG_MS
            self._less_until_ms = self.node.now_ms() + lasts_ms[self.node.random(len(lasts_ms), "for how long")]

    async def _mix(self) -> None:
        """Subscribe after it has assigned, or assign after it has subscribed: that is refused."""
        with suppress(JavaError, IllegalStateError):
            if self.pulling.share is None:
                self.consumer.assign([MessageQueue(self.pulling.topic, "broker-a", 0)])
            else:
                await self.consumer.subscribe(self.pulling.topic)
            self.node.trace(WaysMixed(self.group))

    async def shutdown(self) -> None:
        """Shut the consumer down in order."""
        client_id = self.consumer.impl.instance.client_id
        self.node.trace(PollerStopping(self.group, client_id))
        await self.consumer.shutdown()
        self.node.trace(PollerShutDown(self.group, client_id))

    def _full(self, mq: MessageQueue) -> MessageQueue:
        """A queue as brokers know it."""
        return mq._replace(topic=in_namespace(self.pulling.namespace, mq.topic))

    def _short(self, mq: MessageQueue) -> MessageQueue:
        """A queue as the application knows it."""
        return mq._replace(topic=without_namespace(mq.topic, self.pulling.namespace) or mq.topic)

    def _one_of(self, mqs: Collection[MessageQueue]) -> MessageQueue | None:
        return sorted(mqs)[self.node.random(len(mqs), "which queue")] if mqs else None
