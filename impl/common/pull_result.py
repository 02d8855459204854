"""PullResult: what a pull has found."""

from __future__ import annotations

from typing import NamedTuple

from impl.common.message import MessageExt
from impl.decisions.pull_answer import PullStatus


class PullResult(NamedTuple):
    """`client.consumer.PullResult`. msg_found_list -- by ascending offset."""

    pull_status: PullStatus
    next_begin_offset: int
    msg_found_list: tuple[MessageExt, ...] = ()
