"""Pages about hazards in Markdown: one for each group, and an index by symptom."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from invariants.front_desk.catalogue import entries
from invariants.front_desk.show import NOT_KNOWN, Outside
from invariants.hazards import HAZARDS, READ_AT, SYMPTOMS, Hazard

INDEX = "README.md"
MADE = "<!-- Made by `python -m invariants.hazards docs/hazards` from invariants/hazards; do not edit. -->"


def pages(outside: Callable[[str], Outside], judged: Collection[str]) -> dict[str, str]:
    """The text of each page by file name.

    outside -- what implementation and tests know of a hazard. judged -- the properties that are judged of runs.
    """
    broken: dict[str, list[str]] = {name: [] for name in HAZARDS}
    for entry in entries(judged):
        for name in entry.hazards:
            broken[name].append(entry.name)
    groups: dict[str, list[Hazard]] = {}
    for hazard in HAZARDS.values():
        groups.setdefault(hazard.group, []).append(hazard)
    made = {INDEX: _index(groups)}
    for title, hazards in groups.items():
        parts = (line for hazard in hazards for line in _section(hazard, outside(hazard.name), broken[hazard.name]))
        made[_file(hazards[0])] = _text([f"# {title}", *parts])
    return made


def replaced(folder: Path, made: Mapping[str, str]) -> None:
    """Write pages into a folder by file name, and only then delete its other pages; no page is cut short meanwhile."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        new = folder / f"{name}.new"
        new.write_text(text, encoding="utf-8")
        new.replace(folder / name)
    for old in folder.glob("*.md"):
        if old.name not in made:
            old.unlink()


def _text(paragraphs: list[str]) -> str:
    return "\n\n".join([MADE, *paragraphs]) + "\n"


def _file(hazard: Hazard) -> str:
    return f"{hazard.name.rstrip('0123456789ab').rstrip('-')}.md"


def _link(hazard: Hazard) -> str:
    return f"[{hazard.name}]({_file(hazard)}#{hazard.name.lower()})"


def _index(groups: dict[str, list[Hazard]]) -> str:
    hazards = list(HAZARDS.values())
    lines = ["# Hazards of RocketMQ 4.9.3", (
        f"{len(hazards)} places at which 4.9.3, as shipped, breaks a promise. `rocketproof show D1` says "
        "what these pages say; `rocketproof search duplicates during a rolling restart` finds them by what you see."),
        f"What is marked *(read)* was read in the source of apache/rocketmq {', '.join(READ_AT)}, and was not run.",
        "## By symptom"]
    for name, meaning in SYMPTOMS.items():
        shown = [f"* {_link(one)}: {one.told}" for one in hazards if name in one.symptoms]
        lines += [f"### {name}", meaning, "\n".join(shown) or f"* {NOT_KNOWN}"]
    lines.append("## By place")
    for title, members in groups.items():
        of_group = "\n".join(f"* {_link(one)}: {one.sentence}" for one in members)
        lines += [f"### [{title}]({_file(members[0])})", of_group]
    return _text(lines)


def _section(hazard: Hazard, outside: Outside, broken: list[str]) -> Iterator[str]:
    yield f"## {hazard.name}"
    yield hazard.sentence
    names = sorted({*broken, *outside.broken})  # entries come as their modules were imported
    rows = {
        "users see": f"{', '.join(hazard.symptoms)}: {hazard.told}" if hazard.seen else NOT_KNOWN,
        "trigger": hazard.trigger or NOT_KNOWN, "code": f"`{hazard.cite}`",
        "log": "; ".join(f"`{line}`" for line in hazard.logs) or "nothing",
        "what helps": hazard.mitigation or NOT_KNOWN, "upstream": hazard.reports or NOT_KNOWN,
        "fixed": hazard.fixed or NOT_KNOWN,
        "repair here": "; ".join(f"`{name}`: {text}" for name, text in outside.repairs.items())
        or f"none: {outside.unrepaired or NOT_KNOWN}",
        "breaks": ", ".join(f"`{name}`" for name in names) or "no property names it",
        **({"machine": f"none: {hazard.no_machine}"} if hazard.no_machine else {}),
    }
    yield "\n".join(["| | |", "|---|---|", *(f"| {name} | {_cell(text)} |" for name, text in rows.items())])
    if picture := outside.picture():
        yield "\n".join(["```text", *picture, "```"])
    for command in outside.stories:
        yield f"    {command}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
