"""MessageExt: a message as the store has it and consumers get it."""

from __future__ import annotations

from dataclasses import dataclass

from impl.common.inet_socket_address import InetSocketAddress

_NO_HOST = InetSocketAddress(bytes(4), 0)


@dataclass(slots=True)
class MessageExt:
    """`common.message.MessageExt`: clients change the one that they have pulled.

    queue_offset -- its place in the queue. properties -- in the order in which java.util.HashMap iterates them; None
    stands for a record without any.
    commit_log_offset -- of its record in the log; store_size -- bytes of that record, 0 for a message without one.
    Times are ms since 1970. msg_id -- the broker's id, made of store host and log offset. transaction_id -- at a client
    that was given a message of a transaction.
    """

    queue_offset: int
    body: bytes | None = b"x"
    properties: dict[str, str] | None = None
    topic: str = ""
    queue_id: int = 0
    flag: int = 0
    sys_flag: int = 0
    store_size: int = 0
    commit_log_offset: int = 0
    born_timestamp: int = 0
    born_host: InetSocketAddress = _NO_HOST
    store_timestamp: int = 0
    store_host: InetSocketAddress = _NO_HOST
    reconsume_times: int = 0
    prepared_transaction_offset: int = 0
    body_crc: int = 0
    msg_id: str | None = None
    broker_name: str | None = None
    transaction_id: str | None = None

    def get_property(self, name: str) -> str | None:
        """Message#getProperty."""
        return None if self.properties is None else self.properties.get(name)

    def put_property(self, name: str, value: str) -> None:
        """Message#putProperty, MessageAccessor#putProperty."""
        if self.properties is None:
            self.properties = {}
        self.properties[name] = value
