"""What is promised of a broker's list of members: who is told "registered" is there, and nobody else stays for long."""

from __future__ import annotations

from model.language import Bool, every, exists, forall
from model.language.mutations import drop_assignment, drop_guard
from model.language.properties import always, lemma, lemma_given, never, premise, sometimes
from model.registration import (
    Channel,
    GroupName,
    Info,
    Membership,
    Registration,
    heartbeats_come_in_time,
    leaves_quietly,
    scans_come_in_time,
)

one_step_heartbeats = never("find_group", "put_channel", "remove_channel", "remove_group",
                            name="one_step_heartbeats",
                            because="A heartbeat, and a leave-taking, is handled as one step.")


def listed(s: Registration, c: Channel) -> Bool:
    """Whether the group's table, found by its name, has the channel."""
    return exists(s.current.holds(i) & s.inside[i, c] for i in every(Info))


@lemma
def the_table_has_used_objects(s: Registration) -> Bool:
    """What stands in the table was created."""
    return forall(s.current.holds(i).implies(s.used[i]) for i in every(Info))


@lemma
def members_are_not_leaving(s: Registration) -> Bool:
    """A member's leave-taking starts when it leaves; answers are for members."""
    return forall((s.wants[c].implies(s.came[c] & ~s.leaving[c] & ~s.gone[c]) & s.answered[c].implies(s.wants[c])
                   & (s.leaving[c] | s.gone[c]).implies(s.came[c] & ~s.wants[c])
                   & (s.queued[c] | ~s.got[c].absent).implies(s.came[c]))
                  for c in every(Channel))


@lemma_given(one_step_heartbeats)
def the_answered_are_listed(s: Registration) -> Bool:
    """No thread is between two steps, and every channel that was answered is in the current object."""
    return (forall(s.got[c].absent & ~s.emptied[c] for c in every(Channel))
            & forall(s.answered[c].implies(~s.current.absent) for c in every(Channel))
            & forall((s.answered[c] & s.current.holds(i)).implies(s.inside[i, c]) for c, i in every(Channel, Info)))


@lemma_given(one_step_heartbeats, leaves_quietly)
def nothing_follows_the_leaver(s: Registration) -> Bool:
    """Who left has nothing on its way and stands in no object that could come back."""
    return (forall((s.leaving[c] | s.gone[c]).implies(~s.queued[c] & s.got[c].absent) for c in every(Channel))
            & forall((s.gone[c] & s.current.holds(i)).implies(~s.inside[i, c]) for c, i in every(Channel, Info))
            & forall((~s.used[i]).implies(~s.inside[i, c]) for c, i in every(Channel, Info)))


@always(shipped="violated: B-7 heartbeat into a detached object, B-8 removal by name", given=(one_step_heartbeats,),
        broken_by=(drop_assignment("heartbeat", "inside"), drop_assignment("leave", "answered")))
def answered_heartbeat_means_listed(s: Registration) -> Bool:
    """A member whose heartbeat was answered is in the list until it leaves."""
    return forall(s.answered[c].implies(listed(s, c)) for c in every(Channel))


@always(shipped="violated: B-9 heartbeat overtaken by the leave-taking", given=(one_step_heartbeats, leaves_quietly),
        broken_by=(drop_guard("leave", 1), drop_assignment("unregister", "inside")))
def leaving_member_stays_gone(s: Registration) -> Bool:
    """After UNREGISTER_CLIENT was executed, nothing re-adds the member."""
    return forall(s.gone[c].implies(~listed(s, c)) for c in every(Channel))


@sometimes
def two_are_listed(s: Registration) -> Bool:
    """Two members are registered."""
    return exists(~(c == d) & listed(s, c) & listed(s, d) for c, d in every(Channel, Channel))


@premise
def heartbeats_beat_the_expiry(s: Membership) -> Bool:
    """A member is named more often than the broker forgets."""
    return s.period <= s.expiry


one_object_per_group = never("heartbeat_all", name="one_object_per_group",
                             because="Every table entry has a ClientChannelInfo of its own.")
leave_taking_arrives = never("finish_unheard", name="leave_taking_arrives",
                             because="No UNREGISTER_CLIENT is lost.")
connections_last = never("disconnect", name="connections_last",
                         because="No call times out, so no connection is closed under its user.")


