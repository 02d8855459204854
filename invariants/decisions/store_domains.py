"""What claims about the store range over: bytes, offsets and times."""

from __future__ import annotations

from typing import Annotated

from invariants.domains import INT_MAX, Integers

Length = Annotated[int, Integers(1, INT_MAX - 8, (1, 2, 91, INT_MAX - 8))]
"""Of a record; one of 91 bytes has nothing in it."""
Moment = Annotated[int, Integers(0, 2**60, (0, 1, 2, 999, 1000, 1001, 2999, 3000, 3001))]
"""ms since 1970."""
Offset = Annotated[int, Integers(0, 2**60, (0, 1, 2, INT_MAX - 1, INT_MAX, INT_MAX + 1))]
"""In the log or in a queue, bytes."""
Position = Annotated[int, Integers(0, INT_MAX, (0, 1, 4095, 4096, 4 * 4096 - 1, 4 * 4096, INT_MAX))]
"""In a file, bytes."""
