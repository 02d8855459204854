"""Written histories of messages on their way through a broker."""

from __future__ import annotations

import invariants.rules.brokered_messages  # noqa: F401  # declares the rules
from impl.decisions.message_queue import MessageQueue
from impl.decisions.pull_answer import PullCode
from impl.decisions.route_queues import QueueData
from impl.events import (
    BrokerStarted,
    ConnectionMade,
    DeadLetterTaken,
    MessageAppended,
    OffsetCommitted,
    OrderGiven,
    PullAnswered,
    PullHeld,
    PullRetried,
    PullSuspended,
    SendBackTaken,
)
from invariants.views import Written as Said
from stateful_tests.rules.written import Tables, Turns, Written

B, G, RETRY = "broker-a", "G", "%RETRY%G"
NOTHING = (1, B, SendBackTaken(B, G, 7))
DEAD = (1, B, DeadLetterTaken(B, G, "k", 0))
ONE_QUEUE = Tables(topics={RETRY: QueueData(B, 1, 1, 6, 0)})


def appended(topic: str, at: str = B, offset: int = 9) -> tuple[int, str, MessageAppended]:
    """A broker appends a record."""
    return 1, at, MessageAppended(at, topic, 0, 0, offset, 100, "k")


def dead_letters(perm: int) -> Tables:
    """The topic of the dead letters of the group."""
    return Tables(topics={"%DLQ%G": QueueData(B, 1, 1, perm, 0)})


def ordered(server: str = B, name: str = "%DLQ%G") -> tuple[int, str, OrderGiven]:
    """An operator changes a topic."""
    return 0, "cli", OrderGiven(server, "topic", name, (1, 1, 2, 0))


def kept(queue_id: int = 0) -> tuple[int, str, SendBackTaken]:
    """A broker takes a message back, and says where its copy is."""
    return 1, B, SendBackTaken(B, G, 7, 9, RETRY, queue_id)


def pulls(
    at: str = "c1", *, group: str = G, queue_id: int = 0, commits: bool = True, offset: int = 7,
) -> tuple[int, str, PullSuspended]:
    """A client pulls a queue."""
    mq = MessageQueue("orders", B, queue_id)
    return 1, at, PullSuspended(f"{at}@1", group, mq, offset, f"{B}:10911", commits=commits)


def answers(at: str = "c1", group: str = G, queue_id: int = 0) -> tuple[int, str, PullAnswered]:
    """A pull of a client is answered."""
    mq = MessageQueue("orders", B, queue_id)
    return 1, at, PullAnswered(f"{at}@1", group, mq, PullCode.PULL_NOT_FOUND, 7)


def connects(connection: str = "c1:2") -> tuple[int, str, ConnectionMade]:
    """A client has a new connection to a broker."""
    return 1, "c1", ConnectionMade(B, connection)


def taken(
    *, group: str = G, topic: str = "orders", queue_id: int = 0, connection: str = "c1:1",
) -> tuple[int, str, OffsetCommitted]:
    """A broker has an offset."""
    return 3, B, OffsetCommitted(B, group, topic, queue_id, 7, connection)


COMMITS, HELD = "held_pull_commits_at_once", (2, B, PullHeld(B, G, "orders", 0, 7, "c1:1", 5, "*", 15_000))
MASTER, SLAVE = ((0, B, BrokerStarted(B, B, broker_id)) for broker_id in (0, 1))
BORN, HERE, THERE = "message_is_born_where_its_id_says", "0A2E1501", "0A2E1502"
ID = f"{HERE}0001E70FD1134F1051E0008A"
AT_HOME, AWAY = (Said(1, (7, address, 1), ()) for address in (HERE, THERE))


def told(key: str | None, topic: str = "orders", at: str = B) -> tuple[int, str, MessageAppended]:
    """A broker appends a message with this id."""
    return 1, at, MessageAppended(at, topic, 0, 0, 9, 100, key)


def born(address: str) -> Tables:
    """Where records say that their messages were born."""
    return Tables(written=Said(1, (7, address, 1), ()))


