"""MessageSelector: which messages of a topic are subscribed, by an expression of some type."""

from __future__ import annotations

from typing import NamedTuple

from impl.decisions.subscription import SQL92, TAG


class MessageSelector(NamedTuple):
    """`client.consumer.MessageSelector`. expression_type -- of ExpressionType; expression -- its text."""

    expression: str | None
    expression_type: str = TAG


def by_sql(sql: str) -> MessageSelector:
    """MessageSelector#bySql: by the properties of messages."""
    return MessageSelector(sql, SQL92)
