"""What is promised of reading from a slave: it leads back, goes on, and commits nothing."""

from __future__ import annotations

from model.language import Bool, Rank, helps, ite, ranking
from model.language.mutations import drop_assignment, drop_guard
from model.language.properties import always, leads_to, lemma, lemma_given, never, sometimes, step
from model.slave_read import Messages, SlaveRead, leave_slave, pull_master, pull_slave, reads_slave, wait_at_slave

groups_prefer_the_master = never("stay", name="groups_prefer_the_master", because="brokerId of the group is 0.")
masters_stay = never("master_ends", name="masters_stay", because="The master can be reached.")


@lemma
def slaves_stay_behind(s: SlaveRead) -> Bool:
    """The slave has nothing that its master has not, nor has the consumer."""
    return (s.copied <= s.end) & (s.next <= s.end)


@lemma_given(masters_stay, excludes=("master_returns", "spin"))
def master_is_there(s: SlaveRead) -> Bool:
    """The master can be reached."""
    return s.runs


@always(shipped="violated: S-1 brokerId of a group, M3 a slave that lags and has no master",
        given=(groups_prefer_the_master, masters_stay), excludes=("master_returns", "spin"),
        broken_by=(drop_guard("spin", 0),))
def answers_are_not_in_vain(s: SlaveRead) -> Bool:
    """No answer that comes at once leaves a consumer where it is, with nothing new."""
    return ~s.vain


@step(shipped="holds", broken_by=(drop_guard("commit_by_pull", 0),))
def slave_pull_commits_nothing(before: SlaveRead, after: SlaveRead) -> Bool:
    """While a consumer reads from a slave no pull commits an offset."""
    return reads_slave(before).implies(before.committed == after.committed)


def unread(s: SlaveRead) -> Messages:
    """What the consumer has not read."""
    return ite(s.next < s.end, s.end - s.next, Messages.of(0))


def uncopied(s: SlaveRead) -> Messages:
    """What the slave has not got."""
    return ite(s.copied < s.end, s.end - s.copied, Messages.of(0))


@leads_to(shipped="violated: S-1 brokerId of a group, M3 a slave that lags and has no master",
          fair=("pull_slave", "wait_at_slave", "leave_slave"), until_quiet=("append",),
          given=(groups_prefer_the_master, masters_stay), excludes=("master_returns", "spin"),
          broken_by=(drop_assignment("leave_slave", "at_slave"),))
def suggestion_leads_back_to_the_master(s: SlaveRead) -> tuple[Bool, Bool]:
    """A consumer that was sent to a slave comes back to the master at last, when nothing more is stored."""
    return reads_slave(s), ~reads_slave(s)


@ranking("suggestion_leads_back_to_the_master")
def the_slave_has_nothing_more(s: SlaveRead) -> Rank:
    """Each pull leaves less, and so does each copy; behind the slave's last message it suggests the master."""
    return Rank(measure=(unread(s), uncopied(s)), helpers=(
        helps(s.at_slave & (s.next < s.copied), pull_slave), helps(s.at_slave & (s.next == s.copied), wait_at_slave),
        helps(s.at_slave & (s.copied < s.next), leave_slave)))


@leads_to(shipped="violated: S-1 brokerId of a group, M3 a slave that lags and has no master",
          fair=("pull_master", "pull_slave", "wait_at_slave", "leave_slave"), until_quiet=("append",),
          given=(groups_prefer_the_master, masters_stay), excludes=("master_returns", "spin"),
          broken_by=(drop_assignment("pull_master", "next"),))
def reader_comes_to_the_end(s: SlaveRead) -> tuple[Bool, Bool]:
    """A consumer reads everything at last, when nothing more is stored, whichever broker it is sent to."""
    return s.next < s.end, s.end <= s.next


@ranking("reader_comes_to_the_end")
def messages_that_are_unread(s: SlaveRead) -> Rank:
    """Each pull that finds something leaves less; each other one leads to the master, which has it."""
    return Rank(measure=(unread(s), s.at_slave, uncopied(s)), helpers=(
        helps(s.at_slave & (s.next < s.copied), pull_slave), helps(s.at_slave & (s.next == s.copied), wait_at_slave),
        helps(s.at_slave & (s.copied < s.next), leave_slave), helps(~s.at_slave & (s.next < s.end), pull_master)))


@sometimes
def a_consumer_reads_from_the_slave(s: SlaveRead) -> Bool:
    """A consumer that is far behind reads from the slave, although the master is there."""
    return s.at_slave & s.runs & (s.next > 0)
