"""The backend of Hypothesis for searches that must be the same in every process.

Hypothesis's own now and then draws a number or a text that stands in the source of some imported module of the project:
good for finding bugs, but what a seed gives then depends on what happens to be imported.
"""

from __future__ import annotations

from typing import Any

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

SEEDED = "seeded"
"""Its name in `hypothesis.settings(backend=…)`."""


class SeededProvider(HypothesisProvider):
    """Draws as Hypothesis does, but for constants of the source code."""

    def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
        """No constant."""


AVAILABLE_PROVIDERS[SEEDED] = SeededProvider
