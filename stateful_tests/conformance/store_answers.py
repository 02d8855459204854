"""The store on an image of the real broker: the same answers, and the same files after recovery and a clean stop."""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.common.byte_buffer import ByteBuffer
from impl.common.inet_socket_address import InetSocketAddress
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_DELAY_TIME_LEVEL
from impl.common.message_decoder import decode
from impl.common.util_all import ip_to_text, offset2_file_name
from impl.decisions.flags import COMPRESSED_FLAG, has_flag
from impl.decisions.java_arithmetic import LONG_MAX
from impl.decisions.java_errors import JavaError
from impl.decisions.pull_answer import CQ_STORE_UNIT_SIZE, GetMessageStatus, pull_code
from impl.decisions.retry_level import delay_time_level
from impl.decisions.transaction_check import TRANSACTION_TIMEOUT_MS
from impl.ports.disk import Disk
from impl.store.consume_queue import units_of
from impl.store.default_message_store import DefaultMessageStore
from stateful_tests.conformance.adapters.comparison import difference
from stateful_tests.conformance.replay import FileResult
from stateful_tests.conformance.store_deeds import Deeds, Deliveries, checked, is_made_by_broker
from stateful_tests.conformance.store_images import DELAY_OFFSETS, ROOT, Host, Image, simulated

_PULLED_AT_ONCE = 32
_NO_TOPIC = 17  # ResponseCode.TOPIC_NOT_EXIST: the broker did not ask its store
_QUERY_NOT_FOUND = 22  # ResponseCode.QUERY_NOT_FOUND
_CHECKPOINT_NAMES = ("physicMsgTimestamp", "logicsMsgTimestamp", "indexMsgTimestamp")
_FIRST_TIME_MS = 1_700_000_000_000
STALE_UNIT = (
    "recovery cut a queue and left the bytes behind its end; the broker answered before its stop, and the next start "
    "believes the unit there (V4), as the real store does"
)


class Compared(NamedTuple):
    """One thing that the real broker said, and what the store says. excuse -- why they may differ."""

    what: str
    recorded: Any
    got: Any
    excuse: str = ""


class ImageClock:
    """A clock that never shows the same time twice, unless it is set to one that was recorded."""

    def __init__(self) -> None:
        """Begin."""
        self._time_ms = _FIRST_TIME_MS
        self.fixed_ms: int | None = None

    def now_ms(self) -> int:
        """The time that it is set to, else one millisecond more than before."""
        if self.fixed_ms is not None:
            return self.fixed_ms
        self._time_ms += 1
        return self._time_ms


def compare_image(image: Image, host: Host = simulated) -> FileResult:
    """Open an image and compare each answer; if the broker did so, too, stop and compare the files.

    host -- makes the disks. Raises BadInputError for an image that cannot be read.
    """
    header = {"what": image.answers.get("about", ""), "java": "DefaultMessageStore", "version": "4.9.3"}
    result = FileResult(image.path, header, compared=True, label=image.name)
    begin = time.perf_counter()
    try:
        for one in _all_compared(image, host):
            _count(result, one)
    except JavaError as error:
        sentence = f"expected an answer, got {error.java_class}: {error.message}"
        result.count(result.rows + 1, {"a": "", "r": None}, sentence)
    except (LookupError, TypeError, ValueError) as error:
        sentence = f"not understood ({type(error).__name__}: {error})"
        result.not_compared(result.rows + 1, {"a": "", "r": None}, sentence)
    result.seconds = time.perf_counter() - begin
    return result


def _count(result: FileResult, one: Compared) -> None:
    sentence = difference(one.recorded, one.got, one.what)
    result.count(result.rows + 1, {"a": one.what, "r": one.recorded}, sentence, one.excuse or None)


def _all_compared(image: Image, host: Host) -> Iterator[Compared]:
    clock, disk = ImageClock(), host(image, {**image.contents, **image.delay_offsets})
    store = DefaultMessageStore(disk, image.config(), clock.now_ms)
    yield Compared("load", recorded=True, got=store.load())
    yield Compared("start", recorded=True, got=store.start())
    if image.has_answers:
        yield from _own_answers(image, host, store)
    recovered = image.recovered()
    if recovered is not None:
        yield from _deliver_what_followed(store, recovered, clock)
        if not image.has_answers:
            yield from answers(store, recovered.answers)
        store.shutdown()
        yield from files(disk, recovered.answers)
    if image.source() is None:
        yield from _made_again(image, host)


