"""Frames, bodies and registrations, where a wrong reading would be easy."""

from __future__ import annotations

import pytest

from impl.common.fastjson.characters import JSONError
from impl.common.fastjson.deserializers import from_json, strings_from_json
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


@pytest.mark.parametrize(("name", "text", "answer"), [
    ("TopicConfig", '{"topicName":1F}', "1.0"), ("TopicConfig", '{"topicName" :Set[1,2]}', "[1, 2]"),
    ("TopicConfig", '{"topicName":new Date(5)}', "Thu Jan 01 00:00:00 UTC 1970"),
    ("TopicConfig", '{"topicName":{[1]:2}}', "{[1]:2}"),
    ("TopicConfig", '{"topicName":"\U0001f600"}', "\U0001f600"),
    ("TopicConfig", '{"topicName" :"\\ud83d\\ude00"}', "\U0001f600"),
    ("TopicConfig", '{"topicName":"\\x4Z"}', "@"), ("TopicConfig", '{"topicName":"\\u+041"}', "A"),
    ("DataVersion", '{"timestamp":{"andIncrement":1,"andDecrement":2}}', 2),
    ("DataVersion", '{"timestamp" :-L}', -28), ("DataVersion", '{"timestamp" :1.9D}', 1),
    ("ConsumeStats", '{"consumeTps" :new Date(5)}', "parseDouble error, field : consumeTps"),
    ("DataVersion", '{"nope":1e}', 'No exponent digits., pos 10, line 1, column 11{"nope":1e}'),
    ("DataVersion", '{"nope":x\'4Z\'}', "illegal state. Z"), ("DataVersion", '{"nope":x\'4\'}', "illegal state. 1"),
    ("TopicConfig", '{"topicName":"\\u12"}', "Index 4 out of bounds for length 4"),
    ("RemotingCommand", '{"body":[300]}', "short overflow : 300"),
    ("RemotingCommand", '{"body":5}', 'field body expect \'[\', but int, pos 9, line 1, column 10{"body":5}'),
    ("ClusterInfo", '{"brokerAddrTable" :[{}]}',
     "set property error, org.apache.rocketmq.common.protocol.body.ClusterInfo#brokerAddrTable"),
    ("TopicRouteData", '{"brokerDatas":Set[{}]}', (
        "class java.util.HashSet cannot be cast to class java.util.List (java.util.HashSet and java.util.List are in "
        "module java.base of loader 'bootstrap')")),
])
def test_an_odd_text_is_read_as_fastjson_reads_it(name: str, text: str, answer: object) -> None:
    try:
        value = from_json(text, name, 0)
        found = next(one for field, one in value.values.items() if f'"{field}"' in text)
    except JSONError as error:
        found = error.message
    assert found == answer


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
