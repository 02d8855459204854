"""Short programs that are known to show hazards of RocketMQ 4.9.3 as shipped; `rocketproof verify` plays them."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from impl.variants.subjects import SHIPPED
from invariants.verdict import Verdict
from stateful_tests.machines.judge import broken, unplayed
from stateful_tests.machines.machine import replay_of
from stateful_tests.machines.program import parsed
from stateful_tests.machines.search import played


class Known(NamedTuple):
    """A hazard, the machine whose program shows it, the property that it breaks, and the program."""

    hazard: str
    concept: str
    property: str
    program: str


KNOWN: tuple[Known, ...] = (
    Known("D1", "consumer_group", "one_owner_per_queue",
          "pause_thread(where='findConsumerIdList: the list is here, and not applied yet', s=1); "
          "start(who='consumer2')"),
    Known("D2", "running_group", "one_owner_while_nobody_joins",
          "restart_broker(who='broker-b', s=1); pass_time(s=20)"),
    Known("D4", "running_group", "one_owner_while_nobody_joins",
          "break_connection(who='consumer1', broker='broker-b', s=0)"),
    Known("B-7", "registration", "refines_consumer_group",
          "pause_thread(where='registerConsumer: before updateChannel', s=10); pass_time(s=30)"),
    Known("B-7", "registration", "answered_heartbeat_means_listed",
          "pause_thread(where='registerConsumer: before updateChannel', s=10); pass_time(s=30)"),
    Known("B-1", "subscription", "heartbeats_do_not_remove_others_topics",
          "subscribe(who='consumer1', topic='invoices', expression='*'); start(who='consumer2')"),
    Known("B-3", "subscription", "pull_is_filtered_by_own_expression",
          "subscribe(who='consumer1', topic='orders', expression='a'); start(who='consumer2')"),
    Known("L4", "subscription", "pull_is_filtered_by_own_expression",
          "set_clock(who='consumer2', s=60); start(who='consumer2'); "
          "subscribe(who='consumer1', topic='orders', expression='a'); pass_time(s=30)"),
    Known("D8", "order_lock", "one_live_believer",
          "restart_broker(who='broker-b', s=1); start(who='consumer2'); cache_messages(who='consumer1')"),
    Known("B-22a", "order_lock", "one_lock_holder",
          "stand_still(who='consumer1', s=20); start(who='consumer2'); "
          "pause_thread(where='isLocked: the owner has been read', s=1); pass_time(s=20)"),
    Known("N-1", "route_info", "live_broker_stays_routed", "change_roles(who='broker-a')"),
    Known("N-2", "route_info", "full_registration_installs_all_topics",
          "kill(who='nameserver2', s=1); create_topic(who='broker-a', topic='returns', queues=4); pass_time(s=30)"),
    Known("N-28", "route_info", "existing_topics_are_not_denied",
          "pass_time(s=131); kill(who='nameserver1', s=1); kill(who='nameserver2', s=1); pass_time(s=30)"),
    Known("A-9", "subscription", "members_have_even_shares",
          "subscribe(who='consumer1', topic='invoices', expression='*'); start(who='consumer2'); "
          "subscribe(who='consumer2', topic='invoices', expression='*'); start(who='consumer3'); "
          "subscribe(who='consumer3', topic='invoices', expression='*'); pass_time(s=120); pass_time(s=131)"),
    Known("N-7", "route_info", "live_broker_stays_routed",
          "pause_thread(where='onChannelDestroy: between the read lock and the write lock', s=40); "
          "break_connection(who='nameserver1', broker='broker-a', s=0); pass_time(s=30); pass_time(s=20)"),
    Known("N-8", "route_info", "live_broker_stays_routed",
          "pass_time(s=30); set_clock(who='nameserver1', s=121); "
          "pause_thread(where='scanNotActiveBroker: the timestamp has been read', s=40); pass_time(s=30); "
          "pass_time(s=20)"),
)


def chosen(names: Collection[str]) -> tuple[Known, ...]:
    """One for each property and machine, the shortest, of these properties; of all if no name is given."""
    shortest: dict[tuple[str, str], Known] = {}
    for one in sorted(KNOWN, key=lambda known: len(parsed(known.program))):
        if not names or one.property in names:
            shortest.setdefault((one.concept, one.property), one)
    return tuple(shortest.values())


def shown(names: Collection[str], out: Path | None = None) -> Iterator[Verdict]:
    """A verdict on RocketMQ as shipped for each known program of these properties; parameters as of `judge.judged`."""
    for one in chosen(names):
        started, program = time.process_time(), parsed(one.program)
        machine = played(one.concept, SHIPPED, program)
        cost = {"segments": machine.world.simulation.kernel.segments,
                "cpu_seconds": round(time.process_time() - started, 1)}
        found = machine.trial.found.get(one.property)
        if found is not None:
            yield broken(found, out, cost)
        else:
            yield unplayed(one.concept, one.property, machine.trial, replay_of(one.concept, SHIPPED, program), cost)
