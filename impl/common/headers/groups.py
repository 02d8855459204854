"""Headers of requests about clients, groups and their members, and of their answers."""

from __future__ import annotations

from typing import NamedTuple

from impl.common.headers.shape import java_header


@java_header("UnregisterClientRequestHeader", "clientID:String! producerGroup:String? consumerGroup:String?")
class UnregisterClientRequestHeader(NamedTuple):
    """Who leaves: the connection counts, the client id does not."""

    client_id: str | None
    producer_group: str | None
    consumer_group: str | None


@java_header("UnregisterClientResponseHeader")
class UnregisterClientResponseHeader(NamedTuple):
    """UnregisterClientResponseHeader: it has no fields."""


@java_header("GetConsumerListByGroupRequestHeader", "consumerGroup:String!")
@java_header("NotifyConsumerIdsChangedRequestHeader", "consumerGroup:String!")
@java_header("GetConsumerConnectionListRequestHeader", "consumerGroup:String!")
class ConsumerGroupRequestHeader(NamedTuple):
    """GetConsumerListByGroup-, NotifyConsumerIdsChanged-, GetConsumerConnectionListRequestHeader."""

    consumer_group: str


@java_header("GetConsumerListByGroupResponseHeader")
class GetConsumerListByGroupResponseHeader(NamedTuple):
    """GetConsumerListByGroupResponseHeader: it has no fields."""


@java_header("GetProducerConnectionListRequestHeader", "producerGroup:String!")
class ProducerGroupRequestHeader(NamedTuple):
    """GetProducerConnectionListRequestHeader."""

    producer_group: str


@java_header("GetConsumerStatusRequestHeader", "topic:String! group:String! clientAddr:String?")
class GetConsumerStatusRequestHeader(NamedTuple):
    """GetConsumerStatusRequestHeader; client_addr -- the id of the client to be asked; blank: all of the group."""

    topic: str
    group: str
    client_addr: str | None = None


@java_header("GetConsumerRunningInfoRequestHeader", "consumerGroup:String! clientId:String! jstackEnable:boolean?")
class GetConsumerRunningInfoRequestHeader(NamedTuple):
    """GetConsumerRunningInfoRequestHeader; jstack_enable -- with the stacks of all threads."""

    consumer_group: str
    client_id: str
    jstack_enable: bool = False


@java_header(
    "ConsumeMessageDirectlyResultRequestHeader",
    "consumerGroup:String! clientId:String? msgId:String? brokerName:String?")
class ConsumeMessageDirectlyResultRequestHeader(NamedTuple):
    """ConsumeMessageDirectlyResultRequestHeader: have one client consume one message."""

    consumer_group: str
    client_id: str | None = None
    msg_id: str | None = None
    broker_name: str | None = None


@java_header("GetConsumeStatsRequestHeader", "consumerGroup:String! topic:String")
class GetConsumeStatsRequestHeader(NamedTuple):
    """GetConsumeStatsRequestHeader; topic -- blank: all that the group consumes."""

    consumer_group: str
    topic: str | None = None


@java_header("DeleteSubscriptionGroupRequestHeader", "groupName:String! removeOffset:boolean")
class DeleteSubscriptionGroupRequestHeader(NamedTuple):
    """`DeleteSubscriptionGroupRequestHeader`. remove_offset -- what the group has committed goes as well."""

    group_name: str
    remove_offset: bool = False
