"""Which broker a consumer should pull from next: the distance to the log's end against 40 % of the memory."""

from __future__ import annotations

from impl.decisions.java_arithmetic import cut_product, wrap64
from impl.decisions.names import MASTER_ID

ACCESS_MESSAGE_IN_MEMORY_MAX_RATIO = 40  # MessageStoreConfig; percent
WHICH_BROKER_WHEN_CONSUME_SLOWLY = 1  # SubscriptionGroupConfig


def accessible_memory_bytes(
    total_physical_memory_bytes: int, max_ratio_percent: int = ACCESS_MESSAGE_IN_MEMORY_MAX_RATIO,
) -> int:
    """The part of the host's memory that messages are assumed to be in; DefaultMessageStore#getMessage.

    In Java a double is cut to a long, and so it is here.
    """
    return cut_product(total_physical_memory_bytes, max_ratio_percent / 100.0)


def behind_memory(max_offset_py: int, offset_py: int, memory_bytes: int) -> bool:
    """Whether a physical offset lies further from the log's end than the memory reaches.

    DefaultMessageStore#checkInDiskByCommitOffset for a message; DefaultMessageStore#getMessage sets
    suggestPullingFromSlave by the same test of the last unit that it examined.
    """
    return wrap64(max_offset_py - offset_py) > memory_bytes


def suggest_which_broker_id(
    broker_id: int, which_broker_when_consume_slowly: int, *, slave_read_enable: bool, suggest_pulling_from_slave: bool,
) -> int:
    """What the answer suggests; PullMessageProcessor#processRequest, the two assignments in turn.

    broker_id, which_broker_when_consume_slowly -- of the subscription group's configuration; 0 and 1 by default.
    slave_read_enable -- of the answering broker. A slave's role changes nothing here.
    """
    if slave_read_enable:
        if suggest_pulling_from_slave:
            return which_broker_when_consume_slowly
        return broker_id
    return MASTER_ID


def moved_suggestion(
    suggested: int, broker_id: int, *, slave: bool, offset_check_in_slave: bool, offset_moved: bool,
) -> int:
    """The suggestion of an answer whose code is PULL_OFFSET_MOVED; PullMessageProcessor#processRequest.

    A slave that does not check offsets suggests the group's broker, whatever slaveReadEnable says.
    """
    if offset_moved and slave and not offset_check_in_slave:
        return broker_id
    return suggested
