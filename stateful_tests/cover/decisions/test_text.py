from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings, strategies as st

from impl.decisions.addresses import broker_vip_channel, human_readable_byte_count
from impl.decisions.java_calendar import date_of, epoch_day, parse_date_ms, time_millis_to_human_string3
from impl.decisions.java_errors import JavaError, MQClientError, NumberFormatError, StringIndexOutOfBoundsError
from impl.decisions.java_text import compare_text, is_blank, parse_boolean, parse_integer, split, trim, utf16_key
from impl.decisions.names import check_group, check_topic, validate_topic
from impl.decisions.namespace import without_any_namespace, wrap_namespace
from impl.decisions.subscription import build_subscription_data, matches_by_code, tags_string_to_tags_code

texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=6)


@settings(deadline=None)  # a busy machine needs room
@given(texts, texts)
def test_the_sort_key_is_the_order_of_code_units(left: str, right: str) -> None:
    order = compare_text(left, right)
    keys = utf16_key(left), utf16_key(right)
    assert (order < 0, order > 0) == (keys[0] < keys[1], keys[0] > keys[1])
    assert compare_text(right, left) == -order


def test_text_functions_follow_java_not_python() -> None:
    assert split("a@b@@", "@") == ["a", "b"]
    assert (split("", "@"), split("@", "@"), split("@a", "@")) == ([""], [], ["", "a"])
    assert trim("\x00 a\u00a0") == "a\u00a0"
    assert is_blank("\u3000\x1f")
    assert not is_blank("\u00a0")
    assert not is_blank("\x00")
    assert parse_boolean("TRUE")
    assert not parse_boolean(" true")


@pytest.mark.parametrize("text", ["", "+", "-", " 1", "1_0", "1.0", "2147483648", "\U0001d7d9"])
def test_numbers_that_java_refuses(text: str) -> None:
    with pytest.raises(NumberFormatError, match="For input string"):
        parse_integer(text, 32)


def test_numbers_that_java_accepts() -> None:
    assert [parse_integer(text, 32) for text in ("+7", "-2147483648", "٣", "007")] == [7, -(2**31), 3, 7]
    assert parse_integer("2147483648", 64) == 2**31


@settings(deadline=None)  # a busy machine needs room
@given(st.integers(-141_427, 2_932_896))
def test_gregorian_days_are_those_of_datetime(day: int) -> None:
    date = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=day)
    assert date_of(day) == (date.year, date.month, date.day)
    assert epoch_day(*date_of(day)) == day


@settings(deadline=None)  # a busy machine needs room
@given(st.integers(-10**8, 10**8))
def test_dates_of_any_year_come_back(day: int) -> None:
    assert epoch_day(*date_of(day)) == day


def test_dates_are_lenient_and_julian_before_1582_10_15() -> None:
    assert parse_date_ms("20200230000000") == 1583020800000
    assert parse_date_ms("2020") is parse_date_ms("x") is None
    assert date_of(-141_428) == (1582, 10, 4)
    assert time_millis_to_human_string3(-(2**63)) == "2922690551202164704"


def test_addresses_and_sizes() -> None:
    assert broker_vip_channel(True, "[::1]:10911") == "[::1]:10909"
    with pytest.raises(StringIndexOutOfBoundsError, match="begin 0, end -1, length 1"):
        broker_vip_channel(True, "h")
    assert human_readable_byte_count(1536, False) == "1.5 KiB"
    assert human_readable_byte_count(1048575, True) == "1.0 MB"


def test_the_broker_checks_characters_before_length_and_the_client_after() -> None:
    name = "é" * 300
    assert "illegal characters" in (validate_topic(name)[2] or "")
    with pytest.raises(MQClientError, match="longer than topic max length 127"):
        check_topic(name)
    with pytest.raises(MQClientError, match="longer than group max length 255"):
        check_group(name)


def test_namespaces_stand_behind_the_prefix_of_retry_topics() -> None:
    assert wrap_namespace("N", "%RETRY%G") == "%RETRY%N%G"
    assert without_any_namespace("%RETRY%N%G") == "%RETRY%G"
    assert wrap_namespace("N", "TBW102") == "TBW102"


def test_subscription_texts() -> None:
    assert build_subscription_data("T", " a || ||b").tags_set == frozenset({"a", "b"})
    assert build_subscription_data("T", "|| ||").code_set == frozenset()
    with pytest.raises(JavaError, match="subString split error"):
        build_subscription_data("T", "||||")
    subscription = build_subscription_data("T", "a")
    assert matches_by_code(subscription, 97 + 2**32)
    assert not matches_by_code(subscription, 98)
    assert (tags_string_to_tags_code(""), tags_string_to_tags_code("a")) == (0, 97)
