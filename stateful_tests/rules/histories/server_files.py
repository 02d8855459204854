"""Written histories of what is there again after a start, and of what slaves copy."""

from __future__ import annotations

from typing import Any

import invariants.rules.server_files  # noqa: F401  # declares the rules
from impl.decisions.route_queues import QueueData
from impl.events import (
    BrokerStarted,
    DiskFilled,
    KVConfigLoaded,
    KVConfigPut,
    OrderDone,
    ProcessKilled,
    TopicConfigDeleted,
    TopicConfigUpdated,
)
from invariants.rules.bounds import Bounds
from invariants.views import Broker
from stateful_tests.rules.written import Tables, Turns, Written

B, NS = "broker-a", "nameserver1"
Told = tuple[int, str, Any]
KEPT = (1, NS, KVConfigPut(NS, "N", "K", "V"))
DONE = OrderDone(NS, "key value", "N K", ("V",))
FOUR = {"orders": QueueData(B, 4, 4, 6, 0)}
MASTER, SLAVE = Broker(B, B, 0, "broker-a:1", 0, None), Broker("broker-a-slave", B, 1, "broker-a-slave:1", 0, None)


def loaded(value: str, ms: int = 3) -> Told:
    """A name server finds a value in its file."""
    return ms, NS, KVConfigLoaded(NS, frozenset({("N", "K", value)}))


def ends(ms: int, *, power_loss: bool = False) -> Told:
    """The process of the name server ends."""
    return ms, NS, ProcessKilled(1, power_loss)


def starts(ms: int, broker_id: int = 0) -> Told:
    """A broker starts."""
    return ms, B, BrokerStarted(B, B, broker_id)


def dies(ms: int, *, power_loss: bool = False) -> Told:
    """Its process is killed."""
    return ms, B, ProcessKilled(1, power_loss)


def couple(*brokers: Broker, **slaves: Any) -> Tables:
    """A master with its tables, and its slave, which has what is given; brokers -- in another order."""
    mine: dict[str, Any] = {"topics": FOUR, "committed": {("orders", 0): 5}, "groups_with_offsets": {("G", "orders")},
                            "subscription_groups": ["G", "H"], "subscription_group_version": (5, 2),
                            "topic_version": (5, 2), "noted_delay_offsets": {1: 3}, "saved_delay_offsets": {1: 2}}
    theirs = {**mine, "noted_delay_offsets": {}, "saved_delay_offsets": {1: 3}, **slaves}
    return Tables(brokers=list(brokers or (MASTER, SLAVE)), **{
        view: lambda broker, *_, view=view: (mine if broker == B else theirs)[view] for view in mine})


FULL, FREE, FULL_THERE = (0, B, DiskFilled(100)), (0, B, DiskFilled(0)), (0, "broker-b", DiskFilled(100))
UPDATED = (1, B, TopicConfigUpdated(B, "orders"))
EIGHT = {"orders": QueueData(B, 8, 8, 6, 0)}

