"""A comparison in a terminal: what differs first, one line for the rest, then what it costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from spark_fuzz.differences import WHETHER, Effect
from spark_fuzz.told import probability

_STYLES = {Effect.BROKEN: "bold red", Effect.FIXED: "bold green", Effect.BETTER: "green"}
_QUIET = (Effect.UNCHANGED, Effect.NOT_MET)
_NAMES = {"messages": "messages of a run", "requests": "requests of a run",
          "converged_ms": "time until all promises hold, s"}


def comparison_view(document: Mapping[str, Any]) -> RenderableType:
    """What compare.json says."""
    rows = [row for row in document["rows"] if row["effect"] not in _QUIET]
    quiet = Counter(row["effect"] for row in document["rows"] if row["effect"] in _QUIET)
    broken = sum(_whole(row)["base"] > 0 for row in document["rows"] if row["effect"] == Effect.UNCHANGED)
    rest = [f"{quiet[Effect.UNCHANGED]} unchanged ({broken} of them broken on both sides)",
            f"{quiet[Effect.NOT_MET]} not met"]
    said = Text(document["headline"], style=_STYLES.get(Effect(rows[0]["effect"]), "") if rows else "bold")
    table = [_differences(rows)] if rows else []
    replays = [line for row in rows if row["replay"] for line in (Text(f"{row['property']}, {row['effect']}:"),
               Text(f"    {row['replay']}", no_wrap=True, overflow="ignore"))]
    return Group(*table, *replays, Text(", ".join(rest)), _costs(document["costs"]), said)


def _whole(row: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = row["answers"][0]
    return found


def _differences(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in ("effect", "property", "base", "change", "only base", "only change", "p"):
        table.add_column(name, overflow="fold", justify="left" if name in {"effect", "property"} else "right")
    for row in rows:
        for effect, name, *numbers in _lines(row):
            table.add_row(Text(effect, style=_STYLES.get(effect, "")), Text(name), *numbers)  # type: ignore[call-overload]  # a word of Effect
    return table


def _lines(row: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    """The property, and beneath it each way, and the time, that differs."""
    for place, answer in enumerate(row["answers"]):
        if place and answer["effect"] in _QUIET:
            continue
        name = row["property"] if not place else f"  {answer['way'] or answer['asking']}"
        if answer["asking"] == WHETHER:
            both = [f"{answer[side]}/{answer['of']}" for side in ("base", "changed")]
        else:
            both = [f"{answer[side] / 1000:.1f} s" for side in ("base_ms", "changed_ms")]
        p = "declared" if answer["declared"] else probability(answer["p"])
        yield (row["effect"] if not place else answer["effect"], name, *both, str(answer["base_only"]),
               str(answer["changed_only"]), p)


def _costs(costs: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in ("median (quartiles)", "base", "change"):
        table.add_column(name)
    for cost in costs:
        table.add_row(_NAMES[cost["name"]], *(_spread(cost[side], cost["name"]) for side in ("base", "changed")))
    return table


def _spread(values: Sequence[float | None], name: str) -> str:
    part = 1000 if name.endswith("_ms") else 1
    low, middle, high = ("never" if value is None else f"{value / part:,.0f}" for value in values)
    return f"{middle} ({low} … {high})"
