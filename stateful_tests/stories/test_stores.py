"""Stories of stores: what a disk that fails, a full one, and a crash make of messages (V of store.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from impl.broker.tables import TOPICS_PATH
from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.headers import CreateTopicRequestHeader, TopicRequestHeader
from impl.common.request_code import RequestCode
from impl.common.topic_config import TopicConfig
from impl.decisions.flags import PERM_READ, PERM_WRITE
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RETRY_GROUP_TOPIC_PREFIX, RMQ_SYS_SCHEDULE_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC
from impl.decisions.start_offset import ConsumeFromWhere
from impl.events import (
    DelayLevelEnded,
    HalfMessageEnded,
    LogExpired,
    LogFlushed,
    MessageAppended,
    MessagesFound,
    MessagesGiven,
    MessagesPolled,
    SendAnswered,
    StoreRefused,
)
from impl.hosts.simulation.disk import FORCE_MS
from impl.hosts.simulation.storage import NOTHING, UNFORCED_MS, Storage
from impl.hosts.simulation.tape import ReplayTape
from impl.ports.remoting import Command
from impl.store.message_store_config import FlushDiskType
from stateful_tests.stories.scenes import FIRST, LAST, SMALL, fill, stage, stored
from stateful_tests.stories.senders import COMMITTED_AND_UNKNOWN, ROLLED_BACK
from stateful_tests.worlds.listeners import EXCEPTION, ONE_IN
from stateful_tests.worlds.machines import STORE
from stateful_tests.worlds.parts import POLLING
from stateful_tests.worlds.producers import IN_TRANSACTION, SEND_EVERY_MS, Sending
from stateful_tests.worlds.script import PAUSING
from stateful_tests.worlds.world import World

BROKER, PRODUCER = "broker-a", "producer1"
LOG, QUEUE, ABORT = "store/commitlog/00000000000000000000", "store/consumequeue/orders", "store/abort"
FIRST_FILE = f"/{0:020}"
ACCEPTED, BUSY, FLUSH_TIME_OUT, REFUSED = 0, 2, 10, 14
BEFORE_CLEAN_UP_MS = 59_900
"""Shortly before the first clean-up of a broker that has started at once."""
CHOICE, OLDER = "", 1
"""Any choice of a disk; and what becomes of what was changed lately and not forced, if its machine loses its power."""
BODY_LENGTH_AT = 84
"""Where a record says how long its body is."""
MEMBER = PushConsumerConfig("G", {"orders": "*"}, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)


def begin(world: World, flush: FlushDiskType = FlushDiskType.SYNC_FLUSH, **settings: Any) -> None:
    """A broker that keeps messages; settings -- fields of BrokerConfig."""
    world.store_config = replace(STORE, flush_disk_type=flush)
    world.add_namesrv()
    world.add_broker(BROKER, BROKER, topics=[TopicConfig("orders", 2, 2)], **settings)
    world.run(2_000)


def produce(world: World, count: int, queues: int = 1, topic: str = "orders") -> list[int]:
    """So many messages are sent, and no more; the codes that the producer is answered."""
    since_ms = world.now_ms
    world.add_producer(PRODUCER, Sending(topic, queues=queues))
    world.run(count * SEND_EVERY_MS + 100)
    world.simulation.kill(PRODUCER)
    del world.simulation.boots[PRODUCER]
    return [event.code for _, event in world.events(SendAnswered, since_ms)]


def crash(world: World, *lost: str, power_loss: bool = False) -> None:
    """The broker ends; lost -- files of which what was not forced is gone."""
    world.simulation.kernel.kill(world.simulation.nodes[BROKER], power_loss=power_loss)
    for path in lost:
        content(world, path).lose_power(world.now_ms, ReplayTape([NOTHING]))


def content(world: World, path: str) -> Storage:
    """What a file of the broker's disk has."""
    storage = world.simulation.disks[BROKER].find(path)
    assert storage is not None
    return storage


