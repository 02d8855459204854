"""`python -m stateful_tests.conformance.port`: the example adapters, in each language whose tools are here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from invariants.front_desk.desk import Desk
from invariants.front_desk.interrupt import start
from invariants.front_desk.options import Json, desk_app, judging
from invariants.verdict import BadInputError, Outcome, Subject, Verdict
from stateful_tests.conformance.judge import JUDGE, PROPERTY
from stateful_tests.conformance.port.examples import EXAMPLES
from stateful_tests.conformance.port.judge import conform

app = desk_app()


@app.command()
@judging
def adapters(
    language: Annotated[list[str] | None, typer.Argument(help="Only these; default: all whose tools are here.")] = None,
    out: Annotated[Path, typer.Option(help="Where they are built, and evidence goes.")] = Path("out") / "adapters",
    json: Json = None,
) -> None:
    """Build the adapters of examples/adapters, and compare what they answer with the recordings of 4.9.3.

    A language whose tools are not here is named, and left out. Exit status: 0 as expected (the official Go client is
    known to differ in what docs/adapters.md says), 1 otherwise, 3 one cannot be built or asked.
    """
    with Desk(json, out=out) as desk:
        known = [one.language for one in EXAMPLES]
        for name in language or []:
            if name not in known:
                raise BadInputError(f"no adapter in {name!r}; there are {', '.join(known)}")
        for example in EXAMPLES:
            if language and example.language not in language:
                continue
            if example.missing:
                desk.closing.append(f"{example.language}: left out, {' and '.join(example.missing)} is not here")
            else:
                desk.judge(example.language, compared(example.language, out, desk))


def compared(language: str, out: Path, desk: Desk) -> Iterator[Verdict]:
    """The rows of one language; one that cannot be built is unknown."""
    example = next(one for one in EXAMPLES if one.language == language)
    try:
        for row in conform(example.built(out / "built"), out=out, tell=desk.tell):
            known = row.subject.details["function"] in example.differ
            yield replace(row, expected=Outcome.VIOLATED) if known else row
    except BadInputError as error:
        yield Verdict(PROPERTY, JUDGE, Subject("endpoint", language), Outcome.HOLDS, Outcome.UNKNOWN,
                      f"python -m stateful_tests.conformance.port {language}", note=str(error))


if __name__ == "__main__":
    start(app)
