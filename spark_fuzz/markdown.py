"""The kill matrix as a table of a Markdown page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from invariants.verdict import BadInputError
from spark_fuzz.cells import EFFECT, counted, effect_cells, matrix_of, spread

CONTROL = "*(none: the control)*"


def write_markdown(file: Path, folder: Path) -> None:
    """Write the table of the matrix that a folder holds; raises BadInputError if that cannot be read or written."""
    document = matrix_of(folder)
    with _writing(file):
        file.write_text(table(document), encoding="utf-8")


def check_markdown(file: Path) -> None:
    """Raise BadInputError if the file cannot be written, before hours of work; what it holds stays."""
    with _writing(file), file.open("a", encoding="utf-8"):
        pass


@contextmanager
def _writing(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInputError(f"--markdown {file}: cannot be written ({error.strerror}); give another file") from error


def table(document: Mapping[str, Any]) -> str:
    """The lines of the table, with a line end behind each."""
    judges = [str(judge) for judge in document["judges"]]
    lines = [_line("bug", *judges, *EFFECT), _line(*["---"] * (1 + len(judges) + len(EFFECT)))]
    for row in document["rows"]:
        name = str(row["subject"]).removeprefix("repaired+")
        cells = (_cell(row["cells"][judge]) for judge in judges)
        lines.append(_line(CONTROL if name == "repaired" else name, *cells, *effect_cells(row.get("effect"))))
    return "".join(f"{line}\n" for line in lines)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Mapping[str, Any]) -> str:
    """Who it was, in how many hunts, and the median with quartiles of steps; of the decisions the number of inputs."""
    if not cell["killed"]:
        return ""
    if not cell["limit_ms"]:
        return f"`{cell['property']}`, {cell['steps'][1]:,} inputs"
    return f"`{cell['property']}` {cell['killed']}/{cell['of']}, {spread(cell['steps'], cell['limit_steps'], counted)}"
