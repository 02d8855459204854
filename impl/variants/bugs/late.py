"""Seeded bugs of what is woken: periods that are waited for instead, times of others, levels and answers of others."""

from __future__ import annotations

from collections.abc import Callable

from impl.broker import ha_threads
from impl.broker.consumer_filter_manager import ConsumerFilterData
from impl.broker.ha_threads import HAThreads
from impl.broker.pull_checks import PullChecks
from impl.broker.refusal import Refusal
from impl.broker.store_threads import StoreThreads
from impl.broker.transactions import Transactions
from impl.client import consume_message_concurrently_service
from impl.client.rebalance import RebalanceImpl
from impl.common.headers import PullMessageRequestHeader
from impl.common.request_code import ResponseCode
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.decisions.java_errors import JavaError
from impl.decisions.names import MASTER_ID
from impl.decisions.subscription import SubscriptionData
from impl.store import schedule_message_service
from impl.store.commit_log import CommitLog
from impl.store.put_message_result import AppendMessageResult, GroupCommitRequest
from impl.store.put_message_status import PutMessageStatus
from impl.variants.change import constant
from impl.variants.variant import Variant, around, replace

_SECOND_MS = 1_000
_IDEA = "an idea"
Submit = Callable[..., GroupCommitRequest | PutMessageStatus]
Filter = tuple[SubscriptionData, ConsumerFilterData | None]
Stored = Callable[[PullChecks, PullMessageRequestHeader, SubscriptionGroupConfig], Filter]


@replace(StoreThreads, "_group_commit")
async def _force_each_second(self: StoreThreads) -> None:
    """Who puts a message wakes nobody."""
    service = self.store.commit_log.group_commit_service
    while not self.store.stopped:
        await self.node.sleep(_SECOND_MS)
        service.swap_requests()
        await self.node.force_delay()
        service.do_commit()
        self._flushed()


@replace(HAThreads, "put_done")
def _wake_no_connection(self: HAThreads) -> None:
    """What is new is seen when it is looked for."""
    del self


@around(CommitLog, "_submit_replica_request")
def _wait_for_a_slave_as_for_the_disk(original: Submit) -> Submit:
    def _submit_replica_request(
        self: CommitLog, result: AppendMessageResult, *, wait: bool,
    ) -> GroupCommitRequest | PutMessageStatus:
        """One time for both."""
        request = original(self, result, wait=wait)
        if isinstance(request, GroupCommitRequest):
            request.deadline_ms = self.now_ms() + self._config.sync_flush_timeout_ms
        return request

    return _submit_replica_request


@replace(Transactions, "_check")
async def _check_as_often_as_half_messages_are_young(self: Transactions) -> None:
    """The time of a transaction is that of the check."""
    while not self.store.stopped:
        await self.node.sleep(self.tables.config.transaction_timeout_ms)
        await self._check_service.run_once(self.node)
        self._wake()


@around(PullChecks, "_stored_subscription")
def _refuse_another_version(original: Stored) -> Stored:
    def _stored_subscription(
        self: PullChecks, header: PullMessageRequestHeader, group: SubscriptionGroupConfig,
    ) -> Filter:
        """Not the version that is known, so not the latest."""
        subscription, filter_data = original(self, header, group)
        if subscription.sub_version != header.sub_version:
            raise Refusal(ResponseCode.SUBSCRIPTION_NOT_LATEST, "the consumer's subscription not latest")
        return subscription, filter_data

    return _stored_subscription


@replace(RebalanceImpl, "lock_all")
async def _unlock_without_an_answer(self: RebalanceImpl) -> None:
    """Who does not answer has not granted."""
    for broker_name, mqs in self.build_process_queue_table_by_broker_name():
        found = self.rpc.find_broker_address_in_subscribe(broker_name, MASTER_ID, only_this_broker=True)
        if found is None:
            continue
        try:
            self._mark_renewed(mqs, await self.rpc.lock_batch_mq(
                found.broker_addr, self.consumer_group, mqs, _SECOND_MS))
        except JavaError:
            self._mark_unlocked(mqs)


BUGS = (
    Variant("seeded-flush-each-second", "bug", "SYNC_FLUSH forces once a second, and nobody wakes it.", _IDEA,
            replacements=(_force_each_second,)),
    Variant("seeded-transfer-each-second", "bug", "A master sends its slaves once a second what is new.", _IDEA,
            replacements=(_wake_no_connection, constant(ha_threads, "TRANSFER_WAIT_MS", _SECOND_MS))),
    Variant("seeded-slave-has-the-time-of-the-disk", "bug", "A put waits for a slave as long as for the disk.", _IDEA,
            replacements=(_wait_for_a_slave_as_for_the_disk,)),
    Variant("seeded-levels-are-looked-at-each-5-s", "bug", "Delayed messages are looked for every 5 s.", _IDEA,
            replacements=(constant(schedule_message_service, "DELAY_FOR_A_WHILE_MS", 5_000),)),
    Variant("seeded-check-has-the-time-of-transactions", "bug", "Half messages are checked every 6 s.", _IDEA,
            replacements=(_check_as_often_as_half_messages_are_young,)),
    Variant("seeded-older-version-is-refused", "bug", "A pull with another version than the known one is refused.",
            _IDEA, replacements=(_refuse_another_version,)),
    Variant("seeded-expired-waits-a-second", "bug", "What has expired under its listener comes again after a second.",
            _IDEA, replacements=(constant(consume_message_concurrently_service, "EXPIRED_DELAY_LEVEL", 1),)),
    Variant("seeded-no-answer-is-a-refusal", "bug", "A renewal that fails counts as refused.", _IDEA,
            replacements=(_unlock_without_an_answer,), over=("renew_what_is_held",)),
)
