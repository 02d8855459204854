"""Seeded bugs of replicas: what a master sends, what its slave makes of it, and who waits for it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from impl.store.commit_log import CommitLog
from impl.store.ha.ha_connection import WriteSocketService
from impl.store.put_message_result import AppendMessageResult
from impl.store.put_message_status import PutMessageStatus
from impl.variants.variant import Variant, around, replace

_HEADER = struct.Struct(">qi")


@replace(WriteSocketService, "_send_log")
def _send_the_last_body(self: WriteSocketService) -> bool:
    """The body of a frame is that of the one before, if it is as long."""
    result = self._store.get_commit_log_data(self.next_transfer_from_where)
    if result is None:
        return False
    body = result.read(0, min(result.size, self._store.config.ha_transfer_batch_size_bytes))
    result.release()
    before = vars(self).get("body", body)
    vars(self)["body"] = body
    self._left = _HEADER.pack(self.next_transfer_from_where, len(body)) + (before if len(before) == len(body) else body)
    self.next_transfer_from_where += len(body)
    return self._transfer_data()


@around(WriteSocketService, "_send_log")
def _send_the_first_file_only(original: Callable[[WriteSocketService], bool]) -> Callable[..., bool]:
    def _send_log(self: WriteSocketService) -> bool:
        """What is not in the first file of the log is not sent."""
        size = self._store.config.mapped_file_size_commit_log
        return self.next_transfer_from_where < size and original(self)

    return _send_log


@replace(CommitLog, "_submit_replica_request")
def _wait_for_no_slave(self: CommitLog, result: AppendMessageResult, *, wait: bool) -> Any:
    """SYNC_MASTER is as good as ASYNC_MASTER."""
    del self, result, wait
    return PutMessageStatus.PUT_OK


_IDEA = "an idea: faults of other replicas"

BUGS = (
    Variant("seeded-frame-comes-again", "bug", "A slave is sent the same bytes again, as if they were the next ones.",
            _IDEA, replacements=(_send_the_last_body,)),
    Variant("seeded-slave-gets-one-file", "bug", "A master sends a slave the first file of its log only.", _IDEA,
            replacements=(_send_the_first_file_only,)),
    Variant("seeded-no-slave-is-waited-for", "bug", "SYNC_MASTER answers before a slave has the record.", _IDEA,
            replacements=(_wait_for_no_slave,)),
)