def _own_answers(image: Image, host: Host, store: DefaultMessageStore) -> Iterator[Compared]:
    """What the broker said while it ran, compared with a store that has been started on what it left.

    It may have gone on between the answers and its end. Then the store is asked that is started on what a crash at the
    time of the answers would have left.
    """
    log_end = int(image.answers["runtime"]["commitLogMaxOffset"])
    if log_end < store.get_max_phy_offset():
        store = DefaultMessageStore(host(image, image.when_asked(log_end)), image.config(), ImageClock().now_ms)
        yield Compared("load of what there was", recorded=True, got=store.load())
        yield Compared("start on what there was", recorded=True, got=store.start())
    yield from answers(store, image.answers, _queues_with_a_stale_unit(image))


def _queues_with_a_stale_unit(image: Image) -> frozenset[tuple[str, int]]:
    """The queues behind whose end a unit of an earlier life stands in the file, which the next start believes.

    The broker that answered was started on another image and had cut the queue there.
    """
    found = []
    for queue in image.answers["queues"] if image.source() is not None else ():
        topic, queue_id, end = queue["topic"], queue["queueId"], queue["max"]
        file_bytes = image.config().mapped_file_size_consume_queue
        start, position = divmod(end * CQ_STORE_UNIT_SIZE, file_bytes)
        name = f"consumequeue/{topic}/{queue_id}/{offset2_file_name(start * file_bytes)}"
        unit = next(units_of(image.contents.get(name, b"")[position:]), None)
        if unit is not None and unit.is_valid():
            found.append((topic, queue_id))
    return frozenset(found)


# Answers --------------------------------------------------------------------------------------------------------------


def answers(
    store: DefaultMessageStore, recorded: Mapping[str, Any], stale: frozenset[tuple[str, int]] = frozenset(),
) -> Iterator[Compared]:
    """All that the broker was asked about an image; stale -- queues that a start finds longer than they were."""
    runtime = recorded["runtime"]
    yield Compared("log begins at", runtime["commitLogMinOffset"], str(store.get_min_phy_offset()))
    yield Compared("log ends at", runtime["commitLogMaxOffset"], str(store.get_max_phy_offset()))
    yield Compared("dispatch behind", runtime["dispatchBehindBytes"], str(store.dispatch_behind_bytes()))
    for queue in recorded["queues"]:
        excuse = STALE_UNIT if (queue["topic"], queue["queueId"]) in stale else ""
        yield from (one._replace(excuse=excuse) for one in _queue_answers(store, queue))
    for query in recorded["index"]:
        yield _query_answer(store, query)


def _queue_answers(store: DefaultMessageStore, queue: Mapping[str, Any]) -> Iterator[Compared]:
    topic, queue_id = queue["topic"], queue["queueId"]
    name = f"{topic}-{queue_id}"
    yield Compared(f"{name} begins at", queue["min"], store.get_min_offset_in_queue(topic, queue_id))
    yield Compared(f"{name} ends at", queue["max"], store.get_max_offset_in_queue(topic, queue_id))
    yield Compared(f"{name} earliest", queue["earliest_store_time"], store.get_earliest_message_time(topic, queue_id))
    for row in queue["search"]:
        offset = store.get_offset_in_queue_by_time(topic, queue_id, row["timestamp"])
        yield Compared(f"{name} at time {row['timestamp']}", row["offset"], offset)
    for row in queue["cq"]:
        unit = store.find_consume_queue(topic, queue_id).unit(row["queueOffset"])
        recorded = [row["physicOffset"], row["physicSize"], row["tagsCode"]]
        yield Compared(f"{name} unit {row['queueOffset']}", recorded, None if unit is None else list(unit))
    if _NO_TOPIC not in [error[0] for error in queue.get("pull_errors", ())]:
        yield from _pulled(store, queue, name)


