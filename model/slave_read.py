"""A consumer that reads from a master or its slave, as each answer suggests, counted in messages.

`SlaveRead` is the memory of PullAPIWrapper and the suggestions of both brokers (S-1, M3), with slaveReadEnable on. A
slave has what its master has, up to where it has come.
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
    action,
    initially,
    require,
)


class Messages(Nat):
    """A number of messages, or a place in the queue."""


class SlaveRead(State):
    """One queue at a master and its slave, and a consumer of it."""

    end: Messages                # of the queue at the master
    copied: Messages             # … at the slave
    next: Messages               # PullRequest.nextOffset
    at_slave: Bool               # PullAPIWrapper.pullFromWhichNodeTable says the slave
    runs: Bool                   # the master can be reached
    committed: Messages          # ConsumerOffsetManager of the broker that is asked
    vain: Ghost[Bool]            # an answer came at once, brought nothing, and sent the consumer nowhere else
    memory: Constant[Messages]   # what is in memory: accessMessageInMemoryMaxRatio


@initially
def level(s: SlaveRead) -> Bool:
    """Nothing is stored, and the consumer reads from the master."""
    return ((s.end == 0) & (s.copied == 0) & (s.next == 0) & ~s.at_slave & s.runs & (s.committed == 0) & ~s.vain)


def reads_slave(s: SlaveRead) -> Bool:
    """MQClientInstance#findBrokerAddressInSubscribe: the suggested broker, or whichever there is."""
    return s.at_slave | ~s.runs


def read_next(s: SlaveRead, end: Messages) -> None:
    """DefaultMessageStore#getMessage of a broker that ends here: the next message.

    The slave is suggested if more lies behind it than memory holds.
    """
    require(s.next < end, by="DefaultMessageStore#getMessage")
    s.at_slave = s.memory + s.next + 1 < end
    s.next = s.next + 1


@action("DefaultMessageStore#putMessage")
def append(s: SlaveRead) -> None:
    """A message is stored."""
    require(s.runs, by="DefaultMessageStore#checkStoreStatus")
    s.end = s.end + 1


@action("HAClient#dispatchReadRequest")
def copy(s: SlaveRead) -> None:
    """The slave gets a message more."""
    require(s.runs, s.copied < s.end, by="HAConnection.WriteSocketService#run")
    s.copied = s.copied + 1


@action("kill -9 of the master", environment=True)
def master_ends(s: SlaveRead) -> None:
    """The master cannot be reached."""
    require(s.runs, by="kill(2)")
    s.runs = FALSE


@action("BrokerController#start of the master")
def master_returns(s: SlaveRead) -> None:
    """The master is there again."""
    require(~s.runs, by="BrokerController#start")
    s.runs = TRUE


@action("PullMessageProcessor#processRequest of the master: SUCCESS")
def pull_master(s: SlaveRead) -> None:
    """The master answers with the next message, and suggests the slave to who is far behind."""
    require(~reads_slave(s), by="PullAPIWrapper#recalculatePullFromWhichNode")
    read_next(s, s.end)


@action("PullMessageProcessor#processRequest of the slave: SUCCESS")
def pull_slave(s: SlaveRead) -> None:
    """The slave answers with the next message, and suggests the master to who is near its own end."""
    require(reads_slave(s), by="PullAPIWrapper#recalculatePullFromWhichNode")
    read_next(s, s.copied)


@action("PullRequestHoldService#checkHoldRequest of the slave: PULL_NOT_FOUND")
def wait_at_slave(s: SlaveRead) -> None:
    """At the end of the slave's queue a pull is held, and then the group's broker is suggested: the master."""
    require(reads_slave(s), by="PullAPIWrapper#recalculatePullFromWhichNode")
    require(s.next == s.copied, by="DefaultMessageStore#getMessage")
    s.at_slave = FALSE


@action("PullMessageProcessor#processRequest of the slave: PULL_RETRY_IMMEDIATELY")
def leave_slave(s: SlaveRead) -> None:
    """Beyond the end of its queue a slave corrects nothing, and suggests the group's broker at once: the master."""
    require(s.at_slave, s.runs, by="PullAPIWrapper#recalculatePullFromWhichNode")
    require(s.copied < s.next, by="DefaultMessageStore#getMessage")
    s.at_slave = FALSE


@action("PullMessageProcessor#processRequest of the slave: PULL_RETRY_IMMEDIATELY, without a master")
def spin(s: SlaveRead) -> None:
    """Beyond the end of its queue a slave suggests a master that is not there, and is asked again at once (M3)."""
    require(~s.runs, by="MQClientInstance#findBrokerAddressInSubscribe")
    require(s.copied < s.next, by="DefaultMessageStore#getMessage")
    s.at_slave = FALSE
    s.vain = TRUE


@action("PullMessageProcessor#processRequest of the slave: brokerId of the group is not 0")
def stay(s: SlaveRead) -> None:
    """A group whose brokerId is the slave's is sent to the slave again, which has nothing for it (S-1)."""
    require(s.at_slave, s.runs, by="PullAPIWrapper#recalculatePullFromWhichNode")
    require(s.copied < s.next, by="DefaultMessageStore#getMessage")
    s.vain = TRUE


@action("PullMessageProcessor#processRequest of the master: the commit flag")
def commit_by_pull(s: SlaveRead) -> None:
    """A pull at the master commits what its consumer remembers; one at a slave does not say it."""
    require(~reads_slave(s), by="PullAPIWrapper#pullKernelImpl")
    s.committed = s.next
