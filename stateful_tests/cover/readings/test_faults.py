"""A fault that is planted in one reading, or in the reference, is noticed by the agreement test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from model.language import defined, instantiate, scalar, walk
from model.language.batch import Batch
from model.language.ground import Ground
from model.language.nodes import NAT, Node, SortInfo, conjunction, const, make
from model.language.open import reading, text
from model.language.open.text import Writer
from proofs.engine import z3
from proofs.enumerated import Enumerated
from proofs.reading import Reading
from stateful_tests.language import direct
from stateful_tests.language.agreement import READERS, Reader, by_running, by_strictness, corpus, differences
from stateful_tests.language.faults import CHANGES, Patch, backwards, walk_changed
from stateful_tests.language.z3_reader import by_z3, z3_changed, z3_step


def _both_changed(change: Callable[[Node], Node], patch: Patch) -> None:
    plain = instantiate.Instantiation._make
    patch.setattr(instantiate.Instantiation, "_make", lambda self, node, *rest: plain(self, change(node), *rest))


def _walk_sub(patch: Patch) -> None:
    plain = walk.value

    def value(node: Node, *rest: Any) -> int:
        return plain(node.args[0], *rest) - plain(node.args[1], *rest) if node.op == "sub" else plain(node, *rest)

    patch.setattr(walk, "value", value)


def _clipped(node: Node, size: Callable[[SortInfo], int]) -> Node:
    """Indices beyond the last are taken for the last."""
    if node.op not in ("read", "rigid"):
        return node
    keys = (make("ite", k.sort, make("inside", node.sort, k), k, const(k.sort, size(k.sort) - 1))
            if k.sort.kind == NAT else k for k in node.args)
    return make(node.op, node.sort, *keys, payload=node.payload)


def _open_changed(change: Callable[[Node], Node], patch: Patch) -> None:
    """In code that is compiled from now on."""
    plain = Writer.text
    patch.setattr(reading, "_compiled", {})
    patch.setattr(Writer, "text", lambda self, node, names: plain(self, change(node), names))


def _open_step(change: Callable[[Any], Any], patch: Patch) -> None:
    plain = Writer.action
    patch.setattr(reading, "_compiled", {})
    patch.setattr(Writer, "action", lambda self, action, **named: plain(self, change(action), **named))


def _open_pattern(op: str, wrong: str, patch: Patch) -> None:
    patch.setattr(reading, "_compiled", {})
    patch.setitem(text._PATTERNS, op, wrong)


def _open_filters(patch: Patch) -> None:
    """What a quantifier runs through is bounded by what it says, not by what it supposes."""
    patch.setattr(reading, "_compiled", {})
    patch.setattr(text, "filters", lambda _, body: text.conjuncts(body))


def _walk_index(patch: Patch) -> None:
    plain = walk.value
    patch.setattr(walk, "value", lambda node, scope, *rest: plain(_clipped(node, scope.size), scope, *rest))


def _both_index(patch: Patch) -> None:
    plain = instantiate.Instantiation._make
    patch.setattr(instantiate.Instantiation, "_make",
                  lambda self, node, *rest: plain(self, _clipped(node, self.scope.size), *rest))


def _z3_index(patch: Patch) -> None:
    plain = Enumerated._select
    def last(self: Enumerated, info: Any, keys: Any, cell: Any) -> Any:
        inside = [z3.If(self.domain(s, k), k, self.count(s) - 1) if s.kind == NAT else k
                  for s, k in zip(info.keys, keys, strict=True)]
        return plain(self, info, [z3.simplify(key) for key in inside], cell)
    patch.setattr(Enumerated, "_select", last)


def _direct_index(patch: Patch) -> None:
    def read(self: Any, info: Any, keys: tuple[int, ...]) -> direct._Value:
        inside = tuple(min(k, walk.span(s, self.scope) - 1) for s, k in zip(info.keys, keys, strict=True))
        return plain(self, info, inside)
    plain = direct._State.read
    patch.setattr(direct._State, "read", read)


def _remembering(action: Any) -> Any:
    return replace(action, assignments=tuple(a for a in action.assignments if a.value is not None))


def _walk_step(change: Callable[[Any], Any], patch: Patch) -> None:
    plain = walk.apply
    patch.setattr(walk, "apply", lambda action, *rest: plain(change(action), *rest))


def _both_step(change: Callable[[Any], Any], patch: Patch) -> None:
    plain = instantiate.Instantiation.instance
    patch.setattr(instantiate.Instantiation, "instance",
                  lambda self, action, *rest, **named: plain(self, change(action), *rest, **named))


def _batch_op(op: str, wrong: Callable[..., Any], patch: Patch) -> None:
    plain = Batch._compute
    def compute(self: Batch, term: Ground) -> Any:
        return wrong(*map(self.value, term.args)) if term.op == op else plain(self, term)
    patch.setattr(Batch, "_compute", compute)


def _step_op(op: str, wrong: str, patch: Patch) -> None:
    plain = scalar._Source._expression
    def expression(self: Any, term: Ground, args: list[str]) -> str:
        return wrong.format(*args) if term.op == op else plain(self, term, args)
    patch.setattr(scalar._Source, "_expression", expression)


def _set(owner: Any, name: str, wrong: Any, patch: Patch) -> None:
    patch.setattr(owner, name, wrong)


def _first_write_wins(patch: Patch) -> None:
    def write(self: Any, info: Any, keys: tuple[int, ...], number: int) -> None:
        if self.after.get((info.name, *keys)) == self.before.get((info.name, *keys)):
            plain(self, info, keys, number)
    plain = direct._State.write
    patch.setattr(direct._State, "write", write)


def _z3_sub(patch: Patch) -> None:
    plain = Reading._combine
    patch.setattr(Reading, "_combine", lambda self, node, args, *rest: (
        args[0] - args[1] if node.op == "sub" else plain(self, node, args, *rest)))


def _no_saturation(patch: Patch) -> None:
    plain = instantiate.Instantiation._value
    def value(self: Any, assignment: Any, env: Any) -> Any:
        sort = None if assignment.value is None else assignment.value.sort
        return plain(self, assignment, env) if sort is None or not sort.saturates else (
            self.term(assignment.value, env), self.terms.false)
    patch.setattr(instantiate.Instantiation, "_value", value)


def _left_to_right_ignored(patch: Patch) -> None:
    patch.setattr(defined, "_left_to_right", lambda _, parts, __: conjunction(*parts))


def _minus_is_never_wrong(patch: Patch) -> None:
    plain = defined._compute
    patch.setattr(defined, "_compute", lambda node, memo: (
        plain(make("add", node.sort, *node.args), memo) if node.op == "sub" else plain(node, memo)))


FAULTS: list[tuple[str, str, Callable[[Patch], None]]] = [
    *(("walk", name, partial(walk_changed, change)) for name, change in CHANGES.items()),
    *(("batch", name, partial(_both_changed, change)) for name, change in CHANGES.items()),
    *(("step", name, partial(_both_changed, change)) for name, change in CHANGES.items()),
    *(("z3", name, partial(z3_changed, change)) for name, change in CHANGES.items()),
    *(("open", name, partial(_open_changed, change)) for name, change in CHANGES.items()),
    ("walk", "minus goes below zero", _walk_sub),
    ("walk", "the last cell is read beyond the end", _walk_index),
    ("walk", "forget keeps the value", partial(_walk_step, _remembering)),
    ("walk", "an earlier assignment wins", partial(_walk_step, backwards)),
    ("batch", "less becomes at most, in numpy", partial(_batch_op, "lt", np.less_equal)),
    ("batch", "minus goes below zero", partial(_batch_op, "sub", lambda a, b: np.subtract(a, b, dtype=np.uint8))),
    ("batch", "branches swapped, in numpy", partial(_batch_op, "ite", lambda c, a, b: np.where(c, b, a))),
    ("step", "less becomes at most, in Python", partial(_step_op, "lt", "{} <= {}")),
    ("step", "minus goes below zero", partial(_step_op, "sub", "{} - {}")),
    ("step", "branches swapped, in Python", partial(_step_op, "ite", "{2} if {0} else {1}")),
    *((reader, name, plant) for reader in ("batch", "step") for name, plant in (
        ("the last cell is read beyond the end", _both_index),
        ("forget keeps the value", partial(_both_step, _remembering)),
        ("an earlier assignment wins", partial(_both_step, backwards)),
        ("nothing saturates", _no_saturation))),
    ("direct", "less becomes at most", partial(_set, direct._Value, "__lt__", direct._Value.__le__)),
    ("direct", "minus goes below zero", partial(
        _set, direct._Value, "__sub__", lambda a, b: direct._Value(a.number - direct._number(b)))),
    ("direct", "the last cell is read beyond the end", _direct_index),
    ("direct", "forget keeps the value", partial(_set, direct._Table, "forget", lambda *_: None)),
    ("direct", "an earlier assignment wins", _first_write_wins),
    ("open", "minus goes below zero", partial(_open_pattern, "sub", "({} - {})")),
    ("open", "a Maybe that holds nothing holds everything", partial(_open_pattern, "holds", "({0} in (None, {1}))")),
    ("open", "forget keeps the value", partial(_open_step, _remembering)),
    ("open", "an earlier assignment wins", partial(_open_step, backwards)),
    ("open", "a quantifier looks at too few elements", _open_filters),
    ("open", "nothing saturates", partial(_set, reading.Given, "fitting", reading.Given.inside)),
    ("z3", "minus goes below zero", _z3_sub),
    ("z3", "the last cell is read beyond the end", _z3_index),
    ("z3", "forget keeps the value", partial(z3_step, _remembering)),
    ("z3", "an earlier assignment wins", partial(z3_step, backwards)),
    ("z3", "nothing saturates", partial(_set, Enumerated, "assigned", Reading.assigned)),
    ("strict", "obligations ignore what was decided before", _left_to_right_ignored),
    ("strict", "minus owes nothing", _minus_is_never_wrong),
]


@pytest.mark.parametrize(("reader", "name", "plant"), FAULTS, ids=[f"{reader}: {name}" for reader, name, _ in FAULTS])
def test_a_fault_is_noticed(reader: str, name: str, plant: Callable[[Patch], None], monkeypatch: Patch) -> None:
    cases = corpus(30, 6) if reader == "z3" else corpus(120)
    plant(monkeypatch)
    readers: dict[str, Reader] = {**READERS, "z3": by_z3, "walk": by_running, "strict": by_strictness}
    ours = reader in ("walk", "strict")  # then the reference itself is wrong
    assert any(differences(made, [readers[reader]], None if ours else expected) for made, expected in cases), name