HISTORIES = (
    Written("key_values_survive", broken=(KEPT, loaded("another")), kept=(KEPT, loaded("V"))),
    Written("key_values_survive", broken=(KEPT, ends(2), loaded("another")), bounds=Bounds(),
            kept=(KEPT, ends(2, power_loss=True), loaded("another"))),
    # Its thread may stand still before it writes the file.
    Written("key_values_survive", broken=(KEPT, ends(KEPT[0] + 40_001), loaded("another", 50_000)),
            kept=(KEPT, ends(KEPT[0] + 40_000), loaded("another", 50_000))),
    *(Written("key_values_survive", broken=(KEPT, (1, "operator", DONE), ends(2), loaded("another")),
              kept=(KEPT, (ms, "operator", another), ends(2), loaded("another"))) for ms, another in (
        (0, DONE), (1, DONE._replace(server=B)), (1, DONE._replace(name="N L")), (1, DONE._replace(kind="topic")))),
    Written("key_values_survive", broken=(ends(0), KEPT, loaded("another")),
            kept=(KEPT, ends(KEPT[0]), loaded("another"))),
    Written("key_values_survive", broken=(FULL, FREE, KEPT, loaded("another")),
            kept=((0, NS, DiskFilled(100)), KEPT, loaded("another"))),
    Written("topic_survives_its_broker", broken=(starts(0), UPDATED, dies(40_002), starts(50_000)),
            views=Tables(topics=Turns({}, FOUR, {})), kept=(starts(0), UPDATED, dies(40_001), starts(50_000)),
            kept_views=Tables(topics=Turns({}, FOUR, {}))),
    Written("topic_survives_its_broker", broken=(starts(0), UPDATED, dies(40_002), starts(50_000)),
            views=Tables(topics=Turns({}, FOUR, EIGHT)), kept=(starts(0), UPDATED, dies(40_002), starts(50_000)),
            kept_views=Tables(topics=Turns({}, FOUR, FOUR))),
    Written("topic_survives_its_broker", broken=(starts(0), UPDATED, dies(40_002), starts(50_000)),
            views=Tables(topics=Turns({}, FOUR, {})),
            kept=(starts(0), UPDATED, (2, B, TopicConfigDeleted(B, "orders")), dies(40_002), starts(50_000)),
            kept_views=Tables(topics=Turns({}, FOUR, {}))),
    Written("topic_survives_its_broker",
            broken=(starts(0), UPDATED, dies(2), starts(50_000), dies(50_001), starts(50_002)),
            views=Tables(topics=Turns({}, FOUR, FOUR, {})),
            kept=(starts(0), UPDATED, dies(40_002, power_loss=True), starts(50_000)),
            kept_views=Tables(topics=Turns({}, FOUR, {}))),
    Written("topic_survives_its_broker", broken=(starts(0), UPDATED, dies(40_002), starts(50_000)),
            views=Tables(topics=Turns({}, FOUR, {"orders": FOUR["orders"]._replace(write_queue_nums=2)})),
            kept=(starts(0), dies(40_002), starts(50_000)),
            kept_views=Tables(topics=Turns(FOUR, FOUR))),
    # A broker makes the topic of its own name at each start.
    Written("topic_survives_its_broker", broken=(starts(0), dies(40_002), starts(50_000)),
            views=Tables(topics=Turns(FOUR, {})), kept=(starts(0), dies(40_002), starts(50_000)),
            kept_views=Tables(topics=Turns({B: FOUR["orders"]}, {}))),
    Written("topic_survives_its_broker", broken=(starts(0, 1), UPDATED, dies(40_002), starts(50_000, 1)),
            views=Tables(topics=Turns({}, FOUR, {})),
            kept=(starts(0, 1), UPDATED, dies(40_002), starts(50_000)),
            kept_views=Tables(topics=Turns({}, FOUR, FOUR))),
    *(Written("topic_survives_its_broker", broken=(starts(0), *disk, dies(40_002), starts(50_000)),
              views=Tables(topics=Turns({}, FOUR, {})), kept=(starts(0), FULL, UPDATED, dies(40_002), starts(50_000)),
              kept_views=Tables(topics=Turns({}, FOUR, {})))
      for disk in ((FULL, FREE, UPDATED), (FULL_THERE, UPDATED))),
    Written("slave_follows_its_master", broken=(), views=couple(committed={("orders", 0): 4}), kept_views=couple()),
    Written("slave_follows_its_master", broken=(), views=couple(committed={}), kept_views=couple()),
    Written("slave_follows_its_master", broken=(), views=couple(saved_delay_offsets={1: 2}), kept_views=couple(),
            says="has another offset of each delay level"),
    Written("slave_follows_its_master", broken=(), views=couple(saved_delay_offsets={}),
            kept_views=couple(saved_delay_offsets={1: 3, 2: 1})),
    Written("slave_follows_its_master", broken=(), views=couple(topics=EIGHT),
            kept_views=couple(groups_with_offsets={("G", "orders"), ("H", "orders")})),
    Written("slave_follows_its_master", broken=(), views=couple(subscription_groups=["G"]),
            kept_views=couple(subscription_groups=["H", "G"])),
    Written("slave_follows_its_master", broken=(), views=couple(subscription_group_version=(5, 3)),
            kept_views=couple()),
    Written("slave_follows_its_master", broken=(), views=couple(topic_version=(5, 3)), kept_views=couple()),
    Written("slave_follows_its_master", broken=(), views=couple(SLAVE, MASTER, topics=EIGHT),
            kept_views=couple(SLAVE._replace(broker_name="another"), MASTER, topics=EIGHT)),
    Written("slave_follows_its_master", broken=(), views=couple(topics={**FOUR, "more": FOUR["orders"]}),
            kept_views=couple()),
    Written("topic_survives_its_broker", broken=(starts(0), UPDATED, dies(40_002), starts(50_000)),
            views=Tables(topics=Turns({}, FOUR, {})), says="starts without orders"),
    Written("topic_survives_its_broker", broken=(starts(0), UPDATED, dies(40_002), starts(50_000)),
            views=Tables(topics=Turns({}, FOUR, EIGHT)), says="starts with other queues of orders"),
)
