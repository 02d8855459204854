"""Planted bugs of how many queues a topic has: each broker has a number of its own to write, and to read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from impl.broker.abstract_send_message_processor import AbstractSendMessageProcessor
from impl.broker.refusal import Refusal
from impl.client import topic_publish_info
from impl.common.headers import SendMessageRequestHeader
from impl.common.request_code import ResponseCode
from impl.common.topic_config import TopicConfig
from impl.decisions import route_queues
from impl.decisions.message_queue import MessageQueue
from impl.decisions.queue_selection import TopicPublishInfo
from impl.decisions.route_queues import PublishQueues, TopicRouteData
from impl.namesrv.route_info_manager import RouteInfoManager
from impl.variants.variant import around, seeded

_bug = partial(seeded, "an idea: a port whose brokers have always had equal numbers of queues")


@around(topic_publish_info, "topic_publish_queues")
def _write_what_is_read(original: Callable[[str, TopicRouteData], PublishQueues]) -> Callable[..., PublishQueues]:
    def topic_publish_queues(topic: str, route: TopicRouteData) -> PublishQueues:
        """Of each broker as many queues as consumers may read."""
        datas = tuple(data._replace(write_queue_nums=data.read_queue_nums) for data in route.queue_datas)
        return original(topic, route._replace(queue_datas=datas))

    return topic_publish_queues


@around(topic_publish_info, "topic_publish_queues")
def _write_as_at_the_first(original: Callable[[str, TopicRouteData], PublishQueues]) -> Callable[..., PublishQueues]:
    def topic_publish_queues(topic: str, route: TopicRouteData) -> PublishQueues:
        """Of each broker as many queues as the first one has."""
        datas = tuple(data._replace(write_queue_nums=route.queue_datas[0].write_queue_nums)
                      for data in route.queue_datas)
        return original(topic, route._replace(queue_datas=datas))

    return topic_publish_queues


@around(route_queues, "topic_subscribe_queues")
def _read_as_at_the_first(original: Callable[..., list[MessageQueue]]) -> Callable[..., list[MessageQueue]]:
    def topic_subscribe_queues(topic: str, route: TopicRouteData) -> list[MessageQueue]:
        """Of each broker as many queues as the first one has."""
        datas = tuple(data._replace(read_queue_nums=route.queue_datas[0].read_queue_nums)
                      for data in route.queue_datas)
        return original(topic, route._replace(queue_datas=datas))

    return topic_subscribe_queues


@around(TopicPublishInfo, "get_queue_id_by_broker")
def _as_many_as_anywhere(original: Callable[..., int]) -> Callable[..., int]:
    def get_queue_id_by_broker(self: TopicPublishInfo, broker_name: str | None) -> int:
        """The greatest number of all brokers."""
        found = original(self, broker_name)
        return found if found < 0 else max(queue_nums for _, queue_nums in self.route or ())

    return get_queue_id_by_broker


@around(AbstractSendMessageProcessor, "_msg_check")
def _refuse_what_is_read_only(original: Callable[..., Any]) -> Callable[..., Any]:
    async def _msg_check(
        self: AbstractSendMessageProcessor, channel: Any, header: SendMessageRequestHeader,
    ) -> TopicConfig:
        """Who does not know yet that there are fewer queues to write to is refused."""
        topic_config: TopicConfig = await original(self, channel, header)
        if header.queue_id >= topic_config.write_queue_nums:
            raise Refusal(ResponseCode.SYSTEM_ERROR, f"request queueId[{header.queue_id}] is illegal, {topic_config}")
        return topic_config

    return _msg_check


@around(RouteInfoManager, "_create_and_update_queue_data")
def _one_number_for_all(original: Callable[..., None]) -> Callable[..., None]:
    def _create_and_update_queue_data(self: RouteInfoManager, broker_name: str, topic_config: TopicConfig) -> None:
        """The numbers of the broker that has registered last count for all."""
        original(self, broker_name, topic_config)
        queue_datas = self.topic_queue_table.get(topic_config.topic_name) or []
        queue_datas[:] = [data._replace(read_queue_nums=topic_config.read_queue_nums,
                                        write_queue_nums=topic_config.write_queue_nums) for data in queue_datas]

    return _create_and_update_queue_data


BUGS = (
    _bug("read-queues-are-written", "Producers send to all queues that can be read.", _write_what_is_read),
    _bug("all-are-written-as-the-first", "Producers send to as many queues of each broker as the first has.",
         _write_as_at_the_first),
    _bug("all-are-read-as-the-first", "Consumers read as many queues of each broker as the first has.",
         _read_as_at_the_first),
    _bug("least-bad-has-the-most-queues", "The least bad broker has as many queues as any other one.",
         _as_many_as_anywhere),
    _bug("late-senders-are-refused", "A broker refuses a queue that it has to read only.",
         _refuse_what_is_read_only),
    _bug("last-number-of-queues-counts", "A name server has one number of queues for all brokers.",
         _one_number_for_all),
)
