"""Messages as bytes, where no recording looks: limits, months, memory, and the record that nobody can read."""

from __future__ import annotations

import pytest

from impl.common import message_decoder, util_all
from impl.common.byte_buffer import GREATEST_ARRAY_BYTES, ByteBuffer
from impl.common.inet_socket_address import InetSocketAddress, inet_socket_address
from impl.common.message import MessageExt
from impl.common.message_batch import BatchedMessage, encode_messages
from impl.common.message_client_id_setter import MessageClientIDSetter, get_pid_from_id
from impl.decisions.flags import BORNHOST_V6_FLAG, STOREHOSTADDRESS_V6_FLAG
from impl.decisions.java_errors import (
    BufferOverflowError,
    HeapExhaustedError,
    IllegalArgumentError,
    IndexOutOfBoundsError,
    JavaRuntimeError,
)
from impl.decisions.java_text import utf8_bytes, utf8_text
from impl.store.dispatch_request import BLANK, DEFAULT_LEVELS, NOT_PARSED, UNREADABLE, check_message_and_return_size
from impl.store.message_ext_broker_inner import MessageExtBatch, MessageExtBrokerInner
from impl.store.message_ext_encoder import blank_record, encode, encode_batch, host_flags, place_batch
from impl.store.put_message_status import PutMessageStatus

HOST = InetSocketAddress(bytes([127, 0, 0, 1]), 10911)
HOST_V6 = inet_socket_address(bytes(15) + b"\x01", 10911)
NOVEMBER, DECEMBER = 1_698_796_800_000, 1_701_388_800_000  # 2023, UTC


def message(**fields: object) -> MessageExtBrokerInner:
    return MessageExtBrokerInner("T", b"body", HOST, HOST, body_crc=util_all.crc32(b"body"), **fields)  # type: ignore[arg-type]


def batch(own: int, common: int) -> MessageExtBatch:
    """Two messages; the first has properties of so many bytes, and so has the batch."""
    body = encode_messages([BatchedMessage(0, b"1", {"o": "v" * (own - 2)}), BatchedMessage(0, b"2", {})])
    made = MessageExtBatch("T", body, HOST, HOST)
    made.put_property("c", "v" * (common - 2))
    return made


def checked(record: bytes | bytearray, position: int = 0) -> tuple[bool, int, int]:
    buffer = ByteBuffer(record, position)
    request = check_message_and_return_size(buffer, check_crc=True)
    return request.success, request.msg_size, buffer.position


def test_a_record_may_be_exactly_as_long_as_a_message_may_be() -> None:
    assert isinstance(encode(message(), 96), bytearray)
    assert encode(message(), 95) is PutMessageStatus.MESSAGE_ILLEGAL
    assert len(encode_batch(batch(4, 4), 2 * 93 + 13).records) == 2 * 93 + 13
    with pytest.raises(JavaRuntimeError, match="message size exceeded"):
        encode_batch(batch(4, 4), 2 * 93 + 12)


def test_a_batch_may_be_of_one_message_that_is_as_long_as_one_may_be() -> None:
    one = MessageExtBatch("T", encode_messages([BatchedMessage(0, b"1", {})]), HOST, HOST)
    assert len(encode_batch(one, 93).records) == 93
    with pytest.raises(JavaRuntimeError, match="message size exceeded"):
        encode_batch(one, 92)


def test_properties_may_have_32767_bytes() -> None:
    assert isinstance(encode(message(properties_string=32_767 * "p"), 2**20), bytearray)
    assert encode(message(properties_string=32_766 * "p" + "é"), 2**20) is PutMessageStatus.PROPERTIES_SIZE_EXCEEDED
    one = MessageExtBatch("T", encode_messages([BatchedMessage(0, b"1", {})]), HOST, HOST)
    one.put_property("c", 32_765 * "p")
    assert checked(encode_batch(one, 2**20).records)[0]
    one.put_property("c", 32_766 * "p")
    with pytest.raises(JavaRuntimeError, match="Properties size of messageExtBatch exceeded!"):
        encode_batch(one, 2**20)


def test_a_text_of_properties_that_names_none_leaves_the_keys_unknown() -> None:
    records = [encode(message(properties_string=text), 4096) for text in ("", "p")]
    found = [check_message_and_return_size(ByteBuffer(bytes(record)), check_crc=True) for record in records]
    assert [(one.keys, one.properties_map) for one in found] == [("", None), (None, {})]


def test_a_host_that_is_longer_than_the_flag_says_does_not_fit() -> None:
    longer = MessageExtBrokerInner("T", b"", HOST_V6, HOST)
    with pytest.raises(BufferOverflowError):
        encode(longer, 4096)
    made = batch(4, 4)
    made.born_host = HOST_V6
    with pytest.raises(BufferOverflowError):
        encode_batch(made, 4096)
    made.sys_flag = host_flags(2, HOST_V6, HOST)
    assert made.sys_flag == 2 | BORNHOST_V6_FLAG
    assert checked(encode_batch(made, 4096).records)[0]
    assert host_flags(0, HOST, HOST_V6) == STOREHOSTADDRESS_V6_FLAG


