"""Differences from the recordings that are known, each with its reason.

A listed deviation must still occur in the project's own recordings: one that no row needs any more is an error there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deviation:
    """A known difference.

    file -- name of the recording without suffixes. pattern -- regular expression found in the difference's sentence.
    reason -- one sentence: why it differs, and why that is right.
    """

    file: str
    pattern: str
    reason: str

    def explains(self, sentence: str) -> bool:
        """Whether a row's difference, as the adapter words it, is this one."""
        return re.search(self.pattern, sentence) is not None


DEVIATIONS: tuple[Deviation, ...] = (
    Deviation("constants", "nothing of it is implemented$",
              "tables of what is not here: settings of Netty and name servers, the old pull consumer, versions"),
)
