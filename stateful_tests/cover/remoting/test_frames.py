"""Frames, bodies and registrations, where a wrong reading would be easy."""

from __future__ import annotations

import pytest

from impl.common.fastjson.deserializers import from_json, strings_from_json
from impl.common.fastjson.lexer import JSONError
from impl.common.fastjson.serializer import to_json
from impl.decisions.java_errors import BufferUnderflowError, NullPointerError
from impl.remoting.register_broker_body import (
    JavaIOError,
    decode_register_broker_body,
    encode_register_broker_body,
)
from impl.remoting.remoting_command import ROCKETMQ, RemotingCommand, RemotingCommandError, decode, encode

GOLDEN = "000000230100001e0026000000000000050000000000000001720000000800016b000000017678"


def command() -> RemotingCommand:
    made = RemotingCommand(38, opaque=5, remark="r", serialize_type=ROCKETMQ, body=b"x")
    made.add_ext_field("k", "v")
    return made


def test_a_frame_with_a_binary_header_has_the_known_bytes() -> None:
    assert encode(command()).hex() == GOLDEN


def test_a_frame_is_decoded_to_what_was_encoded() -> None:
    assert decode(bytes.fromhex(GOLDEN)[4:], lambda: 0) == command()


def test_a_header_that_names_no_opaque_gets_one_of_this_process() -> None:
    assert decode(b"\0\0\0\2{}", lambda: 77).opaque == 77


@pytest.mark.parametrize(("data", "error"), [
    (b"\0\0", BufferUnderflowError), (b"\5\0\0\0", NullPointerError), (b"\0\0\0\2[]", NullPointerError),
    (b"\0\0\0\4{]}x", JSONError),
    (bytes.fromhex("010000110026000000000000050000000000000099"), RemotingCommandError),
])
def test_a_frame_that_is_wrong_is_refused(data: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        decode(data, lambda: 0)


def test_a_field_is_found_however_it_is_spelt() -> None:
    assert from_json('{"read_Queue-nums":3}', "TopicConfig", 0).values["readQueueNums"] == 3


def test_the_second_of_two_equal_fields_counts_only_if_it_comes_in_order() -> None:
    assert from_json('{"perm":1,"perm":2}', "TopicConfig", 0).values["perm"] == 2


def test_nesting_that_is_too_deep_is_refused() -> None:
    with pytest.raises(JSONError):
        from_json('{"nope":' + "[" * 5000 + "]" * 5000 + "}", "TopicConfig", 0)


def test_a_text_that_never_ends_is_refused() -> None:
    with pytest.raises(JSONError):
        from_json('{"topicFilterType":"SINGLE', "TopicConfig", 0)


def test_a_registration_survives_compression_but_for_order_and_unit_flag() -> None:
    text = ('{"filterServerList":["f"],"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"timestamp":2},'
            '"topicConfigTable":{"T":{"order":true,"perm":6,"readQueueNums":4,"topicFilterType":"SINGLE_TAG",'
            '"topicName":"T","topicSysFlag":1,"writeQueueNums":4}}}}')
    body = from_json(text, "RegisterBrokerBody", 0)
    assert to_json(body) == text
    again = decode_register_broker_body(encode_register_broker_body(body, compress=True), compressed=True, now_ms=0)
    assert to_json(again) == text.replace("true", "false").replace('"topicSysFlag":1', '"topicSysFlag":0')


def test_a_registration_that_is_cut_off_is_refused() -> None:
    body = from_json("{}", "RegisterBrokerBody", 0)
    data = encode_register_broker_body(body, compress=True)
    with pytest.raises(JavaIOError):
        decode_register_broker_body(data[:-8], compressed=True, now_ms=0)


def test_a_list_of_texts_may_be_null() -> None:
    assert [strings_from_json(text) for text in ("null", "", '["a",1,null]')] == [None, None, ["a", "1", None]]
