"""Worlds whose tables are followed: of subscriptions, registrations and routes."""

from __future__ import annotations

from collections.abc import Sequence

from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.topic_config import TopicConfig
from impl.hosts.simulation.kernel import Record
from impl.hosts.simulation.process import Process
from invariants.finding import Finding
from invariants.refinement.follower import Following
from invariants.refinement.registration import Registrations
from invariants.refinement.route_info import RouteInfo
from invariants.refinement.subscription import Subscription
from stateful_tests.stories import (
    test_route_tables,
)
from stateful_tests.worlds.world import World

NS, BROKER = "nameserver1", "broker-a"
ORDERS = PushConsumerConfig("G", {"orders": "*"})
TOPICS = (TopicConfig("orders", 4, 4), TopicConfig("invoices", 4, 4))
LOOK_THEN_PUT = {("refines_subscription", "differs", "version"), ("refines_subscription", "differs", "expression"),
                 ("refines_subscription", "differs", "expression", "version")}
"""ConsumerGroupInfo#updateSubscription looks a topic up and puts it in two steps; the model has one."""


class Watch:
    """The kernel's monitor: the followers of tables of a world."""

    def __init__(self) -> None:
        """Follow nothing yet."""
        self.following = Following()
        self.findings: list[Finding] = []

    def __call__(self, process: Process, records: Sequence[Record], due: bool) -> None:
        """See Monitor in `impl.hosts.simulation.kernel`."""
        for follower in self.following.followers if due else self.following.concerned(records):
            self.findings += follower.segment(process.name, records, whole=due)

    @property
    def subscription(self) -> Subscription:
        """The follower of subscriptions."""
        return next(one for one in self.following.followers if isinstance(one, Subscription))

    @property
    def registrations(self) -> Registrations:
        """The follower of registrations."""
        return next(one for one in self.following.followers if isinstance(one, Registrations))

    @property
    def route_info(self) -> RouteInfo:
        """The follower of routes."""
        return next(one for one in self.following.followers if isinstance(one, RouteInfo))

    def broken(self) -> set[str]:
        """The properties that are broken."""
        return {finding.property for finding in self.findings}

    def divergences(self) -> set[tuple[str, ...]]:
        """The signatures of steps that the models do not have."""
        return {finding.signature for finding in self.findings if finding.property.startswith("refines_")}


def stage(world: World) -> None:
    """A name server and two brokers with the same topics."""
    world.add_namesrv()
    for machine in (BROKER, "broker-b"):
        world.add_broker(machine, machine, topics=TOPICS)
    world.run(100)


def one_falls_silent(world: World) -> None:
    """Of two brokers on one connection one registers on: the connection is not idle, and only the scan sees it."""
    for broker_name, topic in (("silent", "orders"), ("alive", "invoices")):
        world.ask(f"{NS}:9876", test_route_tables.of_proxy(broker_name, topic), tester="proxy")
    for _ in range(16):
        world.run(30_000)
        world.ask(f"{NS}:9876", test_route_tables.of_proxy("alive", "invoices"), tester="proxy")
