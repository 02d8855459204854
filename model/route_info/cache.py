"""`RouteCache`: a client's copy of a route."""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Constant,
    Maybe,
    Sort,
    State,
    action,
    assume,
    initially,
    ite,
    promise,
    require,
    some,
)
from model.route_info.clock import Ms


class Route(Sort):
    """A route: brokers and queues of a topic."""


class RouteCache(State):
    """One topic at one name server, and a client that polls it."""

    present: Bool            # the name server has a route
    route: Route             # … this one
    cached: Maybe[Route]     # MQClientInstance.topicRouteTable
    changed: Ms              # since the name server's route changed last
    polled: Ms               # since the client asked last
    poll: Constant[Ms]       # pollNameServerInterval, 30 s, and the call


@initially
def no_route(s: RouteCache) -> Bool:
    """The topic is not known."""
    return ~s.present & s.cached.absent & (s.changed == 0) & (s.polled == 0)


@action("RouteInfoManager#registerBroker")
def change(s: RouteCache, r: Route) -> None:
    """The route becomes another."""
    s.present = TRUE
    s.route = r
    s.changed = Ms.of(0)


@action("RouteInfoManager#deleteTopic, #unregisterBroker")
def delete(s: RouteCache) -> None:
    """The topic has no route any more."""
    require(s.present, by="RouteInfoManager#deleteTopic")
    s.present = FALSE
    s.changed = Ms.of(0)


@action("MQClientInstance#updateTopicRouteInfoFromNameServer")
def ask(s: RouteCache) -> None:
    """The client takes a new route; TOPIC_NOT_EXIST is an error and changes nothing."""
    s.cached = ite(s.present, some(s.route), s.cached)
    s.polled = Ms.of(0)


@promise
def polls_come_in_time(s: RouteCache, by: Ms) -> Bool:
    """A client asks for its routes once a poll period."""
    return s.polled + by <= s.poll


@action("time", environment=True)
def run_on(s: RouteCache, by: Ms) -> None:
    """Time passes; the client asks once a poll period."""
    require(by > 0, by="clock_gettime(2)")
    assume(polls_come_in_time, s, by)
    s.changed = s.changed + by
    s.polled = s.polled + by
