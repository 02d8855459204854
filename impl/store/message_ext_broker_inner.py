"""MessageExtBrokerInner: a message on its way into the log."""

from __future__ import annotations

from dataclasses import dataclass, field

from impl.common.inet_socket_address import InetSocketAddress
from impl.common.message_const import PROPERTY_DELAY_TIME_LEVEL, PROPERTY_WAIT_STORE_MSG_OK
from impl.common.message_properties import message_properties2_string
from impl.decisions.retry_level import delay_time_level
from impl.decisions.store_rules import is_wait_store_msg_ok
from impl.hash_map import HashMap


@dataclass(slots=True)
class MessageExtBrokerInner:
    """`store.MessageExtBrokerInner` with what it inherits. Times are ms since 1970.

    properties_string -- what is written; None for no properties. It does not follow `properties` by itself.
    """

    topic: str
    body: bytes | None
    born_host: InetSocketAddress
    store_host: InetSocketAddress
    queue_id: int = 0
    flag: int = 0
    sys_flag: int = 0
    born_timestamp: int = 0
    store_timestamp: int = 0
    reconsume_times: int = 0
    prepared_transaction_offset: int = 0
    body_crc: int = 0
    properties: HashMap[str, str] = field(default_factory=HashMap)
    properties_string: str | None = None
    tags_code: int = 0

    def get_property(self, name: str) -> str | None:
        """Message#getProperty."""
        return self.properties.get(name)

    def put_property(self, name: str, value: str) -> None:
        """MessageAccessor#putProperty."""
        self.properties.put(name, value)

    def clear_property(self, name: str) -> None:
        """MessageAccessor#clearProperty."""
        self.properties.remove(name)

    def write_properties(self) -> None:
        """Let the text to be written be that of the map: setPropertiesString of messageProperties2String."""
        self.properties_string = message_properties2_string(self.properties.entries())

    def delay_time_level(self) -> int:
        """Message#getDelayTimeLevel; raises NumberFormatError."""
        return delay_time_level(self.get_property(PROPERTY_DELAY_TIME_LEVEL))

    def is_wait_store_msg_ok(self) -> bool:
        """Message#isWaitStoreMsgOK."""
        return is_wait_store_msg_ok(self.get_property(PROPERTY_WAIT_STORE_MSG_OK))


@dataclass(slots=True)
class MessageExtBatch(MessageExtBrokerInner):
    """`common.message.MessageExtBatch`: the body holds the messages, as message_batch.encode_messages writes them."""
