"""What a broker has stored before a world begins: put by its own store on another disk, which its machine gets."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from impl.common.inet_socket_address import InetSocketAddress
from impl.common.message_const import PROPERTY_RETRY_TOPIC
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX
from impl.hosts.simulation.disk import MachineDisk
from impl.hosts.simulation.host import Simulation
from impl.hosts.simulation.node import Node
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.message_store_config import MessageStoreConfig
from stateful_tests.worlds.script import Script

MESSAGE_MS = 100
"""So long after a message of a queue the next one of it is stored."""
_HOST = InetSocketAddress(bytes((10, 0, 0, 1)), 10911)
_BODY = b"stored long ago" * 4
_LONG_BODY, _LONGEST_BODY, _LONGEST_EVERY = _BODY * 153, _BODY * 1_150, 16
"""9,180 bytes, of which one pull may read 7 of a disk, and 28 of memory; 69,000 bytes, more than it may read of a disk,
if there is anything else; and how many of the first ones stand between two of those."""


class Past(NamedTuple):
    """Messages that were stored.

    queues -- topic, how many queues it has, and which part of the messages each of them got: 1 all, 10 a tenth. times
    -- in their order how long before the world began (ms) so many messages were stored, MESSAGE_MS after one another.
    long -- topics whose messages are long, and some so long that a pull finds one of them and nothing else.
    """

    queues: tuple[tuple[str, int, int], ...]
    times: tuple[tuple[int, int], ...]
    long: tuple[str, ...] = ()


@cache
def disk_after(past: Past, config: MessageStoreConfig) -> MachineDisk:
    """The disk of a machine on which a store has put these messages and was shut down in order."""
    first_ms = past.times[0][0]

    async def live(node: Node) -> None:
        store = DefaultMessageStore(node.disk, config, node.now_ms)
        store.load()
        store.start()
        for before_ms, count in past.times:
            await node.sleep(first_ms - before_ms - simulation.kernel.now_ms)
            for number in range(count):
                for topic, queues, one_in in past.queues:
                    if number % one_in == 0:
                        _put_in_each(store, past, topic, queues, _body(number) if topic in past.long else _BODY)
                await node.sleep(MESSAGE_MS)
        store.shutdown()

    with Simulation(Script()) as simulation:
        simulation.add("past", live, clock_offset_ms=-first_ms)
        simulation.run(first_ms)
        return simulation.disks["past"]


def _body(number: int) -> bytes:
    """That of a long message."""
    return _LONGEST_BODY if number % _LONGEST_EVERY == _LONGEST_EVERY // 2 else _LONG_BODY


def _put_in_each(store: DefaultMessageStore, past: Past, topic: str, queues: int, body: bytes) -> None:
    """Put a message in each queue of a topic, and dispatch it; what is to be tried again is of the first topic."""
    for queue_id in range(queues):
        message = MessageExtBrokerInner(topic, body, _HOST, _HOST, queue_id, born_timestamp=store.now_ms())
        if topic.startswith(RETRY_GROUP_TOPIC_PREFIX):  # it has been sent back once
            message.reconsume_times = 1
            message.put_property(PROPERTY_RETRY_TOPIC, past.queues[0][0])
            message.write_properties()
        store.async_put_message(message)
        store.allocate_mapped_file_service.mmap_operation()
        store.reput_message_service.do_reput()
