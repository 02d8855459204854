"""Which models follow which world."""

from __future__ import annotations

from invariants.refinement.consumer_group import ConsumerGroup
from invariants.refinement.coverage import GROUPS, Visited
from invariants.refinement.follower import Follower
from invariants.refinement.order_lock import OrderLocks
from invariants.refinement.registration import Registrations
from invariants.refinement.route_info import RouteInfo
from invariants.refinement.subscription import Subscription
from stateful_tests.worlds.workloads import Workload
from stateful_tests.worlds.world import World


def followers(world: World, workload: Workload) -> list[Follower]:
    """All that apply: name servers, brokers' members and subscriptions, each group of the workload."""
    watched = {GROUPS.get(name, 0) > 0: Visited(name) for name in workload.scopes}
    groups: list[Follower] = [ConsumerGroup(world, group, topic, watched=watched.get(True))
                              for group, topic in workload.groups]
    locks = [OrderLocks(world, group, watched=watched.get(False)) for group, _ in workload.groups]
    return [RouteInfo(world), Registrations(world), Subscription(world), *groups, *locks]
