"""Hazards of RocketMQ 4.9.3 as data: what its code does that breaks a promise, what people see of it, what helps.

A group of hazards is a TOML file beside this one: `title`, and a table for each hazard with the fields of `Hazard`.
What helps against several of them is written once, in `procedures.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

SYMPTOMS: Mapping[str, str] = {
    "duplicate": "A message is delivered twice, or a whole queue again.",
    "lost": "A message is never delivered, or never to who should have it.",
    "stuck": "A queue is not consumed, or a member does nothing.",
    "late": "Something happens seconds or minutes after it should.",
    "skewed": "Some members have much to do, others little or nothing.",
    "unordered": "Messages of an ordered queue are worked on side by side, or out of order.",
    "refused": "A request is answered with an error, or its answer does not come.",
    "wrong answer": "A command or a query shows what is not so.",
    "divergent views": "Two members, brokers or name servers say different things at the same time.",
}
"""What an operator sees, and what that means."""


READ_AT = ("4.9.3", "4.9.8", "5.0.0", "5.1.4", "5.2.0", "5.3.3")
"""The releases of apache/rocketmq whose source was read; what came between them was looked up in its history."""


@dataclass(frozen=True, slots=True)
class Hazard:
    """A named hazard.

    sentence -- what the code does. cite -- RocketMQ class and method. group -- title of its group. symptoms -- names of
    SYMPTOMS. seen -- what users see, in an operator's words. lasts -- for how long, in general. trigger -- what brings
    it about. logs -- error texts and log lines of RocketMQ that go with it. mitigation -- what helps in 4.9.3: a
    setting, a procedure, a version. upstream -- issues and pull requests, as "apache/rocketmq #1". searched -- if there
    are none, the day on which public issues were searched and had no report of it. fixed -- in which release, or that
    it is not; what was read in upstream's source (READ_AT), and not run, is marked "(read)". no_machine -- why no world
    of a machine shows it; empty: a machine judges a property that it breaks. What else is empty is not known.
    """

    name: str
    sentence: str
    cite: str
    group: str = ""
    symptoms: tuple[str, ...] = ()
    seen: str = ""
    lasts: str = ""
    trigger: str = ""
    logs: tuple[str, ...] = ()
    mitigation: str = ""
    upstream: tuple[str, ...] = ()
    searched: str = ""
    fixed: str = ""
    no_machine: str = ""

    @property
    def told(self) -> str:
        """What users see, and for how long."""
        return f"{self.seen.removesuffix('.')} ({self.lasts})." if self.lasts else self.seen

    @property
    def reports(self) -> str:
        """Issues and pull requests, or that none was found; empty if nobody has searched."""
        found = f"no report found in public issues on {self.searched}" if self.searched else ""
        return ", ".join(self.upstream) or found


def _read(path: Traversable) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


_FOLDER = resources.files(__name__)  # a worker of a cluster has it in a zip file
PROCEDURES: Mapping[str, str] = _read(_FOLDER / "procedures.toml")
"""What helps against several hazards: the text that stands for a name in braces in their mitigations."""


def _group(path: Traversable) -> Iterator[Hazard]:
    """The hazards of a file."""
    table = _read(path)
    title = table.pop("title")
    for name, fields in table.items():
        lists = {key: tuple(value) for key, value in fields.items() if isinstance(value, list)}
        mitigation = fields.pop("mitigation", "").format_map(PROCEDURES)
        yield Hazard(name, group=title, mitigation=mitigation, **{**fields, **lists})


def _place(hazard: Hazard) -> tuple[str, int, str]:
    """B-2 comes before B-10, and B-22a before B-22b."""
    letters, number, rest = re.fullmatch(r"([A-Z]+)-?(\d+)(.*)", hazard.name).groups()  # type: ignore[union-attr]
    return letters, int(number), rest


HAZARDS: Mapping[str, Hazard] = {hazard.name: hazard for hazard in sorted(
    (hazard for path in _FOLDER.iterdir() if re.fullmatch(r"[A-Z]\.toml", path.name) for hazard in _group(path)),
    key=_place)}
"""By name."""
