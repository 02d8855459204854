"""What applications say that they make of messages (`MessagesAnswered`), as rules read it."""

from __future__ import annotations

SUCCESS, NEVER = "SUCCESS", "NEVER"
HELD, ROLLBACK = "HELD", "ROLLBACK"
"""Of a listener that commits itself: all went well and is not to be committed yet; all that it holds is to come again.

`ConsumeOrderlyContext#setAutoCommit(false)` with SUCCESS, and with ROLLBACK; what COMMIT settles is a SUCCESS.
"""
_UNFAILED = frozenset({SUCCESS, HELD, ROLLBACK})


def has_failed(answer: str) -> bool:
    """Whether a listener has failed with a message, so that an attempt is over."""
    return answer not in _UNFAILED
