"""Sentences about offsets."""

from __future__ import annotations

from typing import Any

from impl.events import offsets as told
from impl.events.sentences.said import Said


def _committed(event: told.OffsetCommitted, before: Any) -> str:
    said = "{connection} commits offset {offset} of queue {queue_id} of {topic} for {group} at {at}"
    if not event.connection:
        said = "{at} has offset {offset} of queue {queue_id} of {topic} for {group} from now on"
    if isinstance(before, told.OffsetCommitted) and before.offset > event.offset:
        return said + "; {before.offset} stood there: the older offset wins"
    return said


def _answered(event: told.OffsetAnswered, _: Any) -> str:
    if event.offset < 0:
        return "{at} tells {connection} that {group} has no offset of queue {queue_id} of {topic}"
    return "{at} tells {connection} the offset of {group} for queue {queue_id} of {topic}: {offset}"


def _pushed(event: told.OffsetResetPushed, _: Any) -> str:
    said = "{at} tells {connection} to reset its offsets of {topic} in {group}"
    return said if event.delivered else said + ", and cannot send it"


def _learnt_late(event: told.OffsetLearntLate, _: Any) -> str:
    by = "a pull that it began before it gave the queue up" if event.pulled \
        else "a question that it sent before another of its threads took the queue"
    return "{at} remembers offset {offset} of {mq}, to commit it later: so says the answer to " + by


SENTENCES: dict[type, Said] = {
    told.OffsetCommitted: Said(_committed, "offset commits"),
    told.GroupOffsetsRemoved: Said("{at} forgets all offsets of {group}", "offsets of groups forgotten"),
    told.OffsetsLeftOut: Said("{at} answers a question for the offsets of all groups but {group}, and deletes those of "
                              "{group} by it", "groups left out"),
    told.OffsetFoundIllegal: Said("{at} pulls {mq} at an offset that the broker does not have; the nearest one is "
                                  "{nearest}", "illegal offsets"),
    told.OffsetAnswered: Said(_answered, "offsets asked for"),
    told.OffsetResetPushed: Said(_pushed, "resets sent"),
    told.OffsetReset: Said("{at} sets its offset of {mq} to {offset}: a reset", "offsets reset"),
    told.ResetReceived: Said(
        "{at} is told to reset its offsets in {group}, and waits 10 s in between: {offsets}", "resets received"),
    told.OffsetSent: Said("{at} sends offset {offset} of {mq}", "offsets sent"),
    told.OffsetsWritten: Said("{at} writes its offsets of {group} into its file: {offsets}", "offsets written"),
    told.OffsetCorrected: Said("{at} corrects its offset of {mq} to {offset}: the broker does not have the other",
                               "offsets corrected"),
    told.OffsetUpdated: Said("{at} remembers offset {offset} of {mq}, to commit it later", "offsets remembered"),
    told.OffsetLearntLate: Said(_learnt_late, "offsets learnt late"),
    told.OffsetsReset: Said("an operator lets {at} reset {topic} for {group}: {offsets}", "resets ordered"),
}
