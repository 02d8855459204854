"""Transactional messages: what ends them, whom the check asks, and how far it comes."""

from __future__ import annotations

from contextlib import suppress

import pytest

from impl.broker.transaction.end_transaction_processor import Answer, end_message_transaction
from impl.common.message_const import (
    PROPERTY_CHECK_IMMUNITY_TIME_IN_SECONDS,
    PROPERTY_REAL_QUEUE_ID,
    PROPERTY_REAL_TOPIC,
    PROPERTY_TRANSACTION_CHECK_TIMES,
    PROPERTY_TRANSACTION_PREPARED,
    PROPERTY_TRANSACTION_PREPARED_QUEUE_OFFSET,
    PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX,
    PROPERTY_WAIT_STORE_MSG_OK,
)
from impl.common.request_code import ResponseCode
from impl.decisions.flags import (
    MULTI_TAGS_FLAG,
    TRANSACTION_COMMIT_TYPE,
    TRANSACTION_NOT_TYPE,
    TRANSACTION_ROLLBACK_TYPE,
)
from impl.decisions.java_errors import JavaError, JavaRuntimeError, MappingFaultError, NullPointerError
from impl.decisions.names import (
    RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC,
    RMQ_SYS_TRANS_HALF_TOPIC,
    RMQ_SYS_TRANS_OP_HALF_TOPIC,
)
from impl.decisions.running_flags import make_logics_queue_error
from impl.ports.remoting import NOT_SET
from impl.ports.threads import Uninterrupted, run_now
from impl.store.message_ext_broker_inner import MessageExtBrokerInner
from impl.store.message_store_config import BrokerRole, FlushDiskType
from impl.store.put_message_result import AppendMessageResult
from impl.store.put_message_status import AppendMessageStatus
from stateful_tests.cover.store.brokers import BORN, STORED
from stateful_tests.cover.store.transactions import TransactionBroker

COMMIT, ROLLBACK = TRANSACTION_COMMIT_TYPE, TRANSACTION_ROLLBACK_TYPE
SUCCESS = Answer(ResponseCode.SUCCESS)
ROLLED_BACK = Answer(ResponseCode.SUCCESS, NOT_SET)
HOUR_MS = 3_600_000

# The end --------------------------------------------------------------------------------------------------------------


def test_a_half_message_waits_where_no_consumer_looks() -> None:
    broker = TransactionBroker()
    half = broker.prepare(properties={PROPERTY_WAIT_STORE_MSG_OK: "true"})
    assert (half.logics_offset, broker.halves(), broker.bodies(queue_id=2)) == (0, [b"body"], [])
    found = broker.messages(RMQ_SYS_TRANS_HALF_TOPIC)[0]
    assert (found.sys_flag, found.flag, found.get_property(PROPERTY_REAL_QUEUE_ID)) == (2, 5, "2")


def test_a_commit_delivers_the_message_and_notes_that() -> None:
    broker = TransactionBroker()
    broker.prepare()
    half = broker.prepare(b"second")
    assert broker.end(half, COMMIT) == SUCCESS
    found = broker.messages(queue_id=2)[0]
    assert (found.body, found.sys_flag, found.flag, found.prepared_transaction_offset) == (
        b"second", COMMIT | MULTI_TAGS_FLAG, 5, half.wrote_offset)
    assert found.properties == broker.messages(RMQ_SYS_TRANS_HALF_TOPIC)[1].properties
    assert broker.ops() == [b"1"]
    assert dict(broker.messages(RMQ_SYS_TRANS_OP_HALF_TOPIC)[0].properties or {}) == {"TAGS": "d", "WAIT": "true"}


def test_a_rollback_notes_the_end_and_delivers_nothing() -> None:
    broker = TransactionBroker()
    assert broker.end(broker.prepare(), ROLLBACK) == ROLLED_BACK
    assert (broker.bodies(queue_id=2), broker.ops()) == ([], [b"0"])


def test_who_does_not_know_gets_no_answer() -> None:
    broker = TransactionBroker()
    assert broker.end(broker.prepare(), TRANSACTION_NOT_TYPE) is None
    assert broker.ops() == []


