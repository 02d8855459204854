"""Subscriptions by tag: from text to data, and the match by tag code in the consume queue."""

from __future__ import annotations

from dataclasses import dataclass, field

from impl.decisions.java_arithmetic import string_hash, wrap32
from impl.decisions.java_errors import IllegalArgumentError, JavaException
from impl.decisions.java_text import split, trim

SUB_ALL = "*"  # SubscriptionData#SUB_ALL
TAG, SQL92 = "TAG", "SQL92"  # common.filter.ExpressionType


@dataclass(frozen=True, slots=True)
class SubscriptionData:
    """`common.protocol.heartbeat.SubscriptionData`.

    sub_string -- the text as subscribed; `*` for everything.
    tags_set, code_set -- its tags and their hashes; both empty for everything and for other expression types.
    sub_version -- the client's clock when the subscription was made, in ms.
    """

    topic: str | None
    sub_string: str
    tags_set: frozenset[str] = field(default=frozenset())
    code_set: frozenset[int] = field(default=frozenset())
    sub_version: int = 0
    expression_type: str | None = TAG
    class_filter_mode: bool = False


def is_tag_type(expression_type: str | None) -> bool:
    """ExpressionType#isTagType: null and the empty text count as tags."""
    return not expression_type or expression_type == TAG


def build_subscription_data(topic: str | None, sub_string: str | None, sub_version: int = 0) -> SubscriptionData:
    """FilterAPI#buildSubscriptionData.

    Null, the empty text and exactly `*` mean everything; else tags between double bars, trimmed, empty ones dropped.
    Raises JavaError for a text of nothing but double bars.
    """
    if sub_string is None or sub_string in {SUB_ALL, ""}:
        return SubscriptionData(topic, SUB_ALL, sub_version=sub_version)
    parts = split(sub_string, "||")
    if not parts:
        raise JavaException("subString split error")
    tags = frozenset(tag for tag in map(trim, parts) if tag)
    return SubscriptionData(topic, sub_string, tags, frozenset(map(string_hash, tags)), sub_version)


def build(
    topic: str | None, sub_string: str | None, expression_type: str | None, sub_version: int = 0,
) -> SubscriptionData:
    """FilterAPI#build; an expression that is not by tag is kept as text. Raises IllegalArgumentError if it is empty."""
    if expression_type is None or expression_type == TAG:
        return build_subscription_data(topic, sub_string, sub_version)
    if not sub_string:
        raise IllegalArgumentError(f"Expression can't be null! {expression_type}")
    return SubscriptionData(topic, sub_string, sub_version=sub_version, expression_type=expression_type)


def tags_string_to_tags_code(tags: str | None) -> int:
    """MessageExtBrokerInner#tagsString2tagsCode: the hash of the whole text; 0 for none, for every filter type."""
    return string_hash(tags) if tags else 0


def matches_by_consume_queue(subscription: SubscriptionData | None, tags_code: int | None) -> bool:
    """ExpressionMessageFilter#isMatchedByConsumeQueue without filter data: what else is no tag expression matches.

    tags_code -- the long in the consume queue, None if unknown; only its low 32 bits are compared.
    """
    if subscription is None or subscription.class_filter_mode:
        return True
    if not is_tag_type(subscription.expression_type):
        return True
    return matches_by_code(subscription, tags_code)


def matches_by_code(subscription: SubscriptionData | None, tags_code: int | None) -> bool:
    """DefaultMessageFilter#isMatchedByConsumeQueue: as above, but every expression type is read as tags."""
    if tags_code is None or subscription is None or subscription.class_filter_mode:
        return True
    return subscription.sub_string == SUB_ALL or wrap32(tags_code) in subscription.code_set
