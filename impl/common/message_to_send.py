"""Message: what a producer sends."""

from __future__ import annotations

from impl.common.message_const import (
    PROPERTY_DELAY_TIME_LEVEL,
    PROPERTY_KEYS,
    PROPERTY_TAGS,
    PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX,
    PROPERTY_WAIT_STORE_MSG_OK,
)
from impl.decisions.java_text import parse_boolean, parse_integer
from impl.hash_map import HashMap


class Message:
    """`common.message.Message`: sending changes it (id, properties, and for a while topic and body).

    topic -- with its namespace while it is being sent. flag -- for applications. properties -- as Java's map iterates
    them. transaction_id -- of a half message, once its broker has it.
    """

    def __init__(
        self, topic: str, body: bytes | None, *, tags: str = "", keys: str = "", flag: int = 0,
        wait_store_msg_ok: bool = True,
    ) -> None:
        """No property but those that are given here, and WAIT."""
        self.topic, self.body, self.flag = topic, body, flag
        self.properties: HashMap[str, str] = HashMap()
        self.transaction_id: str | None = None
        if tags:
            self.put_property(PROPERTY_TAGS, tags)
        if keys:
            self.put_property(PROPERTY_KEYS, keys)
        self.put_property(PROPERTY_WAIT_STORE_MSG_OK, "true" if wait_store_msg_ok else "false")

    def put_property(self, name: str, value: str) -> None:
        """Message#putProperty, MessageAccessor#putProperty."""
        self.properties.put(name, value)

    def get_property(self, name: str) -> str | None:
        """Message#getProperty."""
        return self.properties.get(name)

    def clear_property(self, name: str) -> None:
        """MessageAccessor#clearProperty."""
        self.properties.remove(name)

    @property
    def uniq_id(self) -> str | None:
        """MessageClientIDSetter#getUniqID."""
        return self.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX)

    @property
    def delay_time_level(self) -> int:
        """Message#getDelayTimeLevel; raises NumberFormatError."""
        level = self.get_property(PROPERTY_DELAY_TIME_LEVEL)
        return 0 if level is None else parse_integer(level, 32)

    @property
    def wait_store_msg_ok(self) -> bool:
        """Message#isWaitStoreMsgOK."""
        wait = self.get_property(PROPERTY_WAIT_STORE_MSG_OK)
        return wait is None or parse_boolean(wait)

    def clone(self) -> Message:
        """MessageAccessor#cloneMessage: with the SAME map of properties; it has no transaction id."""
        clone = Message(self.topic, self.body, flag=self.flag)
        clone.properties = self.properties
        return clone
