"""Faults that are planted in readings of the language, to see that their disagreement is noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from model.language import walk
from model.language.nodes import Node, make

Patch = pytest.MonkeyPatch
CHANGES: dict[str, Callable[[Node], Node]] = {
    "less becomes at most": lambda n: make("le", n.sort, *n.args) if n.op == "lt" else n,
    "branches swapped": lambda n: make("ite", n.sort, n.args[0], n.args[2], n.args[1]) if n.op == "ite" else n,
    "plus leaves the element out": lambda n: make("minus", n.sort, *n.args) if n.op == "plus" else n,
    "exists means all": lambda n: make("forall", n.sort, *n.args, payload=n.payload) if n.op == "exists" else n,
}
"""What becomes of a node of a term, by a sentence."""


def walk_changed(change: Callable[[Node], Node], patch: Patch) -> None:
    """Have the walk read changed nodes."""
    plain = walk.value
    patch.setattr(walk, "value", lambda node, *rest: plain(change(node), *rest))


def backwards(action: Any) -> Any:
    """An action whose assignments stand in the other order."""
    return replace(action, assignments=action.assignments[::-1])
