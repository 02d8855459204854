"""Seeded bugs of what does not last, and of whom clients and slaves turn to when somebody has moved or gone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from impl.broker.client_housekeeping_service import ClientHousekeepingService
from impl.broker.pull_message_processor import PullMessageProcessor
from impl.broker.registration import Registration
from impl.broker.transaction.default_check_listener import DefaultTransactionalMessageCheckListener
from impl.client.consume_message_orderly_service import ConsumeMessageOrderlyService
from impl.client.process_queue import ProcessQueue
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import PullRequest
from impl.common.headers import PullMessageRequestHeader
from impl.common.message import MessageExt
from impl.common.topic_config import TopicConfigSerializeWrapper
from impl.decisions import fault_strategy, start_offset
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import ConsumeFromWhere, Source
from impl.events import MessagesTaken
from impl.hosts.simulation.channel import Channel
from impl.hosts.simulation.remoting_client import RemotingClient
from impl.namesrv.route_info_manager import RouteInfoManager
from impl.ports.threads import Interleave
from impl.store.default_message_store import DefaultMessageStore
from impl.store.index_service import IndexService
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.put_message_result import PutMessageFuture
from impl.variants.variant import around, replace, seeded

MINUTES = 60


@replace(IndexService, "delete_expired_file")
def _keep_the_index(self: IndexService, offset: int) -> None:
    """Nobody takes files of the index away."""
    del self, offset


@around(fault_strategy, "update_duration")
def _hours_for_who_fails(original: Callable[..., int]) -> Callable[..., int]:
    def update_duration(latency_ms: int, *, isolation: bool) -> int:
        return original(latency_ms, isolation=isolation) * (MINUTES if isolation else 1)

    return update_duration


@around(RemotingClient, "_name_server_channel")
def _the_same_for_ever(
    original: Callable[..., Awaitable[Channel | None]],
) -> Callable[..., Awaitable[Channel | None]]:
    async def _name_server_channel(self: RemotingClient) -> Channel | None:
        """Who has once chosen a name server connects to no other one."""
        chosen = self._namesrv_addr_choosed  # what it takes the place of has it
        if chosen is None or chosen not in (self.get_name_server_address_list() or ()):
            return await original(self)
        return await self._create_channel(chosen)  # the same

    return _name_server_channel


@around(RemotingClient, "update_name_server_address_list")
def _fewer_are_no_others(original: Callable[..., None]) -> Callable[..., None]:
    def update_name_server_address_list(self: RemotingClient, addrs: Sequence[str]) -> None:
        """A list that has nothing new changes nothing."""
        known = self.get_name_server_address_list()
        if known is None or not {*addrs} <= {*known}:
            original(self, addrs)

    return update_name_server_address_list


@around(RouteInfoManager, "scan_not_active_broker")
def _look_every_two_minutes(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def scan_not_active_broker(self: RouteInfoManager, threads: Interleave) -> None:
        """One scan of twelve."""
        vars(self)["scans"] = vars(self).get("scans", -1) + 1
        if vars(self)["scans"] % 12 == 0:
            await original(self, threads)

    return scan_not_active_broker


@replace(ClientHousekeepingService, "scan_exception_channel")
async def _look_at_no_client(self: ClientHousekeepingService) -> None:
    """Only the end of a connection takes a client out."""
    del self


@around(start_offset, "start_offset_source")
def _times_are_ends(original: Callable[..., Source]) -> Callable[..., Source]:
    def start_offset_source(mode: ConsumeFromWhere, stored: int, *, retry_topic: bool) -> Source:
        """Who is to begin at a time begins at the end."""
        source = original(mode, stored, retry_topic=retry_topic)
        return Source.MAX_OFFSET if source is Source.SEARCH_OFFSET else source

    return start_offset_source


@around(Registration, "_do_register_broker_all")
def _one_master_for_ever(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def _do_register_broker_all(
        self: Registration, wrapper: TopicConfigSerializeWrapper, *, check_order_config: bool, oneway: bool,
        increment: bool = False,
    ) -> None:
        """A slave copies from the first master that it was told of."""
        first, update = self.slave_synchronize.master_addr, self.update_ha_master_address
        if first is not None:
            self.update_ha_master_address = lambda _: None
        await original(self, wrapper, check_order_config=check_order_config, oneway=oneway, increment=increment)
        if first is not None:
            self.slave_synchronize.master_addr = first
        self.update_ha_master_address = update

    return _do_register_broker_all


@replace(DefaultMQPushConsumerImpl, "correct_tags_offset")
def _leave_it(self: DefaultMQPushConsumerImpl, pull_request: PullRequest) -> None:
    """Only what was settled moves the offset."""
    del self, pull_request


@replace(ConsumeMessageOrderlyService, "_may_consume")
def _wait_for_a_lock(self: ConsumeMessageOrderlyService, pq: ProcessQueue) -> bool:
    """Also who shares no queue with others, and asks for no lock."""
    del self
    return pq.locked and not pq.is_lock_expired()


@around(ConsumeMessageOrderlyService, "_consume_in_order")
def _go_on_and_on(original: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def _consume_in_order(self: ConsumeMessageOrderlyService, mq: MessageQueue, pq: ProcessQueue) -> None:
        """As long as there are messages, and the lock is believed in, nobody looks at the clock."""
        if not self._may_consume(pq):  # what it takes the place of has it
            await original(self, mq, pq)
            return
        size, goes_on = self.consumer.config.consume_message_batch_max_size, True
        while goes_on and not pq.dropped and self._may_consume(pq):  # the same
            msgs = pq.take_messages(size)
            self._report(MessagesTaken, mq, pq, msgs)  # the same
            self.consumer.reset_retry_topic(msgs)
            goes_on = bool(msgs) and await self.consume(mq, pq, msgs)
        if goes_on:
            await original(self, mq, pq)

    return _consume_in_order


@around(DefaultMessageStore, "async_put_message")
def _be_born_here(original: Callable[..., PutMessageFuture]) -> Callable[..., PutMessageFuture]:
    def async_put_message(self: DefaultMessageStore, message: MessageExtBrokerInner) -> PutMessageFuture:
        """Whoever has sent it."""
        message.born_host = message.store_host
        return original(self, message)

    return async_put_message


@replace(PullMessageProcessor, "_generate_offset_moved_event")
async def _say_nothing(self: PullMessageProcessor, header: PullMessageRequestHeader, offset_new: int) -> None:
    """Only who has pulled hears of it."""
    del self, header, offset_new


@replace(DefaultTransactionalMessageCheckListener, "resolve_discard_msg")
async def _throw_away(self: DefaultTransactionalMessageCheckListener, half: MessageExt) -> None:
    """Nobody is asked any more, and nobody finds it."""
    del self, half


_bug = partial(seeded, "an idea: what a port forgets about what ends, moves, or was passed over")
_GO = "apache/rocketmq-client-go #571"

BUGS = (
    _bug("index-is-for-ever", "No file of the index is ever deleted.", _keep_the_index),
    _bug("failed-is-shunned-for-hours", "A broker that has failed is shunned for ten hours.", _hours_for_who_fails),
    _bug("first-name-server-for-ever", "A client asks the name server that it has chosen once.", _the_same_for_ever),
    _bug("shorter-list-is-no-change", "A client goes on asking name servers that were taken out of its list.",
         _fewer_are_no_others),
    _bug("silent-brokers-stay", "A name server looks for silent brokers every two minutes.", _look_every_two_minutes),
    _bug("silent-clients-stay", "A broker keeps a client as long as its connection lasts.", _look_at_no_client),
    _bug("times-are-ends", "A group that is to begin at a time begins at the end.", _times_are_ends),
    _bug("everybody-waits-for-locks", "Who broadcasts in order waits for a lock that nobody asks for.",
         _wait_for_a_lock),
    _bug("ordered-queues-never-rest", "Who works on a queue in order keeps its thread as long as there are messages.",
         _go_on_and_on),
    _bug("born-at-the-broker", "Messages say that they were born at their broker.", _be_born_here),
    _bug("moved-offsets-are-not-noted", "No message says that a pull was sent to another offset.", _say_nothing),
    _bug("given-up-is-thrown-away", "A half message that is given up is nowhere.", _throw_away),
    _bug("first-master-for-ever", "A slave follows its master to no other address.", _one_master_for_ever),
    seeded(_GO, "passed-over-is-read-again", "What a broker has filtered away is never committed.", _leave_it),
)
