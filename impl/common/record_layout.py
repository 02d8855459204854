"""The stored record of a message: its fields in their order, as log, pull answers and decoders share them."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from impl.common.byte_buffer import ByteBuffer
from impl.decisions.flags import BORNHOST_V6_FLAG, STOREHOSTADDRESS_V6_FLAG
from impl.decisions.java_errors import BufferUnderflowError

MESSAGE_MAGIC_CODE = -626843481  # 0xDAA320A7; CommitLog, MessageDecoder
BLANK_MAGIC_CODE = -875286124  # 0xCBD43194; CommitLog
QUEUE_OFFSET_POSITION = 20  # MessageDecoder
PHY_POS_POSITION = 28  # MessageDecoder
SYSFLAG_POSITION = 36  # MessageDecoder
BORN_HOST_POSITION = 48

_HOST_FLAGS = BORNHOST_V6_FLAG | STOREHOSTADDRESS_V6_FLAG
_SYSFLAG_END = SYSFLAG_POSITION + 4


def _header(born_host_flag: int, store_host_flag: int) -> Struct:
    born, store = (16 if flag else 4 for flag in (born_host_flag, store_host_flag))
    return Struct(f">iiiiiqqiq{born}siq{store}siiqi")


_HEADERS = {born | store: _header(born, store)
            for born in (0, BORNHOST_V6_FLAG) for store in (0, STOREHOSTADDRESS_V6_FLAG)}


class RecordHeader(NamedTuple):
    """The fields before the body; body_length is that of the body. Addresses have 4 or 16 bytes, as sys_flag says."""

    total_size: int
    magic_code: int
    body_crc: int
    queue_id: int
    flag: int
    queue_offset: int
    physical_offset: int
    sys_flag: int
    born_timestamp: int
    born_address: bytes
    born_port: int
    store_timestamp: int
    store_address: bytes
    store_port: int
    reconsume_times: int
    prepared_transaction_offset: int
    body_length: int


def host_bytes(sys_flag: int, v6_flag: int) -> int:
    """Bytes of a host: address and port. v6_flag -- BORNHOST_V6_FLAG or STOREHOSTADDRESS_V6_FLAG."""
    return 8 if sys_flag & v6_flag == 0 else 20


def header_struct(sys_flag: int) -> Struct:
    """The form of the fields before the body."""
    return _HEADERS[sys_flag & _HOST_FLAGS]


def read_header(buffer: ByteBuffer) -> RecordHeader:
    """The fields before the body; the position moves behind them. Raises BufferUnderflowError."""
    if buffer.position + _SYSFLAG_END > buffer.limit:
        raise BufferUnderflowError
    sys_flag = buffer.int_at(buffer.position + SYSFLAG_POSITION)
    return RecordHeader._make(buffer.unpack(header_struct(sys_flag)))
