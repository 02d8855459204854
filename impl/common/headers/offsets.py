"""Headers of requests about offsets of groups and queues, and of their answers."""

from __future__ import annotations

from typing import NamedTuple

from impl.common.headers.shape import java_header


@java_header("QueryConsumerOffsetRequestHeader", "consumerGroup:String! topic:String! queueId:Integer!")
@java_header(
    "UpdateConsumerOffsetRequestHeader", "consumerGroup:String! topic:String! queueId:Integer! commitOffset:Long!")
class ConsumerOffsetRequestHeader(NamedTuple):
    """QueryConsumerOffsetRequestHeader (commit_offset None), UpdateConsumerOffsetRequestHeader."""

    consumer_group: str
    topic: str
    queue_id: int
    commit_offset: int | None = None


@java_header("UpdateConsumerOffsetResponseHeader")
class UpdateConsumerOffsetResponseHeader(NamedTuple):
    """UpdateConsumerOffsetResponseHeader: it has no fields."""


@java_header("GetMaxOffsetRequestHeader", "topic:String! queueId:Integer!")
@java_header("GetMinOffsetRequestHeader", "topic:String! queueId:Integer!")
@java_header("GetEarliestMsgStoretimeRequestHeader", "topic:String! queueId:Integer!")
@java_header("SearchOffsetRequestHeader", "topic:String! queueId:Integer! timestamp:Long!")
class QueueOffsetRequestHeader(NamedTuple):
    """What asks about a queue: GetMaxOffset-, GetMinOffset-, GetEarliestMsgStoretime-, SearchOffsetRequestHeader.

    timestamp -- only of the last one, in milliseconds since 1970.
    """

    topic: str
    queue_id: int
    timestamp: int | None = None


@java_header("QueryConsumerOffsetResponseHeader", "offset:Long!")
@java_header("GetMaxOffsetResponseHeader", "offset:Long!")
@java_header("GetMinOffsetResponseHeader", "offset:Long!")
@java_header("SearchOffsetResponseHeader", "offset:Long!")
class OffsetResponseHeader(NamedTuple):
    """Of all requests that ask for an offset."""

    offset: int


@java_header("GetEarliestMsgStoretimeResponseHeader", "timestamp:Long!")
class GetEarliestMsgStoretimeResponseHeader(NamedTuple):
    """GetEarliestMsgStoretimeResponseHeader: when the first message of the queue was stored; -1: there is none."""

    timestamp: int


@java_header("ResetOffsetRequestHeader", "topic:String! group:String! timestamp:long! isForce:boolean!")
class ResetOffsetRequestHeader(NamedTuple):
    """ResetOffsetRequestHeader: of the operator, and of the broker to its clients, where is_force is always False.

    timestamp -- go back to the first message that was stored then or later; -1: to the end of the queue. is_force --
    go there even if it is further on than what the group has committed.
    """

    topic: str
    group: str
    timestamp: int
    is_force: bool = False


@java_header("QueryCorrectionOffsetHeader", "filterGroups:String compareGroup:String! topic:String!")
class QueryCorrectionOffsetHeader(NamedTuple):
    """QueryCorrectionOffsetHeader; filter_groups -- separated by commas."""

    topic: str
    compare_group: str
    filter_groups: str | None = None


@java_header("CloneGroupOffsetRequestHeader", "srcGroup:String! destGroup:String! topic:String offline:boolean")
class CloneGroupOffsetRequestHeader(NamedTuple):
    """CloneGroupOffsetRequestHeader; topic -- blank: all that the source group has committed."""

    src_group: str
    dest_group: str
    topic: str | None = None
    offline: bool = False


@java_header("QueryConsumeTimeSpanRequestHeader", "topic:String! group:String!")
class QueryConsumeTimeSpanRequestHeader(NamedTuple):
    """QueryConsumeTimeSpanRequestHeader."""

    topic: str
    group: str
