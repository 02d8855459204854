"""What a recorded broker's tables had before the recording: groups, offsets, ends of queues, and whether it filters."""

from __future__ import annotations

from impl.common.fastjson.deserializers import from_json
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.decisions.java_text import utf8_text
from impl.decisions.subscription import SQL92
from impl.remoting.remoting_command import RemotingCommand
from stateful_tests.conformance.wire.contents import subscription_group
from stateful_tests.conformance.wire.reading import body_of, consumers_of, number
from stateful_tests.conformance.wire.recorded import Frame, Scenario


def counts_of(request: RemotingCommand, answer: RemotingCommand) -> dict[tuple[str, int], int]:
    """How many messages queues have had, by topic and queue, as an answer says; of a search: so many at least."""
    fields, ext = request.ext_fields, answer.ext_fields
    if request.code in _TABLES and answer.body is not None:
        name, end = _TABLES[request.code]
        table = from_json(utf8_text(answer.body), name, 0).values["offsetTable"]
        return {(queue.values["topic"], queue.values["queueId"]): one.values[end] for queue, one in table.entries()}
    counting = request.code in {RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, RequestCode.GET_MAX_OFFSET}
    count = None if ext is None else ext.get("offset" if counting else "maxOffset")
    if fields is None or not count or not fields.get("topic"):
        return {}
    return {(str(fields.get("topic")), number(fields.get("queueId"))): number(count)}


_TABLES = {
    int(RequestCode.GET_TOPIC_STATS_INFO): ("TopicStatsTable", "maxOffset"),
    int(RequestCode.GET_CONSUME_STATS): ("ConsumeStats", "brokerOffset"),
}


def groups_of(scenario: Scenario) -> list[SubscriptionGroupConfig]:
    """Groups that the first list of groups shows, unless a request of the recording names them before."""
    named: set[str] = set()
    for frame in scenario.frames:
        answer = scenario.answer(frame) if frame.is_request else None
        if answer is not None and frame.command.code == RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG:
            table = from_json(utf8_text(answer.command.body or b""), "SubscriptionGroupWrapper", 0)
            return [] if table is None else [
                subscription_group(bean.values) for group, bean in table.values["subscriptionGroupTable"].entries()
                if group not in named]
        named |= {one.group_name for one in consumers_of(frame)} | _group_names(frame)
    return []


def offsets_of(scenario: Scenario) -> dict[tuple[str, str, int], int]:
    """What groups had committed, by topic, group and queue: as answers say before a request can have changed it."""
    found: dict[tuple[str, str, int], int] = {}
    changed: set[tuple[str | None, str | None]] = set()
    for frame in scenario.frames:
        answer, fields = scenario.answer(frame), frame.command.ext_fields
        if not frame.is_request:
            continue
        for key, offset in _told_offsets(frame, answer).items():
            if key[:2] not in changed and offset > 0:
                found.setdefault(key, offset)
        if fields is not None and frame.command.code != RequestCode.QUERY_CONSUMER_OFFSET:
            changed.add((fields.get("topic"), fields.get("consumerGroup") or fields.get("group")))
    return found


def _told_offsets(frame: Frame, answer: Frame | None) -> dict[tuple[str, str, int], int]:
    fields, ext = frame.command.ext_fields, None if answer is None else answer.command.ext_fields
    if frame.command.code == RequestCode.QUERY_CONSUMER_OFFSET and fields is not None and ext is not None:
        key = str(fields.get("topic")), str(fields.get("consumerGroup")), number(fields.get("queueId"))
        return {key: number(ext.get("offset"))}
    if frame.command.code != RequestCode.GET_ALL_CONSUMER_OFFSET or answer is None or answer.command.body is None:
        return {}
    table = from_json(utf8_text(answer.command.body), "ConsumerOffsetSerializeWrapper", 0).values["offsetTable"]
    split = ((key.partition("@"), offsets) for key, offsets in table.entries())
    return {(topic, group, queue_id): offset for (topic, _, group), offsets in split
            for queue_id, offset in offsets.entries()}


def _group_names(frame: Frame) -> set[str]:
    fields = frame.command.ext_fields
    found = set() if fields is None else {
        str(fields.get(name)) for name in ("consumerGroup", "group", "groupName") if fields.get(name)}
    if frame.is_request and frame.command.code == RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP:
        config = body_of(frame)
        found |= set() if config is None else {config.group_name}
    return found


def filters_by_sql(scenario: Scenario) -> bool:
    """Whether the broker filters by SQL92 from the beginning: the first answer that tells says so."""
    for frame in scenario.frames:
        fields, answer = frame.command.ext_fields, scenario.answer(frame)
        pulls = frame.command.code == RequestCode.PULL_MESSAGE and fields is not None
        sql = pulls and fields is not None and fields.get("expressionType") == SQL92
        checks = frame.command.code == RequestCode.CHECK_CLIENT_CONFIG and SQL92.encode() in (frame.command.body or b"")
        if not frame.is_request or answer is None or not (sql or checks):
            continue
        if (answer.command.remark or "").startswith("The broker does not support consumer to filter message by"):
            return False
        if answer.command.code in _FILTERED:
            return True
    return False


_FILTERED = {
    ResponseCode.SUCCESS, ResponseCode.PULL_NOT_FOUND, ResponseCode.PULL_RETRY_IMMEDIATELY,
    ResponseCode.PULL_OFFSET_MOVED, ResponseCode.SUBSCRIPTION_PARSE_FAILED, ResponseCode.FILTER_DATA_NOT_EXIST,
    ResponseCode.FILTER_DATA_NOT_LATEST,
}
"""What is answered when an expression has been looked at."""
