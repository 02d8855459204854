"""A comparison in a terminal: what differs first, one line for the rest, what other judges say, what it costs."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from invariants.report.compared import Comparison

_STYLES = {"broken": "bold red", "fixed": "bold green", "better": "green"}


def comparison_view(found: Comparison) -> RenderableType:
    """What compare.json says."""
    style = next((style for effect, style in _STYLES.items() if effect in {row.effect for row in found.news}), "bold")
    return Group(*([_differences(found)] if found.news else []), *_replays(found), Text(found.summed),
                 *map(Text, found.left), *_others(found),
                 _costs(found), Text(found.headline, style=style), *_unsettled(found))


def _differences(found: Comparison) -> Table:
    table = _table("effect", "property", "base", "change", "only base", "only change", "p")
    for row in found.news:
        for place, one in enumerate(row.lines):
            effect, name = (one.effect, f"  {one.about}") if place else (row.effect, row.property)
            numbers = (*one.sides, str(one.base_only), str(one.changed_only), one.chance)
            table.add_row(Text(effect, style=_STYLES.get(effect, "")), Text(name), *numbers)
    return table


def _table(*heads: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for place, name in enumerate(heads):
        table.add_column(name, overflow="fold", justify="right" if place > 1 else "left")
    return table


def _replays(found: Comparison) -> Iterator[Text]:
    """Commands that show what differs."""
    for row in found.news:
        if row.replay:
            yield Text(f"{row.property}, {row.effect}:")
            yield _command(row.replay)


def _unsettled(found: Comparison) -> Iterator[Text]:
    """What more time may settle, and the command that gives it."""
    yield from map(Text, found.unsettled)
    if found.goes_on:
        yield Text("with more time it goes on where it stopped:")
        yield _command(found.goes_on)


def _command(command: str) -> Text:
    return Text(f"    {command}", no_wrap=True, overflow="ignore")


def _others(found: Comparison) -> Iterator[Text]:
    for one in found.others:
        style = _STYLES["broken"] if one.worse else ""
        yield Text(one.sentence, style=style)
    yield from (Text(f"{one.place}: {one.sentence}") for one in found.proofs)


def _costs(found: Comparison) -> Table:
    table = _table("median (quartiles)", "base", "change")
    for cost in found.costs:
        table.add_row(*cost.told)
    return table
