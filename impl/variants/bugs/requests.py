"""Seeded bugs of what brokers keep and find: topics, groups, keys, batches, transactions, SQL92, slaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as copy_of
from typing import Any

from impl.broker import config_files
from impl.broker.query_message_processor import QueryMessageProcessor
from impl.broker.send_message_processor import SendMessageProcessor
from impl.broker.sql92 import expressions
from impl.broker.sql92.expressions import Comparison, Expression, In, Logic, Properties
from impl.broker.subscription_group_manager import SubscriptionGroupManager
from impl.broker.topic_config_manager import TopicConfigManager
from impl.common.message import MessageExt
from impl.common.request_code import ResponseCode
from impl.common.topic_config import TopicConfig
from impl.decisions import index_slots, suggestion, transaction_check
from impl.decisions.names import MASTER_ID
from impl.ports.remoting import Command, Connection
from impl.store import schedule_message_service
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.variants.variant import Variant, around, replace


@around(config_files, "load_groups")
def _let_all_consume(
    original: Callable[[SubscriptionGroupManager, str], None],
) -> Callable[[SubscriptionGroupManager, str], None]:
    def load_groups(manager: SubscriptionGroupManager, text: str) -> None:
        """A switch is not read from the file."""
        original(manager, text)
        for config in manager.subscription_group_table.values():
            config.consume_broadcast_enable = True

    return load_groups


@around(config_files, "load_topics")
def _forget_the_flags(
    original: Callable[[TopicConfigManager, str], None],
) -> Callable[[TopicConfigManager, str], None]:
    def load_topics(manager: TopicConfigManager, text: str) -> None:
        """The flags of a topic are not read from the file."""
        original(manager, text)
        for config in manager.topic_config_table.values():
            config.topic_sys_flag = 0

    return load_topics


@replace(QueryMessageProcessor, "view_message_by_id")
def _show_the_first(self: QueryMessageProcessor, channel: Connection, request: Command) -> Command:
    """The first message of the log, whatever is asked for."""
    del channel, request
    record = self.store.select_one_message_by_offset(self.store.commit_log.get_min_offset())
    return Command(ResponseCode.SYSTEM_ERROR if record is None else ResponseCode.SUCCESS, body=record)


@around(SendMessageProcessor, "_send_message")
def _born_now(original: Callable[..., Any]) -> Callable[..., Any]:
    async def _send_message(
        self: SendMessageProcessor, channel: Connection, request: Command, topic_config: TopicConfig,
    ) -> Any:
        """The time of the request is not looked at."""
        header = request.header._replace(born_timestamp=self.node.now_ms())
        return await original(self, channel, request._replace(header=header), topic_config)

    return _send_message


@around(QueryMessageProcessor, "query_message")
def _find_one(original: Callable[..., Command]) -> Callable[..., Command]:
    def query_message(self: QueryMessageProcessor, channel: Connection, request: Command) -> Command:
        """One message of a key is found."""
        return original(self, channel, request._replace(header=request.header._replace(max_num=1, unique_key=False)))

    return query_message


@replace(index_slots, "is_chain_over")
def _begin_a_chain(previous: int, current: int, index_count: int, *, entry_ms: int, begin_ms: int) -> bool:
    """What had the slot before is not found any more."""
    del previous, current, index_count, entry_ms, begin_ms
    return True


@around(schedule_message_service, "message_timeup")
def _one_queue_on(
    original: Callable[[MessageExt], MessageExtBrokerInner],
) -> Callable[[MessageExt], MessageExtBrokerInner]:
    def message_timeup(message: MessageExt) -> MessageExtBrokerInner:
        """All that was delayed is in the first queue."""
        return copy_of(original(message), queue_id=0)

    return message_timeup


@replace(transaction_check, "check_immunity_time_ms")
def _nobody_is_immune(seconds: int | None, transaction_timeout_ms: int) -> int:
    del seconds, transaction_timeout_ms
    return 0


@around(transaction_check, "check_immunity_time_ms")
def _a_tenth(original: Callable[[int | None, int], int]) -> Callable[[int | None, int], int]:
    def check_immunity_time_ms(seconds: int | None, transaction_timeout_ms: int) -> int:
        """It is over too soon."""
        return original(seconds, transaction_timeout_ms) // 10

    return check_immunity_time_ms


@replace(transaction_check, "next_check_times")
def _always_the_first(check_times: int | None) -> int:
    del check_times
    return 1


@replace(suggestion, "suggest_which_broker_id")
def _always_the_master(
    broker_id: int, which_broker_when_consume_slowly: int, *, slave_read_enable: bool, suggest_pulling_from_slave: bool,
) -> int:
    del broker_id, which_broker_when_consume_slowly, slave_read_enable, suggest_pulling_from_slave
    return MASTER_ID


@replace(suggestion, "suggest_which_broker_id")
def _always_the_slave(
    broker_id: int, which_broker_when_consume_slowly: int, *, slave_read_enable: bool, suggest_pulling_from_slave: bool,
) -> int:
    del broker_id, suggest_pulling_from_slave
    return which_broker_when_consume_slowly if slave_read_enable else MASTER_ID


@replace(In, "evaluate")
def _null_is_in_no_list(self: In, properties: Properties) -> bool | None:
    """What a message does not have is not in the list: NOT IN is true."""
    return (self.right.evaluate(properties) in self.elements) != self.negated


@replace(Logic, "joined")
def _and_is_or(self: Logic, left: Any, properties: Properties) -> bool | None:
    """One side is enough."""
    return bool(left) or bool(self.right.evaluate(properties))


@replace(expressions, "between")
def _without_the_ends(value: Expression, low: Expression, high: Expression) -> Expression:
    return Logic("&&", Comparison(">", value, low), Comparison("<", value, high))


_IDEA = "an idea: faults of other ports"

BUGS = (
    Variant("seeded-switch-is-not-read", "bug", "A switch of a group is not read from the file.", _IDEA,
            replacements=(_let_all_consume,)),
    Variant("seeded-flags-are-not-read", "bug", "The flags of a topic are not read from the file.", _IDEA,
            replacements=(_forget_the_flags,)),
    Variant("seeded-first-message-is-shown", "bug", "Who asks for a message by its place is shown the first one.",
            _IDEA, replacements=(_show_the_first,)),
    Variant("seeded-born-when-stored", "bug", "A message was born when its broker was sent it.", _IDEA,
            replacements=(_born_now,)),
    Variant("seeded-one-is-found", "bug", "Of the messages with a key one is found.", _IDEA,
            replacements=(_find_one,)),
    Variant("seeded-slots-have-one-key", "bug", "A key hides those before it in the index.", _IDEA,
            replacements=(_begin_a_chain,)),
    Variant("seeded-delayed-go-to-queue-0", "bug", "A message that was delayed is in the first queue of its topic.",
            _IDEA, replacements=(_one_queue_on,)),
    Variant("seeded-nobody-is-immune", "bug", "A half message is asked about however young it is.", _IDEA,
            replacements=(_nobody_is_immune,)),
    Variant("seeded-halves-are-immune-for-a-tenth", "bug", "A half message is asked about after a tenth of its time.",
            _IDEA, replacements=(_a_tenth,)),
    Variant("seeded-checks-are-not-counted", "bug", "A half message is asked about for ever.", _IDEA,
            replacements=(_always_the_first,)),
    Variant("seeded-masters-never-send-away", "bug", "Nobody is sent to a slave.", _IDEA,
            replacements=(_always_the_master,)),
    Variant("seeded-masters-always-send-away", "bug", "Everybody is sent to a slave.", _IDEA,
            replacements=(_always_the_slave,)),
    Variant("seeded-null-is-not-in", "bug", "NOT IN is true of what a message does not have.", _IDEA,
            replacements=(_null_is_in_no_list,)),
    Variant("seeded-and-is-or", "bug", "AND of SQL92 is OR.", _IDEA, replacements=(_and_is_or,)),
    Variant("seeded-between-has-no-ends", "bug", "BETWEEN of SQL92 leaves its ends out.", _IDEA,
            replacements=(_without_the_ends,)),
)
