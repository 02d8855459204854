"""Written histories of how brokers register."""

from __future__ import annotations

from typing import Any

import invariants.rules.registration  # noqa: F401  # declares the rules
from impl.events import (
    BrokerRegistered,
    BrokerShutDown,
    BrokerStarted,
    BrokerStopping,
    BrokerUnregistered,
    DiskFilled,
    MasterLearned,
    ProcessKilled,
    RegistrationAnswered,
    RegistrationEncoded,
    RegistrationFailed,
    RetryTopicAnnounced,
    VersionQueried,
)
from stateful_tests.rules.written import Tables, Turns, Written

B, NS, ADDR = "broker-a", "nameserver1", "broker-a:10911"
ASKED = (1, NS, VersionQueried(NS, ADDR, "broker-a:1", changed=True))


def counts(ms: int, count: int, time_ms: int = 5) -> tuple[int, str, Any]:
    """The broker registers a version."""
    return ms, B, RegistrationEncoded(B, (time_ms, count), frozenset(), increment=False)


def has_topics(*numbers: int) -> Tables:
    """The queues of its topic, one registration after the other."""
    return Tables(topics=Turns(*({"orders": queues} for queues in numbers)))


def has_groups(*versions: int, nums: tuple[int, ...] = (1, 2)) -> Tables:
    """The version of its groups and the retry queues of one, each time that somebody looks."""
    return Tables(subscription_group_version=Turns(*((5, one) for one in versions)),
                  subscription_groups=Turns(*(["G"] * bool(one) for one in nums)),
                  group_config=Turns(*((one,) for one in nums if one)))


def dies(*, power_loss: bool = False, at: str = B) -> tuple[int, str, Any]:
    """Its process ends."""
    return 2, at, ProcessKilled(1, power_loss)


MASTER, SLAVE = ((3, B, BrokerStarted(B, B, broker_id)) for broker_id in (0, 1))
STARTED, STOPS, ENDS = (0, B, BrokerStarted(B, B, 0)), (1, B, BrokerStopping(B)), (4, B, BrokerShutDown(B))
HEARD, FAILED = (2, NS, BrokerUnregistered(NS, B, 0, ADDR)), (2, B, RegistrationFailed(B, f"{NS}:9876", "E"))
ONE_SERVER = Tables(namesrvs=[NS])
REACHES = "registration_reaches_all_name_servers"


def registered(at: str = NS, addr: str = ADDR) -> tuple[int, str, Any]:
    """A name server has a broker."""
    return 2, at, BrokerRegistered(at, B, 0, addr, f"{addr[:8]}:1", (5, 4), frozenset())



