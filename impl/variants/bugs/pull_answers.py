"""Seeded bugs of what brokers answer to pulls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from impl.broker import data_plane, pull_message_processor
from impl.broker.consumer_filter_manager import ConsumerFilterData, ConsumerFilterManager
from impl.broker.pull_checks import PullChecks
from impl.broker.pull_message_processor import PullMessageProcessor
from impl.common.headers import PullMessageRequestHeader
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.decisions.flags import FLAG_COMMIT_OFFSET, has_flag
from impl.decisions.pull_answer import Bounds, GetMessageStatus, PullAnswer
from impl.decisions.subscription import SubscriptionData
from impl.ports.remoting import Command, Connection
from impl.store import message_reads
from impl.store.dispatch_request import DispatchRequest
from impl.store.message_reads import GetMessageResult, MessageFilter, MessageReads
from impl.variants.variant import Replacement, Variant, around

_Filter = tuple[SubscriptionData, ConsumerFilterData | None]


@around(PullChecks, "_stored_subscription")
def _filter_by_what_is_there(original: Callable[..., _Filter]) -> Callable[..., _Filter]:
    def _stored_subscription(
        self: PullChecks, header: PullMessageRequestHeader, group: SubscriptionGroupConfig,
    ) -> _Filter:
        """Nobody looks whether the subscription is as new as the pull."""
        return original(self, header._replace(sub_version=0), group)

    return _stored_subscription


def _decided(changed: Callable[[Bounds, int, int, int], Bounds]) -> Replacement:
    """Another decision: of that of 4.9.3, and the offset, the begin and the end that it is about."""

    def wrap(original: Callable[..., Bounds]) -> Callable[..., Bounds]:
        def bounds_decision(
            offset: int, min_offset: int, max_offset: int, *, slave: bool, offset_check_in_slave: bool,
        ) -> Bounds:
            found = original(offset, min_offset, max_offset, slave=slave, offset_check_in_slave=offset_check_in_slave)
            return changed(found, offset, min_offset, max_offset)

        return bounds_decision

    return around(message_reads, "bounds_decision")(wrap)


@_decided
def _go_to_the_begin(found: Bounds, _: int, min_offset: int, __: int) -> Bounds:
    """Who is behind the end reads the queue again."""
    return Bounds(found.status, min_offset) if found.status is GetMessageStatus.OFFSET_OVERFLOW_BADLY else found


@_decided
def _go_to_the_end(found: Bounds, _: int, __: int, max_offset: int) -> Bounds:
    """Who is before the begin passes what is left."""
    return Bounds(found.status, max_offset) if found.status is GetMessageStatus.OFFSET_TOO_SMALL else found


@_decided
def _wait_behind_the_end(found: Bounds, offset: int, _: int, __: int) -> Bounds:
    """How far a pull is behind the end is not looked at."""
    is_behind = found.status is GetMessageStatus.OFFSET_OVERFLOW_BADLY
    return Bounds(GetMessageStatus.OFFSET_OVERFLOW_ONE, offset) if is_behind else found


@around(pull_message_processor, "_response")
def _end_where_it_goes_on(
    original: Callable[[PullAnswer, GetMessageResult], Command],
) -> Callable[[PullAnswer, GetMessageResult], Command]:
    def _response(answer: PullAnswer, found: GetMessageResult) -> Command:
        """Nobody lags behind."""
        response = original(answer, found)
        return response._replace(header=response.header._replace(max_offset=found.next_begin_offset))

    return _response


@around(MessageReads, "get_message")
def _find_more(original: Callable[..., GetMessageResult | None]) -> Callable[..., GetMessageResult | None]:
    def get_message(
        self: MessageReads, topic: str, queue_id: int, offset: int, max_msg_nums: int,
        message_filter: MessageFilter | None = None,
    ) -> GetMessageResult | None:
        """Nobody minds more."""
        return original(self, topic, queue_id, offset, 2 * max_msg_nums, message_filter)

    return get_message


@around(data_plane, "calc_bit_map")
def _turn_the_bits(original: Callable[..., bytes | None]) -> Callable[..., bytes | None]:
    def calc_bit_map(manager: ConsumerFilterManager, request: DispatchRequest) -> bytes | None:
        """What an expression is not true of is what its group is told of."""
        bits = original(manager, request)
        return None if bits is None else bytes(255 - one for one in bits)

    return calc_bit_map


@around(PullMessageProcessor, "_commit")
def _take_from_who_is_answered(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def _commit(self: PullMessageProcessor, channel: Connection, request: Command) -> None:
        """The offset of a pull that is held is not looked at."""
        queue = request.header.topic, request.header.queue_id
        held = self.hold_service.pull_request_table.get(queue) or ()
        if all(one.request is not request for one in held):
            await original(self, channel, request)

    return _commit


@around(PullMessageProcessor, "process")
def _commit_when_woken(original: Callable[..., Awaitable[Command | None]]) -> Callable[..., Awaitable[Command | None]]:
    async def process(
        self: PullMessageProcessor, channel: Connection, request: Command, *, broker_allow_suspend: bool,
    ) -> Command | None:
        """What a pull brings along is taken whenever it is worked on."""
        response = await original(self, channel, request, broker_allow_suspend=broker_allow_suspend)
        if not broker_allow_suspend and has_flag(request.header.sys_flag, FLAG_COMMIT_OFFSET):
            await self._commit(channel, request)
        return response

    return process


_IDEA = "an idea: faults of other brokers"

BUGS = (
    Variant("seeded-old-expressions-answer", "bug", "A pull is answered by an expression that is older than it.", _IDEA,
            replacements=(_filter_by_what_is_there,)),
    Variant("seeded-moved-pull-begins-again", "bug", "A pull behind the end of its queue is sent to the begin.", _IDEA,
            replacements=(_go_to_the_begin,)),
    Variant("seeded-old-pull-goes-to-the-end", "bug", "A pull before the begin of its queue is sent to the end.", _IDEA,
            replacements=(_go_to_the_end,)),
    Variant("seeded-pull-waits-behind-the-end", "bug", "A pull behind the end of its queue waits for what comes there.",
            _IDEA, replacements=(_wait_behind_the_end,)),
    Variant("seeded-nobody-lags", "bug", "A pull is told that its queue ends where it is to go on.", _IDEA,
            replacements=(_end_where_it_goes_on,)),
    Variant("seeded-twice-as-many-are-found", "bug", "A pull is given twice as many messages as it wants.", _IDEA,
            replacements=(_find_more,)),
    Variant("seeded-held-pulls-commit-nothing", "bug", "The offset that comes with a pull that is held is not taken.",
            _IDEA, replacements=(_take_from_who_is_answered,)),
    Variant("seeded-bits-are-turned", "bug", "Bits that are worked out when a message comes name whom it does not "
            "concern.", _IDEA, replacements=(_turn_the_bits,)),
    Variant("seeded-woken-pulls-commit-again", "bug", "The offset that comes with a pull that is held is taken again "
            "when the pull is answered.", _IDEA, replacements=(_commit_when_woken,)),
)
