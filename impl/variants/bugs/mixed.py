"""Planted bugs of groups whose members are clients of different languages (group XL of known bugs).

Which language a client is written in follows from its id.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace as with_fields

from impl.client.mq_client_instance import MQClientInstance
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.common.heartbeat_data import ConsumerData
from impl.decisions.allocation import AllocateMessageQueueAveragely, Members, Queues, _checked, md5_hash
from impl.decisions.message_queue import MessageQueue
from impl.variants.variant import Variant, around

NANOSECONDS = 1_000_000
"""Of a millisecond."""


def is_other_language(client_id: str) -> bool:
    """Whether this client is not written in Java: one in two."""
    return bool(md5_hash(client_id) % 2)


@around(DefaultMQPushConsumerImpl, "consumer_data")
def _stamp_in_nanoseconds(
    original: Callable[[DefaultMQPushConsumerImpl], ConsumerData],
) -> Callable[..., ConsumerData]:
    def consumer_data(self: DefaultMQPushConsumerImpl) -> ConsumerData:
        """The clients of the other language have nanoseconds for subVersion."""
        data = original(self)
        if not is_other_language(self.instance.client_id):
            return data
        subs = [with_fields(sub, sub_version=sub.sub_version * NANOSECONDS) for sub in data.subscription_data_set]
        return with_fields(data, subscription_data_set=subs)

    return consumer_data


@around(MQClientInstance, "_as_encoded_now")
def _encode_as_prepared(original: Callable[..., object]) -> Callable[..., object]:
    def _as_encoded_now(self: MQClientInstance, heartbeat_data: object) -> object:
        """The clients of the other language encode what they have prepared."""
        return heartbeat_data if is_other_language(self.client_id) else original(self, heartbeat_data)

    return _as_encoded_now


@around(AllocateMessageQueueAveragely, "allocate")
def _deal_from_the_end(original: Callable[..., list[MessageQueue]]) -> Callable[..., list[MessageQueue]]:
    def allocate(
        self: AllocateMessageQueueAveragely, consumer_group: str, current_cid: str | None, mq_all: Queues | None,
        cid_all: Members | None,
    ) -> list[MessageQueue]:
        """The clients of the other language have a strategy of the same name that counts from the other end."""
        current_cid, mq_all, cid_all = _checked(current_cid, mq_all, cid_all)
        queues = mq_all[::-1] if is_other_language(current_cid) else mq_all
        return original(self, consumer_group, current_cid, queues, cid_all)

    return allocate


@around(MQClientInstance, "shutdown")
def _close_for_all(original: Callable[[MQClientInstance], Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def shutdown(self: MQClientInstance) -> None:
        """The first consumer that stops closes the connections of all that share the instance."""
        if not self.consumer_table.is_empty():
            self.remoting_client.shutdown()
            self.scheduler.shutdown()
        await original(self)

    return shutdown


BUGS = (
    Variant(
        "xl-subversion-units", "bug", "Some members number their subscriptions in nanoseconds, others in milliseconds.",
        "client-go #720, commit 29d789e", replacements=(_stamp_in_nanoseconds, _encode_as_prepared),
    ),
    Variant(
        "xl-allocation-functions-differ", "bug", "Members compute a strategy of one name with different results.",
        "client-go: consistent hash and nearby strategies", replacements=(_deal_from_the_end,),
    ),
    Variant(
        "xl-shared-client-closed", "bug", "The first consumer that stops closes the connections of all in the process.",
        "client-go #1018, commit 8ea107c", replacements=(_close_for_all,),
    ),
)
