"""Brokers come, go, break off and change their roles, and name servers and clients learn of it."""

from __future__ import annotations

from typing import ClassVar

from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.headers import CreateTopicRequestHeader
from impl.common.request_code import RequestCode
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.hosts.simulation.node import Node
from impl.ports.remoting import Command
from stateful_tests.machines.deeds import DOWN, JUMPS, LATE, PAUSES, SHORT, Time
from stateful_tests.machines.faults import Faulty
from stateful_tests.machines.machine import deed
from stateful_tests.worlds.deeds import BROKERS, GROUP, OPERATOR, OTHER_TOPIC, TOPIC
from stateful_tests.worlds.parts import CONSUMERS
from stateful_tests.worlds.servers import servers
from stateful_tests.worlds.workload import Workload
from stateful_tests.worlds.world import World

NAME_SERVERS = ("nameserver1", "nameserver2")
SLAVES = tuple(f"{machine}-slave" for machine in BROKERS)
NEW_TOPIC = "returns"
SHUTDOWN_MS = 10_000
"""Enough for a broker to unregister at two name servers that do not answer."""
PLACES = (
    "onChannelDestroy: between the read lock and the write lock",
    "scanNotActiveBroker: the timestamp has been read",
    "scanNotActiveBroker: before onChannelDestroy",
    "queryBrokerTopicConfig: the version has been compared",
    "registerBrokerAll: encoding, between the version and the table",
    "createTopic: before nextVersion",
    "updateAndCreateTopic: before registerIncrementBrokerData",
)
"""Where registrations, clean-ups and new topics can overtake each other."""


def build(world: World) -> None:
    """Two name servers, two masters with a slave each, and a client."""
    servers(world, slaves=True)
    world.add_consumer(CONSUMERS[0], PushConsumerConfig(GROUP, {TOPIC: "*"}))


class RouteInfoMachine(Time):
    """See the module."""

    concept = "route_info"
    judged: ClassVar = {
        "live_broker_stays_routed": ("N-1", "N-7", "N-8"),
        "full_registration_installs_all_topics": ("N-2", "N-3", "N-16"), "every_name_server_learns": ("N-18", "N-21"),
        "dead_broker_is_dropped": ("N-1", "N-4"), "route_cache_becomes_true": ("N-2", "N-3", "N-16"),
        "refines_route_info": ("N-8",),
    }
    workload = Workload(
        "route_info", "Brokers come and go.", build, (),
        ("every_name_server_learns", "dead_broker_is_dropped", "route_cache_becomes_true"), ((GROUP, TOPIC),),
    )

    @deed("shuts down, and is started again after {s} s", who=Faulty.living_brokers, s=DOWN)
    def stop_broker(self, who: str, s: int) -> bool:
        """In order: it unregisters itself at all name servers."""
        if not self.world.alive(who):
            return False
        controller, simulation = self.world.brokers[who], self.world.simulation

        def end(node: Node) -> None:
            if node.alive:
                simulation.kill(who)
                simulation.restart_after(who, 0 if self.world.healed else s * 1_000)

        self.world.shut_down(who, controller.shutdown, end)
        return True

    @deed("is killed, and started again after {s} s", who=(*BROKERS, *SLAVES, *NAME_SERVERS), s=DOWN)
    def kill(self, who: str, s: int) -> bool:
        """Kill -9."""
        return self.kill_process(who, s)

    @deed("its slave becomes the master, and it the slave", who=BROKERS)
    def change_roles(self, who: str) -> bool:
        """An operator restarts the slave with brokerId 0, shuts the master down, and restarts it with brokerId 1."""
        slave, brokers = f"{who}-slave", self.world.brokers
        if not (self.works(who) and self.works(slave)) or brokers[who].config.broker_id:
            return False
        self.world.restart_broker_as(slave, broker_id=0)
        self.world.call(who, brokers[who].shutdown)
        self.pass_ms(SHUTDOWN_MS)
        if not self.world.alive(who):  # a stop was under way
            self.world.simulation.start(who)
        self.world.restart_broker_as(who, broker_id=1)
        return True

    @deed("gets the topic {topic} with {queues} queues", who=BROKERS, topic=(NEW_TOPIC, OTHER_TOPIC),
          queues=(4, 2))
    def create_topic(self, who: str, topic: str, queues: int) -> bool:
        """An operator makes a topic, or makes it larger or smaller."""
        if not self.world.alive(who):
            return False
        header = CreateTopicRequestHeader(topic, queues, queues, PERM_READ | PERM_WRITE)
        command = Command(RequestCode.UPDATE_AND_CREATE_TOPIC, header=header)
        client, address = self.world.testers[OPERATOR], self.world.brokers[who].broker_addr
        self.on_a_thread(OPERATOR, lambda: client.invoke_sync(address, command, 5_000))
        return True

    @deed("stands still for {s} s", who=(*NAME_SERVERS, *BROKERS), s=SHORT)
    def stand_still(self, who: str, s: int) -> bool:
        """Garbage collection, or SIGSTOP."""
        return self.pause_process(who, s)

    @deed("loses the connection of {broker} to it, {broker} hears of it after {s} s", who=NAME_SERVERS,
          broker=(*BROKERS, *SLAVES), s=LATE)
    def break_connection(self, who: str, broker: str, s: int) -> bool:
        """The name server sees it first."""
        return self.break_connections(broker, who, s, seen_by_target=True)

    @deed("is cut off from {broker} for {s} s", who=NAME_SERVERS, broker=(*BROKERS, *SLAVES), s=DOWN)
    def cut_off(self, who: str, broker: str, s: int) -> None:
        """Nothing passes in either direction."""
        self.cut(who, broker, s)

    @deed("its clock is set by {s} s", who=NAME_SERVERS, s=JUMPS)
    def set_clock(self, who: str, s: int) -> None:
        """Somebody, or NTP, sets the clock."""
        self.jump(who, s)

    @deed("the next thread at {where} is paused for {s} s", lasts_ms=0, where=PLACES, s=PAUSES)
    def pause_thread(self, where: str, s: int) -> None:
        """The operating system has other threads to run."""
        self.pause_next(where, s)
