"""What a broker reports of its life, its topics and its registration at name servers."""

from __future__ import annotations

from typing import NamedTuple


class BrokerStarted(NamedTuple):
    """BrokerController#start: it listens; nobody knows of it yet.

    settings -- switches of BrokerConfig, its cluster and its permission, where they are not as they are shipped, as
    "name = value".
    """

    broker: str
    broker_name: str
    broker_id: int
    settings: tuple[str, ...] = ()


class BrokerStopping(NamedTuple):
    """BrokerController#shutdown has begun: UNREGISTER_BROKER is about to be sent."""

    broker: str


class BrokerShutDown(NamedTuple):
    """BrokerController#shutdown has ended: the offsets are in their file."""

    broker: str


class TopicConfigUpdated(NamedTuple):
    """A topic entered topicConfigTable, or was replaced there; the version is raised later."""

    broker: str
    topic: str


class TopicConfigDeleted(NamedTuple):
    """A topic left topicConfigTable."""

    broker: str
    topic: str


class RegistrationEncoded(NamedTuple):
    """BrokerOuterAPI#registerBrokerAll: version and topics as the body has them; increment -- one topic only."""

    broker: str
    version: tuple[int, int]
    topics: frozenset[str]
    increment: bool


class RegistrationFailed(NamedTuple):
    """BrokerOuterAPI#registerBroker: one name server did not answer SUCCESS."""

    broker: str
    namesrv_addr: str
    error: str


class MasterLearned(NamedTuple):
    """BrokerController#doRegisterBrokerAll at a slave: whom it copies from now; answers -- who its name servers say."""

    broker: str
    master_addr: str | None
    answers: tuple[str | None, ...]


class RetryTopicAnnounced(NamedTuple):
    """ClientManageProcessor#heartBeat: the name servers are told of the retry topic of a new group.

    waited_ms -- how long the thread of the heartbeat has waited for that, by the broker's clock.
    """

    broker: str
    group: str
    waited_ms: int
