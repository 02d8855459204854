"""The open reading: sparse states whose elements are the names and numbers of what is modelled; no scope, no packing.

It evaluates the same declarations as the packed reading. A state holds only the cells that were written. A sort has
the elements that were named so far, and naturals have no end. A set of states shares one base.
"""

from model.language.open.reading import NOBODY, Given, OpenReading, UnboundedError
from model.language.open.states import Cell, Overlay, State, States, Writes

__all__ = ["NOBODY", "Cell", "Given", "OpenReading", "Overlay", "State", "States", "UnboundedError", "Writes"]
