"""Random puts, given to the real store and to ours: equal answers, and equal files in the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import jpype

from impl.common.inet_socket_address import InetSocketAddress
from impl.common.message_batch import BatchedMessage, encode_messages
from impl.decisions.java_errors import JavaError
from impl.hash_map import HashMap
from impl.hosts.files.directory import Directory
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_ext_broker_inner import MessageExtBatch, MessageExtBrokerInner
from impl.store.message_store_config import FlushDiskType, MessageStoreConfig
from stateful_tests.conformance.adapters.comparison import difference
from stateful_tests.conformance.java.stores.real import files_of, real_store, state_of_ours, state_of_real

CONFIG = MessageStoreConfig(
    mapped_file_size_commit_log=8_192, configured_file_size_consume_queue=200, max_hash_slot_num=7,
    max_index_num=4_000, max_message_size=4_096,
)
_GREATEST_PUTS = 80
_STORE_HOST = bytes([127, 0, 0, 1]), 10_911
_V6 = bytes(range(1, 17))
_LONG_DELAYS = ["6", "18", "99", "0", "-1"]  # nothing is due, and put by the real store, while a program runs


@dataclass(frozen=True, slots=True)
class Put:
    """One message, or, with `batch`, several. Hosts are (address, port)."""

    topic: str
    queue_id: int
    body: bytes
    properties: Mapping[str, str]
    born_host: tuple[bytes, int]
    store_host: tuple[bytes, int]
    born_timestamp: int
    flag: int
    sys_flag: int
    batch: bool


def drawn(random: Random) -> Put:
    """A put, mostly a legal one."""
    batch = random.randrange(4) == 0
    body = encode_messages([
        BatchedMessage(random.randrange(9), random.randbytes(random.choice([0, 5, 300])), _properties(random))
        for _ in range(random.randrange(1, 7))
    ]) if batch else random.randbytes(random.choice([0, 10, 100, 1_000, random.randrange(4_096)]))
    properties = _properties(random)
    if batch:
        properties.pop("DELAY", None)
    topics = ["T", "Other", "%RETRY%g", "X" * 127, "y" * 128]
    return Put(
        random.choices(topics, [8, 4, 4, 1, 1])[0], random.randrange(3), body, properties,
        (random.choice([bytes([10, 0, 0, 1]), _V6]), random.randrange(65_536)),
        (_V6, 10_911) if random.randrange(10) == 0 else _STORE_HOST, random.randrange(10**12),
        random.randrange(-5, 100), 0 if batch else random.choice([0, 0, 0, 0, 1, 2, 4, 8, 12]), batch)


def _properties(random: Random) -> dict[str, str]:
    choices = {
        "KEYS": ["a", "a b", "k1 k2  k3", " ", "x" * 50, "é ü"], "TAGS": ["t", "Aa", "BB", "é", "t || u"],
        "DELAY": _LONG_DELAYS, "WAIT": ["true", "false", "TRUE", "no"],
        "UNIQ_KEY": [random.randbytes(16).hex().upper()], "own": ["v", "x" * random.randrange(1, 400)],
    }
    return {name: random.choice(values) for name, values in choices.items() if random.randrange(3) == 0}


def program(folder: Path, seed: int) -> tuple[int, str | None]:
    """Put a program to both stores: how many puts there were, and what differs."""
    random = Random(seed)  # noqa: S311  # a program must be the same again
    flush = random.choice([FlushDiskType.ASYNC_FLUSH, FlushDiskType.SYNC_FLUSH])
    config = replace(CONFIG, flush_disk_type=flush)
    for name in ("real", "ours"):
        (folder / name).mkdir()
    real, time_ms = real_store(folder / "real", config), [0]
    ours = DefaultMessageStore(Directory(folder / "ours"), config, lambda: time_ms[0])
    if not (bool(real.load()) and ours.load() and ours.start()):
        return 0, "expected both to start, got one that does not"
    real.start()
    puts = random.randrange(5, _GREATEST_PUTS)
    for number in range(puts):
        put = drawn(random)
        wanted, stored_ms = put_to_real(real, put)
        time_ms[0] = stored_ms or time_ms[0]
        found = difference(wanted, put_to_ours(ours, put), f"put {number}")
        if found is not None:
            return number + 1, found
        if random.randrange(2):
            ours.reput_message_service.do_reput()
        ours.allocate_mapped_file_service.mmap_operation()
    while int(real.dispatchBehindBytes()) > 0:
        time.sleep(0.01)
    ours.reput_message_service.do_reput()
    found = difference(state_of_real(real), state_of_ours(ours), "state")
    real.shutdown()
    ours.shutdown()
    return puts, found or difference(files_of(folder / "real"), files_of(folder / "ours"), "files")


def put_to_real(store: Any, put: Put) -> tuple[Any, int]:
    """What the real store answers, and the time that it stored the message at, 0 for none."""
    kind = "common.message.MessageExtBatch" if put.batch else "store.MessageExtBrokerInner"
    message: Any = jpype.JClass(f"org.apache.rocketmq.{kind}")()
    message.setTopic(put.topic)
    message.setBody(_bytes(put.body))
    message.setQueueId(put.queue_id)
    message.setFlag(put.flag)
    message.setSysFlag(put.sys_flag)
    message.setBornTimestamp(put.born_timestamp)
    message.setBornHost(_host(put.born_host))
    message.setStoreHost(_host(put.store_host))
    properties: Any = jpype.JClass("java.util.HashMap")()
    for name, value in put.properties.items():
        properties.put(name, value)
    jpype.JClass("org.apache.rocketmq.common.message.MessageAccessor").setProperties(message, properties)
    try:
        if put.batch:
            result = store.putMessages(message)
        else:
            decoder = jpype.JClass("org.apache.rocketmq.common.message.MessageDecoder")
            message.setPropertiesString(decoder.messageProperties2String(properties))
            result = store.putMessage(message)
    except jpype.JException as error:
        return str(error.getMessage()), 0
    appended = result.getAppendMessageResult()
    if appended is None:
        return [str(result.getPutMessageStatus()), None], 0
    return [str(result.getPutMessageStatus()), [
        str(appended.getStatus()), int(appended.getWroteOffset()), int(appended.getWroteBytes()),
        int(appended.getLogicsOffset()), int(appended.getMsgNum()), str(appended.getMsgId()),
    ]], int(appended.getStoreTimestamp())


def _bytes(data: bytes) -> Any:
    return jpype.JArray(jpype.JByte)(data)


def _host(host: tuple[bytes, int]) -> Any:
    address = jpype.JClass("java.net.InetAddress").getByAddress(_bytes(host[0]))
    return jpype.JClass("java.net.InetSocketAddress")(address, host[1])


def put_to_ours(store: DefaultMessageStore, put: Put) -> Any:
    """What ours answers."""
    properties: HashMap[str, str] = HashMap()
    for name, value in put.properties.items():
        properties.put(name, value)
    kind: Callable[..., Any] = MessageExtBatch if put.batch else MessageExtBrokerInner
    message = kind(
        put.topic, put.body, InetSocketAddress(*put.born_host), InetSocketAddress(*put.store_host),
        queue_id=put.queue_id, flag=put.flag, sys_flag=put.sys_flag, born_timestamp=put.born_timestamp,
        properties=properties)
    try:
        if isinstance(message, MessageExtBatch):
            future = store.async_put_messages(message)
        else:
            message.write_properties()
            future = store.async_put_message(message)
    except JavaError as error:
        return error.message
    store.commit_log.group_commit_service.run_once()
    result = future.result()
    if result is None:
        return None
    appended = result.append_message_result
    return [result.status.name, None if appended is None else [
        appended.status.name, appended.wrote_offset, appended.wrote_bytes, appended.logics_offset, appended.msg_num,
        appended.get_msg_id(),
    ]]
