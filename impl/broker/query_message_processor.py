"""QueryMessageProcessor: QUERY_MESSAGE and VIEW_MESSAGE_BY_ID, in queryMessageExecutor."""

from __future__ import annotations

from impl.common.headers import QueryMessageRequestHeader, QueryMessageResponseHeader, ViewMessageRequestHeader
from impl.common.request_code import ResponseCode
from impl.decisions.java_errors import not_null
from impl.ports.remoting import Command, Connection
from impl.store.message_reads import MessageReads


class QueryMessageProcessor:
    """`broker.processor.QueryMessageProcessor`. In Java both write their answer from the mapped files themselves."""

    def __init__(self, store: MessageReads) -> None:
        """Look in this store."""
        self.store = store

    def query_message(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """QueryMessageProcessor#queryMessage: records whose topic and key have the same hash; the client compares.

        A query by unique key gets as many as the broker is set to give, whatever it asks for.
        """
        header: QueryMessageRequestHeader = request.header
        max_num = self.store.config.default_query_max_num if header.unique_key else header.max_num
        found = self.store.query_message(
            header.topic, header.key, not_null(max_num), not_null(header.begin_timestamp),
            not_null(header.end_timestamp))
        response_header = QueryMessageResponseHeader(
            found.index_last_update_timestamp, found.index_last_update_phyoffset)
        body = b"".join(found.records)
        if body:
            return Command(ResponseCode.SUCCESS, header=response_header, body=body)
        remark = "can not find message, maybe time range not correct"
        return Command(ResponseCode.QUERY_NOT_FOUND, header=response_header, remark=remark)

    def view_message_by_id(self, channel: Connection, request: Command) -> Command:  # noqa: ARG002  # a Handler
        """QueryMessageProcessor#viewMessageById: what begins at an offset of the log, record or not.

        Raises IllegalArgumentError where there is no record, but bytes that are no length.
        """
        header: ViewMessageRequestHeader = request.header
        record = self.store.select_one_message_by_offset(not_null(header.offset))
        if record is None:
            return Command(
                ResponseCode.SYSTEM_ERROR, remark=f"can not find message by the offset, {header.offset}")
        return Command(ResponseCode.SUCCESS, body=record)
