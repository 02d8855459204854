"""Sentences about the life of brokers, their topics and their registration."""

from __future__ import annotations

from typing import Any

from impl.events import registration as told
from impl.events.sentences.said import Said


def _started(event: told.BrokerStarted, _: Any) -> str:
    role = "master" if event.broker_id == 0 else "slave {broker_id}"
    return f"{{at}} starts as {role} of {{broker_name}}" + (", with {settings}" if event.settings else "")


def _encoded(event: told.RegistrationEncoded, _: Any) -> str:
    if event.increment:
        return "{at} is about to register {topics} alone, in version {version}"
    return "{at} is about to register all its topics, version {version}: {topics}"


SENTENCES: dict[type, Said] = {
    told.BrokerStarted: Said(_started, "starts of brokers"),
    told.BrokerStopping: Said("{at} begins to shut down", "shutdowns begun"),
    told.BrokerShutDown: Said("{at} has shut down", "shutdowns"),
    told.TopicConfigUpdated: Said("{at} has a new setting of the topic {topic}", "topics changed"),
    told.TopicConfigDeleted: Said("{at} deletes the topic {topic}", "topics deleted"),
    told.RegistrationEncoded: Said(_encoded, "registrations prepared"),
    told.RegistrationFailed: Said("{at} does not get registered at {namesrv_addr} ({error})", "registrations failed"),
    told.MasterLearned: Said("{at} copies from {master_addr} from now on; its name servers said: {answers}",
                             "masters learnt"),
    told.RetryTopicAnnounced: Said("{at} tells the name servers of the retry topic of {group}; a heartbeat waits "
                                   "{waited_ms} for it", "retry topics announced"),
}