@lemma
def the_registered_run(s: Membership) -> Bool:
    """Who counts as registered is running."""
    return forall(s.registered[c, g].implies(s.wants[c, g]) for c, g in every(Channel, GroupName))


@lemma_given(heartbeats_come_in_time)
def heartbeats_are_in_time(s: Membership) -> Bool:
    """A running consumer is named once a period."""
    return forall(s.wants[c, g].implies(s.silent[c, g] <= s.period) for c, g in every(Channel, GroupName))


@lemma_given(scans_come_in_time)
def entries_end_in_time(s: Membership) -> Bool:
    """The scan removes what it must in time."""
    return forall(s.member[c, g].implies(s.age[s.info[c, g]] <= s.expiry + s.scan)
                  for c, g in every(Channel, GroupName))


@lemma
def living_entries_are_young(s: Membership) -> Bool:
    """The object of a registered consumer's entry is refreshed whenever the consumer is named."""
    return forall((s.registered[c, g] & s.member[c, g]).implies(s.age[s.info[c, g]] <= s.silent[c, g])
                  for c, g in every(Channel, GroupName))


@lemma_given(heartbeats_beat_the_expiry, heartbeats_come_in_time, leave_taking_arrives, connections_last,
             excludes=("expire", "close"))
def nobody_is_a_ghost(s: Membership) -> Bool:
    """Only registered consumers have entries, so nothing expires and nothing is closed."""
    return forall(s.member[c, g].iff(s.registered[c, g]) & ~s.closing[c] for c, g in every(Channel, GroupName))


@always(shipped="violated: B-11 expiry of one group closes the connection of all, B-17 a timeout closes it",
        given=(heartbeats_beat_the_expiry, heartbeats_come_in_time, leave_taking_arrives, connections_last),
        excludes=("expire", "close"),
        broken_by=(drop_guard("expire", 1), drop_assignment("finish", "member")))
def live_member_is_never_forgotten(s: Membership) -> Bool:
    """A member that sends its heartbeats in time is never removed."""
    return forall(s.registered[c, g].implies(s.member[c, g]) for c, g in every(Channel, GroupName))


@lemma_given(heartbeats_beat_the_expiry, one_object_per_group, connections_last)
def objects_are_not_shared(s: Membership) -> Bool:
    """Two entries have two objects."""
    return forall((s.member[c, g] & s.member[d, h] & (s.info[c, g] == s.info[d, h])).implies((c == d) & (g == h))
                  for c, g, d, h in every(Channel, GroupName, Channel, GroupName))


@lemma_given(heartbeats_beat_the_expiry, heartbeats_come_in_time, scans_come_in_time, one_object_per_group,
             connections_last)
def ghosts_age(s: Membership) -> Bool:
    """A ghost's object is as old as its end; a consumer that is missing was evicted beside a ghost, or is new."""
    return forall(
        (s.member[c, g] & ~s.registered[c, g]).implies(s.calm <= s.age[s.info[c, g]])
        & (s.closing[c] & s.wants[c, g]).implies(s.calm <= s.expiry + s.scan + s.silent[c, g])
        & (s.wants[c, g] & ~s.member[c, g]).implies(s.calm <= s.expiry + s.scan + s.silent[c, g])
        for c, g in every(Channel, GroupName))


@always(shipped="violated: B-10 ghost kept alive by another group, B-17 a timeout closes the connection",
        given=(heartbeats_beat_the_expiry, heartbeats_come_in_time, scans_come_in_time, one_object_per_group,
               connections_last),
        broken_by=(drop_guard("elapse", 3), drop_assignment("finish_unheard", "calm")))
def list_is_exactly_the_living(s: Membership) -> Bool:
    """At rest (expiry, scan and a period after the last change) a broker lists every running consumer, nobody else."""
    return (s.expiry + s.scan + s.period < s.calm).implies(
        forall(s.member[c, g].iff(s.wants[c, g]) for c, g in every(Channel, GroupName)))


@sometimes
def a_group_rests(s: Membership) -> Bool:
    """Somebody is listed at rest."""
    return (s.expiry + s.scan + s.period < s.calm) & exists(s.member[c, g] for c, g in every(Channel, GroupName))
