"""How a campaign was asked for, besides what it is about: it does not change what is done, but what is told."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from invariants.verdict import Verdict

LOCAL = "local[*]"


@dataclass(frozen=True)
class Asked:
    """What is told of a campaign, and with which options the command goes on that its rows name.

    properties -- only rows about these; empty: all. minutes, master -- as they were given.
    """

    properties: tuple[str, ...] = ()
    minutes: float = 1.0
    master: str = LOCAL

    def about(self, name: str) -> bool:
        """Whether rows about a property are told."""
        return not self.properties or name in self.properties

    def told(self, verdicts: Iterable[Verdict]) -> list[Verdict]:
        """The rows that are told."""
        return [one for one in verdicts if self.about(one.property)]

    def options(self) -> str:
        """The options of the command, but for those of its aim and its folder."""
        words = [word for name in self.properties for word in ("--property", name)]
        words += ["--minutes", f"{self.minutes:g}"]
        return shlex.join([*words, *(["--master", self.master] if self.master != LOCAL else [])])


USUAL = Asked()
