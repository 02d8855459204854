"""What brokers know of producers."""

from __future__ import annotations

import invariants.rules.group_tables  # noqa: F401  # declares the rules
from impl.events import (
    BrokerStarted,
    ClientChannelClosed,
    ClockJumped,
    ConsumerRegistered,
    HeartbeatRefused,
    ProducerForgotten,
    ProducerRegistered,
    RouteAnswered,
)
from stateful_tests.rules.histories.membership import BROKER, consumer
from stateful_tests.rules.written import Tables, Written

B, C, P, AT = "broker-a", "c1", "P", "c1:1"
UP = (0, B, BrokerStarted(B, B, 0))
CLOSED = (1, B, ClientChannelClosed(B, AT))
SPEAKS = (2, B, ProducerRegistered(B, P, C, AT))
REFUSED = (1, B, HeartbeatRefused(B, "G", C, AT))
SET, SET_FORWARD = (1, B, ClockJumped(-60_000)), (1, B, ClockJumped(60_000))
ENTERED = (2, B, ConsumerRegistered(B, "G", C, AT, True, True, frozenset()))
FORGETS, OTHER_CLOSED = (3, B, ProducerForgotten(B, P, C, AT)), (1, B, ClientChannelClosed(B, "c2:1"))
_SENDING = Tables(sending=lambda machine: {(P, C)} if machine == "c1" else set())
_RUNS = {"consumers": [consumer()], "brokers": [BROKER], "producing": {(P, C)},
         "known_addresses": {(B, 0): BROKER.broker_addr}}
_SENDS = {"brokers": [BROKER], "sending": {(P, C)}}
_ELSEWHERE = {"brokers": [BROKER], "sending": lambda *machine: {(P, C)} if machine != ("c1",) else set()}
_STARTS = {**_RUNS, "consumers": [consumer(service_state="CREATE_JUST")]}


def routed(addr: str, topic: str = "orders") -> tuple[int, str, RouteAnswered]:
    """A name server tells the client of one broker."""
    return 3, "n", RouteAnswered("n", topic, frozenset(), frozenset(), frozenset({addr}), AT)


HISTORIES = (
    Written("closed_producer_is_delisted", broken=(CLOSED,), views=Tables(producers={("O", "c2:1"): "c2", (P, AT): C}),
            kept=(CLOSED,), kept_views=Tables(producers={(P, "c2:1"): "c2"})),
    Written("closed_producer_is_delisted", broken=(CLOSED,), views=Tables(producers={(P, AT): C}),
            kept=(CLOSED, SPEAKS)),
    Written("running_producer_is_not_forgotten", broken=(FORGETS,), kept=(CLOSED, FORGETS), views=_SENDING,
            kept_views=_SENDING, says="forgets the producer P of c1, which runs"),
    Written("running_producer_is_not_forgotten", broken=(OTHER_CLOSED, FORGETS), views=_SENDING,
            kept=((3, B, ProducerForgotten(B, P, C, "c2:1")),), kept_views=_SENDING),
    Written("running_producer_is_not_forgotten", broken=(FORGETS,), kept=((3, B, ProducerForgotten(B, "O", C, AT)),),
            views=_SENDING, kept_views=_SENDING),
    Written("replies_find_the_producer", broken=(SPEAKS,), views=Tables(reply_connections={"c2": AT}),
            kept=(SPEAKS,), kept_views=Tables(reply_connections={C: AT})),
    Written("producers_are_known", broken=(UP, SPEAKS), views=Tables(**_RUNS, producers={}),
            kept=(UP, SPEAKS), kept_views=Tables(**_RUNS, producers={(P, AT): C})),
    Written("producers_are_known", broken=(UP, SPEAKS), views=Tables(**_RUNS, producers={}),
            kept=(UP, SPEAKS), kept_views=Tables(**{**_RUNS, "known_addresses": {("broker-b", 0): "broker-b:1"}},
                                              producers={})),
    Written("producers_are_known", broken=(UP, SPEAKS), views=Tables(**_SENDS, producers={}),
            kept=(UP, SPEAKS), kept_views=Tables(**_SENDS, producers={(P, AT): C})),
    Written("producers_are_known", broken=(UP, SPEAKS, routed(BROKER.broker_addr), routed("b:1", "returns")),
            views=Tables(**_SENDS, producers={}), kept=(UP, SPEAKS, routed(BROKER.broker_addr), routed("b:1"))),
    Written("producers_are_known", broken=(UP, SPEAKS, routed("b:1")), views=Tables(**_ELSEWHERE, producers={}),
            kept=(UP, SPEAKS, routed("b:1")), kept_views=Tables(**_SENDS, producers={})),
    Written("producers_are_known", broken=(UP, SPEAKS), views=Tables(**_RUNS, producers={}), kept=(SPEAKS,)),
    Written("producers_are_known", broken=(UP,), views=Tables(**_STARTS, producers={(P, AT): C}),
            kept=(UP, SPEAKS), kept_views=Tables(**_STARTS, producers={})),
    Written("producers_are_known", broken=(UP, REFUSED, ENTERED), views=Tables(**_RUNS, producers={}),
            kept=(UP, REFUSED)),
    *(Written("producers_are_known", broken=(UP, other, SPEAKS), views=Tables(brokers=[BROKER], producers={(P, AT): C}),
              kept=(UP, SET, SPEAKS)) for other in (SET_FORWARD, (1, B, ClockJumped(0)))),
    Written("producers_are_known", broken=(UP, SET, SPEAKS), views=Tables(**_RUNS, producers={}),
            kept=(UP, SET, SPEAKS), kept_views=Tables(**_RUNS, producers={(P, AT): C})),
)
