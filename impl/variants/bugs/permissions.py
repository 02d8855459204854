"""Seeded bugs of what brokers allow, and for how long: pulls, locks, ends of transactions, keys, silent brokers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace as copy_of
from math import inf
from typing import Any

from impl.broker.broker2client import Broker2Client
from impl.broker.client_manage_processor import ClientManageProcessor
from impl.broker.producer_manager import ProducerManager
from impl.broker.pull_checks import LegalPull, PullChecks
from impl.broker.rebalance_lock_manager import LockEntry
from impl.broker.refusal import Refusal
from impl.broker.registration import Registration
from impl.broker.subscription_group_manager import SubscriptionGroupManager
from impl.broker.transaction import end_transaction_processor
from impl.common.headers import EndTransactionRequestHeader, PullMessageRequestHeader, ResetOffsetRequestHeader
from impl.common.message import MessageExt
from impl.common.request_code import ResponseCode
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.common.topic_config import TopicConfigSerializeWrapper
from impl.decisions import index_slots
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.namesrv.route_info_manager import RouteInfoManager
from impl.ports.remoting import Channel, Command, Connection
from impl.ports.threads import Interleave
from impl.variants.variant import Replacement, Variant, around, replace


def _after(lasts_ms: float) -> Replacement:
    @replace(LockEntry, "is_expired")
    def is_expired(self: LockEntry, now_ms: int) -> bool:
        return now_ms - self.last_update_timestamp > lasts_ms

    return is_expired


@around(SubscriptionGroupManager, "find_subscription_group_config")
def _let_every_group_read(
    original: Callable[..., SubscriptionGroupConfig | None],
) -> Callable[..., SubscriptionGroupConfig | None]:
    def find_subscription_group_config(self: SubscriptionGroupManager, group: str) -> SubscriptionGroupConfig | None:
        """Nobody looks at consumeEnable."""
        config = original(self, group)
        return config and copy_of(config, consume_enable=True)

    return find_subscription_group_config


@around(PullChecks, "_stored_subscription")
def _let_every_group_broadcast(original: Callable[..., Any]) -> Callable[..., Any]:
    def _stored_subscription(self: PullChecks, header: PullMessageRequestHeader, group: SubscriptionGroupConfig) -> Any:
        """Nobody looks at consumeBroadcastEnable."""
        return original(self, header, copy_of(group, consume_broadcast_enable=True))

    return _stored_subscription


@around(PullChecks, "_check_topic")
def _let_every_topic_be_read(original: Callable[..., None]) -> Callable[..., None]:
    def _check_topic(self: PullChecks, channel: Connection, header: PullMessageRequestHeader) -> None:
        """Nobody looks at the permission."""
        try:
            original(self, channel, header)
        except Refusal as refusal:
            if refusal.response.code != ResponseCode.NO_PERMISSION:
                raise

    return _check_topic


@around(PullChecks, "check")
def _let_every_broker_be_read(original: Callable[..., LegalPull]) -> Callable[..., LegalPull]:
    def check(self: PullChecks, channel: Connection, header: PullMessageRequestHeader) -> LegalPull:
        """Nobody looks at brokerPermission."""
        config = self.tables.config
        self.tables.config = copy_of(config, broker_permission=PERM_READ | PERM_WRITE)
        try:
            legal = original(self, channel, header)
        except Refusal:
            self.tables.config = config
            raise
        self.tables.config = config
        return legal

    return check


@replace(Registration, "_with_permission")
def _register_as_is(self: Registration, wrapper: TopicConfigSerializeWrapper) -> TopicConfigSerializeWrapper:
    """Topics have their own permissions, whatever that of their broker is."""
    del self
    return wrapper


@replace(RouteInfoManager, "scan_not_active_broker")
async def _look_at_nobody(self: RouteInfoManager, threads: Interleave) -> None:
    """Only a connection that ends takes a broker out."""
    del self, threads


@around(Broker2Client, "reset_offset")
def _always_by_force(original: Callable[..., Awaitable[Command]]) -> Callable[..., Awaitable[Command]]:
    async def reset_offset(self: Broker2Client, header: ResetOffsetRequestHeader, *, is_c: bool) -> Command:
        """Everybody is sent on."""
        return await original(self, header._replace(is_force=True), is_c=is_c)

    return reset_offset


@replace(end_transaction_processor, "check_prepare_message")
def _any_will_do(half: MessageExt, header: EndTransactionRequestHeader) -> str | None:
    """What lies at the offset is the message that is meant."""
    del half, header
    return None


@replace(ProducerManager, "get_available_channel")
def _the_first(self: ProducerManager, group_id: str | None) -> Channel | None:
    """Always the same one."""
    channel_table = None if group_id is None else self.group_channel_table.get(group_id)
    return None if channel_table is None or channel_table.is_empty() else channel_table.key_set()[0]


@replace(ClientManageProcessor, "check_client_config")
def _take_any_filter(self: ClientManageProcessor, channel: Connection, request: Command) -> Command:
    del self, channel, request
    return Command(ResponseCode.SUCCESS)


@replace(index_slots, "is_time_matched")
def _at_any_time(time_ms: int, begin_ms: int, end_ms: int) -> bool:
    del time_ms, begin_ms, end_ms
    return True


_IDEA = "an idea: what a port of a broker or a name server forgets"

BUGS = (
    Variant("seeded-lock-is-for-ever", "bug", "The lock of a queue never expires.", _IDEA, replacements=(_after(inf),)),
    Variant("seeded-lock-lasts-two-minutes", "bug", "The lock of a queue expires after 120 s.", _IDEA,
            replacements=(_after(120_000),)),
    Variant("seeded-lock-lasts-40-s", "bug", "The lock of a queue expires after 40 s.", _IDEA,
            replacements=(_after(40_000),)),
    Variant("seeded-closed-group-reads", "bug", "A group that may not consume pulls.", _IDEA,
            replacements=(_let_every_group_read,)),
    Variant("seeded-forbidden-group-broadcasts", "bug", "A group that must not broadcast pulls all the same.", _IDEA,
            replacements=(_let_every_group_broadcast,)),
    Variant("seeded-closed-topic-is-read", "bug", "A topic that nobody may read is pulled.", _IDEA,
            replacements=(_let_every_topic_be_read,)),
    Variant("seeded-closed-broker-is-read", "bug", "A broker that may not be read is pulled.", _IDEA,
            replacements=(_let_every_broker_be_read,)),
    Variant("seeded-closed-broker-registers-as-open", "bug", "A broker that may not be written registers as if it "
            "might.", _IDEA, replacements=(_register_as_is,)),
    Variant("seeded-silent-broker-stays", "bug", "A name server keeps a broker as long as its connection lasts.", _IDEA,
            replacements=(_look_at_nobody,)),
    Variant("seeded-reset-is-always-forced", "bug", "A reset without force sends members on.", _IDEA,
            replacements=(_always_by_force,)),
    Variant("seeded-any-half-is-ended", "bug", "Who ends a transaction ends whatever lies at its offset of the log.",
            _IDEA, replacements=(_any_will_do,)),
    Variant("seeded-first-producer-is-asked", "bug", "Of a group of producers always the first one is asked.", _IDEA,
            replacements=(_the_first,)),
    Variant("seeded-any-filter-will-do", "bug", "A broker lets clients filter as it does not.", _IDEA,
            replacements=(_take_any_filter,)),
    Variant("seeded-keys-have-no-time", "bug", "A key is found whenever its message was stored.", _IDEA,
            replacements=(_at_any_time,)),
)
