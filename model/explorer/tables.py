"""Tables for terms that depend on few bits of a state: one look-up instead of many operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from model.language.batch import Batch, Table, Word, dtype, pieces
from model.language.ground import Ground
from model.language.instantiate import Instantiation

T = TypeVar("T")

TABLE_BITS = 13  # 8,192 rows: with eight instances they just fit into a second-level cache of 512 KiB


class Tables:
    """Rewrites terms so that parts which depend on few bits are looked up."""

    def __init__(self, ground: Instantiation, bits: int = TABLE_BITS) -> None:
        """Tables have at most 2 ** bits entries."""
        self._terms, self._words, self._bits = ground.terms, ground.layout.words, bits
        self._memo: dict[Ground, Ground] = {}

    def rewrite(self, term: Ground) -> Ground:
        """The same term, with tables."""
        found = self._memo.get(term)
        if found is None:
            found = self._memo[term] = self._rewritten(term)
        return found

    def _rewritten(self, term: Ground) -> Ground:
        if not term.args or term.support >> 64 * self._words:
            return term
        if term.support.bit_count() <= self._bits:
            return self._table(term) if _pays(term) else term
        if term.op in ("and", "or"):
            join = self._terms.conjoin if term.op == "and" else self._terms.disjoin
            small = grouped([(arg.support, arg) for arg in term.args], self._bits)
            wide = [arg for arg in term.args if arg.support.bit_count() > self._bits]
            return join([self.rewrite(join(members)) for _, members in small] + [self.rewrite(arg) for arg in wide])
        args = tuple(map(self.rewrite, term.args))
        return self._terms.make(term.op, args, term.data, term.bound, boolean=term.boolean)

    def _table(self, term: Ground) -> Ground:
        batch = Batch(spread(term.support, self._words))
        values = np.asarray(batch.value(term), np.bool_ if term.boolean else dtype(term.bound))
        table = Table(term.support, values)
        return self._terms.make("table", (), table, term.bound, boolean=term.boolean, support=term.support)


def _pays(term: Ground) -> bool:
    """Tell whether evaluating the term is dearer than gathering its bits."""
    limit = 3 * len(pieces(term.support)) + 2
    found = {term}
    waiting = [term]
    while waiting and len(found) <= limit:
        for arg in waiting.pop().args:
            if arg.op != "const" and arg not in found:
                found.add(arg)
                waiting.append(arg)
    return len(found) > limit


def spread(mask: int, count: int) -> list[Word]:
    """One state for each value of the bits of a mask, in order; all other bits are 0."""
    numbers = np.arange(1 << mask.bit_count(), dtype=np.uint64)
    states = [np.zeros(len(numbers), np.uint64) for _ in range(count)]
    for word, shift, width, place in pieces(mask):
        states[word] |= (numbers >> np.uint64(place) & np.uint64((1 << width) - 1)) << np.uint64(shift)
    return states


def grouped(small: Sequence[tuple[int, T]], bits: int) -> list[tuple[int, list[T]]]:
    """Put what depends on few bits together, so that few indices are needed: widest first, where it adds least."""
    groups: list[tuple[int, list[T]]] = []
    for mask, member in sorted(small, key=lambda pair: -pair[0].bit_count()):
        if mask.bit_count() > bits:
            continue
        grown = [((have | mask).bit_count() - have.bit_count(), i) for i, (have, _) in enumerate(groups)
                 if (have | mask).bit_count() <= bits]
        if grown:
            _, best = min(grown)
            have, members = groups[best]
            groups[best] = (have | mask, [*members, member])
        else:
            groups.append((mask, [member]))
    return groups
