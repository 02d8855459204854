"""PullMessageProcessor: PULL_MESSAGE, in pullMessageExecutor.

Whether the client is a lite pull consumer (FLAG_LITE_PULL_MESSAGE) is not looked at.
"""

from __future__ import annotations

from impl.broker.offset_moved_event import offset_moved_event
from impl.broker.pull_checks import LegalPull, PullChecks
from impl.broker.pull_request_hold_service import PullRequest, PullRequestHoldService
from impl.broker.refusal import Refusal
from impl.broker.reported_tables import connection_of
from impl.broker.store_threads import StoreThreads
from impl.broker.tables import BrokerTables
from impl.broker.woken_pull import WokenPull
from impl.common.headers import PullMessageRequestHeader, PullMessageResponseHeader
from impl.common.request_code import ResponseCode
from impl.decisions.flags import FLAG_COMMIT_OFFSET, FLAG_SUSPEND, has_flag
from impl.decisions.java_errors import JavaException, not_null
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import BrokerSide, GetMessageStatus, PullAnswer, PullCode, is_suspended, pull_answer
from impl.events import HeldPullAnswered, OffsetCommitted, PullHeld, PullRetried
from impl.ports.pools import Pool
from impl.ports.remoting import Command, Connection, RemotingServer
from impl.store.message_reads import GetMessageResult


class PullMessageProcessor:
    """`broker.processor.PullMessageProcessor`. hold_service -- holds pulls that have found nothing."""

    def __init__(
        self, tables: BrokerTables, threads: StoreThreads, remoting_server: RemotingServer, pool: Pool,
    ) -> None:
        """Read the store of these threads; pool -- in which pulls run again."""
        self.tables, self.node, self.threads, self.store = tables, tables.node, threads, threads.store
        self.remoting_server, self.pool, self._checks = remoting_server, pool, PullChecks(tables)
        self.hold_service = PullRequestHoldService(self.node, self.store, self.execute_request_when_wakeup)

    async def process_request(self, channel: Connection, request: Command) -> Command | None:
        """PullMessageProcessor#processRequest; None: the pull is held, or its answer has been written."""
        return await self.process(channel, request, broker_allow_suspend=True)

    def execute_request_when_wakeup(self, pull_request: PullRequest) -> None:
        """PullMessageProcessor#executeRequestWhenWakeup: once more, in the pool; it is not held again.

        Raises RejectedExecutionError if the pool is full.
        """
        self.pool.execute(WokenPull(
            self.process, self.remoting_server, pull_request, self.node.now_ms(), self._report_answered))

    def _report_answered(self, held: PullRequest) -> None:
        self.node.trace(HeldPullAnswered(self.node.name, connection_of(held.channel), held.request.opaque))

    async def process(self, channel: Connection, request: Command, *, broker_allow_suspend: bool) -> Command | None:
        """PullMessageProcessor#processRequest; broker_allow_suspend -- it runs for the first time.

        Raises what a filter or the store raises.
        """
        header: PullMessageRequestHeader = request.header
        try:
            legal = self._checks.check(channel, header)
        except Refusal as refusal:
            return refusal.response
        found = self.store.get_message(
            header.topic, header.queue_id, not_null(header.queue_offset), not_null(header.max_msg_nums),
            legal.message_filter)
        response: Command | None = Command(ResponseCode.SYSTEM_ERROR, remark="store getMessage return null")
        if found is not None:
            response = await self._answer(channel, request, legal, found, broker_allow_suspend=broker_allow_suspend)
        if broker_allow_suspend and has_flag(header.sys_flag, FLAG_COMMIT_OFFSET) and not self.store.config.slave:
            await self._commit(channel, request)
        return response

    async def _answer(
        self, channel: Connection, request: Command, legal: LegalPull, found: GetMessageResult, *,
        broker_allow_suspend: bool,
    ) -> Command | None:
        header: PullMessageRequestHeader = request.header
        config, group = self.store.config, legal.group
        side = BrokerSide(config.slave, self.tables.config.slave_read_enable, config.offset_check_in_slave,
                          group.broker_id, group.which_broker_when_consume_slowly)
        answer = answer_to(found, header.queue_offset, side)
        suspends = has_flag(header.sys_flag, FLAG_SUSPEND)
        if is_suspended(answer.code, broker_allow_suspend=broker_allow_suspend, suspend_flag=suspends):
            await self.node.interleave("processRequest: nothing is found, before suspendPullRequest")
            self._suspend(channel, request, legal)
            return None
        if answer.offset_moved_event:
            await self._generate_offset_moved_event(header, found.next_begin_offset)
        if answer.code == PullCode.PULL_RETRY_IMMEDIATELY:
            self.node.trace(PullRetried(self.node.name, header.consumer_group, header.topic, header.queue_id,
                                        header.queue_offset, found.next_begin_offset))
        response = _response(answer, found)
        if found.status is GetMessageStatus.FOUND and not self.tables.config.transfer_msg_by_heap:
            self.remoting_server.respond(channel, request, response)  # ManyMessageTransfer
            return None
        return response

    def _suspend(self, channel: Connection, request: Command, legal: LegalPull) -> None:
        """Hold the pull for as long as it says, or for a second where long polling is off."""
        header: PullMessageRequestHeader = request.header
        timeout_ms = header.suspend_timeout_ms
        if not self.store.config.long_polling_enable:
            timeout_ms = self.tables.config.short_polling_time_ms
        self.hold_service.suspend_pull_request(header.topic, header.queue_id, PullRequest(
            channel, request, legal.message_filter, self.node.now_ms(), timeout_ms))
        self.node.trace(PullHeld(
            self.node.name, header.consumer_group, header.topic, header.queue_id, header.queue_offset,
            connection_of(channel), request.opaque, legal.message_filter.subscription.sub_string, timeout_ms))

    async def _generate_offset_moved_event(self, header: PullMessageRequestHeader, offset_new: int) -> None:
        """PullMessageProcessor#generateOffsetMovedEvent: this thread waits until the message is put."""
        mq = MessageQueue(header.topic, self.tables.config.broker_name, header.queue_id)
        try:
            await self.threads.put_message(offset_moved_event(
                header.consumer_group, mq, header.queue_offset, offset_new,
                self.tables.store_host, self.node.now_ms()))
        except JavaException:
            return  # logged

    async def _commit(self, channel: Connection, request: Command) -> None:
        """The offset that comes with a pull, also with one that is held."""
        header: PullMessageRequestHeader = request.header
        tables, mq, offset = self.tables, (header.topic, header.queue_id), not_null(header.commit_offset)
        await tables.consumer_offset_manager.commit_offset(header.consumer_group, *mq, offset, tables.node)
        tables.node.trace(OffsetCommitted(
            tables.node.name, header.consumer_group, *mq, offset, connection_of(channel)))


def answer_to(found: GetMessageResult, requested_offset: int, side: BrokerSide) -> PullAnswer:
    """The head of the answer to a pull that has found this."""
    return pull_answer(
        found.status, requested_offset, side, suggest_pulling_from_slave=found.suggest_pulling_from_slave)


def _response(answer: PullAnswer, found: GetMessageResult) -> Command:
    header = PullMessageResponseHeader(
        answer.suggest_which_broker_id, found.next_begin_offset, found.min_offset, found.max_offset)
    body = b"".join(found.records) if found.status is GetMessageStatus.FOUND else None
    return Command(answer.code, remark=found.status, header=header, body=body)
