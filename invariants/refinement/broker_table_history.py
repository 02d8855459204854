"""Judges of histories (`invariants.history`): a broker's tables, looked into right after something was handled."""

from __future__ import annotations

from collections.abc import Iterator

from impl.broker.controller import BrokerController
from impl.decisions.names import MASTER_ID, get_retry_topic
from impl.decisions.subscription import is_tag_type
from impl.events import ConsumerIdsChanged, HeartbeatHandled, ProducerRegistered
from invariants.refinement.judge import Hearing, Judge


class _Handled(Judge):
    """What judges share that look into the tables of a broker right after something was handled."""

    def _at(self, machine: str, group: str) -> Iterator[str]:
        """What is wrong there."""
        broker = self.living.broker(machine)
        if broker is not None:
            yield from self.wrong(broker, machine, group)

    def handled(self, _: int, machine: str, event: HeartbeatHandled | ConsumerIdsChanged) -> Iterator[str]:
        return self._at(machine, event.group)

    def wrong(self, broker: BrokerController, machine: str, group: str) -> Iterator[str]:
        """What is wrong in the tables of a broker that lives."""
        raise NotImplementedError


class _HeartbeatMakesTheRetryTopic(_Handled):
    """Of heartbeat_makes_the_retry_topic, at masters."""

    name = "heartbeat_makes_the_retry_topic"

    def hears(self) -> Hearing:
        return {HeartbeatHandled: self.handled}

    def wrong(self, broker: BrokerController, machine: str, group: str) -> Iterator[str]:
        topic = get_retry_topic(group)
        if broker.config.broker_id == MASTER_ID and broker.topic_config_manager.select_topic_config(topic) is None:
            yield f"{machine} has entered a member of {group} without {topic}"


class _FilterIsAsNewAsItsSubscription(_Handled):
    """Of filter_is_as_new_as_its_subscription."""

    name = "filter_is_as_new_as_its_subscription"

    def hears(self) -> Hearing:
        return {HeartbeatHandled: self.handled, ConsumerIdsChanged: self.handled}

    def wrong(self, broker: BrokerController, machine: str, group: str) -> Iterator[str]:
        info = broker.consumer_manager.get_consumer_group_info(group)
        for topic, sub in () if info is None else info.subscription_table.entries():
            if not is_tag_type(sub.expression_type):
                found = broker.consumer_filter_manager.get(topic, group)
                if found is None or found.is_dead():
                    yield f"{machine} has no filter of {group} for {topic}, and version {sub.sub_version} of its text"
                elif found.client_version < sub.sub_version:
                    yield f"{machine} has an old filter of {group} for {topic}, version {found.client_version}"


class _RepliesFindTheProducer(Judge):
    """Of replies_find_the_producer."""

    name = "replies_find_the_producer"

    def hears(self) -> Hearing:
        return {ProducerRegistered: self.registered}

    def registered(self, _: int, machine: str, event: ProducerRegistered) -> Iterator[str]:
        broker = self.living.broker(machine)
        replies = None if broker is None else broker.producer_manager.client_channel_table
        if replies is not None and not replies.contains_key(str(event.client_id)):
            yield f"{machine} finds no connection of {event.client_id}, which has just spoken as {event.group}"


JUDGES: tuple[type[Judge], ...] = (
    _HeartbeatMakesTheRetryTopic, _FilterIsAsNewAsItsSubscription, _RepliesFindTheProducer,
)
