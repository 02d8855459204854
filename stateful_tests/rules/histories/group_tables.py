"""What a broker keeps for its groups."""

from __future__ import annotations

from typing import Any

import invariants.rules.group_tables  # noqa: F401  # declares the rules
from impl.decisions.route_queues import QueueData
from impl.decisions.subscription import SQL92
from impl.events import (
    BrokerShutDown,
    BrokerStarted,
    BrokerStopping,
    ConsumerIdsChanged,
    ConsumerRegistered,
    DiskFilled,
    HeartbeatHandled,
    OrderGiven,
    ProcessKilled,
    RegistrationEncoded,
    RetryTopicAnnounced,
    SubscriptionGroupDeleted,
    TopicConfigUpdated,
)
from invariants.refinement.follower import Record
from invariants.rules import deadlines
from invariants.views import Filter, Subscription
from stateful_tests.rules.histories.membership import BROKER
from stateful_tests.rules.written import STORMY, Tables, Turns, TurnsOfEach, Written

B, G, AT = "broker-a", "G", "c1:1"
MASTER, SLAVE = (0, B, BrokerStarted(B, B, 0)), (0, B, BrokerStarted(B, B, 1))
HANDLED = (1, B, HeartbeatHandled(B, G, AT))
FULL, FREE, FULL_THERE = (0, B, DiskFilled(100)), (0, B, DiskFilled(0)), (0, "broker-b", DiskFilled(100))
LATE_HANDLED, LATE_FULL = (1_000_000, *HANDLED[1:]), (1_000_001, *FULL[1:])
COPIED_AND_SEEN = Tables(subscription_groups=Turns([], [G], [G], []), group_config=Turns((4,), (4,), None))
COPIED_IN_VAIN = Tables(subscription_groups=Turns([], [G], []), group_config=Turns((4,), None))
DIES = (2, B, ProcessKilled(1, power_loss=False))
HAS_TOPIC = {f"%RETRY%{G}": QueueData(B, 1, 1, 6, 0)}

DELETED, HANDLED_MS = (2, B, SubscriptionGroupDeleted(B, G)), deadlines.handled(STORMY)
COPIES, COPIED = ((ms, "slave", BrokerStarted("slave", B, 1)) for ms in (0, 3))
SHUT, KEY = (1, B, BrokerShutDown(B)), ("orders", G)
ENDS = (2, "slave", ProcessKilled(1, power_loss=False))


def registers(ms: int, at: str = B) -> Record:
    """A broker registers, and its tables are looked at."""
    return ms, at, RegistrationEncoded(at, (5, 1), frozenset(), increment=False)


def compiled(later: dict[tuple[str, str], int]) -> Tables:
    """The expression of the group has version 7 when the broker is shut down; later -- what it has when it starts."""
    return Tables(compiled=Turns({KEY: 7}, later))


def copied_from(*masters: tuple[int, ...] | None, name: str = B) -> Tables:
    """A slave has (4,) of a group, and starts without it; what a master has of it, whenever somebody looks."""
    none: list[list[str]] = [[]]
    return Tables(
        subscription_groups=TurnsOfEach(("slave", ([], [G], [])), (B, none), ("broker-b", none)),
        group_config=TurnsOfEach(("slave", ((4,), None, None)), (B, masters), ("broker-b", [None])),
        brokers=[BROKER._replace(broker_name=name)])


class Looks(Turns):
    """Each time that somebody asks for groups: those of the slave, and what both have of one from then on."""

    def __call__(self, at: str) -> Any:
        """The groups."""
        groups, *self._configs = super().__call__()
        return groups if at == "slave" else []

    def config(self, at: str, _: str) -> Any:
        """What it has of the group."""
        return self._configs[at != "slave"]


LOOKS = Looks(([], None, None), ([G], (4,), None), ([], (4,), None), ([], None, (4,)))
LOOKED_AT = Tables(subscription_groups=LOOKS, group_config=LOOKS.config, brokers=[BROKER])


