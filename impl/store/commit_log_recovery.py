"""How the commit log finds its end again: CommitLog#recoverNormally, #recoverAbnormally."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from impl.common.record_layout import (
    BORN_HOST_POSITION,
    MESSAGE_MAGIC_CODE,
    SYSFLAG_POSITION,
    host_bytes,
)
from impl.decisions.flags import BORNHOST_V6_FLAG
from impl.decisions.store_recovery import first_file_of_abnormal_recovery, first_file_of_normal_recovery
from impl.store.commit_log import CommitLog
from impl.store.dispatch_request import DispatchRequest
from impl.store.mapped_file import MappedFile
from impl.store.record_reader import RecordReader

_MAGIC_CODE_POSITION = 4  # MessageDecoder#MESSAGE_MAGIC_CODE_POSTION


class Logics(NamedTuple):
    """The consume queues, as recovery treats them. Each is a method of the store of this name."""

    truncate_dirty_logic_files: Callable[[int], None]
    destroy_logics: Callable[[], None]


def recover_normally(log: CommitLog, max_phy_offset_of_consume_queue: int, logics: Logics, *, check_crc: bool) -> None:
    """CommitLog#recoverNormally: look for the end in the last three files. Nothing is dispatched."""
    index = first_file_of_normal_recovery(len(log.mapped_file_queue.mapped_files))
    _recover_from(log, index, max_phy_offset_of_consume_queue, logics, lambda _: None, check_crc=check_crc)


def recover_abnormally(
    log: CommitLog, max_phy_offset_of_consume_queue: int, logics: Logics, dispatch: Callable[[DispatchRequest], None],
    min_timestamp: int, *, check_crc: bool,
) -> None:
    """CommitLog#recoverAbnormally: look for the end from the newest file on that the checkpoint vouches for.

    dispatch -- is given every good record on the way. min_timestamp -- of the checkpoint, in ms.
    """
    store_timestamps = [first_store_timestamp(mapped_file) for mapped_file in log.mapped_file_queue.mapped_files]
    index = first_file_of_abnormal_recovery(store_timestamps, min_timestamp)
    _recover_from(log, index, max_phy_offset_of_consume_queue, logics, dispatch, check_crc=check_crc)


def first_store_timestamp(mapped_file: MappedFile) -> int:
    """When the first record of a file was stored, in ms; 0 if there is none. CommitLog#isMappedFileMatchedRecover."""
    buffer = mapped_file.mapped_byte_buffer
    if buffer.get_int(_MAGIC_CODE_POSITION) != MESSAGE_MAGIC_CODE:
        return 0
    sys_flag = buffer.get_int(SYSFLAG_POSITION)
    return buffer.get_long(BORN_HOST_POSITION + host_bytes(sys_flag, BORNHOST_V6_FLAG))


def _recover_from(
    log: CommitLog, index: int, max_phy_offset_of_consume_queue: int, logics: Logics,
    dispatch: Callable[[DispatchRequest], None], *, check_crc: bool,
) -> None:
    """Read from a file on; end behind the last good record, and let the consume queues end there too."""
    queue = log.mapped_file_queue
    if not queue.mapped_files:
        queue.flushed_where = queue.committed_where = 0
        logics.destroy_logics()
        return
    process_offset = 0
    for mapped_file in queue.mapped_files[index:]:
        good_bytes, ended = _good_bytes(log, mapped_file, dispatch, check_crc=check_crc)
        process_offset = mapped_file.file_from_offset + good_bytes
        if not ended:
            break
    queue.flushed_where = queue.committed_where = process_offset
    queue.truncate_dirty_files(process_offset)
    if max_phy_offset_of_consume_queue >= process_offset:
        logics.truncate_dirty_logic_files(process_offset)


def _good_bytes(
    log: CommitLog, mapped_file: MappedFile, dispatch: Callable[[DispatchRequest], None], *, check_crc: bool,
) -> tuple[int, bool]:
    """How many bytes of good records a file begins with, and whether a blank ends them."""
    size = mapped_file.file_size
    reader = RecordReader(
        mapped_file.mapped_byte_buffer, 0, size, check_crc=check_crc, read_body=True, delay_levels=log.delay_levels)
    good_bytes = 0
    while (request := reader.next()).success and request.msg_size > 0:
        good_bytes += request.msg_size
        dispatch(request)
    return good_bytes, request.success
