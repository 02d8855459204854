"""The tables of consumers, and of the clients that several of them may share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from impl.client.lite_pull_consumer import DefaultLitePullConsumerImpl
from impl.client.mq_client_instance import MQClientInstance
from impl.client.mq_consumer_inner import MQConsumerInner
from impl.client.process_queue import ProcessQueue
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.push_consumer_config import PushConsumerConfig
from impl.client.service_state import SHUTDOWN_ALREADY
from impl.decisions.allocation import AllocateMessageQueueStrategy
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import ConsumeFromWhere
from invariants.views.living import Living, lives
from invariants.views.values import Cache, Consumer, HeldQueue, Limits, Subscription


class ConsumerViews:
    """Of those whose process lives; what is asked of another machine is answered as if its tables were empty."""

    living: Living

    def consumers(self) -> list[Consumer]:
        """Those of all processes that live, in the order of their machines and of their starts."""
        return [_consumer(machine, one) for machine in self.living.machines.consumers
                for one in self.living.consumers(machine)]

    def in_service(self) -> list[Consumer]:
        """Those of them that have not shut down; others of their process may run on."""
        return [one for one in self.consumers() if one.service_state != SHUTDOWN_ALREADY]

    def tables_of(self, machine: str, group: str) -> list[ConsumerTables]:
        """The tables of the consumers of a group."""
        return [ConsumerTables(one) for one in self._of(machine, group)]

    def process_queues(self, machine: str) -> list[HeldQueue]:
        """RebalanceImpl.processQueueTable of all consumers of a machine, with those that are dropped."""
        return [held for one in self.living.consumers(machine) for held in _held(machine, one)]

    def caches(self) -> list[Cache]:
        """ProcessQueue of each queue that any consumer has and has not dropped, pushed to or polled."""
        pushed = [_cache(machine, one, mq, pq) for machine in self.living.machines.consumers
                  for one in self.living.consumers(machine)
                  for mq, pq in one.rebalance_impl.process_queue_table.entries() if not pq.dropped]
        return [*pushed, *(_cache(one.node.name, one, mq, state.process_queue) for one in self.living.pollers()
                           for mq, state in one.assigned_message_queue.states.entries()
                           if not state.process_queue.dropped)]

    def cache(self, machine: str, group: str, mq: MessageQueue) -> Cache | None:
        """The same of one queue, where it is read by one consumer."""
        for one in (*self._of(machine, group), *(one for one in self._pollers(machine) if one.group == group)):
            pq = (one.assigned_message_queue.process_queue(mq) if isinstance(one, DefaultLitePullConsumerImpl)
                  else one.rebalance_impl.process_queue_table.get(mq))
            if pq is not None and not pq.dropped:
                return _cache(machine, one, mq, pq)
        return None

    def limits(self, machine: str, group: str) -> Limits | None:
        """What a consumer is configured to cache, and to pull at once; None: none runs there."""
        polled = [one.config for one in self._pollers(machine) if one.group == group]
        if polled:
            config = polled[0]
            return Limits(config.pull_batch_size, config.pull_threshold_for_queue,
                          config.pull_threshold_size_for_queue_mib, config.consume_max_span)
        return next((_limits(one.config) for one in self._of(machine, group)), None)

    def subscribed(self, machine: str, group: str) -> dict[str, Subscription]:
        """RebalanceImpl.subscriptionInner of a consumer: by topic, the retry topic too."""
        return {topic: Subscription(sub.sub_string, sub.sub_version, sub.expression_type)
                for one in self._of(machine, group) for topic, sub in one.rebalance_impl.subscription_inner.entries()}

    def subscribe_info(self, machine: str, group: str) -> dict[str, frozenset[MessageQueue]]:
        """RebalanceImpl.topicSubscribeInfoTable of a consumer: topic to the queues that it knows."""
        return {topic: frozenset(mqs) for one in self._of(machine, group)
                for topic, mqs in one.rebalance_impl.topic_subscribe_info_table.entries()}

    def offsets(self, machine: str, group: str) -> dict[MessageQueue, int]:
        """OffsetStore.offsetTable of a consumer: what it would commit now."""
        return {mq: offset for one in self._of(machine, group)
                for mq, offset in one.offset_store.clone_offset_table(None).items()}

    def consume_from(self, machine: str, group: str) -> tuple[ConsumeFromWhere, str] | None:
        """DefaultMQPushConsumer.consumeFromWhere and consumeTimestamp, as users set them; None: no consumer runs there.

        The time is yyyyMMddHHmmss in UTC; empty: the default.
        """
        return next(((one.config.consume_from_where, one.config.consume_timestamp)
                     for one in self._of(machine, group)), None)

    def known_addresses(self, machine: str, client_id: str | None = None) -> dict[tuple[str, int], str]:
        """MQClientInstance.brokerAddrTable of the clients of a machine, or of one: broker name and id to address."""
        return _addresses(one.instance for one in self.living.consumers(machine)
                          if client_id in (None, one.instance.client_id))

    def addresses_to_poll(self, machine: str, client_id: str) -> dict[tuple[str, int], str]:
        """The same of the client of a lite pull consumer that is RUNNING; empty: there is none."""
        return _addresses(one.instance for one in self._pollers(machine)
                          if one.instance.client_id == client_id and one.service_state == RUNNING)

    def addresses_to_send(self, machine: str, client_id: str) -> dict[tuple[str, int], str]:
        """The same of the client of a producer that is RUNNING; empty: there is none."""
        return _addresses(one.instance for one in self.living.senders()
                          if (one.node.name, one.instance.client_id) == (machine, client_id)
                          and one.service_state == RUNNING)

    def producing(self, machine: str) -> set[tuple[str, str]]:
        """MQClientInstance.producerTable of the clients of a machine: pairs of group and client id."""
        return {(group, one.instance.client_id) for one in self.living.consumers(machine)
                for group in one.instance.producer_table.key_set()}

    def sending(self, machine: str | None = None) -> set[tuple[str, str]]:
        """The same of the clients of all producers that are RUNNING, or of those of a machine."""
        return {(group, one.instance.client_id) for one in self.living.senders()
                if one.service_state == RUNNING and machine in {None, one.node.name}
                for group in one.instance.producer_table.key_set()}

    def shunned_ms(self, machine: str) -> dict[str, int]:
        """LatencyFaultToleranceImpl.faultItemTable of a producer: for how long it shuns a broker from now on, in ms."""
        found = [one for one in self.living.senders() if one.node.name == machine]
        return {name: item.start_timestamp_ms - one.node.now_ms() for one in found
                for name, item in one.mq_fault_strategy.latency_fault_tolerance.fault_item_table.items()}

    def polling(self) -> set[tuple[str, str]]:
        """The same of the clients of all lite pull consumers that are RUNNING."""
        return {(group, one.instance.client_id) for one in self.living.pollers() if one.service_state == RUNNING
                for group in one.instance.producer_table.key_set()}

    def consumes_as(self, machine: str, group: str) -> tuple[str, str, ConsumeFromWhere] | None:
        """What a consumer says of itself: ConsumeType, MessageModel and where it begins; None: none runs there.

        One that is polled says that it begins at the end, whatever it does.
        """
        polled = [one.config for one in self._pollers(machine) if one.group == group]
        if polled:
            return CONSUME_ACTIVELY, polled[0].message_model, ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET
        return next(((CONSUME_PASSIVELY, one.config.message_model, one.config.consume_from_where)
                     for one in self._of(machine, group)), None)

    def consume_timeout_ms(self, machine: str, group: str) -> int | None:
        """DefaultMQPushConsumer.consumeTimeout; None: no consumer runs there."""
        return next((one.config.consume_timeout_minutes * MINUTE_MS for one in self._of(machine, group)), None)

    def consume_threads(self, machine: str, group: str) -> int | None:
        """DefaultMQPushConsumer.consumeThreadMin: so many threads work, for their queue has no end; None: as above."""
        return next((one.config.consume_thread_min for one in self._of(machine, group)), None)

    def polls_from(self, machine: str, group: str) -> ConsumeFromWhere | None:
        """DefaultLitePullConsumer.consumeFromWhere of the consumer of a group that polls; None: none runs there."""
        return next((one.config.consume_from_where for one in self._pollers(machine) if one.group == group), None)

    def taken_to_poll(self, machine: str, group: str, topic: str) -> list[MessageQueue]:
        """RebalanceImpl.processQueueTable of the consumer of a group that polls: the queues of a topic, not dropped."""
        return [mq for one in self._pollers(machine) if one.group == group
                for mq, pq in one.rebalance_impl.process_queue_table.entries() if mq.topic == topic and not pq.dropped]

    def _pollers(self, machine: str) -> list[DefaultLitePullConsumerImpl]:
        found = self.living.machines.pollers.get(machine)
        return [] if found is None or not lives(found.node) else [found]

    def _of(self, machine: str, group: str) -> Sequence[DefaultMQPushConsumerImpl]:
        return [one for one in self.living.consumers(machine) if one.group == group]


def _consumer(machine: str, one: DefaultMQPushConsumerImpl) -> Consumer:
    config = one.config
    return Consumer(machine, one.instance.client_id, one.group, config.message_model, config.orderly, one.service_state,
                    one.pause, config.strategy, one.node.now_ms())


def _cache(machine: str, one: MQConsumerInner, mq: MessageQueue, pq: ProcessQueue) -> Cache:
    waiting = pq.msg_tree_map.values()
    messages = [*waiting, *pq.consuming_msg_orderly_tree_map.values()]
    span = waiting[-1].queue_offset - waiting[0].queue_offset if waiting else 0
    return Cache(machine, one.instance.client_id, one.group, mq, pq.msg_count, pq.msg_size_bytes, len(messages),
                 sum(len(msg.body or b"") for msg in messages), span, waiting[0].queue_offset if waiting else None)


def _limits(config: PushConsumerConfig) -> Limits:
    span = None if config.orderly else config.consume_concurrently_max_span
    return Limits(config.pull_batch_size, config.pull_threshold_for_queue, config.pull_threshold_size_for_queue_mib,
                  span, config.pull_threshold_for_topic, config.pull_threshold_size_for_topic_mib,
                  config.pull_interval_ms)


def _held(machine: str, one: DefaultMQPushConsumerImpl) -> Iterator[HeldQueue]:
    client_id = one.instance.client_id
    for mq, pq in one.rebalance_impl.process_queue_table.entries():
        yield HeldQueue(machine, client_id, one.group, mq, pq.dropped, pq.locked, pq.is_lock_expired(), pq.msg_count,
                        pq.last_pull_timestamp)


MINUTE_MS = 60_000
CLUSTERING, RUNNING, START_FAILED = "CLUSTERING", "RUNNING", "START_FAILED"
CONSUME_ACTIVELY, CONSUME_PASSIVELY = "CONSUME_ACTIVELY", "CONSUME_PASSIVELY"  # ConsumeType


def _addresses(instances: Iterable[MQClientInstance]) -> dict[tuple[str, int], str]:
    """MQClientInstance.brokerAddrTable of these: broker name and id to address."""
    return {(name, broker_id): addr for one in instances for name, addrs in one.routes.broker_addr_table.entries()
            for broker_id, addr in addrs.entries()}


class ConsumerTables:
    """What a consumer's tables say whenever they are asked, also after the end of its process."""

    __slots__ = ("_consumer",)

    def __init__(self, consumer: DefaultMQPushConsumerImpl) -> None:
        """Look at this one."""
        self._consumer = consumer

    @property
    def client_id(self) -> str:
        """The id of its client."""
        return self._consumer.instance.client_id

    @property
    def strategy(self) -> AllocateMessageQueueStrategy:
        """How it divides queues."""
        return self._consumer.config.strategy

    @property
    def orderly(self) -> bool:
        """Whether its listener wants messages in order."""
        return self._consumer.config.orderly

    @property
    def clustering(self) -> bool:
        """Whether it shares the queues with its group."""
        return self._consumer.config.message_model == CLUSTERING

    @property
    def listeners_stopped(self) -> bool:
        """Whether its listeners have been told to stop."""
        return self._consumer.consume_message_service.stopped

    def now_ms(self) -> int:
        """The clock of its machine."""
        return self._consumer.node.now_ms()

    def is_up(self) -> bool:
        """Whether it lives, its start has come as far as its registration, and its shutdown has not ended."""
        consumer = self._consumer
        registered = consumer.instance.consumer_table.get(consumer.group) is consumer
        starts = consumer.service_state == START_FAILED and registered
        return lives(consumer.node) and (consumer.service_state == RUNNING or starts)

    def subscribes(self, topic: str) -> bool:
        """RebalanceImpl.subscriptionInner: whether it has the topic."""
        return self._consumer.rebalance_impl.subscription_inner.contains_key(topic)

    def route(self, topic: str) -> frozenset[MessageQueue]:
        """RebalanceImpl.topicSubscribeInfoTable: the queues of a topic that it knows."""
        return frozenset(self._consumer.rebalance_impl.topic_subscribe_info_table.get(topic) or ())

    def holds(self, topic: str) -> list[MessageQueue]:
        """RebalanceImpl.processQueueTable: the queues of a topic that are there, and not dropped."""
        return [mq for mq, pq in self._consumer.rebalance_impl.process_queue_table.entries()
                if mq.topic == topic and not pq.dropped]

    def has_lock(self, mq: MessageQueue) -> bool:
        """Whether it holds a queue and believes that it has its lock."""
        pq = self._consumer.rebalance_impl.process_queue_table.get(mq)
        return pq is not None and pq.locked and not pq.dropped

    def locked(self) -> list[MessageQueue]:
        """The queues whose lock it believes to have."""
        return [mq for mq, pq in self._consumer.rebalance_impl.process_queue_table.entries()
                if pq.locked and not pq.dropped]

    def cached(self, mq: MessageQueue) -> list[int] | None:
        """ProcessQueue.msgTreeMap: the offsets that it has of a queue; None: it does not hold the queue."""
        pq = self._consumer.rebalance_impl.process_queue_table.get(mq)
        return None if pq is None or pq.dropped else [msg.queue_offset for msg in pq.msg_tree_map.values()]

    def taken(self, mq: MessageQueue) -> list[int]:
        """ProcessQueue.consumingMsgOrderlyTreeMap: the offsets that its listener has of a queue, and not settled."""
        pq = self._consumer.rebalance_impl.process_queue_table.get(mq)
        return [] if pq is None else [msg.queue_offset for msg in pq.consuming_msg_orderly_tree_map.values()]

    def remembers(self, mq: MessageQueue) -> int | None:
        """OffsetStore.offsetTable: what it would commit now of a queue; None: nothing."""
        return self._consumer.offset_store.offset_table.get(mq)

    def last_lock_ms(self, mq: MessageQueue) -> int | None:
        """ProcessQueue.lastLockTimestamp by its own clock; None: it does not have the queue."""
        pq = self._consumer.rebalance_impl.process_queue_table.get(mq)
        return None if pq is None else pq.last_lock_timestamp

    def gives_up(self, mq: MessageQueue) -> bool:
        """Whether the consumer has a reason of its own: it ends, is suspended or reset, or pulls or topic have ended.

        An orderly consumer may always have one, PULL_OFFSET_MOVED, of which nothing is left to be seen.
        """
        consumer = self._consumer
        if consumer.service_state != RUNNING or consumer.pause or consumer.config.orderly:
            return True
        if consumer.instance.monitor.held or not self.subscribes(mq.topic):  # held by MQClientInstance#resetOffset
            return True
        pq = consumer.rebalance_impl.process_queue_table.get(mq)
        return pq is not None and pq.is_pull_expired()
