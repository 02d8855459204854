"""What worlds judge: the declared properties, and that each concept is refined."""

from __future__ import annotations

from importlib import import_module

from invariants.rules.declared import BY_NAME
from invariants.rules.rule import Rule
from invariants.runs import OF_RUNS
from model.consumer_group import Convergence, Group, Running
from model.language import Property
from model.order_lock import Abandoned, OrderLock
from model.registration import Membership, Registration
from model.route_info import NameServers, RouteCache, Routes, TopicRoutes
from model.subscription import Filters, Subscriptions, Versions

for _concept in ("consumer_group", "registration", "subscription", "order_lock", "route_info"):
    import_module(f"invariants.{_concept}")  # declares its properties

CONCEPTS = tuple(state.concept for state in (
    Group, Running, Convergence, Registration, Membership, Subscriptions, Versions, Filters, OrderLock, Abandoned,
    Routes, TopicRoutes, NameServers, RouteCache,
))
DECLARED: dict[str, Property | type[Rule]] = {
    **{name: declared for concept in CONCEPTS for name, declared in concept.properties.items()}, **BY_NAME,
}
"""Every property of a protocol, or of runs, by name."""

REFINES: dict[str, tuple[str, ...]] = {
    name: one.hazards for name, one in OF_RUNS.items() if name.startswith("refines_")
}
"""Every step of the implementation is a step of the model; with the hazards of RocketMQ as shipped that are none."""
