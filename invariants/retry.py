"""What is promised of delayed messages: none too early, none twice without a kill, none passed."""

from __future__ import annotations

from model.language import Bool, every, exists, forall
from model.language.mutations import drop_assignment, drop_guard
from model.language.properties import always, lemma, lemma_given, never, sometimes
from model.retry import Level, Place

levels_are_known = never("forget_due", name="levels_are_known",
                         because="Delay levels are parsed before recovery dispatches.")
one_delivery_a_look = never("deliver_more", name="one_delivery_a_look",
                            because="No two messages of a level are delivered in one look.")


@lemma
def offsets_are_in_order(s: Level) -> Bool:
    """What is saved is not ahead of what is noted, nor that of the unit which is looked at."""
    return (s.saved <= s.end) & s.up.implies(
        (s.saved <= s.noted) & (s.noted <= s.looked) & (s.first <= s.looked) & (s.looked <= s.end)
        & ((s.noted <= s.first) | (s.noted == s.first + 1)))


@lemma_given(levels_are_known)
def units_know_their_delay(s: Level) -> Bool:
    """Each unit says when its message is due."""
    return forall((p < s.end).implies(s.stored[p] + s.delay <= s.due[p]) for p in every(Place))


@lemma_given(one_delivery_a_look)
def every_delivery_is_noted(s: Level) -> Bool:
    """What was delivered since the last kill lies before the offset with which a restart would begin."""
    return s.up.implies(s.noted == s.looked) & forall(
        ((p < s.end) & s.lately[p]).implies(
            (s.up & (p < s.looked)) | (~s.up & (p < s.saved))) for p in every(Place))


@always(shipped="violated: V5 recovery dispatches before the delay levels are parsed", given=(levels_are_known,),
        broken_by=(drop_guard("deliver_first", 3), drop_guard("deliver_more", 3)))
def retry_waits_its_delay(s: Level) -> Bool:
    """No message is delivered before the delay of its level is over."""
    return ~s.early


@always(shipped="violated: V19 a look notes its first delivery only", given=(one_delivery_a_look,),
        excludes=("deliver_more",), broken_by=(drop_assignment("stop", "saved"),))
def retry_is_delivered_once(s: Level) -> Bool:
    """No message is delivered twice unless the broker was killed between."""
    return ~s.again


@always(shipped="holds", broken_by=(drop_assignment("deliver_first", "copied"),))
def delayed_message_is_not_passed(s: Level) -> Bool:
    """What lies before the offset of a level was delivered, also after a restart."""
    return forall((p < s.end).implies((p < s.saved).implies(s.copied[p]) & (s.up & (p < s.looked)).implies(s.copied[p]))
                  for p in every(Place))


@sometimes
def a_message_waits_again(s: Level) -> Bool:
    """After a restart a message that was delivered is before the task once more."""
    return exists(s.up & (p < s.end) & s.copied[p] & (s.looked <= p) for p in every(Place))
