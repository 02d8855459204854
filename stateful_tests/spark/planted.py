"""Variants for the tests of campaigns, as the text of files that define VARIANT."""

from __future__ import annotations

from pathlib import Path

_HEAD = """
from __future__ import annotations
import random
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.namesrv.route_info_manager import RouteInfoManager
from impl.variants.variant import Replacement, Variant, around


@around(RouteInfoManager, "register_broker")
def early(original):
    def register_broker(self, registration):
        result = original(self, registration)
        self.broker_live_table.get(registration.broker_addr).last_update_timestamp -= 1000
        return result
    return register_broker


@around(RouteInfoManager, "pickup_topic_route_data")
def forgetful(original):
    def pickup_topic_route_data(self, topic):
        return None if random.random() < 0.3 else original(self, topic)
    return pickup_topic_route_data


@around(RouteInfoManager, "register_broker")
def same(original):
    def register_broker(self, registration):
        return original(self, registration)
    return register_broker


@around(DefaultMQPushConsumerImpl, "resume")
def never(original):
    async def resume(self):
        raise AssertionError
    return resume

"""

EARLY = _HEAD + 'VARIANT = Variant("early", "bug", "Entries are a second old.", "a toy", replacements=(early,))\n'
"""Found at the first registration of every run, by refines_route_info."""

UNREPEATABLE = _HEAD + (
    'VARIANT = Variant("dice", "bug", "As early, and queries are lost.", "a toy", replacements=(early, forgetful))\n')
"""The same, but no two runs of a tape are equal."""

MISSING = _HEAD + (
    'nowhere = Replacement(RouteInfoManager, "no_such_function", print)\n'
    'VARIANT = Variant("missing", "bug", "Replaces what is not there.", "a toy", replacements=(nowhere,))\n')
"""Names a function that is not there."""

SAME = _HEAD + 'VARIANT = Variant("same", "bug", "Calls what it replaces.", "a toy", replacements=(same,))\n'
"""Changes nothing."""

NEVER = _HEAD + 'VARIANT = Variant("never", "bug", "No calm run calls it.", "a toy", replacements=(never,))\n'
"""Would raise an error if it were called."""

_CHANGES = Path(__file__).parents[2] / "examples" / "changes"
SHIPPED_LOOP = (_CHANGES / "shipped_loop.py").read_text("utf-8")
"""Changes nothing: ConsumerGroupInfo#updateSubscription, first loop, word for word."""
ONE_STEP = (_CHANGES / "compute_subscription.py").read_text("utf-8")
"""A repair of B-29."""
