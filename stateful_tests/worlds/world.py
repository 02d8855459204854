"""A small world for stories and tests: name servers, brokers and consumers under simulation, and what their tables say.

Machines are called as the caller likes; "nameserver1" is the first name server unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar

from impl.broker.broker_config import BrokerConfig
from impl.broker.controller import BrokerController
from impl.broker.queue_offsets import QueueRange
from impl.client.mq_client_instance import ClientConfig, MQClientManager
from impl.client.push_consumer import DefaultMQPushConsumerImpl, PushConsumerConfig
from impl.common.headers import CreateTopicRequestHeader
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.decisions.java_text import utf16_key
from impl.decisions.message_queue import MessageQueue
from impl.hosts.simulation.channel import Channel
from impl.hosts.simulation.faults import chaos
from impl.hosts.simulation.host import Boot, Simulation
from impl.hosts.simulation.kernel import Monitor
from impl.hosts.simulation.node import Node
from impl.hosts.simulation.profile import CALM, FaultProfile
from impl.hosts.simulation.tape import Tape
from impl.namesrv.server import NamesrvController
from impl.ports.remoting import Command, RemotingClient
from stateful_tests.worlds.script import PAUSING, Pause, Script

E = TypeVar("E")
STEP_MS = 10


class World:
    """Use it as a context manager.

    tape -- a Script unless another is given. namesrvs, brokers -- machine to the controller that it runs now.
    consumers -- machine to the consumers that it runs now, in the order of their start. testers -- machine to client.
    rolled_out -- group to what its members subscribe (topic to expression) that start from now on, besides what they
    were added with. stored -- what each queue has of the topics that brokers are added with. healed -- all faults have
    ended. calm -- nothing has failed, and no fault can.
    """

    def __init__(
        self, tape: Tape | None = None, profile: FaultProfile | None = None, monitor: Monitor | None = None,
        *, show_every: int = 1, max_segments: int = 10_000_000,
    ) -> None:
        """Empty. Without a tape it is a script's world: threads pause where the story says so.

        monitor, show_every, max_segments -- see `impl.hosts.simulation.kernel.Kernel`.
        """
        self.script = Script()
        if profile is None:
            profile = PAUSING if tape is None else CALM
        self.simulation = Simulation(self.script if tape is None else tape, profile, monitor, max_segments)
        self.simulation.kernel.show_every = show_every
        self.namesrvs: dict[str, NamesrvController] = {}
        self.brokers: dict[str, BrokerController] = {}
        self.consumers: dict[str, list[DefaultMQPushConsumerImpl]] = {}
        self.testers: dict[str, RemotingClient] = {}
        self.rolled_out: dict[str, dict[str, str]] = {}
        self.stored = QueueRange()
        self.healed = False
        self.calm = profile == CALM
        self._applications: dict[str, Boot] = {}
        self._leaving: dict[str, Node] = {}

    def __enter__(self) -> Self:
        """Nothing to prepare."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.simulation.kernel.close()

    # Machines ---------------------------------------------------------------------------------------------------------

    @property
    def namesrv_addrs(self) -> tuple[str, ...]:
        """Where brokers register and clients ask."""
        return tuple(f"{name}:9876" for name in self.namesrvs)

    def add_namesrv(self, name: str = "nameserver1") -> None:
        """Add a name server."""

        async def boot(node: Node) -> None:
            self.namesrvs[name] = NamesrvController(node)
            self.namesrvs[name].start()

        self.simulation.add(name, boot)
        self.run(0)

    def add_broker(
        self, machine: str, broker_name: str, *, topics: Sequence[TopicConfig] = (), **settings: Any,
    ) -> None:
        """Add a broker; topics -- that it has from its first start on; settings -- fields of BrokerConfig."""
        config = BrokerConfig(broker_name, self.namesrv_addrs, **settings)
        self.simulation.add(machine, self._broker(machine, config, topics))

    def restart_broker_as(self, machine: str, *, power_loss: bool = True, **settings: Any) -> None:
        """Let the machine of a broker lose its power and start at once with other settings, its files unharmed.

        power_loss -- False: its process is killed.
        """
        config = replace(self.brokers[machine].config, **settings)
        self.simulation.boots[machine] = self._broker(machine, config, ())
        self.simulation.kernel.kill(self.simulation.nodes[machine], power_loss=power_loss)
        self.simulation.start(machine)
        self.run(0)

    def retire(self, machine: str) -> None:
        """Let a machine lose its power for good: whatever starts it again finds nothing to run."""
        self.simulation.boots[machine] = _idle
        if self.alive(machine):
            self.simulation.kernel.kill(self.simulation.nodes[machine], power_loss=True)
        self.brokers.pop(machine, None)

    def keep_messages_from(self, offset: int) -> None:
        """Let all brokers, also those that start later, have deleted what is older in their queues."""
        stored = tuple(pair for pair in self.stored.stored if pair[1] >= offset)
        self.stored = self.stored._replace(min_offset=offset, stored=stored)
        for controller in self.brokers.values():
            for key in controller.queue_offsets.ranges.key_set():
                controller.queue_offsets.ranges.put(key, self.stored)

    def _broker(self, machine: str, config: BrokerConfig, topics: Sequence[TopicConfig]) -> Boot:
        async def boot(node: Node) -> None:
            controller = BrokerController(node, config)
            for topic in topics:
                if controller.topic_config_manager.select_topic_config(topic.topic_name) is None:
                    controller.topic_config_manager.update_topic_config(replace(topic))
                for queue_id in range(topic.read_queue_nums):
                    controller.queue_offsets.ranges.put((topic.topic_name, queue_id), self.stored)
            self.brokers[machine] = controller
            await controller.start()

        return boot

    def add_consumer(
        self, machine: str, *configs: PushConsumerConfig, client_ip: str = "", idle: bool = False, **settings: Any,
    ) -> None:
        """Add a process with these consumers, one after another; settings -- fields of ClientConfig.

        idle -- the process runs none of them until `join`.
        """
        client_config = ClientConfig(self.namesrv_addrs, client_ip or machine, **settings)

        async def boot(node: Node) -> None:
            manager = MQClientManager(node)
            self.consumers[machine] = []
            for config in configs:
                rolled_out = self.rolled_out.get(config.consumer_group, {})
                config_now = replace(config, subscription={**config.subscription, **rolled_out})
                consumer = DefaultMQPushConsumerImpl(node, manager, client_config, config_now)
                self.consumers[machine].append(consumer)
                await consumer.start()

        self._applications[machine] = boot
        self.consumers[machine] = []
        self.simulation.add(machine, _idle if idle else boot)
        self.run(0)

    def add_tester(self, machine: str) -> None:
        """Add a machine that only sends requests."""

        async def boot(node: Node) -> None:
            self.testers[machine] = node.remoting_client("Tester")

        self.simulation.add(machine, boot)
        self.run(0)

    def join(self, machine: str) -> None:
        """Let an idle process start its consumers; so it does from now on whenever it is started.

        One that has not ended yet since it was to leave ends first, and the next one starts them.
        """
        self.simulation.boots[machine] = self._applications[machine]
        node = self.simulation.nodes[machine]
        if node.alive and self._leaving.get(machine) is not node:
            node.spawn("main", self._applications[machine](node))

    def leave(self, machine: str) -> None:
        """Let a process shut its consumers down in order and end; it is idle whenever it is started again."""
        self.simulation.boots[machine] = _idle
        node, consumers = self.simulation.nodes[machine], self.consumers[machine]
        self._leaving[machine] = node

        async def leaving() -> None:
            for consumer in consumers:
                await consumer.shutdown()
            self.simulation.kernel.at(self.now_ms, self._end, node)

        if node.alive:
            node.spawn("shutdown hook", leaving())

    def _end(self, node: Node) -> None:
        """The process has come to its end, and an idle one takes its place."""
        if node.alive:
            self.simulation.kill(node.name)
            self.consumers[node.name] = []
            self.simulation.start(node.name)

    def running(self) -> Iterator[tuple[str, DefaultMQPushConsumerImpl]]:
        """The consumers of the processes that live now, with their machines."""
        for machine, consumers in self.consumers.items():
            node = self.simulation.nodes[machine]
            if node.alive:
                yield from ((machine, consumer) for consumer in consumers if consumer.node is node)

    def joined(self, machine: str) -> bool:
        """Whether the machine is one that runs consumers."""
        return self.simulation.boots[machine] is self._applications.get(machine)

    def alive(self, machine: str) -> bool:
        """Whether the machine's process lives."""
        return self.simulation.nodes[machine].alive

    def restart(self, machine: str) -> None:
        """Kill the process of a machine (kill -9) and start it again at once."""
        self.simulation.kill(machine)
        self.simulation.start(machine)
        self.run(0)

    # Time and faults --------------------------------------------------------------------------------------------------

    @property
    def now_ms(self) -> int:
        """True time."""
        return self.simulation.kernel.now_ms

    def run(self, ms: int) -> None:
        """Let everything happen for so long."""
        self.simulation.run(self.now_ms + ms)

    def run_until(self, holds: Callable[[], bool], within_ms: int) -> int:
        """Run in small steps until it holds; how long that took. Fails when it takes longer."""
        start_ms = self.now_ms
        while not holds():
            assert self.now_ms - start_ms < within_ms, f"still not after {within_ms} ms"
            self.run(STEP_MS)
        return self.now_ms - start_ms

    def pause(self, where: str, ms: int) -> Pause:
        """Pause the next thread that comes to this place."""
        return self.script.pause(where, ms)

    def call(self, caller: str, job: Callable[[], Any]) -> None:
        """Run a coroutine function on a thread of a machine."""
        self.simulation.nodes[caller].spawn("caller", job())

    def connections(self, source: str, target: str) -> list[Channel]:
        """The client ends of the open connections from one machine to another."""
        return [
            end for end in self.simulation.network.open_ends
            if end.active and end.process.name == source and end.peer.process.name == target
            and end.remote_address.startswith(f"{target}:")
        ]

    def heal(self) -> None:
        """End all faults; what is promised within a deadline must come true from now on."""
        self.healed = True
        self.simulation.heal()
        self.run(0)

    def strike(self) -> None:
        """Let chaos strike from now on, as the profile says."""
        self.simulation.kernel.world.spawn("chaos", chaos(self.simulation))

    def create_topic(self, broker: str, topic: str, queues: int = 4) -> None:
        """Let an operator create a topic at a broker, and wait for the answer."""
        header = CreateTopicRequestHeader(topic, queues, queues, PERM_READ | PERM_WRITE)
        request = Command(RequestCode.UPDATE_AND_CREATE_TOPIC, header=header)
        assert self.ask(self.brokers[broker].broker_addr, request, timeout_ms=20_000).code == ResponseCode.SUCCESS

    def ask(self, addr: str, request: Command, *, timeout_ms: int = 3_000, tester: str = "tester") -> Command:
        """Send a request from a machine that is no part of the story; the same machine has always one connection."""
        if tester not in self.testers:
            self.add_tester(tester)
        answers: list[Command] = []

        async def call() -> None:
            answers.append(await self.testers[tester].invoke_sync(addr, request, timeout_ms))

        self.call(tester, call)
        self.run_until(lambda: bool(answers), timeout_ms + STEP_MS)
        return answers[0]

    # What the tables say ----------------------------------------------------------------------------------------------

    def events(self, kind: type[E], since_ms: int = 0) -> list[tuple[int, E]]:
        """What was reported, with its time."""
        return [(ms, event) for ms, _, event in self.simulation.kernel.records if isinstance(event, kind)
                and ms >= since_ms]

    def routed(self, namesrv: str, topic: str) -> list[str]:
        """The broker names in the route of a topic at a name server; empty: there is no route."""
        table = self.namesrvs[namesrv].route_info
        names = [data.broker_name for data in table.topic_queue_table.get(topic) or ()]
        return sorted(names) if any(map(table.broker_addr_table.contains_key, names)) else []

    def address_of(self, namesrv: str, broker_name: str, broker_id: int = 0) -> str | None:
        """Which address has this id of this name."""
        data = self.namesrvs[namesrv].route_info.broker_addr_table.get(broker_name)
        return None if data is None else data.broker_addrs.get(broker_id)

    def members(self, broker: str, group: str) -> list[str]:
        """The id list that a broker would answer, sorted; one entry for each connection."""
        info = self.brokers[broker].consumer_manager.get_consumer_group_info(group)
        return [] if info is None else sorted(str(client_id) for client_id in info.get_all_client_id())

    def subscribed(self, broker: str, group: str) -> dict[str, str]:
        """The subscription table of a group at a broker: topic to expression, retry topics left out."""
        info = self.brokers[broker].consumer_manager.get_consumer_group_info(group)
        table = () if info is None else info.subscription_table.entries()
        return {topic: sub.sub_string for topic, sub in table if not topic.startswith("%RETRY%")}

    def owners(self, group: str, topic: str) -> dict[MessageQueue, list[str]]:
        """Every queue of the topic at a living broker, and the machines of the consumers that hold it now."""
        owners: dict[MessageQueue, list[str]] = {mq: [] for mq in self.queues(topic)}
        for machine, consumer in self.running():
            if consumer.group == group:
                for mq, pq in consumer.rebalance_impl.process_queue_table.entries():
                    if mq.topic == topic and not pq.dropped:
                        owners.setdefault(mq, []).append(machine)
        return owners

    def queues(self, topic: str) -> list[MessageQueue]:
        """The queues of a topic that may be read at the brokers that live, sorted."""
        found: dict[str, int] = {}
        for machine, controller in self.brokers.items():
            config = controller.topic_config_manager.select_topic_config(topic)
            if config is not None and config.perm & PERM_READ and self.simulation.nodes[machine].alive:
                name = controller.config.broker_name
                found[name] = max(config.read_queue_nums, found.get(name, 0))
        return [MessageQueue(topic, name, i) for name in sorted(found, key=utf16_key) for i in range(found[name])]

    def one_owner_each(self, group: str, topic: str) -> bool:
        """Whether every queue of the topic has exactly one owner."""
        return all(len(machines) == 1 for machines in self.owners(group, topic).values())

    def least_offset(self, mq: MessageQueue) -> int:
        """Where a queue begins at the master that lives; 0 without one."""
        masters = [broker for machine, broker in self.brokers.items() if self.alive(machine)
                   and (broker.config.broker_name, broker.config.broker_id) == (mq.broker_name, 0)]
        return masters[0].queue_offsets.get_min_offset_in_queue(mq.topic, mq.queue_id) if masters else 0

    def two_owners(self, group: str, topic: str) -> list[MessageQueue]:
        """The queues that more than one consumer holds now."""
        return sorted(mq for mq, machines in self.owners(group, topic).items() if len(machines) > 1)

    def no_owner(self, group: str, topic: str) -> list[MessageQueue]:
        """The queues that nobody holds now."""
        return sorted(mq for mq, machines in self.owners(group, topic).items() if not machines)


async def _idle(_: Node) -> None:
    """Run nothing."""
