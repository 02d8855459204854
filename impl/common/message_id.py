"""Broker message ids (offsetMsgId): store host and physical offset of a record, as hexadecimal digits."""

from __future__ import annotations

import struct
from typing import NamedTuple

from impl.common.inet_socket_address import IPV4_BYTES, IPV6_BYTES, InetSocketAddress, inet_socket_address
from impl.common.util_all import bytes2string, string2bytes
from impl.decisions.java_errors import not_null
from impl.decisions.java_text import substring, utf16_text

_IPV4_DIGITS = 32  # MessageDecoder#decodeMessageId: of a whole id


class MessageId(NamedTuple):
    """`common.message.MessageId`."""

    address: InetSocketAddress
    offset: int


def create_message_id(store_host: InetSocketAddress, offset: int) -> str:
    """MessageDecoder#createMessageId: 32 digits, 56 for an IPv6 host."""
    return bytes2string(store_host.to_bytes() + struct.pack(">q", offset))


def create_message_id_of_length(id_bytes: int, store_host: InetSocketAddress, offset: int) -> str:
    """The same in a buffer of so many bytes, all of which are written out.

    MessageDecoder#decode takes 28 bytes for a record whose flag says IPv6, also when the address maps an IPv4 address:
    twelve zero bytes then follow the id.
    """
    return create_message_id(store_host, offset).ljust(2 * id_bytes, "0")


def decode_message_id(msg_id: str | None) -> MessageId:
    """MessageDecoder#decodeMessageId: an id of another length than 32 digits is taken for one of an IPv6 host.

    Raises NullPointerError, StringIndexOutOfBoundsError for a short id, IllegalArgumentError for the port,
    UnknownHostError when upper-casing makes a character more than one.
    """
    text = utf16_text(not_null(msg_id))
    ip_digits = 2 * (IPV4_BYTES if len(text) == _IPV4_DIGITS else IPV6_BYTES)
    ip = not_null(string2bytes(substring(text, 0, ip_digits)))
    port = not_null(string2bytes(substring(text, ip_digits, ip_digits + 8)))
    address = inet_socket_address(ip, int.from_bytes(port[:4], "big", signed=True))
    offset = not_null(string2bytes(substring(text, ip_digits + 8, ip_digits + 24)))
    return MessageId(address, int.from_bytes(offset[:8], "big", signed=True))
