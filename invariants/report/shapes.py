"""Evidence as typed values: what the page and the terminal draw, checked once at the border.

Evidence comes from files that anybody may have written. `read` raises BadInputError with one line that says which part
is wrong; whoever draws shows that line instead of the picture.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from invariants.verdict import BadInputError

_SHOWN = 60  # characters of a value that is wrong


def text(value: object) -> str:
    """A value as people read it: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


Words = Annotated[str, BeforeValidator(text)]
"""Any value, as people read it."""


class Shape(BaseModel):
    """A part of a file; what else the file has is left alone."""

    model_config = ConfigDict(frozen=True)


Read = TypeVar("Read", bound=Shape)


def read(shape: type[Read], document: object) -> Read:
    """The document in its shape; raises BadInputError that names the first part that is wrong."""
    try:
        return shape.model_validate(document)
    except ValidationError as error:
        raise BadInputError(first_flaw(error)) from error


def first_flaw(error: ValidationError) -> str:
    """The first part that is wrong, and why, in one line."""
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"])) or "all of it"
    wrong = f", not {text(first['input'])[:_SHOWN]}" if first["type"].endswith(("_type", "_parsing")) else ""
    return f"{where}: {first['msg']}{wrong}"


class Change(Shape):
    """One cell of the state that a step wrote; before and after are the values as people read them."""

    cell: Words
    before: Words
    after: Words


class Step(Shape):
    """One step of a trace.

    action -- what happened, in RocketMQ's or the model's words. arguments -- elements by name, in the order of the
    declaration. cite -- RocketMQ class and method that the step stands for; may be empty. flow -- (from, to) when
    something goes from one lifeline to another, else None. environment -- the world did it: a crash, a loss, an expiry.
    changes -- the cells it wrote.
    """

    action: Words
    arguments: dict[Words, Words] = {}
    cite: Words = ""
    flow: tuple[Words, Words] | None = None
    environment: bool = False
    changes: tuple[Change, ...] = ()


class Trace(Shape):
    """Evidence of kind "trace": the first state by cell, the steps, and the lifelines in drawing order."""

    initial: dict[Words, Words] = {}
    steps: tuple[Step, ...] = Field(min_length=1)
    lifelines: tuple[Words, ...]

    def ends(self) -> Iterator[str]:
        """Where something goes from or to, step by step."""
        return (end for step in self.steps for end in step.flow or ())


class PictureRow(Shape):
    """A row of a picture; see Row of `invariants.pictures.rows`."""

    time_ms: int
    at: Words = ""
    source: Words = ""
    target: Words = ""
    text: Words
    kind: Words = ""
    mark: Words = ""
    began: bool = False


class Picture(Shape):
    """What led to a finding of a run; see Picture of `invariants.pictures.picture`."""

    lifelines: tuple[Words, ...]
    claim: Words = ""
    names: Words = ""
    left_out: int = 0
    rows: tuple[PictureRow, ...] = Field(min_length=1)


class Table(Shape):
    """How people should see a counterexample, for example queue × owner; each row has a cell for each column."""

    columns: tuple[Words, ...] = ()
    rows: tuple[tuple[Words, ...], ...] = ()

    @model_validator(mode="after")
    def _is_rectangular(self) -> Self:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"each row needs {len(self.columns)} cells, one per column")
        return self


class Counterexample(Shape):
    """Evidence of kind "counterexample"; asked -- the lines that a program was asked, as they can be given to it."""

    arguments: dict[Words, Words] = {}
    results: dict[Words, Words] = {}
    table: Table = Table()
    asked: tuple[Words, ...] = ()


class Reasons(Shape):
    """One kind of what a proof leans on: what, and for which obligation."""

    title: Words
    rows: tuple[tuple[Words, Words], ...]


class Proof(Shape):
    """Evidence of kind "proof"."""

    claim: Words = ""
    seconds: float = Field(ge=0)
    tables: tuple[Reasons, ...]
    open: tuple[Words, ...] = ()


class Node(Shape):
    """A state of a small scope: steps from an initial one, and its variables."""

    id: Words
    depth: int = Field(ge=0)
    cells: dict[Words, Words]

    @property
    def label(self) -> str:
        """The state in one line."""
        return ", ".join(f"{cell} = {value}" for cell, value in self.cells.items())


class Edge(Shape):
    """A step between two states of the file."""

    source: Words
    target: Words
    action: Words
    arguments: dict[Words, Words] = {}

    @property
    def label(self) -> str:
        """The step in one line."""
        return f"{self.action}({', '.join(self.arguments.values())})"


class Graph(Shape):
    """Evidence of kind "graph": the reachable states and steps of a small scope."""

    nodes: tuple[Node, ...] = Field(min_length=1)
    edges: tuple[Edge, ...]

    @model_validator(mode="after")
    def _is_closed(self) -> Self:
        names = {node.id for node in self.nodes}
        if len(names) != len(self.nodes):
            raise ValueError("a graph needs ids that differ")
        for edge in self.edges:
            if not {edge.source, edge.target} <= names:
                raise ValueError(f"{edge.source!r} -> {edge.target!r} joins no two nodes of this graph")
        return self
