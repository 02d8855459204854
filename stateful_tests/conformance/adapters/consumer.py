"""Recordings of a consumer's decisions: start offset, subscription, tag filters."""

from __future__ import annotations

from typing import Any

from impl.decisions.java_arithmetic import string_hash
from impl.decisions.java_errors import JavaRuntimeError, MQClientError
from impl.decisions.start_offset import (
    ConsumeFromWhere,
    compute_pull_from_where,
    compute_pull_from_where_with_exception,
    consume_timestamp_ms,
)
from impl.decisions.subscription import (
    SubscriptionData,
    build,
    build_subscription_data,
    is_tag_type,
    matches_by_code,
    matches_by_consume_queue,
    tags_string_to_tags_code,
)
from stateful_tests.conformance.adapters.comparison import compare, difference
from stateful_tests.conformance.replay import Adapter, Row

THROW = "throw"
NO_SUBSCRIPTION = "\x00none"
TAG_TOPIC = "T"
BROKER = "b"  # the queue of every row is (topic, b, 0)


class _Asked:
    """The scripted surroundings of one call: an offset store and the questions to the master."""

    def __init__(self, arguments: Row) -> None:
        self.arguments = arguments
        self.queue = [arguments["topic"], BROKER, 0]
        self.last: list[Any] | None = None

    def stored(self) -> int:
        """OffsetStore#readOffset."""
        if self.arguments["stored"] == THROW:
            raise JavaRuntimeError("store")
        value: int = self.arguments["stored"]
        return value

    def _answer(self, key: str) -> int:
        if self.arguments[key] == THROW:
            raise MQClientError("no")
        value: int = self.arguments[key]
        return value

    def max_offset(self) -> int:
        """MQAdminImpl#maxOffset."""
        self.last = ["maxOffset", self.queue]
        return self._answer("max")

    def search_offset(self) -> int:
        """MQAdminImpl#searchOffset at the consume timestamp."""
        self.last = ["searchOffset", self.queue, consume_timestamp_ms(self.arguments["consumeTimestamp"])]
        return self._answer("search")


def compute_pull(row: Row) -> str | None:
    """The new method, the deprecated one, and the last question asked."""
    arguments = row["a"]
    mode, topic, asked = ConsumeFromWhere(arguments["mode"]), arguments["topic"], _Asked(arguments)
    return (
        compare(row["with"], lambda: compute_pull_from_where_with_exception(
            mode, topic, asked.stored(), asked.max_offset, asked.search_offset), "with")
        or compare(row["old"], lambda: compute_pull_from_where(
            mode, topic, asked.stored(), asked.max_offset, asked.search_offset), "old")
        or difference(row["asked"], asked.last, "asked")
    )


def _subscription(arguments: Row) -> SubscriptionData:
    if "type" in arguments:
        return build(arguments["topic"], arguments["text"], arguments["type"])
    return build_subscription_data(arguments["topic"], arguments["text"])


def subscription_data(row: Row) -> str | None:
    """Text to subscription data; a few rows ask only whether a type is that of tags."""
    if "isTagType" in row["a"]:
        return compare(row, lambda: is_tag_type(row["a"]["isTagType"]))

    def call() -> dict[str, Any]:
        made = _subscription(row["a"])
        return {
            "topic": made.topic, "subString": made.sub_string, "expressionType": made.expression_type,
            "tags": sorted(made.tags_set), "codes": sorted(made.code_set), "classFilterMode": made.class_filter_mode,
        }

    recorded = {**row, "r": {**row["r"], "tags": sorted(row["r"]["tags"])}} if "r" in row else row
    return compare(recorded, call)


def tag_match(row: Row) -> str | None:
    """Both filters at the consume queue; the subscription is made from tags, then given its type."""
    arguments = row["a"]

    def call() -> list[bool]:
        subscription = None
        if arguments["text"] != NO_SUBSCRIPTION:
            made = build_subscription_data(TAG_TOPIC, arguments["text"])
            subscription = SubscriptionData(
                made.topic, made.sub_string, made.tags_set, made.code_set, expression_type=arguments["type"],
                class_filter_mode=arguments["classFilter"],
            )
        code = arguments["code"]
        return [matches_by_consume_queue(subscription, code), matches_by_code(subscription, code)]

    return compare(row, call)


def string_hashes(row: Row) -> str | None:
    """Hash of a text, and its tag code with three filter types, which are all the same."""
    text = row["a"]
    code = tags_string_to_tags_code(text)
    got = {"hash": None if text is None else string_hash(text), "single": code, "multi": code, "none": code}
    return difference({key: row[key] for key in got}, got)


ADAPTERS: dict[str, Adapter] = {
    "compute-pull-from-where": compute_pull,
    "string-hash": string_hashes,
    "subscription-data": subscription_data,
    "tag-match": tag_match,
}
