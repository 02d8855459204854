"""Ground terms: what remains of a formula when a scope has instantiated its variables.

They are hash-consed, so that equal terms are one object and every reading computes them once, and constants fold while
they are made. Values are ints as in `model.language.nodes.const`; Bool terms are marked `boolean`.

    operator    arguments       data                                meaning
    const       –               value
    bits        –               (phase, position, width)            a cell, or a run of cells, of the state
    select      index           (phase, position, width, count)     the index-th element of a table; index < count
    lookup      index           values                              a constant table; 0 beyond its end
    not, and, or, eq, lt, ite   as in nodes (and, or: n-ary)
    add, sub    a, b            –                                   sub is 0 when b > a
    scale       a               factor
    pack        b0, b1, …       –                                   the set of the i for which bi holds
    member      set, element    –
    single      element         size                                the set {element}
    union, less set, set        –                                   a ∪ b, a ∖ b
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

BEFORE, AFTER = 0, 1


class Ground:
    """One ground term.

    bound -- no value is greater. support -- the bits of the state it depends on; those of the state after a step lie
    above the words of the state before.
    """

    __slots__ = ("args", "boolean", "bound", "data", "op", "support")

    def __init__(self, op: str, args: tuple[Ground, ...], data: Any, bound: int, boolean: bool, support: int) -> None:
        """Only Terms makes them."""
        self.op, self.args, self.data = op, args, data
        self.bound, self.boolean, self.support = bound, boolean, support

    def __repr__(self) -> str:
        """Shape, for people who debug a reading."""
        inner = ", ".join([*([repr(self.data)] if self.data is not None else []), *map(repr, self.args)])
        return f"{self.op}({inner})"


class Terms:
    """Makes ground terms over states of so many words; each method folds what is constant."""

    def __init__(self, words: int) -> None:
        """Start with true and false."""
        self._made: dict[tuple[Any, ...], Ground] = {}
        self._after = 64 * words
        self.true, self.false = self.const(1, boolean=True), self.const(0, boolean=True)

    def make(
        self, op: str, args: tuple[Ground, ...], data: Any = None, bound: int = 1, *, boolean: bool = False,
        support: int = 0,
    ) -> Ground:
        """The term of this shape, made once; its support is that of its arguments and what is given.

        Raises ValueError for numbers that a machine word does not hold: what is computed with them would be another.
        """
        key = (op, boolean, data, *map(id, args))
        term = self._made.get(key)
        if term is None:
            if bound >= 1 << 64:
                raise ValueError(f"a term may be {bound}, and a search computes with 64 bits; take smaller numbers")
            for arg in args:
                support |= arg.support
            term = self._made[key] = Ground(op, args, data, bound, boolean, support)
        return term

    def const(self, value: int, *, boolean: bool = False) -> Ground:
        """A constant."""
        return self.make("const", (), value, value, boolean=boolean)

    def bits(self, phase: int, position: int, width: int, bound: int, *, boolean: bool = False) -> Ground:
        """A run of bits of a state; bound is the greatest value that occurs there."""
        if width == 0:
            return self.const(0, boolean=boolean)
        support = ((1 << width) - 1) << position + phase * self._after
        return self.make("bits", (), (phase, position, width), bound, boolean=boolean, support=support)

    def select(self, table: Sequence[Ground], index: Ground, phase: int) -> Ground:
        """The element of a table of cells at an index that is inside it."""
        if index.op == "const":
            return table[int(index.data)]
        first = table[0]
        width = first.data[2] if first.op == "bits" else 0
        run = all(cell.op == "bits" and cell.data == (phase, first.data[1] + i * width, width)
                  for i, cell in enumerate(table))
        if not run or first.data[1] // 64 != table[-1].data[1] // 64:
            chosen = table[-1]
            for i in reversed(range(len(table) - 1)):
                chosen = self.ite(self.eq(index, self.const(i)), table[i], chosen)
            return chosen
        support = ((1 << width * len(table)) - 1) << first.data[1] + phase * self._after
        data = (phase, first.data[1], width, len(table))
        return self.make("select", (index,), data, first.bound, boolean=first.boolean, support=support)

    def lookup(self, values: tuple[int, ...], index: Ground, *, boolean: bool = False) -> Ground:
        """The entry of a constant table; 0 beyond its end."""
        if index.op == "const":
            return self.const(values[index.data] if index.data < len(values) else 0, boolean=boolean)
        return self.make("lookup", (index,), values, max(values), boolean=boolean)

    def negate(self, a: Ground) -> Ground:
        """Negation."""
        if a.op == "const":
            return self.false if a.data else self.true
        return a.args[0] if a.op == "not" else self.make("not", (a,), boolean=True)

    def conjoin(self, parts: Iterable[Ground]) -> Ground:
        """Conjunction."""
        return self._junction("and", self.true, self.false, parts)

    def disjoin(self, parts: Iterable[Ground]) -> Ground:
        """Disjunction."""
        return self._junction("or", self.false, self.true, parts)

    def _junction(self, op: str, neutral: Ground, absorbing: Ground, parts: Iterable[Ground]) -> Ground:
        flat: dict[Ground, None] = {}
        for part in parts:
            flat.update(dict.fromkeys(part.args if part.op == op else (part,)))
        flat.pop(neutral, None)
        if absorbing in flat or any(part.op == "not" and part.args[0] in flat for part in flat):
            return absorbing
        if len(flat) < 2:  # noqa: PLR2004 - nothing, or one part alone
            return next(iter(flat), neutral)
        return self.make(op, tuple(flat), boolean=True)

    def eq(self, a: Ground, b: Ground) -> Ground:
        """Equality of two numbers, sets, or truth values."""
        if a is b:
            return self.true
        if a.op == "const":
            a, b = b, a
        if b.op != "const":
            return self.make("eq", (a, b), boolean=True)
        if a.op == "const":
            return self.false
        if a.boolean:
            return a if b.data else self.negate(a)
        if b.data > a.bound:
            return self.false
        return self._distribute(a, lambda x: self.eq(x, b)) or self.make("eq", (a, b), boolean=True)

    def lt(self, a: Ground, b: Ground) -> Ground:
        """Less, of two numbers."""
        if a is b or (b.op == "const" and b.data == 0) or (a.op == "const" and a.data >= b.bound):
            return self.false
        if a.op == "const" and b.op == "const":
            return self.true  # the equal and greater were handled above: a constant is its own bound
        if b.op == "const" and a.bound < b.data:
            return self.true
        if a.op == "const":
            return self._distribute(b, lambda x: self.lt(a, x)) or self.make("lt", (a, b), boolean=True)
        return self.make("lt", (a, b), boolean=True)

    def _distribute(self, a: Ground, compare: Callable[[Ground], Ground]) -> Ground | None:
        """Compare inside an ite when one branch folds."""
        if a.op != "ite":
            return None
        then, otherwise = compare(a.args[1]), compare(a.args[2])
        folds = then.op == "const" or otherwise.op == "const"
        return self.ite(a.args[0], then, otherwise) if folds else None

    def ite(self, c: Ground, a: Ground, b: Ground) -> Ground:
        """Either of two values."""
        if c.op == "const" or a is b:
            return a if c is self.true or a is b else b
        if c.op == "not":
            c, a, b = c.args[0], b, a
        if a.boolean and (a.op == "const" or b.op == "const" or a is c or b is c):
            if a is self.true or a is c:
                return self.disjoin((c, b))
            if b is self.false or b is c:
                return self.conjoin((c, a))
            if a is self.false:
                return self.conjoin((self.negate(c), b))
            return self.disjoin((self.negate(c), a))
        return self.make("ite", (c, a, b), None, max(a.bound, b.bound), boolean=a.boolean)

    def add(self, a: Ground, b: Ground) -> Ground:
        """Sum of two numbers."""
        if a.op == "const":
            a, b = b, a
        if b.op == "const" and (a.op == "const" or b.data == 0):
            return self.const(a.data + b.data) if a.op == "const" else a
        return self.make("add", (a, b), None, a.bound + b.bound)

    def sub(self, a: Ground, b: Ground) -> Ground:
        """Difference of two numbers; 0 when it would be less."""
        if a is b:
            return self.const(0)
        if b.op == "const" and (a.op == "const" or b.data == 0):
            return self.const(max(0, a.data - b.data)) if a.op == "const" else a
        return self.make("sub", (a, b), None, a.bound)

    def scale(self, a: Ground, factor: int) -> Ground:
        """A number times a constant."""
        if a.op == "const" or factor == 1:
            return self.const(a.data * factor) if a.op == "const" else a
        return self.make("scale", (a,), factor, a.bound * factor)

    def pack(self, parts: Sequence[Ground]) -> Ground:
        """The set of all i for which part i holds."""
        if all(part.op == "const" for part in parts):
            return self.const(sum(part.data << i for i, part in enumerate(parts)))
        first = parts[0].data if parts[0].op == "bits" else None
        run = first is not None and first[1] // 64 == (first[1] + len(parts) - 1) // 64 and all(
            part.op == "bits" and part.data == (first[0], first[1] + i, 1) for i, part in enumerate(parts))
        if run and first is not None:
            return self.bits(first[0], first[1], len(parts), (1 << len(parts)) - 1)
        return self.make("pack", tuple(parts), None, (1 << len(parts)) - 1)

    def member(self, a: Ground, element: Ground) -> Ground:
        """Tell whether an element is in a set."""
        if element.op == "const":
            k = int(element.data)
            if a.op == "const":
                return self.true if a.data >> k & 1 else self.false
            if a.op == "bits":
                phase, position, _ = a.data
                return self.bits(phase, position + k, 1, 1, boolean=True)
            if a.op == "pack":
                return a.args[k]
        if a.op == "const":
            values = tuple(a.data >> k & 1 for k in range(a.bound.bit_length()))
            return self.lookup(values, element, boolean=True) if a.data else self.false
        return self.make("member", (a, element), boolean=True)

    def single(self, element: Ground, size: int) -> Ground:
        """The set of one element of a sort of that size."""
        if element.op == "const":
            return self.const(1 << element.data)
        return self.make("single", (element,), size, (1 << size) - 1)

    def union(self, a: Ground, b: Ground) -> Ground:
        """Union of two sets."""
        if a.op == "const" and b.op == "const":
            return self.const(a.data | b.data)
        return self.make("union", (a, b), None, (1 << max(a.bound, b.bound).bit_length()) - 1)

    def less(self, a: Ground, b: Ground) -> Ground:
        """The set of what is in a and not in b."""
        if a.op == "const" and b.op == "const":
            return self.const(a.data & ~b.data)
        return self.make("less", (a, b), None, (1 << a.bound.bit_length()) - 1)
