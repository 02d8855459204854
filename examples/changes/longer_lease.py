"""A client believes in its lock for 65 s, the broker for 60 s: a constant, and nothing else, makes leases misfit."""

from impl.client import process_queue
from impl.variants.change import constant
from impl.variants.variant import Variant

VARIANT = Variant("longer-lease", "change", "rocketmq.client.rebalance.lockMaxLiveTime is 65000.", replacements=(
    constant(process_queue, "REBALANCE_LOCK_MAX_LIVE_TIME_MS", 65_000),))