@pytest.mark.parametrize(("wrong", "remark"), [
    ({"producer_group": "other"}, "The producer group wrong"),
    ({"tran_state_table_offset": 1}, "The transaction state table offset wrong"),
    ({"commit_log_offset": 1 << 20}, "Find prepared transaction message failed"),
])
@pytest.mark.parametrize("how", [COMMIT, ROLLBACK])
def test_a_request_that_does_not_fit_ends_nothing(wrong: dict[str, object], remark: str, how: int) -> None:
    broker = TransactionBroker()
    assert broker.end(broker.prepare(), how, **wrong) == Answer(ResponseCode.SYSTEM_ERROR, remark)
    assert (broker.ops(), broker.bodies(queue_id=2)) == ([], [])


def test_a_message_without_a_group_raises() -> None:
    broker = TransactionBroker()
    other = broker.put(b"x").append_message_result
    assert other is not None
    with pytest.raises(NullPointerError):
        broker.end(other, COMMIT)


def test_a_slave_ends_nothing() -> None:
    broker = TransactionBroker()
    half = broker.prepare()
    object.__setattr__(broker.store.config, "broker_role", BrokerRole.SLAVE)
    assert broker.end(half, COMMIT) == Answer(ResponseCode.SLAVE_NOT_AVAILABLE, NOT_SET)


def test_a_commit_that_is_not_stored_notes_no_end() -> None:
    broker = TransactionBroker()
    half = broker.prepare()
    broker.store.running_flags = make_logics_queue_error(0)
    assert broker.end(half, COMMIT) == Answer(ResponseCode.SERVICE_NOT_AVAILABLE, "Service not available now.")
    broker.store.running_flags = 0
    assert broker.ops() == []


def test_a_commit_waits_for_the_disk_as_the_producer_asked() -> None:
    broker = TransactionBroker(flush_disk_type=FlushDiskType.SYNC_FLUSH)
    half = broker.prepare()
    assert broker.end(half, COMMIT) is None
    assert broker.ops() == []
    broker.flush()
    broker.dispatch()
    assert broker.ops() == [b"0"]
    own = broker.prepare(properties={PROPERTY_WAIT_STORE_MSG_OK: "false"})
    assert broker.end(own, COMMIT) == SUCCESS


def test_ending_twice_delivers_twice() -> None:
    """A rollback does not keep a commit from delivering, and each commit delivers."""
    broker = TransactionBroker()
    half = broker.prepare()
    for how, answer in ((ROLLBACK, ROLLED_BACK), (COMMIT, SUCCESS), (COMMIT, SUCCESS)):
        assert broker.end(half, how) == answer
    assert broker.bodies(queue_id=2) == [b"body", b"body"]


# The check ------------------------------------------------------------------------------------------------------------


def test_what_has_ended_is_passed_over() -> None:
    broker = TransactionBroker()
    for how in (COMMIT, ROLLBACK):
        broker.end(broker.prepare(), how)
    broker.check()
    assert (broker.progress(), broker.asked) == ((2, 2), [])


def test_what_has_not_ended_is_put_back_and_its_producer_asked() -> None:
    broker = TransactionBroker()
    half = broker.prepare(properties={PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX: "U"})
    broker.check(6_010)
    assert broker.halves() == [b"body", b"body"]
    copy = broker.messages(RMQ_SYS_TRANS_HALF_TOPIC)[1]
    assert copy.get_property(PROPERTY_TRANSACTION_CHECK_TIMES) == "1"
    assert (copy.flag, copy.sys_flag, copy.born_timestamp < broker.now - 6_000) == (0, MULTI_TAGS_FLAG, True)
    [(group, header, message)] = broker.asked
    assert (group, header.msg_id, header.tran_state_table_offset) == ("PG", "U", 1)
    assert (header.commit_log_offset, header.offset_msg_id) == (copy.commit_log_offset, copy.msg_id)
    assert (message.topic, message.queue_id, message.store_size) == ("T", 2, 0)
    assert half.wrote_offset < header.commit_log_offset
    assert broker.progress() == (1, -1)


