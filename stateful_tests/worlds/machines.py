"""The machines of a world: how they are built, start, stop, join a group and leave it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from impl.broker.broker_config import BrokerConfig
from impl.broker.controller import BrokerController
from impl.client.client_config import ClientConfig
from impl.client.default_mq_producer import DefaultMQProducer
from impl.client.default_mq_producer_impl import DefaultMQProducerImpl
from impl.client.lite_pull_consumer import DefaultLitePullConsumerImpl
from impl.client.mq_client_manager import MQClientManager
from impl.client.producer_config import ProducerConfig
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.push_consumer_config import PushConsumerConfig
from impl.client.service_state import RUNNING
from impl.common.heartbeat_data import BROADCASTING, CLUSTERING
from impl.common.message_selector import MessageSelector
from impl.common.topic_config import TopicConfig
from impl.decisions.allocation import AllocateMessageQueueStrategy
from impl.decisions.java_errors import JavaError
from impl.decisions.names import MASTER_ID, get_retry_topic
from impl.decisions.subscription import SUB_ALL
from impl.events import SHUTDOWN_HOOK
from impl.hosts.simulation.host import Boot
from impl.hosts.simulation.node import Node
from impl.namesrv.server import NamesrvController
from impl.ports.remoting import RemotingClient
from impl.store.message_store_config import BrokerRole, MessageStoreConfig
from stateful_tests.worlds.contents import in_namespace
from stateful_tests.worlds.course import Course
from stateful_tests.worlds.listeners import BATCH_MAX_SIZE, Listener, most_retries
from stateful_tests.worlds.notes import Notes
from stateful_tests.worlds.past import Past, disk_after
from stateful_tests.worlds.producers import Producer, Sending
from stateful_tests.worlds.pullers import Puller, Pulling
from stateful_tests.worlds.requesters import ASK, ASK_LATER, Replier, Requester
from stateful_tests.worlds.transactions import Decided

MENDED_MS = 10_000
"""After so long an operator starts a broker again that did not come up."""
REPLYING = ProducerConfig("R")
"""The producers of those who reply."""
PULL_BATCH_SIZE = 2 * BATCH_MAX_SIZE
"""How many messages a pull wants, if its workload says nothing else."""

STORE = MessageStoreConfig(
    mapped_file_size_commit_log=64 * 1024, configured_file_size_consume_queue=6_000, max_message_size=16 * 1024,
    max_hash_slot_num=64, max_index_num=400,
)
"""A store with files so small that a run has several of each kind."""


class Machines(Course):
    """See the module.

    namesrvs, brokers -- machine to the controller that it runs now. consumers -- machine to the consumers that it runs
    now, in the order of their start. testers -- machine to client. rolled_out -- group to what its members subscribe
    (topic to expression) that start from now on, besides what they were added with. strategy -- of all consumers,
    instead of the one that they were added with. store_config -- how the brokers keep messages that are added from now
    on. notes -- what its clients observe. listener -- how the applications of consumers work. fates -- what may become
    of a message whose listener does not succeed.
    producers, pullers -- machine to the application that sends there, or polls. transactions -- what became of those,
    by the id of their messages. selected -- the tags that a selector by properties selects. roles -- of masters that
    have another one than store_config says, by broker name. of_slaves -- fields of MessageStoreConfig that slaves have
    otherwise. replying -- machine to the producer of those who reply there. pull_batch_size -- how many messages each
    pull wants of consumers that are added from now on.
    """

    def __init__(self, *course: Any, **settings: Any) -> None:
        """Begin with none; see Course."""
        super().__init__(*course, **settings)
        self.namesrvs: dict[str, NamesrvController] = {}
        self.brokers: dict[str, BrokerController] = {}
        self.consumers: dict[str, list[DefaultMQPushConsumerImpl]] = {}
        self.testers: dict[str, RemotingClient] = {}
        self.rolled_out: dict[str, dict[str, str]] = {}
        self.strategy: AllocateMessageQueueStrategy | None = None
        self.store_config = STORE
        self.notes = Notes(self.simulation.kernel)
        self.listener: type[Listener] = Listener
        self.fates: tuple[str, ...] = ()
        self.selected: dict[MessageSelector, str] = {}
        self.roles: dict[str, BrokerRole] = {}
        self.of_slaves: dict[str, Any] = {}
        self.pull_batch_size = PULL_BATCH_SIZE
        self.replying: dict[str, DefaultMQProducer] = {}
        self.producers: dict[str, Producer] = {}
        self.pullers: dict[str, Puller] = {}
        self.transactions: Decided = {}
        self._applications: dict[str, Boot] = {}
        self._consuming: dict[str, Callable[[], Awaitable[None]]] = {}
        self._between: dict[str, Node] = {}
        self._shut_down: dict[str, Node] = {}

    @property
    def namesrv_addrs(self) -> tuple[str, ...]:
        """Where brokers register and clients ask."""
        return tuple(f"{name}:9876" for name in self.namesrvs)

    def is_forced(self, machine: str, path: str, offset: int, length: int) -> bool:
        """Whether a loss of power cannot cost the machine these bytes of a file."""
        return self.simulation.disks[machine].is_forced(path, offset, length)

    def add_namesrv(self, name: str = "nameserver1", *, order_message_enable: bool = False) -> None:
        """Add a name server; order_message_enable -- NamesrvConfig.orderMessageEnable."""

        async def boot(node: Node) -> None:
            self.namesrvs[name] = NamesrvController(node, order_message_enable=order_message_enable)
            self.namesrvs[name].start()

        self.simulation.add(name, boot)
        self.run(0)

    def add_broker(
        self, machine: str, broker_name: str, *, topics: Sequence[TopicConfig] = (), past: Past | None = None,
        **settings: Any,
    ) -> None:
        """Add a broker.

        topics -- that it has from its first start on. past -- what it has stored long ago. settings -- fields of
        BrokerConfig.
        """
        config = BrokerConfig(broker_name, self.namesrv_addrs, **settings)
        files = None if past is None else disk_after(past, self.store_config)
        self.simulation.add(machine, self._broker(machine, config, topics), files=files)

    def set_broker_up_as(self, machine: str, **settings: Any) -> None:
        """Let the broker of a machine have other settings from its next start on."""
        config = replace(self.brokers[machine].config, **settings)
        self.simulation.boots[machine] = self._broker(machine, config, ())

    def restart_broker_as(self, machine: str, *, power_loss: bool = True, **settings: Any) -> None:
        """Let the machine of a broker lose its power and start at once with other settings, its files unharmed.

        power_loss -- False: its process is killed.
        """
        self.set_broker_up_as(machine, **settings)
        self.simulation.kernel.kill(self.simulation.nodes[machine], power_loss=power_loss)
        self.simulation.start(machine)
        self.run(0)

    def retire(self, machine: str) -> None:
        """Let a machine lose its power for good: whatever starts it again finds nothing to run."""
        self.simulation.boots[machine] = _idle
        if self.alive(machine):
            self.simulation.kernel.kill(self.simulation.nodes[machine], power_loss=True)
        self.brokers.pop(machine, None)

    def _broker(self, machine: str, config: BrokerConfig, topics: Sequence[TopicConfig]) -> Boot:
        async def boot(node: Node) -> None:
            try:
                controller = BrokerController(node, config, self._store_config_of(config))
                if controller.initialized:
                    _have_topics(controller, topics)
                    self.brokers[machine] = controller
                    await controller.start()
            except JavaError:
                self.simulation.kernel.at(self.now_ms, self._mend, node)
            else:
                if not controller.initialized:
                    self.simulation.kernel.at(self.now_ms, self._mend, node)

        return boot

    def _store_config_of(self, config: BrokerConfig) -> MessageStoreConfig:
        """How a broker keeps messages: a slave has the role of one."""
        if config.broker_id == MASTER_ID:
            role = self.roles.get(config.broker_name, self.store_config.broker_role)
            return replace(self.store_config, broker_role=role)
        return replace(
            self.store_config, broker_role=BrokerRole.SLAVE, broker_id=config.broker_id, **self.of_slaves)

    def _mend(self, node: Node) -> None:
        """A broker did not come up: its process ends, an operator deletes files without content and starts it again."""
        if node.alive:
            config = self.store_config
            self.simulation.disks[node.name].remove_empty_files(
                config.store_path_commit_log, config.store_path_consume_queue)
            self.simulation.kill(node.name)
            self.simulation.restart_after(node.name, MENDED_MS)

    def add_producer(self, machine: str, sending: Sending) -> None:
        """Add a process that sends messages."""

        async def boot(node: Node) -> None:
            made = Requester if {ASK, ASK_LATER} & {*sending.kinds} else Producer
            self.producers[machine] = made(node, self.namesrv_addrs, sending, self.notes, self.transactions)
            await self.producers[machine].run()

        self.simulation.add(machine, boot)

    @property
    def senders(self) -> dict[str, DefaultMQProducerImpl]:
        """Machine to the producer of the application that sends there, or replies."""
        replying = {f"{machine} replies": one.impl for machine, one in self.replying.items()}
        return {**{machine: one.producer.impl for machine, one in self.producers.items()}, **replying}

    @property
    def pollers(self) -> dict[str, DefaultLitePullConsumerImpl]:
        """Machine to the lite pull consumer of the application that polls there."""
        return {machine: one.consumer.impl for machine, one in self.pullers.items()}

    def add_consumer(
        self, machine: str, *configs: PushConsumerConfig, client_ip: str = "", idle: bool = False,
        replies: bool = False, sends: Sending | None = None, **settings: Any,
    ) -> None:
        """Add a process with these consumers, one after another; settings -- fields of ClientConfig.

        idle -- the process runs none of them until `join`. replies -- they reply to requests. sends -- what it sends.
        """
        client_config = ClientConfig(self.namesrv_addrs, client_ip or machine, **settings)
        pull_batch_size = self.pull_batch_size

        async def consume(node: Node, manager: MQClientManager) -> None:
            self.consumers[machine] = []
            for config in configs:
                rolled_out = self.rolled_out.get(config.consumer_group, {})
                config_now = replace(
                    config, subscription={**config.subscription, **rolled_out}, pull_batch_size=pull_batch_size,
                    consume_message_batch_max_size=BATCH_MAX_SIZE, strategy=self.strategy or config.strategy,
                )
                consumer = DefaultMQPushConsumerImpl(node, manager, client_config, config_now)
                config_now = _meant(config_now, client_config.namespace or "")
                listener = self.listener(node, self.notes, config_now, self.fates)
                listener.namespace = client_config.namespace or ""
                consumer.message_listener = listener
                if replies:
                    self.replying[machine] = DefaultMQProducer(node, manager, client_config, REPLYING)
                    await self.replying[machine].start()
                    consumer.message_listener = Replier(node, self.notes, config_now, self.replying[machine])
                self.consumers[machine].append(consumer)
                for topic, tags in _topics(config_now, self.selected):
                    self.notes.consumes(
                        machine, config_now.consumer_group, topic, tags, orderly=config.orderly or None,
                        max_attempts=most_retries(config), broadcasting=config.message_model == BROADCASTING)
                await consumer.start()

        async def boot(node: Node) -> None:
            manager = MQClientManager(node)
            self._consuming[machine] = partial(consume, node, manager)
            await consume(node, manager)
            if sends is not None:
                self.producers[machine] = Producer(
                    node, self.namesrv_addrs, sends, self.notes, self.transactions, (manager, client_config))
                await self.producers[machine].run()

        self._applications[machine] = boot
        self.consumers[machine] = []
        self.simulation.add(machine, _idle if idle else boot)
        self.run(0)

    def add_puller(self, machine: str, pulling: Pulling, *, idle: bool = False) -> None:
        """Add a process that polls messages; idle -- not until `join`."""

        async def boot(node: Node) -> None:
            self.pullers[machine] = Puller(node, self.namesrv_addrs, pulling, self.notes)
            for topic in filter(None, (pulling.full_topic, pulling.more)):
                self.notes.consumes(machine, pulling.group, topic, SUB_ALL)
            await self.pullers[machine].run()

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
        if node.alive and self._shut_down.get(machine) is not node:
            node.spawn("main", self._applications[machine](node))

    def consume_anew(self, machine: str, later_ms: int) -> None:
        """Let the consumers of a process shut down, and so much later others start there, which are like them."""
        self._between[machine] = node = self.simulation.nodes[machine]
        consumers = self.consumers[machine]

        async def anew() -> None:
            for consumer in consumers:
                await consumer.shutdown()
            await node.sleep(later_ms)
            await self._consuming[machine]()
            del self._between[machine]

        node.spawn("main", anew())

    def may_consume_anew(self, machine: str) -> bool:
        """Whether all consumers of a process run, and no others are to take their places already."""
        running = [consumer.service_state for one, consumer in self.running() if one == machine]
        is_between = self._between.get(machine) is self.simulation.nodes[machine]
        return bool(running) and {*running} == {RUNNING} and not is_between

    def leave(self, machine: str) -> None:
        """Let a process shut its consumers down in order and end; it is idle whenever it is started again."""
        self.simulation.boots[machine] = _idle
        node, consumers, puller = self.simulation.nodes[machine], self.consumers[machine], self.pullers.get(machine)

        async def leaving() -> None:
            for consumer in consumers:
                await consumer.shutdown()
            if puller is not None and puller.node is node:
                await puller.shutdown()

        if node.alive:
            self.shut_down(machine, leaving, self._end)

    def shut_down(self, machine: str, hook: Callable[[], Awaitable[None]], end: Callable[[Node], None]) -> None:
        """Let a process shut down in order: `end` is told of it when the hook has ended.

        A process does so once, whoever asks it again. A hook that dies of an exception has ended, too:
        ApplicationShutdownHooks#runHooks, and the JVM halts.
        """
        node = self.simulation.nodes[machine]
        if self._shut_down.get(machine) is node:
            return
        self._shut_down[machine] = node

        async def run_hooks() -> None:
            try:
                await hook()
            except JavaError:
                self.simulation.kernel.at(self.now_ms, end, node)
                raise
            self.simulation.kernel.at(self.now_ms, end, node)

        node.spawn(SHUTDOWN_HOOK, run_hooks())

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


def _topics(config: PushConsumerConfig, selected: Mapping[MessageSelector, str]) -> Iterator[tuple[str, str]]:
    """What a member subscribes, with the tags: also the retry topic of its group; selected -- see Machines."""
    for topic, selector in config.subscription.items():
        yield topic, selector if isinstance(selector, str) else selected.get(selector, SUB_ALL)
    if config.message_model == CLUSTERING:
        yield get_retry_topic(config.consumer_group), SUB_ALL


def _meant(config: PushConsumerConfig, namespace: str) -> PushConsumerConfig:
    """What an application means by its names: those of its namespace."""
    return replace(config, consumer_group=in_namespace(namespace, config.consumer_group), subscription={
        in_namespace(namespace, topic): selector for topic, selector in config.subscription.items()})


def _have_topics(controller: BrokerController, topics: Sequence[TopicConfig]) -> None:
    """Let a broker have topics that are not in its file."""
    for topic in topics:
        if controller.topic_config_manager.select_topic_config(topic.topic_name) is None:
            controller.topic_config_manager.update_topic_config(replace(topic))


async def _idle(_: Node) -> None:
    """Run nothing."""
