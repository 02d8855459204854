"""Which repairs and planted bugs there are, and what cannot be repaired or planted."""

from __future__ import annotations

from impl.variants.bugs import (
    administration,
    applications,
    broker_clients,
    copies,
    flushing,
    full_files,
    inquiries,
    listening,
    logs,
    mixed,
    name_server,
    own_terms,
    polling,
    ports,
    producing,
    pull_answers,
    pulling,
    rebalancing,
    retries,
    seeded,
    servers,
    strangers,
    tenants,
    upkeep,
)
from impl.variants.bugs import locks as lock_bugs
from impl.variants.bugs import messages as message_bugs
from impl.variants.bugs import offsets as offset_bugs
from impl.variants.bugs import replicas as replica_bugs
from impl.variants.bugs import sending as sending_bugs
from impl.variants.bugs import stores as store_bugs
from impl.variants.repairs import (
    client_tables,
    connections,
    locks,
    members,
    messages,
    name_servers,
    offsets,
    routes,
    sending,
    starts,
    store_reads,
    store_recovery,
    stores,
    subscriptions,
    tables,
)
from impl.variants.repairs import listening as failures
from impl.variants.repairs import polling as pollers
from impl.variants.repairs import rebalancing as runs
from impl.variants.variant import Variant

REPAIRS: dict[str, Variant] = {variant.name: variant for variant in (
    *routes.REPAIRS, *name_servers.REPAIRS, *connections.REPAIRS, *client_tables.REPAIRS, *subscriptions.REPAIRS,
    *members.REPAIRS, *locks.REPAIRS, *offsets.REPAIRS, *runs.REPAIRS, *tables.REPAIRS, *starts.REPAIRS,
    *store_recovery.REPAIRS, *store_reads.REPAIRS, *sending.REPAIRS,
    *stores.REPAIRS, *messages.REPAIRS, *failures.REPAIRS,
    *pollers.REPAIRS,
)}
"""By name, in the order in which they are put in place."""

BUGS: dict[str, Variant] = {variant.name: variant for variant in (
    *name_server.BUGS, *broker_clients.BUGS, *rebalancing.BUGS, *lock_bugs.BUGS, *offset_bugs.BUGS, *mixed.BUGS,
    *seeded.BUGS, *ports.BUGS, *upkeep.BUGS, *listening.BUGS, *store_bugs.BUGS, *message_bugs.BUGS,
    *sending_bugs.BUGS, *replica_bugs.BUGS, *polling.BUGS, *logs.BUGS, *flushing.BUGS, *applications.BUGS,
    *copies.BUGS, *retries.BUGS, *pulling.BUGS, *inquiries.BUGS, *producing.BUGS, *administration.BUGS,
    *full_files.BUGS, *pull_answers.BUGS, *servers.BUGS, *own_terms.BUGS, *tenants.BUGS, *strangers.BUGS,
)}
"""By name; each is planted on top of all repairs."""