def test_the_answer_to_a_check_ends_the_copy() -> None:
    broker = TransactionBroker()
    broker.prepare()
    broker.check(6_010)
    header = broker.asked[0][1]
    copy = AppendMessageResult(
        AppendMessageStatus.PUT_OK, header.commit_log_offset, logics_offset=header.tran_state_table_offset)
    broker.end(copy, COMMIT)
    broker.check(6_010)
    assert (broker.bodies(queue_id=2), broker.progress(), len(broker.asked)) == ([b"body"], (2, 1), 1)


def test_a_young_message_ends_the_round() -> None:
    broker = TransactionBroker()
    broker.prepare(born_ms=broker.now - 10_000)
    broker.prepare()
    broker.prepare(born_ms=broker.now - 10_000)
    broker.check(3_000)
    assert (broker.progress(), len(broker.asked)) == ((1, -1), 1)


def test_what_was_stored_since_the_round_began_waits() -> None:
    broker = TransactionBroker()
    broker.prepare()
    broker.check(6_010)
    assert (broker.progress()[0], len(broker.halves())) == (1, 2)


def test_a_message_from_the_future_is_checked_at_once() -> None:
    """T1: its age is that of the producer's clock."""
    broker = TransactionBroker()
    broker.prepare(born_ms=broker.now + HOUR_MS)
    broker.check()
    assert len(broker.asked) == 1


def test_a_fresh_message_of_a_slow_clock_is_given_up() -> None:
    """T1: it counts as older than the files are kept."""
    broker = TransactionBroker()
    broker.prepare(born_ms=broker.now - 73 * HOUR_MS)
    broker.check()
    assert (broker.asked, broker.progress()[0]) == ([], 1)
    assert broker.bodies(RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC) == [b"body"]


def test_a_message_is_given_up_after_fifteen_checks() -> None:
    broker = TransactionBroker()
    broker.prepare()
    for _ in range(17):
        broker.check(60_000)
    assert len(broker.asked) == 15
    assert broker.bodies(RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC) == [b"body"]
    assert (broker.created, broker.progress()[0], len(broker.halves())) == (
        [(RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC, 1)], 16, 16)
    given_up = broker.messages(RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC)[0]
    assert given_up.get_property(PROPERTY_TRANSACTION_CHECK_TIMES) == "15"
    assert given_up.get_property(PROPERTY_REAL_TOPIC) == "T"


@pytest.mark.parametrize(("error", "progress"), [(JavaRuntimeError("the disk"), 1), (MappingFaultError(), -1)])
def test_a_message_that_cannot_be_put_aside_is_passed_by_unless_an_error_ends_the_round(
    error: JavaError, progress: int, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: object) -> None:
        raise error

    broker = TransactionBroker()
    broker.prepare(born_ms=broker.now - 73 * HOUR_MS)
    monkeypatch.setattr(broker.bridge, "put_without_wait", fails)
    with suppress(MappingFaultError):
        broker.check()
    assert broker.progress()[0] == progress


def test_a_count_that_is_no_number_begins_anew() -> None:
    broker = TransactionBroker()
    broker.prepare(properties={PROPERTY_TRANSACTION_CHECK_TIMES: "x"})
    broker.check(6_010)
    assert broker.messages(RMQ_SYS_TRANS_HALF_TOPIC)[1].get_property(PROPERTY_TRANSACTION_CHECK_TIMES) == "0"


def test_a_message_with_its_own_immunity_is_put_back_and_not_asked_for() -> None:
    broker = TransactionBroker()
    broker.prepare(properties={PROPERTY_CHECK_IMMUNITY_TIME_IN_SECONDS: "100"})
    broker.check(10_000)
    copy = broker.messages(RMQ_SYS_TRANS_HALF_TOPIC)[1]
    assert copy.get_property(PROPERTY_TRANSACTION_PREPARED_QUEUE_OFFSET) == "0"
    assert copy.get_property(PROPERTY_WAIT_STORE_MSG_OK) == "false"
    assert (broker.asked, broker.progress()[0]) == ([], 1)
    broker.check(10_000)
    again = broker.messages(RMQ_SYS_TRANS_HALF_TOPIC)[2]
    assert again.get_property(PROPERTY_TRANSACTION_PREPARED_QUEUE_OFFSET) == "0"
    broker.check(100_000)
    assert len(broker.asked) == 1


