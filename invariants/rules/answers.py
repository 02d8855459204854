"""What applications say that they make of messages (`MessagesAnswered`), as rules read it."""

from __future__ import annotations

from impl.events import ConsumerStarted, MessagesAnswered, MessagesGiven
from invariants.rules.past import Past, place_of

SUCCESS, NEVER = "SUCCESS", "NEVER"
HELD, ROLLBACK = "HELD", "ROLLBACK"
"""Of a listener that commits itself: all went well and is not to be committed yet; all that it holds is to come again.

`ConsumeOrderlyContext#setAutoCommit(false)` with SUCCESS, and with ROLLBACK; what COMMIT settles is a SUCCESS.
"""
_AGAIN = frozenset({"LATER", "NULL", "EXCEPTION"})
"""What an application answers that is to be given messages again."""
_UNFAILED = frozenset({SUCCESS, HELD, ROLLBACK})


def has_failed(answer: str) -> bool:
    """Whether a listener has failed with a message, so that an attempt is over."""
    return answer not in _UNFAILED


def is_put_back(answered: MessagesAnswered, given: MessagesGiven) -> bool:
    """Whether a batch of a listener in order is to be consumed again: all has failed, and not each of it too often.

    What was tried too often is sent back, and is put back with the others of its batch all the same:
    `ConsumeMessageOrderlyService#checkReconsumeTimes`.
    """
    return min(given.attempts, default=0) < given.most and _AGAIN.issuperset(answered.answers)


def threads_held(past: Past, at: str, group: str) -> int:
    """How many threads of a consumer are with listeners that do not return: what they have is sent back, they are not.

    `ConsumeMessageConcurrentlyService#cleanExpireMsg` takes their messages away, and no thread takes their place.
    """
    begun = place_of(past.last(ConsumerStarted, at=at, group=group))
    return sum(NEVER in one.event.answers for one in past.of(MessagesAnswered, since=begun, at=at, group=group))
