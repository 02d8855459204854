"""Seeded bugs of what clients do again and again: they subscribe, pull, lock, and have timers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as replaced

from impl.client.client_config import ClientConfig
from impl.client.client_remoting_processor import ClientRemotingProcessor
from impl.client.mq_client_instance import MQClientInstance
from impl.client.mq_client_manager import MQClientManager
from impl.client.mq_consumer_inner import MQConsumerInner
from impl.client.offset_store import FindBrokerResult
from impl.client.pull_callback import PullCallback
from impl.client.route_tables import RouteTables
from impl.common.message_selector import MessageSelector
from impl.common.pull_result import PullResult
from impl.decisions.subscription import SubscriptionData
from impl.ports.node import Node
from impl.ports.remoting import Command, Connection
from impl.variants.variant import Variant, around

Put = Callable[[MQConsumerInner, str, str | MessageSelector], SubscriptionData]
Take = Callable[[PullCallback, PullResult], None]
Check = Callable[[ClientRemotingProcessor, Connection, Command], None]
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
        try:
            original(self, channel, request)
        finally:
            self.namespace = namespace

    return check_transaction_state


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
)
