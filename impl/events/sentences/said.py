"""What a sentence about an event is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Template = str
"""A sentence with fields of the event in braces; {at} is the machine that has reported it."""


class Said(NamedTuple):
    """How people are told of the events of one class.

    sentence -- a template; or a function that makes it of the event and of the one before it about the same things
    (None: there was none). several -- what many of them are called: "offset commits".
    """

    sentence: Template | Callable[[Any, Any], Template]
    several: str

    def template(self, event: Any, before: Any) -> Template:
        """The sentence about an event, its fields still in braces."""
        return self.sentence if isinstance(self.sentence, str) else self.sentence(event, before)