def test_a_batch_with_long_properties_makes_a_record_that_nobody_can_read() -> None:
    records = encode_batch(batch(32_760, 6), 100_000).records
    assert checked(records) == (True, 93 + 32_767, 93 + 32_767)
    assert checked(records, 93 + 32_767)[0]

    records = encode_batch(batch(32_760, 7), 100_000).records
    assert checked(records) == (False, 93 + 32_768, 93), "the reader stands behind the length, not behind the record"
    assert checked(records, 93 + 32_768)[0], "the record behind it is whole"


def test_a_batch_that_does_not_fit_leaves_the_file_to_its_blank() -> None:
    records = encode_batch(batch(4, 4), 4096).records
    placed = {"queue_offset": 7, "physical_offset": 1000, "store_timestamp_ms": 5}
    assert place_batch(records, 0, max_blank=len(records) + 7, **placed) is None
    assert place_batch(records, 0, max_blank=len(records) + 8, **placed) == [1000, 1000 + 93 + 9]
    second = check_message_and_return_size(ByteBuffer(records, 93 + 9), check_crc=True)
    assert (second.consume_queue_offset, second.commit_log_offset, second.store_timestamp) == (8, 1000 + 93 + 9, 5)
    assert check_message_and_return_size(ByteBuffer(blank_record(8)), check_crc=True) is BLANK


def test_a_delayed_message_is_not_known_as_one_before_the_levels_are() -> None:
    delayed = message(properties_string="DELAY\x013\x02TAGS\x01a", store_timestamp=1000)
    delayed.topic = "SCHEDULE_TOPIC_XXXX"
    record = encode(delayed, 4096)
    assert isinstance(record, bytearray)
    codes = [check_message_and_return_size(ByteBuffer(record), check_crc=True, delay_levels=levels).tags_code
             for levels in (DEFAULT_LEVELS, NOT_PARSED)]
    assert codes == [11_000, ord("a")]


def test_a_length_that_no_array_can_have_is_not_taken_for_a_bad_record() -> None:
    record = encode(message(), 4096)
    assert isinstance(record, bytearray)
    for total_size, answer in ((-1, UNREADABLE), (GREATEST_ARRAY_BYTES, None), (GREATEST_ARRAY_BYTES + 1, None)):
        record[:4] = total_size.to_bytes(4, "big", signed=True)
        if total_size > GREATEST_ARRAY_BYTES:
            with pytest.raises(HeapExhaustedError):
                check_message_and_return_size(ByteBuffer(record), check_crc=True)
        else:
            request = check_message_and_return_size(ByteBuffer(record), check_crc=True)
            assert request == (answer or request._replace(msg_size=total_size, success=False))
    record[84:88] = (GREATEST_ARRAY_BYTES + 1).to_bytes(4, "big")
    with pytest.raises(HeapExhaustedError):
        message_decoder.decode(ByteBuffer(record))


def test_records_are_decoded_up_to_the_first_that_is_none() -> None:
    whole = message_decoder.encode(MessageExt(3, b"x", {"KEYS": "k"}, "T"), need_compress=False)
    found = message_decoder.decodes(ByteBuffer(whole + whole + whole[:-1]))
    read = [(one.queue_offset, one.get_property("KEYS"), one.get_property("TAGS")) for one in found]
    assert read == 2 * [(3, "k", None)]


def test_a_body_that_is_not_read_is_not_checked() -> None:
    record = encode(message(properties_string="KEYS\x01k"), 4096)
    assert isinstance(record, bytearray)
    record[88] ^= 1
    assert checked(record) == (False, -1, 92)
    request = check_message_and_return_size(ByteBuffer(record), check_crc=True, read_body=False)
    assert (request.success, request.keys) == (True, "k")
    assert not check_message_and_return_size(ByteBuffer(record[:90]), check_crc=False, read_body=False).success
    record[:4] = (40).to_bytes(4, "big")  # Java reads a body into an array of this length
    record[84:88] = (41).to_bytes(4, "big")
    with_room = record + bytes(64)
    assert check_message_and_return_size(ByteBuffer(with_room), check_crc=False) is UNREADABLE
    assert check_message_and_return_size(ByteBuffer(with_room), check_crc=False, read_body=False).msg_size == 40
    whole = message_decoder.encode(MessageExt(3, b"x", topic="T"), need_compress=False)
    assert [one.body for one in message_decoder.decodes(ByteBuffer(whole))] == [b"x"]
    assert [one.body for one in message_decoder.decodes(ByteBuffer(whole), read_body=False)] == [None]


