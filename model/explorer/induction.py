"""Whether a counterexample to induction is reachable: such a state breaks a property, another one only a proof."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from model.explorer.exploration import Exploration
from model.explorer.trace import document, path
from model.language.batch import words


def depth_of(found: Exploration, state: int) -> int | None:
    """Steps from an initial state to a packed state (`Layout.pack`), None when the search did not see it."""
    wanted = words([state], found.expander.words)
    for depth, level in enumerate(found.levels):
        if np.logical_and.reduce([word == value[0] for word, value in zip(level, wanted, strict=True)]).any():
            return depth
    return None


def trace_to(found: Exploration, values: Mapping[tuple[str | int, ...], int]) -> dict[str, Any] | None:
    """A shortest trace to the state with these encoded values by (variable, key, …), None when it was not reached."""
    state = found.expander.ground.layout.pack(values)
    depth = depth_of(found, state)
    if depth is None:
        return None
    return document(found.expander.ground, *path(found.expander, found.levels, depth, state))