NO_REPAIR: dict[str, str] = {
    "A-4": "as U13: who has a queue is configured by hand, and nobody compares the members' lists",
    "A-9": "each topic is divided by itself, so that its queues stay where they are when another topic changes; who "
           "divides all of them at once moves queues of all topics at each change",
    "B-3": "the table has one expression for a topic; only a client that sends its own with each pull "
           "(postSubscriptionWhenPull) does not depend on it",
    "B-4": "a version counts for pulls before any broker can have heard of it; only a client that sends its "
           "subscription with each pull (postSubscriptionWhenPull) does not depend on it",
    "B-13": "nothing is promised of a push: whoever misses one learns of the change by the timer of 20 s",
    "B-19": "a commit does not say which ownership it belongs to; that takes a generation number in the protocol",
    "B-28": "as X8: neither the copy nor what it replaces says how new it is",
    "B-32": "as B-19: the numbers of requests order those of one connection, and not of two",
    "B-34": "as U1: an owner that a broker does not hear may be at work, and only the lease keeps a second one away",
    "D1": "nobody waits for the old owner: ownership has no lease that a joiner could wait for",
    "D2": "a broker cannot know whom it has not heard of since it started, or since it has the topic",
    "D3": "routes reach members at different times, and each divides what it knows; that takes a coordinator",
    "D4": "a member that one broker cannot hear looks dead to all who ask that broker",
    "D7": "a listener that runs cannot be stopped when the lease ends; what it writes to would have to check a token",
    "L3": "as B-3: whoever filters for all members filters for none of them",
    "L4": "as B-3: members stamp their expressions by their own clocks, and no clock orders them",
    "X1": "what a crash leaves uncommitted is delivered again: RocketMQ promises at least once, and commits every 5 s",
    "X3": "nobody answers a commit; a client that waited for answers would hold up its listeners' pool",
    "X4": "as B-19: a commit does not say which ownership it belongs to",
    "X8": "an offset has no version that would tell which of master and slave has the newer one",
    "X15": "as D7: a shutdown that waited for listeners might wait for ever",
    "M2": "retryQueueNums 0 is how an operator says that a group wants no other try; nothing tells its consumers",
    "N-12": "as U1: a machine that vanished is told from a slow one by waiting",
    "N-15": "an id belongs to whoever registered it last: which of two masters is the right one takes an election",
    "X16": "ids are configuration, and one file cannot tell how far two processes are",
    "V2": "whether what lies behind a bad record is whole takes another copy of the log, as a slave or a quorum has it",
    "V13": "an index of whole seconds takes another format",
    "V14": "which error of a dispatcher may be passed over is not known to it",
    "V15": "as V14",
    "V17": "what the command takes away is what it is for; nothing here gives it",
    "V19": "an offset is noted for a task of several messages; one for each takes another loop",
    "V20": "what a master has deleted it cannot send",
    "V21": "a batch is as many records as messages; that takes another format",
    "V23": "who waits for each copy delivers the next one late",
    "V32": "a slave with an empty file says of itself what one without a file says",
    "V34": "a slave that reports what it has forced makes each put wait for one disk more",
    "P2": "an attempt that is given up sooner may be stored all the same, so that less waiting makes more of P6; "
          "upstream it is a setting, off by default (sendMsgMaxTimeoutPerRequest)",
    "P6": "RocketMQ promises at least once: who has no answer sends again, and brokers do not compare ids",
    "P10": "which queue a key has is divided by the queues of the moment; a constant list takes orderTopicConf",
    "U1": "a machine that vanishes is told from a slow one by waiting",
    "U2": "whom a list does not have the others do not count either: what it kept would have two owners",
    "U5": "that is what suspending is for: the broker is not told, and a heartbeat has no place for it",
    "U13": "a strategy is its user's, and any other one would not divide as those of the other members do",
    "L13": "as U13: what a strategy gives nobody, nobody else may give away",
    "P8": "no world fills the pool of pulls",
    "P12": "a broker would have to look for an op message of each half message, and not every one is read yet",
    "T6": "what says that a half message has ended names its first place, and the check may have read past that",
    "P13": "nothing is promised within seconds: the scan of what is held finds it",
    "S-1": "what broker id a group has is configured by hand",
    "T2": "what a listener answers is its user's",
    "T3": "as U1: a producer that is away is told from a slow one by waiting",
    "X6": "as X1: what is not committed is delivered again",
    "X14": "no world's channel throws while it writes",
    "X13": "a chain of pulls that has ended is told from one that is held up by waiting",
}
"""Hazard to the reason why no variant makes it go away: it would take another protocol, or no run would show it."""

NOT_EXPRESSIBLE: dict[str, str] = {
    "bc-divergent-member-view": "4.9.3 as shipped: D2 and D4, which have no repair; so it is in every subject",
    "rb-nearby-leftover-imbalance": "4.9.3 as shipped (A-2), and kept by its maintainers; so it is in every subject",
    "po-commit-flag-to-slave": "a slave of 4.9.3 stores no offset that comes with a pull, so that nobody can tell",
    "rt-delay-progress-constant": "4.9.3 as shipped (V19), which has no repair; so it is in every subject",
    "rt-slave-clamps-with-own-queue": "a slave of 4.9.3 copies the file, and looks at it when it starts again",
    "rt-limit-default-minus-one": "a filter of 5.x, which 4.9.3 does not have",
    "st-stale-min-offset": "4.9.3 as shipped, whose processes cut their queues before they look for the first unit",
    "ha-delay-table-not-reloaded": "a slave of 4.9.3 becomes a master by a start, which reads the file twice",
    "cl-recover-position-error": "4.9.3 reads a queue file from its beginning: no start fails where the report says so",
    "tx-clock-skew": "4.9.3 as shipped; so it is in every subject",
}
"""Entries of known bugs that cannot be planted, and why."""