def _pulled(store: DefaultMessageStore, queue: Mapping[str, Any], name: str) -> Iterator[Compared]:
    """All messages of a queue, pulled as a consumer does."""
    found: list[dict[str, Any]] = []
    undecodable: list[str] = []
    errors: list[Any] = []
    offset = queue["min"]
    while offset < queue["max"]:
        result = store.get_message(queue["topic"], queue["queueId"], offset, _PULLED_AT_ONCE)
        if result is None or result.next_begin_offset <= offset:
            break
        if result.status is not GetMessageStatus.FOUND:
            errors.append([pull_code(result.status, offset).value, result.status.value, {
                "nextBeginOffset": str(result.next_begin_offset), "maxOffset": str(result.max_offset),
                "minOffset": str(result.min_offset)}])
        for record in result.records:
            message = decode(ByteBuffer(record), decompress_body=False)
            if message is None:
                undecodable.append(record.hex())
            else:
                found.append(message_fields(message))
        offset = result.next_begin_offset
    recorded_errors = [[code, status, {key: fields[key] for key in ("nextBeginOffset", "maxOffset", "minOffset")}]
                       for code, status, fields in queue.get("pull_errors", ())]
    yield Compared(f"{name} pulls without a message", recorded_errors, errors)
    recorded_bytes = [one["pulled_bytes_hex"] for one in queue.get("undecodable", ())]
    yield Compared(f"{name} undecodable", recorded_bytes, undecodable)
    yield Compared(f"{name} messages", len(queue["messages"]), len(found))
    for row, fields in zip(queue["messages"], found, strict=False):
        yield Compared(f"{name} message {row['queueOffset']}", row, fields)


def message_fields(message: MessageExt) -> dict[str, Any]:
    """A message as the recordings write it."""
    body = message.body or b""
    fields = {
        "topic": message.topic, "queueId": message.queue_id, "queueOffset": message.queue_offset,
        "physicalOffset": message.commit_log_offset, "storeSize": message.store_size, "flag": message.flag,
        "sysFlag": message.sys_flag, "bornTimestamp": message.born_timestamp, "bornHost": _host(message.born_host),
        "storeTimestamp": message.store_timestamp, "storeHost": _host(message.store_host),
        "reconsumeTimes": message.reconsume_times,
        "preparedTransactionOffset": message.prepared_transaction_offset, "bodyCRC": message.body_crc,
        "msgId": message.msg_id, "properties": dict(message.properties or {}), "body_hex": body.hex(),
    }
    if has_flag(message.sys_flag, COMPRESSED_FLAG):
        whole = zlib.decompress(body)
        fields["decompressed_len"] = len(whole)
        fields["decompressed_sha256"] = hashlib.sha256(whole).hexdigest()
    return fields


def _host(address: InetSocketAddress) -> str:
    return f"{ip_to_text(address.address)}:{address.port}"


def _query_answer(store: DefaultMessageStore, query: Mapping[str, Any]) -> Compared:
    result = store.query_message(query["topic"], query["key"], query["maxNum"], 0, LONG_MAX)
    messages = [decode(ByteBuffer(record), decompress_body=False) for record in result.records]
    recorded = [query["code"], query["physicalOffsets"], query["indexLastUpdatePhyoffset"]]
    offsets = [None if message is None else message.commit_log_offset for message in messages]
    got = [0 if offsets else _QUERY_NOT_FOUND, offsets, result.index_last_update_phyoffset]
    return Compared(f"query {query['topic']}#{query['key']}, {query['maxNum']}", recorded, got)


# Files ----------------------------------------------------------------------------------------------------------------


def _deliver_what_followed(store: DefaultMessageStore, recovered: Image, clock: ImageClock) -> Iterator[Compared]:
    """Let the delayed messages become due that became due while the broker ran after its recovery, and no others.

    The broker's log says when its threads put which. Its thorough flush came when the checkpoint that it left says so.
    """
    flushed_ms = recovered.answers["checkpoint"]["physicMsgTimestamp"]
    deliveries = Deliveries(store.schedule_message_service)
    for offset, message in _log(recovered):
        clock.fixed_ms = message.store_timestamp
        if offset >= store.get_max_phy_offset():
            deliveries.deliver(delay_time_level(message.get_property(PROPERTY_DELAY_TIME_LEVEL)))
            store.reput_message_service.do_reput()
            yield Compared(f"delivery at {offset}", recorded=True, got=store.get_max_phy_offset() > offset)
            if message.store_timestamp == flushed_ms:
                store.commit_log.flush_real_time_service.flush(0)
    deliveries.finish()
    clock.fixed_ms = None


