"""Whether a counterexample to induction is reachable: such a state breaks a property, another one only a proof."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from model.explorer.exploration import Exploration
from model.explorer.trace import document, path
from model.language.batch import states, words


def trace_to(found: Exploration, values: Mapping[tuple[str | int, ...], int]) -> dict[str, Any] | None:
    """A shortest trace to a state with these encoded values by (variable, key, …), whatever its other cells are.

    None when the search did not see one.
    """
    layout, count = found.expander.ground.layout, found.expander.words
    mask = sum(layout.cell(str(name), *map(int, keys)).mask for name, *keys in values)
    bits, asked = words([layout.pack(values)], count), words([mask], count)
    for depth, level in enumerate(found.levels):
        same = np.logical_and.reduce([
            word & which[0] == value[0] for word, value, which in zip(level, bits, asked, strict=True)])
        if same.any():
            state = states([word[same][:1] for word in level])[0]
            return document(found.expander.ground, *path(found.expander, found.levels, depth, state))
    return None
