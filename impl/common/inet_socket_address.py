"""InetSocketAddress: the hosts that stand in a record, and their bytes."""

from __future__ import annotations

import zlib
from typing import NamedTuple

from impl.decisions.java_errors import IllegalArgumentError, UnknownHostError

IPV4_BYTES, IPV6_BYTES = 4, 16
_MAPPED = bytes(10) + b"\xff\xff"
_GREATEST_PORT = 0xFFFF


class InetSocketAddress(NamedTuple):
    """`java.net.InetSocketAddress` of an address, not of a name. address -- 4 or 16 bytes."""

    address: bytes
    port: int

    @property
    def is_v6(self) -> bool:
        """Whether the address is an Inet6Address."""
        return len(self.address) == IPV6_BYTES

    def to_bytes(self) -> bytes:
        """MessageExt#socketAddress2ByteBuffer: the address and four bytes of port."""
        return self.address + self.port.to_bytes(4, "big")


def inet_socket_address(address: bytes, port: int) -> InetSocketAddress:
    """InetAddress#getByAddress and the constructor of InetSocketAddress.

    An IPv6 address that maps an IPv4 address becomes that one. Raises UnknownHostError for another number of bytes than
    4 and 16, IllegalArgumentError for a port outside 0 … 65535.
    """
    if len(address) not in (IPV4_BYTES, IPV6_BYTES):
        raise UnknownHostError("addr is of illegal length")
    if not 0 <= port <= _GREATEST_PORT:
        raise IllegalArgumentError(f"port out of range:{port}")
    if len(address) == IPV6_BYTES and address.startswith(_MAPPED):
        address = address[-IPV4_BYTES:]
    return InetSocketAddress(address, port)


def socket_address(address: str) -> InetSocketAddress:
    """The address that stands in a record for "host:port"; a host without a number has one of the network 10."""
    host, _, port = address.rpartition(":")
    return InetSocketAddress(bytes([10]) + zlib.crc32(host.encode()).to_bytes(4, "big")[1:], int(port))