def _made_again(image: Image, host: Host) -> Iterator[Compared]:
    """What a broker puts by itself, put once more on an empty store; see store_deeds. The log has to be one file."""
    logs = [data for name, data in image.contents.items() if name.startswith("commitlog/") and any(data)]
    records = dict(records_of_log(0, logs[0])) if image.has_answers and len(logs) == 1 else {}
    if not is_made_by_broker(records):
        return
    deeds = Deeds(records, lambda clock: DefaultMessageStore(host(image, {}), image.config(), clock))
    store = deeds.store
    for offset, message in records.items():
        if store.get_max_phy_offset() <= offset:
            deeds.do(message)
        made = store.look_message_by_offset(offset) if store.get_max_phy_offset() > offset else None
        yield Compared(f"record at {offset} made again", message_fields(message), made and message_fields(made))
    deeds.deliveries.finish()
    ends = ConsumerOffsetManager(store.get_min_offset_in_queue)
    ends.decode(image.consumer_offsets)
    timeout_ms = int(image.answers["conf"].get("transactionTimeOut", TRANSACTION_TIMEOUT_MS))
    yield Compared("log made again ends at", len(logs[0].rstrip(b"\0")), store.get_max_phy_offset())
    yield Compared("delivery made again comes to", image.delay_offsets[DELAY_OFFSETS].decode(),
                   store.schedule_message_service.encode())
    yield Compared("check made again comes to", checked(ends), deeds.check(timeout_ms))


def _log(image: Image) -> Iterator[tuple[int, MessageExt]]:
    """The records of an image up to where its log ended, each with its offset."""
    end = int(image.answers["runtime"]["commitLogMaxOffset"])
    for name, data in sorted(image.contents.items()):
        if name.startswith("commitlog/"):
            yield from (one for one in records_of_log(int(name.rpartition("/")[2]), data) if one[0] < end)


def records_of_log(start: int, data: bytes) -> Iterator[tuple[int, MessageExt]]:
    """The records of a file of the log that begins at an offset."""
    buffer = ByteBuffer(data)
    while buffer.has_remaining() and data[buffer.position:buffer.position + 4] != bytes(4):
        offset = start + buffer.position
        message = decode(buffer, decompress_body=False)
        if message is None or not message.topic:
            return
        yield offset, message


def files(disk: Disk, recorded: Mapping[str, Any]) -> Iterator[Compared]:
    """The files after a clean stop, by size and SHA-256. Index files are named by the time: they are told by order.

    Of the configuration there is what the store writes itself.
    """
    wanted = {name: one for name, one in recorded["files"].items() if _is_compared(name)}
    found = {name: disk.open(f"{ROOT}/{name}") for name in _paths(disk, "")}
    yield Compared("names of files", _without_times(wanted), _without_times(found))
    for (name, row), file in zip(sorted(wanted.items()), [file for _, file in sorted(found.items())], strict=False):
        data = file.read(0, file.length())
        yield Compared(f"file {name}", [row["size"], row["sha256"]], [len(data), hashlib.sha256(data).hexdigest()])


def _paths(disk: Disk, folder: str) -> Iterator[str]:
    for name in disk.list(f"{ROOT}/{folder}".rstrip("/")):
        path = f"{folder}{name}"
        if disk.length(f"{ROOT}/{path}") is None:
            yield from _paths(disk, f"{path}/")
        elif _is_compared(path):
            yield path


def _is_compared(path: str) -> bool:
    return not path.startswith("config/") or path == DELAY_OFFSETS


def _without_times(names: Mapping[str, Any]) -> list[str]:
    return [name if not name.startswith("index/") else "index/" for name in sorted(names)]