def lose(world: World, path: str, start: int, length: int) -> None:
    """Bytes of a file that a crash has not left."""
    content(world, path).write(start, bytes(length), world.now_ms)


def restart(world: World) -> None:
    """The broker starts again."""
    world.simulation.start(BROKER)
    world.run(1_000)


def keys(world: World) -> list[str | None]:
    """The messages of the log."""
    return [one.key for one in world.views.log_records(BROKER)]


def sent(world: World) -> list[MessageAppended]:
    """The records that were appended."""
    return [event for _, event in world.events(MessageAppended)]


def test_v6_a_force_fails_and_the_message_is_acknowledged_and_gone_after_a_loss_of_power() -> None:
    with World() as world:
        begin(world)
        world.simulation.kernel.profile = replace(PAUSING, force_fails=1)
        world.script.draw("a force of store/commitlog", 2)
        assert produce(world, 1) == [ACCEPTED]
        world.simulation.kernel.profile = PAUSING
        crash(world, LOG, power_loss=True)
        restart(world)
        assert keys(world) == []


def test_v4_messages_that_recovery_has_cut_off_are_back_after_the_next_crash() -> None:
    with World() as world:
        begin(world)
        produce(world, 3)
        first, second, third = sent(world)
        crash(world)
        lose(world, LOG, second.commit_log_offset, 8)
        restart(world)
        assert keys(world) == [first.key]
        produce(world, 1)
        crash(world)
        restart(world)
        assert keys(world)[-1] == third.key


def test_v7_a_message_is_recovered_without_its_properties() -> None:
    with World() as world:
        begin(world)
        produce(world, 1)
        (only,) = sent(world)
        crash(world)
        lose(world, LOG, only.size - 64, 64)
        restart(world)
        assert keys(world) == [None]


def test_v3_a_queue_has_a_message_that_nobody_has_sent() -> None:
    with World() as world:
        begin(world)
        produce(world, 3, queues=2)
        crash(world)
        lose(world, LOG, sent(world)[1].commit_log_offset, 8)
        lose(world, f"{QUEUE}/1{FIRST_FILE}", 0, 20)
        restart(world)
        assert world.views.queue_units(BROKER).get(("orders", 1)) == (0, 1)
        produce(world, 2, queues=2)
        assert sent(world)[-1].queue_offset == 1


def test_v33_a_unit_that_the_disk_does_not_take_counts_as_written() -> None:
    with World() as world:
        begin(world)
        produce(world, 1)
        world.simulation.fill_disk(BROKER, 100)
        world.add_producer(PRODUCER, Sending("orders", queues=2))
        world.run(2 * SEND_EVERY_MS + 100)
        written = next(one for one in sent(world) if one.queue_id == 1)
        assert world.views.queue_unit(BROKER, "orders", 1, 0) == 0 != written.commit_log_offset


def test_v41_the_deletion_of_a_topic_takes_the_queue_of_another_one_that_a_loss_of_power_has_taken_from_the_table(
) -> None:
    with World() as world:
        begin(world)
        before = content(world, TOPICS_PATH)
        assert produce(world, 1, topic="payments") == [ACCEPTED]
        crash(world, power_loss=True)
        world.simulation.disks[BROKER].change(TOPICS_PATH, before)
        restart(world)
        assert "payments" not in world.views.topics(BROKER)
        assert world.views.queue_units(BROKER)["payments", 0] == (0, 1)
        world.ask(f"{BROKER}:10911", Command(RequestCode.DELETE_TOPIC_IN_BROKER, TopicRequestHeader("archive")))
        assert world.views.log_records(BROKER)[0].topic == "payments"
        assert ("payments", 0) not in world.views.queue_units(BROKER)


