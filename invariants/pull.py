"""What is promised of a pull that waits at the broker: it is answered in time, and sees what arrives."""

from __future__ import annotations

from model.language import Bool, Rank, helps, ranking
from model.language.mutations import drop_assignment
from model.language.properties import always, leads_to, lemma_given, never, sometimes
from model.pull import (
    LongPolling,
    Phase,
    messages_meet_no_look,
    pools_work_at_once,
    scans_run_in_time,
    time_out,
)

pools_have_room = never("refuse", name="pools_have_room", because="The pool that answers pulls has room.")


@lemma_given(scans_run_in_time, pools_work_at_once)
def scans_find_what_is_over(s: LongPolling) -> Bool:
    """What is held was not over at the last scan, or has come since."""
    return ((s.scanned <= s.scan_period)
            & (s.phase == Phase.LOOKED).implies((s.age == 0) & s.there.implies(s.since == 0))
            & (s.phase == Phase.HELD).implies((s.age <= s.hold_max + s.scanned) & s.there.implies(s.since <= s.scanned))
            & (s.phase == Phase.WOKEN).implies(s.age <= s.hold_max + s.scan_period))


@lemma_given(pools_have_room)
def no_pull_is_lost(s: LongPolling) -> Bool:
    """Each pull is with the client or at the broker."""
    return s.phase != Phase.LOST


@lemma_given(messages_meet_no_look)
def look_finds_what_is_there(s: LongPolling) -> Bool:
    """The queue has nothing for a pull that is about to be held."""
    return (s.phase == Phase.LOOKED).implies(~s.there)


@always(shipped="violated: P8 a pool that is full", given=(pools_have_room, scans_run_in_time, pools_work_at_once),
        broken_by=(drop_assignment("scan", "phase"),))
def held_pull_is_answered_in_time(s: LongPolling) -> Bool:
    """A pull is answered within the time for which it is held, and a scan period more."""
    return (s.phase != Phase.WITH_CLIENT).implies(s.age <= s.hold_max + s.scan_period)


@always(shipped="violated: P13 a message between look and hold", given=(messages_meet_no_look,),
        broken_by=(drop_assignment("arrive", "phase"),))
def arriving_message_wakes_the_pull(s: LongPolling) -> Bool:
    """No pull is held while the queue has a message for it."""
    return ~((s.phase == Phase.HELD) & s.there)


@always(shipped="holds", given=(scans_run_in_time, pools_work_at_once),
        broken_by=(drop_assignment("scan", "phase"),))
def arriving_message_is_seen_within_a_scan(s: LongPolling) -> Bool:
    """No pull is held for longer than a scan period while the queue has a message for it."""
    return ((s.phase == Phase.HELD) & s.there).implies(s.since <= s.scan_period)


@leads_to(shipped="holds", fair=("time_out",), broken_by=(drop_assignment("time_out", "phase"),))
def pull_goes_on_at_last(s: LongPolling) -> tuple[Bool, Bool]:
    """A client comes to its next pull at last, whatever becomes of this one."""
    return s.phase != Phase.WITH_CLIENT, s.phase == Phase.WITH_CLIENT


@ranking("pull_goes_on_at_last")
def the_client_waits_no_more(s: LongPolling) -> Rank:
    """If nothing else, the time-out of the client's call ends it."""
    return Rank(measure=(), helpers=(helps(s.phase != Phase.WITH_CLIENT, time_out),))


@sometimes
def a_pull_is_woken_by_a_message(s: LongPolling) -> Bool:
    """A pull that was held is to be answered with a message before it was held long enough."""
    return (s.phase == Phase.WOKEN) & s.there & (s.age < s.hold_max)
