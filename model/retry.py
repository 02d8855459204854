"""Delayed messages: the queue of one delay level, the task that delivers from it, and where a restart begins.

`Level` is one level of ScheduleMessageService (V5, V19); a message that is sent back waits in such a level too. Its
clock counts up and is never set, a delivery is one step, because it is one put, and what was put stays in the log.
"""

from __future__ import annotations

from model.language import (
    FALSE,
    TRUE,
    Bool,
    Constant,
    Ghost,
    Nat,
    State,
    Table,
    action,
    every,
    initially,
    ite,
    require,
)


class Place(Nat):
    """A queue offset of the level."""


class Ms(Nat):
    """A moment of the broker's clock, or a span of it."""


class Level(State):
    """The queue of a delay level and its task; a cell at or after the end means nothing."""

    up: Bool                                # the service runs
    killed: Bool                            # the last life ended without a stop, and recovery is not over
    now: Ms
    end: Place                              # ConsumeQueue#getMaxOffsetInQueue
    due: Table[Place, Ms]                   # tagsCode of the unit
    first: Place                            # the offset with which this look began
    looked: Place                           # the unit that is looked at
    noted: Place                            # offsetTable
    saved: Place                            # delayOffset.json
    stored: Ghost[Table[Place, Ms]]         # when the message was put
    copied: Ghost[Table[Place, Bool]]       # its copy is in the log
    lately: Ghost[Table[Place, Bool]]       # it was delivered, and nobody was killed since
    early: Ghost[Bool]                      # a message was delivered before its time
    again: Ghost[Bool]                      # a message was delivered twice, and nobody was killed between
    delay: Constant[Ms]                     # of the level


@initially
def empty(s: Level) -> Bool:
    """Nothing was put, and the service runs."""
    return (s.up & ~s.killed & (s.end == 0) & (s.first == 0) & (s.looked == 0) & (s.noted == 0) & (s.saved == 0)
            & (s.now == 0) & ~s.early & ~s.again)


@action("CommitLog#asyncPutMessage, #checkMessageAndReturnSize")
def put(s: Level) -> None:
    """A message is put and dispatched: its unit says when it is due."""
    require(s.up, by="DefaultMessageStore#checkStoreStatus")
    s.due[s.end] = s.now + s.delay
    s.stored[s.end] = s.now
    s.copied[s.end] = FALSE
    s.lately[s.end] = FALSE
    s.end = s.end + 1


@action("DeliverDelayedMessageTimerTask#scheduleNextTimerTask")
def look(s: Level) -> None:
    """The look is over; the next one begins with the unit that this one came to."""
    require(s.up, s.first < s.looked, by="DeliverDelayedMessageTimerTask#executeOnTimeup")
    s.first = s.looked


def hand_over(s: Level) -> None:
    """The message that is looked at is put into its queue, and the offset behind the look's first unit is noted."""
    s.early = s.early | (s.now < s.stored[s.looked] + s.delay)
    s.again = s.again | s.lately[s.looked]
    s.copied[s.looked] = TRUE
    s.lately[s.looked] = TRUE
    s.noted = s.first + 1
    s.looked = s.looked + 1


@action("DeliverDelayedMessageTimerTask#syncDeliver: the first of a look", atomic_by="putMessageLock")
def deliver_first(s: Level) -> None:
    """The first message of a look is due and is delivered."""
    require(s.up, s.looked == s.first, s.looked < s.end, s.due[s.looked] <= s.now,
            by="DeliverDelayedMessageTimerTask#executeOnTimeup")
    hand_over(s)


@action("DeliverDelayedMessageTimerTask#syncDeliver: a further one", atomic_by="putMessageLock")
def deliver_more(s: Level) -> None:
    """A further message of the same look is due and is delivered."""
    require(s.up, s.first < s.looked, s.looked < s.end, s.due[s.looked] <= s.now,
            by="DeliverDelayedMessageTimerTask#executeOnTimeup")
    hand_over(s)


@action("ScheduleMessageService#persist")
def save(s: Level) -> None:
    """The file is written, every ten seconds."""
    require(s.up, by="ScheduleMessageService#start")
    s.saved = s.noted


@action("ScheduleMessageService#shutdown")
def stop(s: Level) -> None:
    """An orderly stop writes the file too."""
    require(s.up, by="DefaultMessageStore#shutdown")
    s.saved = s.noted
    s.up = FALSE


@action("kill -9", environment=True)
def kill(s: Level) -> None:
    """The process ends, and what it has noted in memory is gone."""
    require(s.up, by="kill(2)")
    s.up = FALSE
    s.killed = TRUE
    for p in every(Place):
        s.lately[p] = ite(p < s.end, FALSE, s.lately[p])


@action("DefaultMessageStore#recover: dispatch before the levels are parsed")
def forget_due(s: Level, p: Place) -> None:
    """Recovery builds a unit anew and does not know the delay of its level: the hash of the tags stands for it (V5)."""
    require(s.killed, p < s.end, by="CommitLog#recoverAbnormally")
    s.due[p] = Ms.of(0)


@action("ScheduleMessageService#start")
def start(s: Level) -> None:
    """The service begins where the file says."""
    require(~s.up, by="DefaultMessageStore#start")
    s.up = TRUE
    s.killed = FALSE
    s.first = s.saved
    s.looked = s.saved
    s.noted = s.saved


@action("time", environment=True)
def elapse(s: Level) -> None:
    """The clock goes on."""
    s.now = s.now + 1
