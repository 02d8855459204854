"""A client rebalances every 10 s: the constant of a module."""

from impl.client import rebalance_service
from impl.variants.change import constant
from impl.variants.variant import Variant

VARIANT = Variant("rebalance-every-10-s", "change", "rocketmq.client.rebalance.waitInterval is 10000.", replacements=(
    constant(rebalance_service, "WAIT_INTERVAL_MS", 10_000),))