@pytest.mark.parametrize(("level", "answer"), [
    ("2147483647", 7_201_000), ("1", 2_000), ("2147483648", None), ("-1", 0), ("0", 0), ("18", 7_201_000), ("x", None),
])
def test_a_delay_level_is_an_int(level: str, answer: int | None) -> None:
    delayed = message(properties_string=f"DELAY\x01{level}", store_timestamp=1000)
    delayed.topic = "SCHEDULE_TOPIC_XXXX"
    record = encode(delayed, 4096)
    assert isinstance(record, bytearray)
    request = check_message_and_return_size(ByteBuffer(record), check_crc=True)
    assert request is UNREADABLE if answer is None else request.tags_code == answer


@pytest.mark.parametrize(("topic_bytes", "error"), [(164, IllegalArgumentError), (165, BufferOverflowError)])
def test_a_topic_whose_length_is_negative_takes_the_room_of_the_rest(topic_bytes: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        message_decoder.encode(MessageExt(0, b"", topic=topic_bytes * "t"), need_compress=False)


@pytest.mark.parametrize("store_size", [1, 94])
def test_a_record_of_a_given_size_must_have_room(store_size: int) -> None:
    one = MessageExt(0, b"x", topic="T", store_size=store_size)
    if store_size < 93:
        with pytest.raises(BufferOverflowError):
            message_decoder.encode(one, need_compress=False)
    else:
        assert message_decoder.encode(one, need_compress=False)[-2:] == b"\0\0"
        assert len(message_decoder.encode(one, need_compress=False)) == store_size


def test_edges_of_bytes_and_names() -> None:
    assert [util_all.offset2_file_name(offset) for offset in (0, -1, 1 << 30)] == [
        "00000000000000000000", "-00000000000000000001", "00000000001073741824"]
    assert util_all.crc32(None) == 0
    assert util_all.uncompress(util_all.compress(b"x" * 99, -1)) == b"x" * 99
    for level in (-2, 10):
        with pytest.raises(IllegalArgumentError):
            util_all.compress(b"", level)
    with pytest.raises(IndexOutOfBoundsError):
        get_pid_from_id(22 * "0")
    assert encode_batch(batch(4, 4), 4096).batch_size == 2


def test_an_ipv6_host_that_maps_an_ipv4_one_has_an_id_with_zeros_behind_it() -> None:
    mapped = InetSocketAddress(bytes(10) + b"\xff\xff" + HOST.address, HOST.port)
    record = message_decoder.encode(
        MessageExt(0, b"x", topic="T", sys_flag=STOREHOSTADDRESS_V6_FLAG, store_host=mapped), need_compress=False)
    decoded = message_decoder.decode(ByteBuffer(record))
    assert decoded is not None
    assert (decoded.store_host, decoded.msg_id) == (HOST, "7F00000100002A9F" + 16 * "0" + 24 * "0")


def test_a_new_month_begins_a_new_count_of_milliseconds() -> None:
    setter = MessageClientIDSetter(bytes([10, 0, 0, 1]), 0x1_04D2, 0xCAFE_BABE, NOVEMBER)
    assert setter.create_uniq_id(DECEMBER - 1) == "0A00000104D2CAFEBABE9A7EC7FF0000"
    assert setter.create_uniq_id(DECEMBER) == "0A00000104D2CAFEBABE000000000001"
    assert setter.create_uniq_id(DECEMBER - 1) == "0A00000104D2CAFEBABE000000000002", "the clock was set back"
    assert get_pid_from_id(setter.create_uniq_id(DECEMBER)) == 0x04D2
    setter.counter = 2**31 - 1
    assert setter.create_uniq_id(DECEMBER).endswith("FFFF")
    assert setter.counter == -(2**31)


def test_a_message_knows_what_its_properties_say() -> None:
    one = message()
    assert (one.delay_time_level(), one.is_wait_store_msg_ok()) == (0, True)
    one.put_property("WAIT", "false")
    one.put_property("DELAY", "3")
    one.put_property("KEYS", "k")
    one.write_properties()
    assert (one.delay_time_level(), one.is_wait_store_msg_ok()) == (3, False)
    assert one.properties_string == "KEYS\x01k\x02WAIT\x01false\x02DELAY\x013", "in the order of java.util.HashMap"
    one.clear_property("DELAY")
    assert one.get_property("DELAY") is None


@pytest.mark.parametrize(("data", "text"), [
    (b"\xed\xa0\x80a", "\ufffda"), (b"\xed\xa0", "\ufffd"), (b"\xed\xa0a", "\ufffda"), (b"\xed", "\ufffd"),
    (b"\xe4\xb8a", "\ufffda"), (b"\xc0\x80", "\ufffd\ufffd"), (b"\xf4\x90\x80\x80", 4 * "\ufffd"),
    (b"\xf0\x9f\x98\x80", "😀"),
])
def test_malformed_text_is_replaced_as_java_does(data: bytes, text: str) -> None:
    assert utf8_text(data) == text


def test_half_a_character_is_a_question_mark() -> None:
    assert utf8_bytes("a\ud83db") == b"a?b"
    assert utf8_bytes("\ud83d" + "\ude00" + "\ude00") == "😀?".encode()
