"""Options that mean the same in every command."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from invariants.verdict import Verdict

Json: TypeAlias = Annotated[str | None, typer.Option(
    "--json", metavar="FILE", help="Write verdict rows to this file, one JSON object a line; - for standard output.")]
Out: TypeAlias = Annotated[Path | None, typer.Option(
    "--out", metavar="DIR", help="Folder for evidence; without it none is written.")]
Names: TypeAlias = Annotated[list[str] | None, typer.Argument(
    metavar="PROPERTY", show_default=False,
    help="Properties or claims, as `rocketproof list` names them; default: all.")]
Property: TypeAlias = Annotated[list[str] | None, typer.Option(
    "--property", metavar="NAME", help="Only this property; may be repeated.")]
Base: TypeAlias = Annotated[str | None, typer.Option(
    "--base", metavar="SUBJECT", help="What the variant lies on: shipped, repaired, repaired-HAZARD, or a file with a "
    "variant; default: what its kind says (docs/variants.md).")]
Seed: TypeAlias = Annotated[int, typer.Option("--seed", help="Seed of whatever is left to chance.")]
NoSeed: TypeAlias = Annotated[int, typer.Option(
    "--seed", help="Taken by every judge; here nothing is left to chance.")]
Everything: TypeAlias = Annotated[bool, typer.Option(
    "--all", help="Show all rows, also where there are many and they are as expected.")]

Junit: TypeAlias = Annotated[str | None, typer.Option(
    "--junit", metavar="FILE", help="Write a JUnit test case for each row: a failure differs, an error is unknown.")]
Summary: TypeAlias = Annotated[str | None, typer.Option(
    "--summary", metavar="FILE", help="Add a table in Markdown to this file, as for $GITHUB_STEP_SUMMARY.")]


@dataclass(frozen=True, slots=True)
class Shown:
    """How a command shows its rows.

    everything -- also the many that are as expected. junit, summary -- files for other programs.
    """

    everything: bool = False
    junit: str | None = None
    summary: str | None = None


_USUAL = Shown()
SHOWN: ContextVar[Shown] = ContextVar("SHOWN", default=_USUAL)
"""Of the command that runs."""


def judging(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options that are the same wherever there are rows; a desk in it follows them."""
    declared = inspect.signature(command, eval_str=True)
    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=option)
            for name, default, option in (("everything", False, Everything), ("junit", None, Junit),
                                          ("summary", None, Summary))]

    @wraps(command)
    def shown(*, everything: bool = False, junit: str | None = None, summary: str | None = None, **given: object,
              ) -> None:
        before = SHOWN.set(Shown(everything, junit, summary))
        try:
            command(**given)
        finally:
            SHOWN.reset(before)

    own = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in declared.parameters.values()]
    vars(shown)["__signature__"] = declared.replace(parameters=[*own, *more])
    shown.__annotations__ = {one.name: one.annotation for one in [*own, *more]}
    return shown


def desk_app(**options: object) -> typer.Typer:
    """An application with the house's settings: plain help that is there at once, no traceback dressed up."""
    usual = {"add_completion": False, "no_args_is_help": True, "rich_markup_mode": None,
             "pretty_exceptions_enable": False}
    return typer.Typer(**{**usual, **options})  # type: ignore[arg-type]  # Typer's own options


def examples(*commands: str) -> str:
    """The end of a command's help: what one would type, a line each."""
    lines = "\n".join(f"  {command}" for command in commands)
    return f"\b\nExamples:\n{lines}"


def only(verdicts: Iterable[Verdict], properties: Sequence[str]) -> Iterator[Verdict]:
    """The verdicts about these properties; all, if none is given. The judge ends with this iterator."""
    with ended(verdicts):
        yield from (verdict for verdict in verdicts if not properties or verdict.property in properties)


def ended(verdicts: Iterable[Verdict]) -> AbstractContextManager[object]:
    """End a judge's iterator with the block, and with it the processes that it has started."""
    return closing(verdicts) if isinstance(verdicts, Generator) else nullcontext()