def test_an_immune_copy_is_over_when_the_first_has_ended() -> None:
    broker = TransactionBroker()
    half = broker.prepare(properties={PROPERTY_CHECK_IMMUNITY_TIME_IN_SECONDS: "100"})
    broker.check(10_000)
    broker.end(half, COMMIT)
    broker.check(10_000)
    # The op message is of a half message that the check has passed: it is done, and the copy never learns of it.
    assert (broker.progress(), len(broker.halves())) == ((2, 1), 3)


def test_more_than_32_ops_are_read_in_turns() -> None:
    broker = TransactionBroker(mapped_file_size_commit_log=65_536, configured_file_size_consume_queue=2_000)
    halves = [broker.prepare() for _ in range(41)]
    for half in halves[:-1]:
        broker.end(half, COMMIT)
    broker.check(6_010)
    assert (broker.progress(), len(broker.asked)) == ((41, 40), 1)


def test_ops_are_done_without_gap_only() -> None:
    broker = TransactionBroker()
    first, second, third = (broker.prepare() for _ in range(3))
    broker.end(third, COMMIT)
    broker.end(first, COMMIT)
    broker.check()
    assert broker.progress() == (1, -1)
    broker.end(second, COMMIT)
    broker.check()
    assert broker.progress() == (3, 3)


def test_a_copy_that_is_not_taken_is_tried_again_in_the_next_round() -> None:
    broker = TransactionBroker()
    broker.prepare()
    broker.store.running_flags = make_logics_queue_error(0)
    broker.check(6_010)
    assert (broker.asked, broker.progress()) == ([], (-1, -1))
    broker.store.running_flags = 0
    broker.check()
    assert (len(broker.asked), broker.progress()[0]) == (1, 1)


def test_an_exception_loses_what_the_round_has_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """One message on which the check fails holds all of them up."""
    broker = TransactionBroker()
    for _ in range(2):
        broker.prepare()
    taken: list[int] = []

    def fail(_half: object) -> None:
        taken.append(1)
        if len(taken) > 1:
            raise NullPointerError

    monkeypatch.setattr(broker.listener, "resolve_half_msg", fail)
    broker.check(6_010)
    assert (len(taken), broker.progress()) == (2, (-1, -1))


def test_a_queue_that_lost_its_beginning_is_gone_on_with() -> None:
    broker = TransactionBroker()
    for _ in range(3):
        broker.prepare()
    broker.store.find_consume_queue(RMQ_SYS_TRANS_HALF_TOPIC, 0).min_logic_offset = 40
    broker.offsets.decode('{"offsetTable":{"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:0}}}')
    broker.check(6_010)
    assert (broker.progress()[0], len(broker.asked)) == (3, 1)


def test_an_op_offset_that_is_wrong_is_moved_to_where_the_queue_is() -> None:
    broker = TransactionBroker()
    broker.end(broker.prepare(), COMMIT)
    broker.offsets.decode('{"offsetTable":{"RMQ_SYS_TRANS_OP_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:9}}}')
    broker.check()
    assert broker.progress() == (-1, 0)


def test_the_first_check_makes_and_registers_the_topic() -> None:
    broker = TransactionBroker()
    broker.check()
    broker.check()
    assert broker.registered == 1


def test_after_a_kill_the_check_goes_on_where_its_offsets_were_saved() -> None:
    broker = TransactionBroker()
    broker.prepare()
    broker.check(6_010)
    saved = broker.offsets.encode()
    broker.check(6_010)
    broker.kill()
    broker.restart()
    broker.offsets.decode(saved)
    broker.serve()
    broker.check(6_010)
    assert len(broker.asked) == 4  # the copy that was asked for before the kill, and its copy


class Dispatching(Uninterrupted):
    """A thread beside which the dispatcher runs."""

    def __init__(self, broker: TransactionBroker) -> None:
        self._broker = broker

    async def interleave(self, where: str) -> None:
        del where
        self._broker.dispatch()


def test_the_copy_of_a_round_is_not_looked_at_in_it() -> None:
    broker = TransactionBroker()
    broker.prepare()
    broker.now += 6_010
    run_now(broker.check_service.run_once(Dispatching(broker)))
    assert (len(broker.asked), broker.halves(), broker.progress()[0]) == (1, [b"body"] * 2, 1)


