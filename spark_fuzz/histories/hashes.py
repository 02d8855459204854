"""Hashes of names, 64 bits wide, by numpy: equal names have equal hashes in every process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

_WORD_BYTES = 8
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(_WORD_BYTES + 1)], np.uint64)
_FACTORS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)


def hashed(names: Any) -> Any:
    """The hash of each name of an Arrow column of strings, plain or as a dictionary; 0 where there is none."""
    if pa.types.is_dictionary(names.type):
        of_dictionary = np.r_[hashed(names.dictionary), np.uint64(0)]
        return of_dictionary[np.asarray(names.indices.fill_null(len(names.dictionary)))]
    _, offsets, data = names.buffers()
    ends = np.frombuffer(offsets, np.int32, len(names) + 1, names.offset * 4).astype(np.int64)
    letters = np.frombuffer(data or b"", np.uint8)[ends[0]:ends[-1]]
    begin, length = ends[:-1] - ends[0], np.diff(ends)
    found = (length + 1).astype(np.uint64) * _FACTORS[0]
    # A word begins at each letter: a name is read eight letters at a time, wherever it stands.
    words: Any = np.ndarray((len(letters) + 1,), "<u8", np.r_[letters, np.zeros(_WORD_BYTES, np.uint8)], 0, (1,))
    for at in range(0, int(length.max(initial=0)), _WORD_BYTES):
        longer = np.flatnonzero(length > at)
        word = words[begin[longer] + at] & _MASKS[np.minimum(length[longer] - at, _WORD_BYTES)]
        found[longer] = mixed(found[longer], word)
    return np.where(np.asarray(names.is_valid()), found, np.uint64(0)) if names.null_count else found


def mixed(one: Any, other: Any) -> Any:
    """One hash of two; their order matters."""
    found = (one ^ other) * _FACTORS[1]
    found ^= found >> np.uint64(32)
    found *= _FACTORS[0]
    found ^= found >> np.uint64(29)
    return found
