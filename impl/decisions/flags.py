"""Bit flags of messages, pulls, topics, subscriptions and permissions. A flag is an int."""

from __future__ import annotations

from impl.decisions.java_arithmetic import wrap32

# common.sysflag.MessageSysFlag
COMPRESSED_FLAG = 1
MULTI_TAGS_FLAG = 1 << 1
TRANSACTION_NOT_TYPE = 0
TRANSACTION_PREPARED_TYPE = 1 << 2
TRANSACTION_COMMIT_TYPE = 2 << 2
TRANSACTION_ROLLBACK_TYPE = 3 << 2
BORNHOST_V6_FLAG = 1 << 4
STOREHOSTADDRESS_V6_FLAG = 1 << 5

# common.sysflag.PullSysFlag
FLAG_COMMIT_OFFSET = 1
FLAG_SUSPEND = 1 << 1
FLAG_SUBSCRIPTION = 1 << 2
FLAG_CLASS_FILTER = 1 << 3
FLAG_LITE_PULL_MESSAGE = 1 << 4
PULL_FLAGS = (FLAG_COMMIT_OFFSET, FLAG_SUSPEND, FLAG_SUBSCRIPTION, FLAG_CLASS_FILTER, FLAG_LITE_PULL_MESSAGE)

# common.sysflag.TopicSysFlag and SubscriptionSysFlag
FLAG_UNIT = 1
FLAG_UNIT_SUB = 1 << 1

# common.constant.PermName
PERM_PRIORITY = 1 << 3
PERM_READ = 1 << 2
PERM_WRITE = 1 << 1
PERM_INHERIT = 1


def has_flag(value: int, flag: int) -> bool:
    """Whether all bits of flag are set: PullSysFlag#hasSuspendFlag, PermName#isReadable and so on."""
    return value & flag == flag


def set_flag(value: int, flag: int) -> int:
    """TopicSysFlag#setUnitFlag, #setUnitSubFlag, SubscriptionSysFlag#setUnitFlag."""
    return value | flag


def clear_flag(value: int, flag: int) -> int:
    """MessageSysFlag#clearCompressedFlag, PullSysFlag#clearCommitOffsetFlag, TopicSysFlag#clearUnitFlag and so on."""
    return value & ~flag


def get_transaction_value(flag: int) -> int:
    """MessageSysFlag#getTransactionValue."""
    return flag & TRANSACTION_ROLLBACK_TYPE


def reset_transaction_value(flag: int, transaction_type: int) -> int:
    """MessageSysFlag#resetTransactionValue."""
    return wrap32(clear_flag(flag, TRANSACTION_ROLLBACK_TYPE) | transaction_type)


def build_pull_sys_flag(
    commit_offset: bool, suspend: bool, subscription: bool, class_filter: bool, lite_pull: bool = False,
) -> int:
    """PullSysFlag#buildSysFlag, of four or five arguments."""
    wanted = (commit_offset, suspend, subscription, class_filter, lite_pull)
    return sum(flag for flag, on in zip(PULL_FLAGS, wanted, strict=True) if on)


def build_topic_sys_flag(unit: bool, has_unit_sub: bool) -> int:
    """TopicSysFlag#buildSysFlag."""
    return (FLAG_UNIT if unit else 0) | (FLAG_UNIT_SUB if has_unit_sub else 0)


def build_subscription_sys_flag(unit: bool) -> int:
    """SubscriptionSysFlag#buildSysFlag."""
    return FLAG_UNIT if unit else 0


def perm_text(perm: int) -> str:
    """PermName#perm2String, for example `RW-`."""
    letters = ((PERM_READ, "R"), (PERM_WRITE, "W"), (PERM_INHERIT, "X"))
    return "".join(letter if has_flag(perm, flag) else "-" for flag, letter in letters)
