"""Bodies as fastjson writes and reads them, where the recordings have no example."""

from __future__ import annotations

import pytest

import impl.common.bodies  # noqa: F401  declares the classes
from impl.common.fastjson.beans import BEANS, Bean
from impl.common.fastjson.characters import JSONError
from impl.common.fastjson.deserializers import from_json
from impl.common.fastjson.serializer import to_json
from impl.hash_map import HashMap


def _read(text: str, name: str) -> Bean:
    value = from_json(text, name, 0)
    assert isinstance(value, Bean)
    return value


def test_list_in_a_map_is_on_lines() -> None:
    servers: HashMap[str, list[str]] = HashMap()
    servers.put("a:1", ["b:2"])
    servers.put("c:3", [])
    route = BEANS["TopicRouteData"].new(0)
    route.values["filterServerTable"] = servers
    assert to_json(route, pretty=True) == (
        '{\n\t"filterServerTable":{\n\t\t"a:1":[\n\t\t\t"b:2"\n\t\t],\n\t\t"c:3":[]\n\t}\n}')


def test_set_in_a_map_is_on_one_line() -> None:
    names: HashMap[str, list[str]] = HashMap()
    names.put("C", ["a", "b"])
    info = BEANS["ClusterInfo"].new(0)
    info.values["clusterAddrTable"] = names
    assert to_json(info, pretty=True) == '{\n\t"clusterAddrTable":{\n\t\t"C":["a","b"]\n\t}\n}'


def test_set_keeps_equal_objects_whose_class_has_no_equals() -> None:
    heartbeat = _read('{"producerDataSet":[{"groupName":"P"},{"groupName":"P"}]}', "HeartbeatData")
    assert len(heartbeat.values["producerDataSet"]) == 2
    locks = _read('{"mqSet":[{"topic":"T","queueId":1},{"queueId":1,"topic":"T"}]}', "LockBatchRequestBody")
    assert len(locks.values["mqSet"]) == 1


def test_subscriptions_are_equal_whatever_the_order_of_their_tags() -> None:
    one, other = '{"topic":"T","tagsSet":["a","b"],"subVersion":1', '{"topic":"T","tagsSet":["b","a"],"subVersion":1'
    same = f'{{"subscriptionDataSet":[{one}}},{other},"filterClassSource":"x"}}]}}'
    assert len(_read(same, "ConsumerData").values["subscriptionDataSet"]) == 1
    different = f'{{"subscriptionDataSet":[{one}}},{other},"codeSet":[1]}}]}}'
    assert len(_read(different, "ConsumerData").values["subscriptionDataSet"]) == 2


@pytest.mark.parametrize(("text", "message"), [
    ('{"topicFilterType":"', "String index out of range: -2147483648"),
    ('{"topicFilterType":"\u4e2d', "index -2147483648, length 21"),
])
def test_constant_without_end(text: str, message: str) -> None:
    with pytest.raises(JSONError, match=f"^{message}$"):
        from_json(text, "TopicConfig", 0)


def test_bytes_as_part_of_a_key() -> None:
    body = _read("""{"nope":{{"topic":x'414243'}:1}}""", "ResetOffsetBody")
    assert body.values == {"offsetTable": None}


@pytest.mark.parametrize("field", ['"tagsSet"', '"tags-set"'])
def test_set_of_texts_has_each_once(field: str) -> None:
    subscription = _read(f'{{{field}:["a","b","a",null,null]}}', "SubscriptionData")
    assert subscription.values["tagsSet"] == ["a", "b", None]


@pytest.mark.parametrize(("body", "answer"), [
    ('"AAAA"', None), ('"*"', "-3"), ('"=="', "-1"), ('"A中"', "Index 20013 out of bounds for length 256"),
    ('"\\u0041A=="', None),
])
def test_body_in_a_header_is_read_as_base64(body: str, answer: str | None) -> None:
    text = f'{{"body":{body}}}'
    if answer is None:
        assert _read(text, "RemotingCommand").values["body"] in {b"\x00\x00\x00", b"\x00"}
    else:
        with pytest.raises(JSONError, match=f"^{answer}$"):
            from_json(text, "RemotingCommand", 0)
