"""Seeded bugs of what is done again and again: to subscribe, pull and commit, to lock, to send back, to say goodbye."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace as replaced

from impl.broker.refusal import Refusal
from impl.broker.send_message_back import SendMessageBack
from impl.client.client_config import ClientConfig
from impl.client.client_remoting_processor import ClientRemotingProcessor
from impl.client.mq_client_instance import MQClientInstance
from impl.client.mq_client_manager import MQClientManager
from impl.client.mq_consumer_inner import MQConsumerInner
from impl.client.offset_store import FindBrokerResult, ReadOffsetType
from impl.client.pull_callback import PullCallback
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import PullRequest
from impl.client.rebalance_service import WAIT_INTERVAL_MS, RebalanceService
from impl.client.route_tables import RouteTables
from impl.client.send_result import LocalTransactionState, SendResult
from impl.client.transaction_mq_producer import TransactionMQProducerImpl
from impl.common.headers import PullMessageRequestHeader
from impl.common.message_selector import MessageSelector
from impl.common.pull_result import PullResult
from impl.common.request_code import ResponseCode
from impl.decisions.flags import FLAG_COMMIT_OFFSET
from impl.decisions.java_errors import JavaError, not_null
from impl.decisions.subscription import SubscriptionData
from impl.ports.node import Node
from impl.ports.remoting import Command, Connection
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.variants.variant import Variant, around, replace

Back = Callable[[SendMessageBack, Command], Awaitable[MessageExtBrokerInner | None]]
End = Callable[[TransactionMQProducerImpl, SendResult, LocalTransactionState, JavaError | None], Awaitable[None]]
Header = Callable[[DefaultMQPushConsumerImpl, PullRequest, SubscriptionData], Awaitable[PullMessageRequestHeader]]
Put = Callable[[MQConsumerInner, str, str | MessageSelector], SubscriptionData]
Take = Callable[[PullCallback, PullResult], None]
Check = Callable[[ClientRemotingProcessor, Connection, Command], None]
Find = Callable[[RouteTables, str, Callable[[int], int]], str | None]
Make = Callable[[MQClientInstance, Node, ClientConfig, MQClientManager], None]
_TWO_MINUTES_MS = 120_000
_IDEA = "an idea: what ports do otherwise"


@around(MQConsumerInner, "put_subscription")
def _keep_the_first(original: Put) -> Put:
    def put_subscription(self: MQConsumerInner, topic: str, selector: str | MessageSelector) -> SubscriptionData:
        """Who subscribes a topic that he has subscribed is given what he has."""
        before = self.rebalance_impl.subscription_inner.get(topic)
        made = original(self, topic, selector)
        if before is None:
            return made
        self.rebalance_impl.subscription_inner.put(topic, before)
        return before

    return put_subscription


@around(PullCallback, "_take")
def _go_on_behind_the_last(original: Take) -> Take:
    def _take(self: PullCallback, pull_result: PullResult) -> None:
        """What its broker has looked through is looked through again."""
        found = pull_result.msg_found_list
        original(self, pull_result._replace(next_begin_offset=found[-1].queue_offset + 1) if found else pull_result)

    return _take


@around(MQClientInstance, "__init__")
def _ask_for_routes_now_and_then(original: Make) -> Make:
    def __init__(  # noqa: N807 - its name
        self: MQClientInstance, node: Node, config: ClientConfig, manager: MQClientManager,
    ) -> None:
        """Routes are asked for every two minutes."""
        original(self, node, replaced(config, poll_name_server_interval_ms=_TWO_MINUTES_MS), manager)

    return __init__


@around(RouteTables, "find_broker_address_in_subscribe")
def _find_anybody(original: Callable[..., FindBrokerResult | None]) -> Callable[..., FindBrokerResult | None]:
    def find_broker_address_in_subscribe(
        self: RouteTables, broker_name: str, broker_id: int, *, only_this_broker: bool,
    ) -> FindBrokerResult | None:
        """Who wants the master and nobody else is given a slave where there is no master."""
        del only_this_broker
        return original(self, broker_name, broker_id, only_this_broker=False)

    return find_broker_address_in_subscribe


@around(ClientRemotingProcessor, "check_transaction_state")
def _call_it_as_brokers_do(original: Check) -> Check:
    def check_transaction_state(self: ClientRemotingProcessor, channel: Connection, request: Command) -> None:
        """Who is asked about a half message is shown its topic with the namespace."""
        namespace, self.namespace = self.namespace, None
        original(self, channel, request)
        self.namespace = namespace

    return check_transaction_state


@around(DefaultMQPushConsumerImpl, "_pull_header")
def _commit_with_each_pull(original: Header) -> Header:
    async def _pull_header(
        self: DefaultMQPushConsumerImpl, pull_request: PullRequest, subscription_data: SubscriptionData,
    ) -> PullMessageRequestHeader:
        """A pull says how far its queue is read, whoever keeps that."""
        header = await original(self, pull_request, subscription_data)
        offset = await self.offset_store.read_offset(
            pull_request.message_queue, ReadOffsetType.READ_FROM_MEMORY, self.node)
        if offset <= 0:
            return header
        return header._replace(commit_offset=offset, sys_flag=header.sys_flag | FLAG_COMMIT_OFFSET)

    return _pull_header


@around(SendMessageBack, "_message")
def _take_it_back_once(original: Back) -> Back:
    async def _message(self: SendMessageBack, request: Command) -> MessageExtBrokerInner | None:
        """Who sends a message back for the second time may not write to the retry topic."""
        message = await original(self, request)
        if message is not None and message.reconsume_times > 1:
            raise Refusal(ResponseCode.NO_PERMISSION, "no permission")
        return message

    return _message


@replace(MQClientInstance, "unregister_producer")
async def _leave_in_silence(self: MQClientInstance, group: str, *, synchronized: bool) -> None:
    """A producer that stops tells no broker."""
    del synchronized
    self.producer_table.remove(group)


@replace(RouteTables, "note_broker_version")
def _note_no_version(self: RouteTables, broker_name: str, addr: str, version: int) -> None:
    """What brokers say of their versions is not heard."""
    del self, broker_name, addr, version


@around(TransactionMQProducerImpl, "end_transaction")
def _tell_the_first_broker(original: End) -> End:
    async def end_transaction(
        self: TransactionMQProducerImpl, result: SendResult, state: LocalTransactionState,
        local_error: JavaError | None,
    ) -> None:
        """What became of a transaction is told the first broker of the table."""
        (first, _), *_rest = self.instance.routes.broker_addr_table.entries()
        mq = not_null(result.message_queue)._replace(broker_name=first)
        await original(self, replaced(result, message_queue=mq), state, local_error)

    return end_transaction


@replace(RebalanceService, "run")
async def _forget_the_wake_up(self: RebalanceService) -> None:
    """A run that is under way does what is asked for meanwhile."""
    while not self.stopped:
        self.signal.notified = False
        await self.node.wait(self.signal, WAIT_INTERVAL_MS)
        await self.do_rebalance()


@replace(MQClientInstance, "update_topic_route_info_of_all")
async def _end_at_the_unknown(self: MQClientInstance) -> None:
    """A topic that has no route is an error, and an error ends the round."""
    subscribed = [consumer.rebalance_impl.subscription_inner.key_set() for consumer in self.consumer_table.values()]
    published = [producer.publish_topics() for producer in self.producer_table.values()]
    for topic in dict.fromkeys(topic for topics in (*subscribed, *published) for topic in topics):
        await self.update_topic_route_info_from_name_server(topic)
        if self.routes.topic_route_table.get(topic) is None:
            return


@around(RouteTables, "find_broker_addr_by_topic")
def _ask_the_first(original: Find) -> Find:
    def find_broker_addr_by_topic(self: RouteTables, topic: str, random: Callable[[int], int]) -> str | None:
        """Of the brokers of a topic the first is asked."""
        del random
        return original(self, topic, lambda _: 0)

    return find_broker_addr_by_topic


@around(MQClientInstance, "shutdown")
def _keep_the_instance(original: Callable[[MQClientInstance], Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def shutdown(self: MQClientInstance) -> None:
        """An instance that is shut down stays in the table of its process."""
        await original(self)
        self.manager.factory_table.put(self.client_id, self)

    return shutdown


@replace(RouteTables, "_is_need_update_topic_route_info")
def _give_it_to_consumers(self: RouteTables, topic: str) -> bool:
    """A route that has not changed is given to no producer that comes later."""
    return any(consumer.is_subscribe_topic_need_update(topic) for consumer in self.consumers())


BUGS = (
    Variant("seeded-first-expression-counts", "bug", "Who subscribes a topic again keeps the expression that he had.",
            _IDEA, replacements=(_keep_the_first,)),
    Variant("seeded-next-pull-behind-the-last", "bug", "The next pull begins behind the last message that was found.",
            _IDEA, replacements=(_go_on_behind_the_last,)),
    Variant("seeded-routes-are-old", "bug", "A client asks for routes every two minutes.", _IDEA,
            replacements=(_ask_for_routes_now_and_then,)),
    Variant("seeded-slaves-are-asked-for-locks", "bug", "Who asks for locks asks a slave where there is no master.",
            _IDEA, replacements=(_find_anybody,)),
    Variant("seeded-checks-name-the-namespace", "bug", "Who is asked about a half message sees its namespace.",
            _IDEA, replacements=(_call_it_as_brokers_do,)),
    Variant("seeded-broadcasters-commit", "bug", "Who broadcasts commits with his pulls.", _IDEA,
            replacements=(_commit_with_each_pull,)),
    Variant("seeded-second-send-back-is-refused", "bug", "A broker refuses what comes back for the second time.",
            "apache/rocketmq #7909", replacements=(_take_it_back_once,)),
    Variant("seeded-producers-leave-in-silence", "bug", "A producer that stops tells no broker.", _IDEA,
            replacements=(_leave_in_silence,)),
    Variant("seeded-versions-are-not-noted", "bug", "A client does not know the versions of its brokers.", _IDEA,
            replacements=(_note_no_version,)),
    Variant("seeded-first-broker-is-told", "bug", "What became of a transaction is told the first broker.", _IDEA,
            replacements=(_tell_the_first_broker,)),
    Variant("seeded-wake-up-is-forgotten", "bug", "A member that is told of a change during a run makes no other one.",
            "apache/rocketmq #10543", replacements=(_forget_the_wake_up,)),
    Variant("seeded-unknown-topic-ends-the-round", "bug", "A topic without a route ends a round of polls.", _IDEA,
            replacements=(_end_at_the_unknown,)),
    Variant("seeded-second-producer-has-no-queues", "bug", "A known route is given to no producer that comes later.",
            "apache/rocketmq-client-go #1084", replacements=(_give_it_to_consumers,)),
    Variant("seeded-first-broker-is-asked", "bug", "Of the brokers of a topic the first is asked for members.", _IDEA,
            replacements=(_ask_the_first,)),
    Variant("seeded-instances-are-for-ever", "bug", "Who starts a client again is given its old instance, which was "
            "shut down.", _IDEA, replacements=(_keep_the_instance,)),
)