HISTORIES = (
    *(Written("dead_letters_can_be_read", (DEAD,), (DEAD,), dead_letters(perm), dead_letters(6),
              says=f"has made %DLQ%G with the permission {perm}") for perm in (2, 4)),
    Written("dead_letters_can_be_read", (DEAD,), (DEAD,), dead_letters(2), Tables(topics={})),
    *(Written("dead_letters_can_be_read", (order, DEAD), (ordered(), DEAD), dead_letters(2))
      for order in (ordered("broker-b"), ordered(name="%DLQ%H"))),
    Written("dead_letter_is_there_at_once", broken=((1, B, DeadLetterTaken(B, G, "k", 18)),),
            kept=((1, B, DeadLetterTaken(B, G, "k", 0)),), says="waits at broker-a for delay level 18"),
    Written("accepted_send_back_is_kept", broken=(NOTHING,), kept=(appended("SCHEDULE_TOPIC_XXXX"), kept()),
            says="no copy of the message at 7", views=Tables(retry_queue_nums=1), causes=()),
    Written("accepted_send_back_is_kept", broken=(NOTHING,), views=Tables(retry_queue_nums=0), causes=("M2",)),
    Written("accepted_send_back_is_kept", broken=(appended("orders"), kept()), kept=(appended(RETRY), kept()),
            views=Tables(retry_queue_nums=1), causes=()),
    Written("accepted_send_back_is_kept", broken=(appended("%DLQ%G"), kept(), kept()),
            kept=(appended("%DLQ%G"), kept(), appended("%DLQ%G"), kept()), views=Tables(retry_queue_nums=1)),
    Written("accepted_send_back_is_kept", broken=(appended(RETRY, "broker-b"), appended(RETRY, offset=8), kept()),
            views=Tables(retry_queue_nums=1)),
    Written("retry_is_where_it_is_read", broken=(kept(1),), kept=(kept(0), NOTHING), views=ONE_QUEUE,
            says="for queue 1 of %RETRY%G"),
    Written("retry_is_where_it_is_read", broken=(kept(0),), views=Tables(topics={})),
    Written("retried_pull_goes_on", broken=((1, B, PullRetried(B, G, "orders", 0, 9, 9)),),
            kept=((1, B, PullRetried(B, G, "orders", 0, 9, 10)),), says="from 9 on as before"),
    Written(COMMITS, (MASTER, pulls(), HELD), (MASTER, pulls(), HELD, taken()),
            says="has not taken the offset of G that came with it"),
    *(Written(COMMITS, (MASTER, pulls(), HELD), (*start, HELD)) for start in (
        (SLAVE, pulls()), (MASTER, pulls(commits=False)), (MASTER, pulls("c2")), (MASTER, pulls(group="H")), (MASTER,),
        (MASTER, pulls(queue_id=1)), (MASTER, pulls(), pulls(commits=False)))),
    *(Written(COMMITS, (MASTER, pulls(), HELD, other), (MASTER, pulls(), HELD, taken(), other)) for other in (
        taken(connection="c2:1"), taken(group="H"), taken(queue_id=1), taken(topic="invoices"),
        (3, "broker-b", taken()[2]))),
    # What comes on a former connection may have been pulled anew.
    *(Written(COMMITS, (MASTER, other, pulls(), HELD), (MASTER, connects(), pulls(), HELD)) for other in (
        connects("c1:1"), (1, "c2", connects()[2]), (1, "c1", ConnectionMade("broker-b", "c1:2")))),
    # A later commit of the client has overtaken the pull; what it has pulled since is another one.
    *(Written(COMMITS, (MASTER, *broken, HELD), (MASTER, pulls(), taken(), HELD)) for broken in (
        (taken(), pulls()), (pulls(), taken(connection="c2:1")), (pulls(), taken(queue_id=1)),
        (pulls(), taken(group="H")), (pulls(), taken(topic="invoices")))),
    # Of pulls that were not answered it may be the first that is held.
    *(Written(COMMITS, (MASTER, *before, answers(), pulls(), HELD), (MASTER, *before, other, pulls(), HELD))
      for before in ((pulls(), taken()), (pulls(commits=False),))
      for other in (answers("c2"), answers(group="H"), answers(queue_id=1))),
    Written(COMMITS, (MASTER, pulls(), pulls(commits=False, offset=8), HELD),
            (MASTER, pulls(commits=False), pulls(offset=8), HELD)),
    Written(BORN, (told(ID),), (told(ID),), views=born(THERE), kept_views=born(HERE), says=f"was born at {THERE}"),
    Written(BORN, (told(ID), told(ID), told(ID)), (told(None), told(ID, RETRY), told(ID, "SCHEDULE_TOPIC_XXXX")),
            views=Tables(written=Turns(AT_HOME, AT_HOME, AWAY)), kept_views=born(THERE)),
    *(Written(BORN, (told(ID), told(ID), told(ID), other), (told(ID),) * 4,
              views=Tables(written=Turns(AT_HOME, AT_HOME, AT_HOME, AWAY)))
      for other in (told(ID[:19] + "F" + ID[20:]), told(ID, "invoices"), told(ID, at="broker-b"))),
    Written(BORN, (told(ID),), (told(ID),), views=born(THERE), kept_views=Tables(written=None)),
)
