"""PullResult: what a pull has found."""

from __future__ import annotations

from typing import NamedTuple

from impl.common.message import MessageExt
from impl.decisions.names import MASTER_ID
from impl.decisions.pull_answer import PullStatus


class PullResult(NamedTuple):
    """`client.consumer.PullResult`, and what PullResultExt adds to it.

    msg_found_list -- by ascending offset. min_offset, max_offset -- of the queue at the broker. suggest_which_broker_id
    -- whom to ask next. message_binary -- records that are not decoded yet.
    """

    pull_status: PullStatus
    next_begin_offset: int
    msg_found_list: tuple[MessageExt, ...] = ()
    min_offset: int = 0
    max_offset: int = 0
    suggest_which_broker_id: int = MASTER_ID
    message_binary: bytes | None = None
