"""Z3, for tests of this room: outside it the engine is imported from here, so that one room knows it."""

import z3

__all__ = ["z3"]
