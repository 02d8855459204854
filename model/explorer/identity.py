"""What tells one search from another: its layout, its steps, and what it judges."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from model.explorer.checks import Check
from model.explorer.expand import Expander
from model.language.batch import Table
from model.language.ground import Ground


def identity(expander: Expander, checks: Sequence[Check], first: Sequence[int]) -> str:
    """A number in hexadecimal digits; equal for searches that find the same."""
    digests = _Digests()
    whole = sha256()
    for cell in expander.ground.layout.cells:
        whole.update(repr((cell.variable, cell.keys, cell.position, cell.width)).encode())
    for instance in expander.instances:
        parts = [instance.guard, instance.cut, *(value for _, value in sorted(instance.effect.items()))]
        whole.update(repr((instance.action.name, instance.arguments, sorted(instance.effect),
                           [digests.of(part) for part in parts])).encode())
    for check in checks:
        parts = [check.term, *(term for _, term in check.parts)]
        whole.update(repr((check.name, check.doubt, check.reach, [digests.of(part) for part in parts])).encode())
    whole.update(repr(first).encode())
    return whole.hexdigest()


class _Digests:
    """Digests of ground terms, each made once."""

    def __init__(self) -> None:
        self._made: dict[Ground, str] = {}

    def of(self, term: Ground) -> str:
        found = self._made.get(term)
        if found is None:
            data: Any = term.data
            if isinstance(data, Table):
                data = data.mask, sha256(data.values.tobytes()).hexdigest()
            shape = term.op, term.boolean, term.bound, data, [self.of(arg) for arg in term.args]
            found = self._made[term] = sha256(repr(shape).encode()).hexdigest()
        return found