HISTORIES = (
    Written(
        "success_means_registered",
        broken=((1, NS, RegistrationAnswered(NS, ADDR, 0, known=False)),),
        kept=((1, NS, RegistrationAnswered(NS, ADDR, 1, known=False)),
              (1, NS, RegistrationAnswered(NS, ADDR, 0, known=True))),
    ),
    Written(
        "other_version_is_registered", broken=(ASKED,),
        kept=(ASKED, (2, NS, BrokerRegistered(NS, B, 0, ADDR, "broker-a:1", (1, 1), frozenset()))),
    ),
    Written("other_version_is_registered", broken=(ASKED,), kept=((1, NS, ASKED[2]._replace(changed=False)),)),
    Written(
        "slave_takes_the_master_it_is_told",
        broken=((1, B, MasterLearned(B, None, (None, "a:1"))),),
        kept=((1, B, MasterLearned(B, "a:1", (None, "a:1"))), (2, B, MasterLearned(B, None, (None, None)))),
    ),
    Written(
        "heartbeats_do_not_wait_for_name_servers",
        broken=((1, B, RetryTopicAnnounced(B, "G", 3_000)),), kept=((1, B, RetryTopicAnnounced(B, "G", 2_999)),),
    ),
    Written("registered_versions_go_forward", (STARTED, counts(1, 4), counts(2, 3)),
            (STARTED, counts(1, 4), counts(2, 4), counts(3, 5, 1)), says="version 3, and has registered 4"),
    Written("registered_versions_go_forward", (STARTED, counts(1, 4), dies(), MASTER, counts(4, 3)),
            (STARTED, counts(1, 4), dies(power_loss=True), MASTER, counts(4, 3))),
    Written("registered_versions_go_forward", (STARTED, counts(1, 4), dies(), MASTER, counts(4, 3)),
            (STARTED, counts(1, 4), dies(), SLAVE, counts(4, 3))),
    Written("registered_versions_go_forward", (STARTED, counts(1, 4), dies(), MASTER, counts(4, 3)),
            (STARTED, counts(1, 4), dies(), SLAVE, dies(), MASTER, counts(4, 3))),
    Written("registered_versions_go_forward", (STARTED, counts(1, 4), counts(2, 3)),
            (STARTED, (0, B, DiskFilled(100)), counts(1, 4), counts(2, 3))),
    # One registration may come between the table and the version.
    Written("changed_topics_are_counted", (STARTED, counts(1, 4), counts(2, 4), counts(3, 4)),
            (STARTED, counts(1, 4), counts(2, 4), counts(3, 5)), views=has_topics(1, 2, 2), says="version 4 again"),
    Written("changed_topics_are_counted", (STARTED, counts(1, 4), counts(2, 4), counts(3, 4)),
            (STARTED, counts(1, 4), counts(2, 5), counts(3, 5)), views=has_topics(1, 2, 2)),
    Written("changed_topics_are_counted", (STARTED, counts(1, 4), counts(2, 4), counts(3, 4)),
            (STARTED, counts(1, 4), counts(2, 4), counts(3, 4)), views=has_topics(1, 2, 2),
            kept_views=has_topics(1, 1, 1)),
    Written("changed_topics_are_counted", (STARTED, counts(1, 4), counts(2, 4), counts(3, 4)),
            (SLAVE, counts(4, 4), counts(5, 4), counts(6, 4)), views=has_topics(1, 2, 2)),
    Written("changed_topics_are_counted", (STARTED, counts(1, 4), counts(2, 4), counts(3, 4)),
            (STARTED, counts(1, 4), counts(2, 4), dies(), MASTER, counts(4, 4)), views=has_topics(1, 2, 2)),
    Written("changed_topics_are_counted", (STARTED, counts(1, 4), counts(2, 4), counts(3, 4)),
            (STARTED, counts(1, 4), dies(), MASTER, counts(4, 4), counts(5, 4)), views=has_topics(1, 2, 2)),
    *(Written("changed_groups_are_counted", (STARTED,), (STARTED,), has_groups(1, 1, nums=nums),
              has_groups(1, 2, nums=nums), says="their version (5, 1) still") for nums in ((1, 2), (0, 1), (1, 0))),
    Written("changed_groups_are_counted", (STARTED,), (STARTED,), has_groups(1, 1), has_groups(1, 1, nums=(2, 2))),
    Written("changed_groups_are_counted", (STARTED,), (SLAVE,), has_groups(1, 1)),
    Written("changed_groups_are_counted", (STARTED,), (STARTED, dies()), has_groups(1, 1)),
    Written("goodbye_reaches_all_name_servers", (STARTED, STOPS, ENDS), (STARTED, STOPS, HEARD, ENDS),
            views=ONE_SERVER),
    Written("goodbye_reaches_all_name_servers", (STARTED, STOPS, ENDS), (STARTED, STOPS, FAILED, ENDS),
            views=ONE_SERVER),
    Written("goodbye_reaches_all_name_servers", (STARTED, (0, *HEARD[1:]), STOPS, ENDS),
            (STARTED, STOPS, (1, *HEARD[1:]), ENDS), views=ONE_SERVER),
    Written("goodbye_reaches_all_name_servers", (STARTED, STOPS, ENDS), (STARTED, STOPS, ENDS), views=ONE_SERVER,
            kept_views=Tables(namesrvs=[NS], calm=False)),
    *(Written(REACHES, (STARTED, counts(1, 4)), (STARTED, counts(1, 4), other), views=ONE_SERVER,
              says="broker-a has registered, but not at nameserver1")
      for other in (registered(), FAILED, dies(at=NS), STOPS)),
    *(Written(REACHES, (STARTED, counts(1, 4), other), (STARTED, counts(1, 4), registered()), views=ONE_SERVER)
      for other in (registered("nameserver2"), registered(addr="broker-b:10911"), dies(at="nameserver2"))),
    *(Written(REACHES, (STARTED, counts(1, 4)), (STARTED, counts(1, 4)), views=ONE_SERVER, kept_views=views)
      for views in (Tables(namesrvs=[]), Tables(namesrvs=[NS], calm=False))),
)