def filters(version: int, *found: Filter, kind: str = SQL92) -> Tables:
    """A subscription with an expression, and what is compiled of it."""
    return Tables(subscriptions={"orders": Subscription("a > 1", version, kind)},
                  filters=dict(zip(("orders",), found, strict=False)))


def heartbeat(version: int) -> Record:
    """A broker has put the connection of a member."""
    return 0, B, ConsumerRegistered(B, G, "c1", AT, True, True, frozenset({("orders", "a > 1", version)}))


def retries(read: int, write: int) -> Tables:
    """The retry topic of a group that is to have three queues."""
    return Tables(topics={f"%RETRY%{G}": QueueData(B, read, write, 6, 0)}, retry_queue_nums=3)


MADE = (3, B, TopicConfigUpdated(B, f"%RETRY%{G}"))
ANNOUNCED = (500_001, B, RetryTopicAnnounced(B, G, 0))
_NOTIFIED = (1, B, ConsumerIdsChanged(B, G, AT, delivered=True))

_PASSIVE = "CONSUME_PASSIVELY", "CLUSTERING", "CONSUME_FROM_LAST_OFFSET"
_DETACHED = (0, B, heartbeat(1)[2]._replace(attached=False))

HISTORIES = (
    *(Written("broker_knows_how_a_group_consumes", (heartbeat(1),),
              views=Tables(consumed_as=wrong, consumes_as=_PASSIVE), kept=(heartbeat(1), _DETACHED),
              kept_views=Tables(consumed_as=_PASSIVE, consumes_as=_PASSIVE), says=wrong[place])
      for place, wrong in enumerate((
                  ("CONSUME_ACTIVELY", *_PASSIVE[1:]), (_PASSIVE[0], "BROADCASTING", _PASSIVE[2]),
                  (*_PASSIVE[:2], "CONSUME_FROM_FIRST_OFFSET")))),
    Written("broker_knows_how_a_group_consumes", (heartbeat(1),), (_DETACHED,),
            views=Tables(consumed_as=("CONSUME_ACTIVELY", *_PASSIVE[1:]), consumes_as=_PASSIVE)),
    Written("group_survives_its_broker", broken=(MASTER, HANDLED, (2, B, ProcessKilled(1, False)), MASTER),
            kept=(MASTER, HANDLED, (2, B, ProcessKilled(1, True)), MASTER)),
    Written("group_survives_its_broker", broken=(MASTER, HANDLED, MASTER),
            kept=(MASTER, HANDLED, MASTER), kept_views=Tables(subscription_groups=[G])),
    Written("group_survives_its_broker", broken=(MASTER, HANDLED, MASTER), kept=(SLAVE, HANDLED, MASTER)),
    Written("group_survives_its_broker", broken=(MASTER, HANDLED, MASTER), kept=(MASTER, HANDLED, SLAVE, MASTER)),
    Written("group_survives_its_broker", broken=(MASTER, HANDLED, MASTER),
            kept=(MASTER, HANDLED, (2, "broker-b", BrokerStarted("broker-b", "broker-b", 0)))),
    *(Written("group_survives_its_broker", broken=(MASTER, *disk, LATE_HANDLED, MASTER),
              kept=(MASTER, FULL, LATE_HANDLED, MASTER)) for disk in ((FULL, FREE), (FULL_THERE,))),
    Written("group_survives_its_broker", broken=(MASTER, FULL, HANDLED, FREE, MASTER, LATE_HANDLED, MASTER),
            kept=(MASTER, FULL, HANDLED, FREE, MASTER)),
    Written("group_survives_its_broker", broken=(MASTER, LATE_HANDLED, LATE_FULL, MASTER),
            kept=(MASTER, FULL, HANDLED, FREE, LATE_HANDLED, MASTER)),
    # What a slave has is looked at when it registers or stops, and then when it has started again, as whatever it does.
    *(Written("group_survives_its_broker", (SLAVE, looks, DIES, starts), (SLAVE, looks, DIES, starts),
              Tables(subscription_groups=Turns([], [G], now), group_config=Turns((4,), config)),
              Tables(subscription_groups=[G], group_config=(4,)), says=f"starts with {says} the subscription group")
      for looks in (registers(1), (1, B, BrokerStopping(B))) for starts in (SLAVE, MASTER)
      for now, config, says in (([], None, "nothing of"), ([G], (1,), "another configuration of"))),
    *(Written("group_survives_its_broker", (SLAVE, registers(1), SLAVE), kept,
              COPIED_IN_VAIN)
      for kept in ((registers(1), SLAVE), (MASTER, registers(1), SLAVE), (SLAVE, registers(1, "broker-b"), SLAVE),
                   (SLAVE, registers(1), (2, B, ProcessKilled(1, power_loss=True)), SLAVE),
                   (SLAVE, registers(1), (2, "broker-b", BrokerStarted("broker-b", "broker-b", 1))))),
    Written("group_survives_its_broker", (SLAVE, registers(1), SLAVE), (SLAVE, registers(1), registers(2), SLAVE),
            COPIED_IN_VAIN),
    Written("group_survives_its_broker", (SLAVE, registers(1), registers(2), SLAVE),
            (SLAVE, registers(1), registers(2), SLAVE),
            Tables(subscription_groups=[G], group_config=Turns((4,), (5,), (4,))),
            Tables(subscription_groups=[G], group_config=Turns((4,), (5,), (5,)))),
    # What it has before it has started again is what it has read of its file.
    Written("group_survives_its_broker", (SLAVE, registers(1), DIES, registers(3), SLAVE),
            views=Tables(subscription_groups=Turns([], [G], []), group_config=Turns((4,), None))),
    # What its master has by now, or had when it started, the slave may have copied after it was looked at.
    *(Written("group_survives_its_broker", (COPIES, registers(1, "slave"), ENDS, COPIED),
              (COPIES, registers(1, "slave"), ENDS, COPIED), broken, copied_from(None))
      for broken in (copied_from((4,)), copied_from(None, name="broker-b"))),
    Written("group_survives_its_broker",
            (COPIES, registers(1, "slave"), (2, "broker-b", BrokerStarted("broker-b", "broker-b", 0)), ENDS, COPIED),
            (COPIES, registers(1, "slave"), (2, *MASTER[1:]), ENDS, COPIED), copied_from((4,)),
            copied_from(None, (4,))),
    Written("group_survives_its_broker", (COPIES, registers(1, "slave"), (2, *SLAVE[1:]), ENDS, COPIED),
            (COPIES, registers(1, "slave"), (2, *MASTER[1:]), ENDS, COPIED), LOOKED_AT, LOOKED_AT),
    Written("group_survives_its_broker", (MASTER, HANDLED, MASTER), (SLAVE, HANDLED, MASTER), Tables(brokers=[BROKER])),
    # The file is written when a group comes to the slave, and not when it is looked at again.
    Written("group_survives_its_broker", (SLAVE, FULL, FREE, registers(1_000_000), registers(2_000_000), SLAVE),
            (SLAVE, FULL, registers(1), FREE, registers(1_000_000), SLAVE), COPIED_AND_SEEN),
    *(Written("filters_survive_their_broker", (SHUT, DIES, starts), (SHUT, DIES, starts), compiled({}),
              compiled({KEY: 8}))
      for starts in (MASTER, SLAVE)),
    Written("filters_survive_their_broker", (SHUT, DIES, MASTER), (SHUT, DIES, MASTER), compiled({KEY: 6}),
            compiled({KEY: 7})),
    *(Written("filters_survive_their_broker", (SHUT, DIES, MASTER), kept, compiled({}))
      for kept in ((DIES, MASTER), (SHUT, (2, B, ProcessKilled(1, power_loss=True)), MASTER),
                   (FULL, SHUT, DIES, MASTER),
                   (SHUT, DIES, (0, "broker-b", BrokerStarted("broker-b", "broker-b", 0))))),
    Written("filters_survive_their_broker", (FULL, FREE, (1_000_000, *SHUT[1:]), MASTER), (SHUT, FULL, MASTER, MASTER),
            compiled({}), compiled({KEY: 7})),
    Written("heartbeat_makes_the_retry_topic", broken=(MASTER, HANDLED), kept=(SLAVE, HANDLED)),
    Written("heartbeat_makes_the_retry_topic", broken=(MASTER, HANDLED), kept=(MASTER, HANDLED),
            kept_views=Tables(topics=HAS_TOPIC)),
    *(Written("retry_topic_is_as_configured", (MASTER, ANNOUNCED), (MASTER, ANNOUNCED), retries(*nums),
              retries(3, 3), says=f"with {nums[0]} queues to read and {nums[1]} to write, and G is to have 3")
      for nums in ((8, 8), (3, 8), (8, 3))),
    Written("retry_topic_is_as_configured", (MASTER, ANNOUNCED), (SLAVE, ANNOUNCED), retries(8, 8)),
    Written("retry_topic_is_as_configured", (MASTER, ANNOUNCED), (MASTER, ANNOUNCED), retries(8, 8),
            Tables(topics={}, retry_queue_nums=3)),
    Written("retry_topic_is_as_configured", (MASTER, ANNOUNCED), (MASTER, ANNOUNCED), retries(8, 8),
            Tables(topics=HAS_TOPIC, retry_queue_nums=None)),
    Written("retry_topic_is_as_configured", (MASTER, DELETED, (HANDLED_MS + 3, *MADE[1:]), ANNOUNCED),
            (MASTER, DELETED, (HANDLED_MS + 2, *MADE[1:]), ANNOUNCED), retries(8, 8)),
    *(Written("retry_topic_is_as_configured",
              (MASTER, (1, *change[1:]), (500_000, *MADE[1:]), ANNOUNCED), (MASTER, change, MADE, ANNOUNCED),
              retries(8, 8))
      for change in ((2, "cli", OrderGiven(B, "group", G, None)), DELETED,
                     (2, "cli", OrderGiven(B, "topic", f"%RETRY%{G}", (8, 8, 6, 0))))),
    Written("group_has_its_retry_topic", broken=(), views=Tables(brokers=[BROKER], groups=[G], topics={}),
            kept=(MASTER,), kept_views=Tables(brokers=[BROKER], groups=[G], topics=HAS_TOPIC)),
    Written("group_has_its_retry_topic", broken=(), views=Tables(brokers=[BROKER], groups=[G], topics={}),
            kept=(SLAVE,), kept_views=Tables(brokers=[BROKER._replace(broker_id=1)], groups=[G], topics={})),
    Written("filter_is_as_new_as_its_subscription", broken=(heartbeat(300), HANDLED), views=filters(300),
            kept=(HANDLED,), kept_views=filters(300, Filter(300, dead=False))),
    Written("filter_is_as_new_as_its_subscription", broken=(heartbeat(300), HANDLED),
            views=filters(300, Filter(299, dead=False)),
            kept=(HANDLED,), kept_views=filters(300, kind="TAG")),
    Written("filter_is_as_new_as_its_subscription", broken=(heartbeat(300), _NOTIFIED),
            views=filters(300, Filter(300, dead=True)),
            kept=(heartbeat(300),)),
    Written("filter_is_as_new_as_its_subscription", broken=(heartbeat(400), heartbeat(300), HANDLED),
            views=filters(300, Filter(400, dead=True)), kept=(heartbeat(300),)),
    Written("filter_is_as_new_as_its_subscription", broken=(heartbeat(300), HANDLED), views=filters(300), causes=()),
    Written("filter_is_as_new_as_its_subscription", broken=(heartbeat(400), heartbeat(300), HANDLED),
            views=filters(300, Filter(400, dead=True)), causes=("L4",)),
)
