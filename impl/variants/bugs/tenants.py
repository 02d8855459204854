"""Planted bugs of namespaces: what brokers have without one, or applications see with one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as replaced

from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.message import MessageExt
from impl.variants.variant import Variant, around, replace

_IDEA = "an idea: what a port of a consumer forgets"
Named = Callable[[DefaultMQPushConsumerImpl, PushConsumerConfig], PushConsumerConfig]


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


BUGS = (
    Variant("seeded-namespace-is-shown", "bug", "Listeners see the namespace in the topics of their messages.", _IDEA,
            replacements=(_show_the_namespace,)),
    Variant("seeded-groups-have-no-namespace", "bug", "Groups of the same name in two namespaces are one.", _IDEA,
            replacements=(_leave_the_group,)),
)