def test_v42_a_level_that_begins_beyond_the_end_of_its_queue_passes_over_what_comes_in_its_first_second() -> None:
    with World() as world:
        begin(world, FlushDiskType.ASYNC_FLUSH)
        produce_delayed(world, 1)
        world.run(7_500)
        produce_delayed(world, 1)
        world.run(1_000)
        assert world.views.saved_delay_offsets(BROKER) == {1: 3}
        crash(world, LOG, power_loss=True)
        world.simulation.start(BROKER)
        put = produce_delayed(world, 1)
        world.run(5_000)
        came = {event.key for _, event in world.events(MessageAppended) if event.topic == "orders"}
        assert len(put) == 2
        assert len(put & came) == 1


def test_v43_a_loss_of_power_takes_the_queues_that_a_topic_was_given_before_it() -> None:
    with World() as world:
        begin(world)
        world.run(UNFORCED_MS)
        header = CreateTopicRequestHeader("orders", 4, 4, PERM_READ | PERM_WRITE)
        world.ask(f"{BROKER}:10911", Command(RequestCode.UPDATE_AND_CREATE_TOPIC, header))
        assert produce(world, 4, queues=4) == [ACCEPTED] * 4
        assert {one.queue_id for one in sent(world)} == {0, 1, 2, 3}
        world.script.draw(CHOICE, OLDER)
        world.simulation.kill(BROKER, power_loss=True)
        world.script.draw(CHOICE, 0)
        restart(world)
        world.add_consumer("c1", MEMBER)
        world.run(60_000)
        assert len(keys(world)) == 4
        assert {event.mq.queue_id for _, event in world.events(MessagesGiven)} == {0, 1}


def produce_delayed(world: World, level: int) -> set[str | None]:
    """Two long messages of a delay level are sent; their keys."""
    since_ms = world.now_ms
    world.add_producer(PRODUCER, Sending("orders", queues=1, delay_levels=(level,), body_bytes=range(3_000, 3_001)))
    world.run(2 * SEND_EVERY_MS + 100)
    world.simulation.kill(PRODUCER)
    del world.simulation.boots[PRODUCER]
    return {event.key for _, event in world.events(MessageAppended, since_ms)}


def test_v39_a_level_whose_delivery_has_met_a_full_disk_delivers_no_more() -> None:
    with World() as world:
        begin(world)
        produce_delayed(world, 2)
        world.simulation.fill_disk(BROKER, 100)
        world.run(6_000)
        world.simulation.fill_disk(BROKER, 0)
        world.run(15_000)
        produce_delayed(world, 2)
        others = produce_delayed(world, 3)
        world.run(20_000)
        assert {event.key for _, event in world.events(MessageAppended) if event.topic == "orders"} == others
        assert {event.level for _, event in world.events(DelayLevelEnded)} == {2}


def test_v40_an_index_that_the_disk_has_no_page_for_ends_the_dispatch() -> None:
    with World() as world:
        world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH, max_hash_slot_num=1 << 20)
        world.add_namesrv()
        world.add_broker(BROKER, BROKER, topics=[TopicConfig("orders", 2, 2)])
        world.run(2_000)
        produce(world, 1)
        world.simulation.fill_disk(BROKER, 100)
        assert produce(world, 1) == [ACCEPTED]
        world.simulation.fill_disk(BROKER, 0)
        world.run(15_000)
        assert produce(world, 2) == [ACCEPTED, ACCEPTED]
        assert [one.queue_offset for one in world.views.log_records(BROKER)] == [0, 1, 2, 3]
        assert world.views.queue_units(BROKER)["orders", 0] == (0, 2)


def test_v26_the_name_of_the_abort_file_is_lost_and_a_queue_lacks_a_message_of_the_log() -> None:
    with World() as world:
        begin(world)
        produce(world, 4, queues=2)
        crash(world, power_loss=True)
        lose(world, f"{QUEUE}/0{FIRST_FILE}", 20, 20)
        disk = world.simulation.disks[BROKER]
        assert not disk.names[ABORT].durable
        disk.change(ABORT, None)
        restart(world)
        assert [one.queue_id for one in world.views.log_records(BROKER)] == [0, 1, 0, 1]
        assert world.views.queue_units(BROKER)["orders", 0] == (0, 1)


