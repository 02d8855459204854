"""`TopicRoutes`: the topics of a broker behind data versions (N-2, N-3, N-16)."""

from __future__ import annotations

from model.language import FALSE, TRUE, Bool, Ghost, Nat, Sort, State, Table, action, every, forall, initially, require


class Topic(Sort):
    """A topic of the broker."""


class Version(Nat):
    """DataVersion: only compared for equality; the counter of changes stands for it."""


class TopicRoutes(State):
    """The topics of one master at one name server."""

    exists: Table[Topic, Bool]  # TopicConfigManager.topicConfigTable
    version: Version            # … its DataVersion
    known: Bool                 # brokerLiveTable has the broker
    stored: Version             # … with this DataVersion
    routed: Table[Topic, Bool]  # topicQueueTable has the topic on this broker
    complete: Ghost[Bool]       # the last change was a full registration


@initially
def no_topics(s: TopicRoutes) -> Bool:
    """A fresh broker and a fresh name server."""
    return (s.version == 0) & ~s.known & ~s.complete & forall(~s.exists[t] & ~s.routed[t] for t in every(Topic))


@action("TopicConfigManager#createTopicInSendMessage")
def create(s: TopicRoutes, t: Topic) -> None:
    """A topic is created by a send: the full registration is under way, not yet encoded."""
    require(~s.exists[t], by="TopicConfigManager#createTopicInSendMessage")
    s.exists[t] = TRUE
    s.version = s.version + 1
    s.complete = FALSE


@action("AdminBrokerProcessor#updateAndCreateTopic, BrokerController#registerIncrementBrokerData")
def create_by_admin(s: TopicRoutes, t: Topic) -> None:
    """A topic is created by the administrator: it alone is registered, with the broker's version."""
    require(~s.exists[t], by="TopicConfigManager#updateTopicConfig")
    s.exists[t] = TRUE
    s.stored = s.version + 1
    s.version = s.version + 1
    s.routed[t] = TRUE
    s.known = TRUE
    s.complete = FALSE


@action("RouteInfoManager#registerBroker", atomic_by="the write lock")
def register_all(s: TopicRoutes) -> None:
    """A full registration installs its topics only if the version differs from the stored one."""
    fresh = ~s.known | ~(s.stored == s.version)
    for t in every(Topic):
        s.routed[t] = s.routed[t] | (fresh & s.exists[t])
    s.stored = s.version
    s.known = TRUE
    s.complete = TRUE


@action("RouteInfoManager#registerBroker of a slave")
def register_as_slave(s: TopicRoutes) -> None:
    """The same broker as a slave: its version is stored, its topics are not installed; then it is promoted (N-16)."""
    s.stored = s.version
    s.known = TRUE
    s.complete = FALSE


@action("NamesrvStartup#main", environment=True)
def restart_name_server(s: TopicRoutes) -> None:
    """A name server forgets everything."""
    for t in every(Topic):
        s.routed[t] = FALSE
    s.known = FALSE
    s.complete = FALSE