def test_a_round_goes_on_behind_what_is_lost() -> None:
    broker = TransactionBroker()
    for _ in range(2):
        broker.prepare()
    broker.now += 6_010
    broker.prepare()
    broker.store.find_consume_queue(RMQ_SYS_TRANS_HALF_TOPIC, 0).min_logic_offset = 40
    broker.offsets.decode('{"offsetTable":{"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:0}}}')
    broker.check()
    assert (broker.progress()[0], broker.asked) == (2, [])


@pytest.mark.parametrize(("first", "copies", "progress"), [("1", 0, 1), ("9", 1, 2), ("x", 0, 0)])
def test_an_immune_message_is_over_with_the_one_that_it_is_a_copy_of(first: str, copies: int, progress: int) -> None:
    broker = TransactionBroker()
    own = {PROPERTY_CHECK_IMMUNITY_TIME_IN_SECONDS: "100", PROPERTY_TRANSACTION_PREPARED_QUEUE_OFFSET: first}
    broker.prepare(properties=own)
    broker.end(broker.prepare(), COMMIT)
    broker.offsets.decode('{"offsetTable":{"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:0}}}')
    broker.check()
    assert (len(broker.halves()) - 2, broker.asked) == (copies, [])
    assert broker.progress()[0] == progress


def op_message(body: bytes, tag: str = "d") -> MessageExtBrokerInner:
    message = MessageExtBrokerInner(RMQ_SYS_TRANS_OP_HALF_TOPIC, body, BORN, STORED)
    message.put_property("TAGS", tag)
    message.write_properties()
    return message


def test_an_op_message_with_another_tag_ends_nothing() -> None:
    broker = TransactionBroker()
    broker.prepare()
    broker.store.async_put_message(op_message(b"0", "x"))
    broker.dispatch()
    broker.check()
    assert broker.progress() == (-1, -1)


def test_a_round_ends_after_a_minute() -> None:
    broker = TransactionBroker()
    for _ in range(3):
        broker.prepare()
    asked: list[object] = []

    def slow(*arguments: object) -> None:
        broker.now += 61_000
        asked.append(arguments)

    broker.listener._send_check = slow  # a producer that is far away
    broker.check(6_010)
    assert (len(asked), broker.progress()[0]) == (1, 1)


def test_an_offset_below_zero_is_not_begun_with() -> None:
    broker = TransactionBroker()
    broker.prepare()
    broker.offsets.decode('{"offsetTable":{"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:-5}}}')
    broker.check(6_010)
    assert (broker.asked, broker.progress()[0]) == ([], -5)


def test_without_an_offset_the_op_queue_is_begun_with_where_it_begins() -> None:
    broker = TransactionBroker()
    for _ in range(2):
        broker.end(broker.prepare(), COMMIT)
    broker.store.find_consume_queue(RMQ_SYS_TRANS_OP_HALF_TOPIC, 0).min_logic_offset = 20
    broker.offsets.decode('{"offsetTable":{"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:1}}}')
    broker.check()
    assert broker.progress() == (2, 2)


def test_a_copy_waits_for_no_disk() -> None:
    broker = TransactionBroker(flush_disk_type=FlushDiskType.SYNC_FLUSH)
    broker.prepare()
    broker.check(6_010)
    assert len(broker.asked) == 1


def test_a_commit_that_is_illegal_notes_no_end() -> None:
    broker = TransactionBroker()
    answer = broker.end(broker.prepare(topic="T" * 128), COMMIT)
    assert answer is not None
    assert (answer.code, broker.ops()) == (ResponseCode.MESSAGE_ILLEGAL, [])


def test_the_final_message_is_no_half_message() -> None:
    broker = TransactionBroker()
    broker.prepare()
    final = end_message_transaction(broker.messages(RMQ_SYS_TRANS_HALF_TOPIC)[0])
    assert (final.topic, final.queue_id) == ("T", 2)
    for name in (PROPERTY_TRANSACTION_PREPARED, PROPERTY_REAL_TOPIC, PROPERTY_REAL_QUEUE_ID):
        assert final.get_property(name) is None