def test_v26_an_application_polls_a_message_and_is_not_given_the_one_before_it() -> None:
    with World() as world:
        begin(world)
        produce(world, 6, queues=2)
        crash(world, power_loss=True)
        lose(world, f"{QUEUE}/0{FIRST_FILE}", 20, 40)
        lose(world, f"{QUEUE}/1{FIRST_FILE}", 40, 20)
        world.simulation.disks[BROKER].change(ABORT, None)
        restart(world)
        world.add_puller("poller1", POLLING)
        world.run(5_000)
        assert [event.offsets for _, event in world.events(MessagesPolled) if event.mq.queue_id == 0] == [(0, 2)]


def test_v23_a_message_that_was_sent_back_is_lost_with_its_copy() -> None:
    with World() as world:
        world.fates = (EXCEPTION,) * ONE_IN
        begin(world, FlushDiskType.ASYNC_FLUSH)
        world.add_consumer("c1", MEMBER)
        world.run(1_000)
        produce(world, 1)
        world.run(8_000)
        produce(world, 1)
        world.run(6_000)
        world.simulation.kill("c1")
        world.run(6_000)
        retried = sent(world)[-1]
        assert (retried.topic, retried.waits) == (f"{RETRY_GROUP_TOPIC_PREFIX}G", False)
        crash(world, LOG, power_loss=True)  # delayOffset.json says that its delay is over, and the copy was not forced
        restart(world)
        world.simulation.start("c1")
        world.run(20_000)
        assert [one.topic for one in world.views.log_records(BROKER) if one.key == retried.key] == [
            "orders", RMQ_SYS_SCHEDULE_TOPIC]


def test_t7_the_end_of_a_half_message_that_a_crash_has_taken_commits_the_one_in_its_place() -> None:
    with World() as world:
        begin(world, FlushDiskType.ASYNC_FLUSH)
        world.add_consumer("c1", MEMBER)
        world.add_producer(PRODUCER, Sending("orders", (IN_TRANSACTION,), transaction_ms=2_000))
        world.run(SEND_EVERY_MS + 100)
        crash(world, LOG, power_loss=True)
        restart(world)
        world.run_until(lambda: bool(world.events(HalfMessageEnded)), 5_000)
        world.script.draw("what becomes of a transaction", ROLLED_BACK)
        world.run(40_000)
        lost, there = [one.key for one in sent(world) if one.topic == RMQ_SYS_TRANS_HALF_TOPIC][:2]
        assert [event.key for _, event in world.events(HalfMessageEnded)][:2] == [lost, there]
        assert [event.keys for _, event in world.events(MessagesGiven)] == [(there,)]


def test_v16_a_consumer_has_found_what_a_loss_of_power_takes_away() -> None:
    with World() as world:
        begin(world, FlushDiskType.ASYNC_FLUSH)
        world.add_consumer("c1", MEMBER)
        world.run(1_000)
        produce(world, 1)
        assert world.events(MessagesFound)
        crash(world, LOG, power_loss=True)
        restart(world)
        assert keys(world) == []


def test_v18_a_queue_of_which_all_messages_have_expired_begins_at_one_that_is_gone() -> None:
    with World() as world:
        stage(world, store=SMALL)
        fill(world, LAST, 3)
        fill(world, FIRST, 100)
        world.simulation.fill_disk(BROKER, 88)
        world.run_until(lambda: world.views.log_begin(BROKER) > 0, 75_000)
        first = world.views.queue_unit(BROKER, LAST.topic, LAST.queue_id, stored(world, LAST).min_offset)
        assert first == 0


def test_v24_a_disk_that_was_full_is_written_to_before_it_has_enough_space() -> None:
    with World() as world:
        begin(world)
        world.simulation.fill_disk(BROKER, 95)
        world.run(13_000)
        assert produce(world, 1) == [REFUSED]
        world.simulation.fill_disk(BROKER, 88)
        world.run(11_000)
        assert produce(world, 1) == [ACCEPTED]


