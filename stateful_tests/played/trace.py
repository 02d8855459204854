"""A trace of a model, done with parts of the implementation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar


class PlayedTrace:
    """Does each step of a trace by the method that is called as its action, and looks at the implementation then.

    parts -- of the implementation. at_the_end -- one looks behind the last step only, for in between the
    implementation is where the model is not. steps -- of the trace. number -- of the step that is done. cells -- what
    the model has, as text. done -- what was done for each step, as people read it. differences -- what the
    implementation has otherwise than the model: nothing is done behind the first step that leads elsewhere.
    """

    parts: ClassVar[str]
    at_the_end: ClassVar[bool] = False

    def __init__(self, trace: Mapping[str, Any], constants: Mapping[str, int]) -> None:
        """Do all of it; constants -- of the scope that it is of."""
        self.steps, self.number, self.constants = trace["steps"], 0, constants
        self.cells: dict[str, str] = dict(trace["initial"])
        self.done: list[str] = []
        self.differences: list[str] = []
        self.begin()
        try:
            self._do()
        finally:
            self.leave()

    def _do(self) -> None:
        for step in self.steps:
            self.number += 1
            name, arguments = step["action"], [*step["arguments"].values()]
            said = self.do_step(name, arguments)
            self.cells |= {change["cell"]: change["after"] for change in step["changes"]}
            shown = f"{name}({', '.join(arguments)})"
            self.done.append(f"{self.number:2}  {shown:24}  {said}")
            if self.at_the_end and self.number < len(self.steps):
                continue
            self.differences += self._differences()
            if self.differences:
                return

    def do_step(self, name: str, arguments: list[str]) -> str:
        """Do the step that the model's action with these arguments is; what was done, as people read it."""
        return str(getattr(self, name)(*arguments))

    def begin(self) -> None:
        """Make what the trace begins with."""
        raise NotImplementedError

    def leave(self) -> None:
        """Leave nothing behind."""

    def seen(self) -> Iterator[tuple[str, int | bool | str]]:
        """What the implementation has: cells of the model and their values."""
        raise NotImplementedError

    def files(self) -> Iterator[str]:
        """The files that result, a line each; most parts of the implementation have none."""
        yield from ()

    def number_in(self, cell: str) -> int:
        """The number that the model has in a cell."""
        return int(self.cells.get(cell, "0"))

    def is_true(self, cell: str) -> bool:
        """Whether the model has it so."""
        return self.cells.get(cell) == "true"

    def _differences(self) -> Iterator[str]:
        for cell, value in self.seen():
            shown, unset = (str(value).lower(), "false") if isinstance(value, bool) else (str(value), "0")
            if shown != self.cells.get(cell, unset):
                yield f"after step {self.number} {cell} is {shown}, the model has {self.cells.get(cell, unset)}"

    def told(self) -> Iterator[str]:
        """What was done, the files that result, and whether the implementation has what the model has."""
        yield f"on {self.parts}:"
        yield from (f"  {line}" for line in self.done)
        yield from (f"  {line}" for line in self.files())
        yield from (f"  it differs: {one}" for one in self.differences)
        if not self.differences:
            yield "  it has what the model has"
