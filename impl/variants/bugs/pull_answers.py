"""Seeded bugs of what brokers answer to pulls."""

from __future__ import annotations

from collections.abc import Callable

from impl.broker.consumer_filter_manager import ConsumerFilterData
from impl.broker.pull_checks import PullChecks
from impl.common.headers import PullMessageRequestHeader
from impl.common.subscription_group_config import SubscriptionGroupConfig
from impl.decisions.subscription import SubscriptionData
from impl.variants.variant import Variant, around

_Filter = tuple[SubscriptionData, ConsumerFilterData | None]


@around(PullChecks, "_stored_subscription")
def _filter_by_what_is_there(original: Callable[..., _Filter]) -> Callable[..., _Filter]:
    def _stored_subscription(
        self: PullChecks, header: PullMessageRequestHeader, group: SubscriptionGroupConfig,
    ) -> _Filter:
        """Nobody looks whether the subscription is as new as the pull."""
        return original(self, header._replace(sub_version=0), group)

    return _stored_subscription


_IDEA = "an idea: faults of other brokers"

BUGS = (
    Variant("seeded-old-expressions-answer", "bug", "A pull is answered by an expression that is older than it.", _IDEA,
            replacements=(_filter_by_what_is_there,)),
)