def test_v44_behind_a_clean_up_of_what_was_not_flushed_yet_nothing_is_flushed_any_more() -> None:
    with World() as world:
        world.store_config = replace(STORE, flush_disk_type=FlushDiskType.SYNC_FLUSH, max_message_size=4 * 1024,
                                     mapped_file_size_commit_log=8 * 1024)
        world.add_namesrv()
        world.add_broker(BROKER, BROKER, topics=[TopicConfig("orders", 2, 2)])
        world.run(2_000)
        assert produce(world, 1) == [ACCEPTED]
        world.run_until(lambda: world.now_ms == BEFORE_CLEAN_UP_MS, BEFORE_CLEAN_UP_MS)
        world.simulation.kernel.profile = replace(PAUSING, slow_force=1)
        world.script.draw(CHOICE, len(FORCE_MS))
        world.send("producer", MessageQueue("orders", BROKER, 0), 100)
        world.run(50)
        world.script.draw(CHOICE, 0)
        world.simulation.fill_disk(BROKER, 88)
        world.run(20_000)
        world.simulation.fill_disk(BROKER, 0)
        (_, expired), (_, flushed) = world.events(LogExpired)[-1], world.events(LogFlushed)[-1]
        assert flushed.offset < expired.min_offset
        assert produce(world, 2) == [FLUSH_TIME_OUT, FLUSH_TIME_OUT]
        world.simulation.kill(BROKER)
        restart(world)
        assert produce(world, 1) == [ACCEPTED]


def test_v38_a_file_is_deleted_before_its_buffer_is_written_and_no_buffer_comes_back() -> None:
    with World() as world:
        world.store_config = replace(STORE, flush_disk_type=FlushDiskType.ASYNC_FLUSH, max_message_size=4 * 1024,
                                     mapped_file_size_commit_log=8 * 1024, transient_store_pool_configured=True)
        world.add_namesrv()
        world.add_broker(BROKER, BROKER, topics=[TopicConfig("orders", 2, 2)])
        world.run(2_000)
        queue = MessageQueue("orders", BROKER, 0)
        world.send("producer", queue, 10)
        world.simulation.fill_disk(BROKER, 88)
        world.run_until(lambda: world.now_ms == BEFORE_CLEAN_UP_MS, BEFORE_CLEAN_UP_MS)
        world.send("producer", queue, 50)
        world.run(1_000)
        world.simulation.fill_disk(BROKER, 0)
        world.run(15_000)
        assert produce(world, 1) == [ACCEPTED]
        for _ in range(2):
            world.send("producer", queue, 50)
            world.run(1_000)
        assert produce(world, 2) == [BUSY, BUSY]
        world.run(120_000)
        assert produce(world, 1) == [BUSY]


def test_v22_a_file_without_content_keeps_a_broker_from_starting() -> None:
    with World() as world:
        begin(world)
        produce(world, 1)
        crash(world, power_loss=True)
        world.simulation.disks[BROKER].make(f"store/commitlog/{1 << 16:020}")
        restart(world)
        assert world.events(StoreRefused)


def test_t4_a_half_message_that_cannot_be_read_keeps_the_check_from_all_behind_it() -> None:
    with World() as world:
        begin(world, transaction_check_interval_ms=2_000)
        world.script.draw("what becomes of a transaction", COMMITTED_AND_UNKNOWN)
        world.add_producer(PRODUCER, Sending("orders", (IN_TRANSACTION,)))
        world.run(SEND_EVERY_MS + 100)
        content(world, LOG).write(sent(world)[0].commit_log_offset + BODY_LENGTH_AT, b"\0\1", world.now_ms)
        world.run(20_000)
        assert not any(event.from_check for _, event in world.events(HalfMessageEnded))
