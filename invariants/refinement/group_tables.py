"""What the tables of brokers and clients say of one group on one topic."""

from __future__ import annotations

from collections.abc import Iterable

from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.broker.reported_tables import connection_of
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.decisions.message_queue import MessageQueue
from invariants.refinement.follower import Living, lives
from invariants.refinement.members import View

CLUSTERING, RUNNING, START_FAILED = "CLUSTERING", "RUNNING", "START_FAILED"


class GroupTables:
    """The tables of one group on one topic, wherever they are."""

    def __init__(self, living: Living, group: str, topic: str) -> None:
        """Look at these machines."""
        self.living, self.group, self.topic = living, group, topic

    def _info(self, broker: str) -> ConsumerGroupInfo | None:
        controller = self.living.broker(broker)
        return None if controller is None else controller.consumer_manager.consumer_table.get(self.group)

    def listed(self, broker: str) -> View:
        """Who is in the id list of a broker."""
        info = self._info(broker)
        return listed(() if info is None else info.get_all_client_id())

    def connected(self, broker: str) -> dict[str, str]:
        """The connections of the members there, to their client ids."""
        info = self._info(broker)
        entries = () if info is None else info.channel_info_table.entries()
        return {connection_of(channel): client.client_id or "" for channel, client in entries}

    def consumers(self, machine: str) -> list[DefaultMQPushConsumerImpl]:
        """The consumers of the group there, those in clustering."""
        return [consumer for consumer in self.living.consumers(machine)
                if consumer.group == self.group and consumer.config.message_model == CLUSTERING]

    def is_up(self, consumer: DefaultMQPushConsumerImpl) -> bool:
        """Whether it lives, its start has come as far as its registration, and its shutdown has not ended."""
        registered = consumer.instance.consumer_table.get(self.group) is consumer
        starts = consumer.service_state == START_FAILED and registered
        return lives(consumer.node) and (consumer.service_state == RUNNING or starts)

    def held(self, consumer: DefaultMQPushConsumerImpl) -> list[MessageQueue]:
        """The queues that it holds."""
        return [mq for mq, pq in consumer.rebalance_impl.process_queue_table.entries()
                if mq.topic == self.topic and not pq.dropped]

    def gives_up(self, consumer: DefaultMQPushConsumerImpl, mq: MessageQueue) -> bool:
        """Whether the consumer has a reason of its own: it ends, is suspended or reset, or pulls or topic have ended.

        An orderly consumer may always have one, PULL_OFFSET_MOVED, of which nothing is left to be seen.
        """
        rebalance = consumer.rebalance_impl
        if consumer.service_state != RUNNING or consumer.pause or consumer.config.orderly:
            return True
        if consumer.instance.monitor.held:  # by MQClientInstance#resetOffset
            return True
        if not rebalance.subscription_inner.contains_key(mq.topic):
            return True
        pq = rebalance.process_queue_table.get(mq)
        return pq is not None and pq.is_pull_expired()


def listed(client_ids: Iterable[str | None]) -> View:
    """The members that an id list names: as many places of a client as it stands there."""
    found: dict[str, int] = {}
    members = []
    for given in client_ids:
        client_id = given or ""
        members.append((client_id, found.setdefault(client_id, 0)))
        found[client_id] += 1
    return frozenset(members)
