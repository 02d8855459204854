"""What operators are told of messages that they ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from impl import events
from invariants.rules.rule import Kept, Rule, Told, after, on

_SECOND_MS = 1_000
"""What an index knows of times: it is to be asked with so much more on both sides."""


class message_is_found_by_its_key(Rule):
    """Who asks for a key and a time is told all messages of the topic with that key and time once, and no others.

    Those near the ends of the time may be left out, and those beyond the number that is told at once. An index counts
    the seconds that have begun.
    """

    cite = "QueryMessageProcessor#queryMessage, IndexService#buildIndex, #queryOffset"
    about = "broker topic key"
    calm = True

    # What a process has dispatched last; and what it had when it was asked, and its first offset.
    dispatched = Kept("at", begins=(events.MessageDispatched,), value=lambda _, event: event.commit_log_offset)
    asked = Kept("broker topic key begin_ms end_ms", survives="all")

    @on(events.KeyAsked)
    def asks(self, _: int, at: str, event: events.KeyAsked) -> None:
        del at
        self.asked[tuple(event)] = self.dispatched.get((event.broker,), -1)

    @after(events.KeyAnswered)
    def answers(self, _: int, at: str, event: events.KeyAnswered) -> Iterator[Told]:
        last = self.asked.pop(tuple(event[:5]), -1)
        there = self.views.keyed(event.broker, event.topic, event.key)
        least = self.views.log_begin(event.broker)
        missing = [offset for offset, ms in there if offset <= last and offset not in event.offsets
                   and event.begin_ms + _SECOND_MS <= ms <= event.end_ms - _SECOND_MS]
        if missing and len(event.offsets) < event.max_num:
            yield self.told(f"{at} asks {event.broker} for {event.key}, and is not told of the message at {missing[0]}",
                            *event[:3])
        twice = [offset for offset, times in Counter(event.offsets).items() if times > 1]
        if twice:
            yield self.told(f"{at} asks {event.broker} for {event.key}, and is told twice of the message at {twice[0]}",
                            *event[:3])
        wrong = sorted({*event.offsets} - {offset for offset, _ in there})
        if there and wrong and wrong[0] >= least:
            yield self.told(f"{at} asks {event.broker} for {event.key}, and is told of the message at {wrong[0]}, "
                            "which has another key", *event[:3])
        others = [(offset, ms) for offset, ms in there if offset in event.offsets
                  and not event.begin_ms <= ms < event.end_ms + _SECOND_MS]
        if others:
            yield self.told(f"{at} asks {event.broker} for {event.key} from {event.begin_ms} to {event.end_ms}, and is "
                            f"told of the message at {others[0][0]}, which was stored at {others[0][1]}", *event[:3])
