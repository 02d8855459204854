"""Seeded bugs of records: what a broker leaves out of what it writes down."""

from __future__ import annotations

from collections.abc import Callable

from impl.broker import send_message_back, send_message_processor
from impl.common.byte_buffer import ByteBuffer
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_CLUSTER, PROPERTY_ORIGIN_MESSAGE_ID
from impl.hash_map import HashMap
from impl.store import message_ext_encoder
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.message_ext_encoder import BatchEntry
from impl.variants.variant import Variant, around


@around(send_message_processor, "_without_wait")
def _without_cluster(original: Callable[[HashMap[str, str]], str]) -> Callable[..., str]:
    def _without_wait(properties: HashMap[str, str]) -> str:
        properties.remove(PROPERTY_CLUSTER)
        return original(properties)

    return _without_wait


@around(message_ext_encoder, "_entry")
def _without_separator(original: Callable[..., BatchEntry]) -> Callable[..., BatchEntry]:
    def _entry(buffer: ByteBuffer, *, has_batch_properties: bool) -> BatchEntry:
        """What the message says last runs into what the broker adds."""
        return original(buffer, has_batch_properties=has_batch_properties)._replace(needs_separator=False)

    return _entry


@around(send_message_back, "_copy")
def _without_origin(original: Callable[..., MessageExtBrokerInner]) -> Callable[..., MessageExtBrokerInner]:
    def _copy(message: MessageExt, topic: str, queue_id: int, delay_level: int) -> MessageExtBrokerInner:
        """A message that is sent back first does not say which one it was."""
        copy = original(message, topic, queue_id, delay_level)
        if PROPERTY_ORIGIN_MESSAGE_ID not in (message.properties or {}):
            copy.clear_property(PROPERTY_ORIGIN_MESSAGE_ID)
            copy.write_properties()
        return copy

    return _copy


BUGS = (
    Variant("seeded-records-have-no-cluster", "bug", "A record does not say in which cluster it is.",
            "apache/rocketmq #1901", replacements=(_without_cluster,)),
    Variant("seeded-batch-properties-run-together", "bug", "What each message of a batch says last runs into its "
            "cluster.", "apache/rocketmq #3476", replacements=(_without_separator,)),
    Variant("seeded-origin-is-not-written", "bug", "What is sent back does not say which message it was.",
            "apache/rocketmq #2869", replacements=(_without_origin,)),
)
