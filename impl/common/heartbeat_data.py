"""What a heartbeat says (`common.protocol.heartbeat`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from impl.decisions.subscription import SubscriptionData

CONSUME_ACTIVELY = "CONSUME_ACTIVELY"  # ConsumeType: pull and lite pull consumers
CONSUME_PASSIVELY = "CONSUME_PASSIVELY"  # ConsumeType: push consumers
CLUSTERING = "CLUSTERING"  # MessageModel
BROADCASTING = "BROADCASTING"  # MessageModel


@dataclass(slots=True)
class ConsumerData:
    """One consumer of the client. subscription_data_set has at most one entry for a topic."""

    group_name: str
    consume_type: str
    message_model: str
    consume_from_where: str
    subscription_data_set: Sequence[SubscriptionData] = ()
    unit_mode: bool = False


@dataclass(slots=True)
class ProducerData:
    """One producer of the client."""

    group_name: str


@dataclass(slots=True)
class HeartbeatData:
    """A whole heartbeat, in document order."""

    client_id: str
    producer_data_set: list[ProducerData] = field(default_factory=list)
    consumer_data_set: list[ConsumerData] = field(default_factory=list)
