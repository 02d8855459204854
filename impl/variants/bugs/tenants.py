"""Planted bugs of namespaces: what brokers have without one, or applications see with one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace as replaced

from impl.client.default_mq_producer_impl import DefaultMQProducerImpl
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.push_consumer_config import PushConsumerConfig
from impl.client.send_kernel import Way
from impl.client.send_result import SendResult
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_PRODUCER_GROUP
from impl.common.message_to_send import Message
from impl.decisions.namespace import without_namespace
from impl.variants.variant import Variant, around, replace

_IDEA = "an idea: what a port of a consumer forgets"
Named = Callable[[DefaultMQPushConsumerImpl, PushConsumerConfig], PushConsumerConfig]
Sends = Callable[[DefaultMQProducerImpl, Message, Way, int], Awaitable[SendResult | None]]


@replace(DefaultMQPushConsumerImpl, "_take_namespace_away")
def _show_the_namespace(self: DefaultMQPushConsumerImpl, msg: MessageExt) -> None:
    """Listeners are given messages as brokers have them."""
    del self, msg


@around(DefaultMQPushConsumerImpl, "_with_namespace")
def _leave_the_group(original: Named) -> Named:
    def _with_namespace(self: DefaultMQPushConsumerImpl, config: PushConsumerConfig) -> PushConsumerConfig:
        """Topics have the namespace, and the group has none."""
        return replaced(original(self, config), consumer_group=config.consumer_group)

    return _with_namespace


@around(DefaultMQProducerImpl, "send_default_impl")
def _leave_the_producers(original: Sends) -> Sends:
    async def send_default_impl(
        self: DefaultMQProducerImpl, msg: Message, way: Way, timeout_ms: int,
    ) -> SendResult | None:
        """A half message says without the namespace who is to be asked about it."""
        if msg.get_property(PROPERTY_PRODUCER_GROUP):
            msg.put_property(PROPERTY_PRODUCER_GROUP, without_namespace(self.group, self.namespace) or self.group)
        return await original(self, msg, way, timeout_ms)

    return send_default_impl


BUGS = (
    Variant("seeded-namespace-is-shown", "bug", "Listeners see the namespace in the topics of their messages.", _IDEA,
            replacements=(_show_the_namespace,)),
    Variant("seeded-groups-have-no-namespace", "bug", "Groups of the same name in two namespaces are one.", _IDEA,
            replacements=(_leave_the_group,)),
    Variant("seeded-half-messages-have-no-namespace", "bug",
            "A half message names its producers without the namespace: others are asked about it.",
            "apache/rocketmq #1253, #1254", replacements=(_leave_the_producers,)),
)
