"""Written histories of how brokers register."""

from __future__ import annotations

import invariants.rules.registration  # noqa: F401  # declares the rules
from impl.events import (
    BrokerRegistered,
    MasterLearned,
    RegistrationAnswered,
    RetryTopicAnnounced,
    VersionQueried,
)
from stateful_tests.rules.written import Written

B, NS, ADDR = "broker-a", "nameserver1", "broker-a:10911"
ASKED = (1, NS, VersionQueried(NS, ADDR, "broker-a:1", changed=True))

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
)
