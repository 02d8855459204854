"""Terms as TLA+ text: on one line, or as a block of lines where one is too long.

Naturals begin at 0 and tables end somewhere, so a subtraction is `Monus`, and a table is read by `At` where the key may
lie outside. With these two, what TLC evaluates is total, as every reading of the terms is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby

from model.language.nodes import BOOL, CHOICE, FREE, MAYBE, NAT, SET, Node, SortInfo, Variable
from model.language.tracing import VariableInfo
from model.tla.names import ANY, SORT, VARIABLE, Names

Block = list[str]

WIDTH = 92
_BINARY = {"implies": ("=>", 1), "iff": ("<=>", 1), "or": ("\\/", 2), "and": ("/\\", 2), "eq": ("=", 4),
           "holds": ("=", 4), "lt": ("<", 4), "le": ("<=", 4), "has": (r"\in", 4), "add": ("+", 6)}
_NEGATED = {"eq": "#", "holds": "#", "has": r"\notin"}
_LOOSE, _NOT, _COMPARED, _OPERAND, _ATOM = 0, 3, 4, 5, 9


class NotExpressibleError(ValueError):
    """The concept says something that is not written in TLA+; one line that says what."""


def hang(prefix: str, block: Iterable[str]) -> Block:
    """The block behind a prefix, its other lines below its first."""
    return [(prefix if i == 0 else " " * len(prefix)) + line for i, line in enumerate(block)]


def closed(block: Block, bracket: str) -> Block:
    """The block with a bracket, or a comment, behind its last line."""
    return [*block[:-1], block[-1] + bracket]


def fits(node: Node) -> bool:
    """Whether a natural surely is one of its sort in every scope."""
    if node.op == "ite":
        return fits(node.args[1]) and fits(node.args[2])
    if node.op == "const":
        return bool(node.payload == 0)
    return node.op in ("var", "read") or (node.op == "sub" and fits(node.args[0]))


def branches(node: Node) -> bool:
    """Whether TLC would try several ways to make a formula true, and count a step for each."""
    if node.op in ("and", "forall", "implies", "ite"):
        return any(map(branches, node.args))
    return node.op in ("or", "exists")


class Terms:
    """Writes the terms of one concept.

    names -- of what it declares.
    """

    def __init__(self, names: Names, variables: dict[str, VariableInfo]) -> None:
        """Nothing is bound yet."""
        self.names, self._variables = names, variables
        self._bound: dict[Variable, str] = {}
        self.used: set[str] = set()  # operators that the module has to define, and None
        self.forgotten: set[str] = set()  # free sorts of which an element stands for what means nothing

    # Sorts ------------------------------------------------------------------------------------------------------------

    def domain(self, sort: SortInfo) -> str:
        """The set of a sort's values."""
        if sort.kind == BOOL:
            return "BOOLEAN"
        if sort.kind == SET and sort.element:
            return f"SUBSET {self.domain(sort.element)}"
        if sort.kind == MAYBE and sort.element:
            self.used.add("None")
            return rf"{self.domain(sort.element)} \cup {{None}}"
        return self.names.of(SORT, sort.name)

    def type_of(self, info: VariableInfo) -> str:
        """The set of a variable's values."""
        if not info.keys:
            return self._values(info)
        sets = [self.domain(key) for key in info.keys]
        keys = sets[0] if len(sets) == 1 else r" \X ".join(f"({one})" if " " in one else one for one in sets)
        return f"[{keys} -> {self._values(info)}]"

    def _values(self, info: VariableInfo) -> str:
        """Constants may be any natural: a period that is longer than the ages that a scope tells apart."""
        return "Nat" if info.rigid and info.value.kind == NAT else self.domain(info.value)

    def zero(self, sort: SortInfo) -> str:
        """What a cell holds that means nothing."""
        if sort.kind == FREE:
            self.forgotten.add(sort.name)
            return self.names.of(ANY, sort.name)
        if sort.kind == CHOICE:
            return f'"{sort.members[0]}"'
        if sort.kind == MAYBE:
            self.used.add("None")
        return {BOOL: "FALSE", NAT: "0", SET: "{}", MAYBE: "None"}[sort.kind]

    # Bound variables --------------------------------------------------------------------------------------------------

    @contextmanager
    def binding(self, variables: Sequence[Variable]) -> Iterator[str]:
        """Bind variables; gives what stands behind a quantifier, the variables of one sort together."""
        for variable in variables:
            wanted = variable.name or variable.sort.name[0].lower()
            self._bound[variable] = self.names.free(wanted, *self._bound.values())
        groups = groupby(variables, key=lambda variable: self.domain(variable.sort))
        yield ", ".join(rf"{', '.join(self._bound[one] for one in group)} \in {where}" for where, group in groups)
        for variable in variables:
            del self._bound[variable]

    def bound(self, variable: Variable) -> str:
        """The name of a variable that is bound."""
        return self._bound[variable]

    # Blocks -----------------------------------------------------------------------------------------------------------

    def guard(self, node: Node, width: int = WIDTH) -> Block:
        """A conjunct of an action or of the initial condition, which TLC satisfies in one way."""
        if not branches(node):
            return self.block(node, width)
        self.used.add("Holds")
        return closed(hang("Holds(", self.block(node, width - 7)), ")")

    def block(self, node: Node, width: int = WIDTH) -> Block:  # noqa: PLR0911 - one case per operator
        """A term on one line if it is short, otherwise as people lay it out."""
        line = self.line(node)
        if len(line) <= width:
            return [line]
        args = node.args
        match node.op:
            case "and" | "or":
                sign = _BINARY[node.op][0] + " "
                return [text for arg in args for text in hang(sign, self.block(arg, width - 3))]
            case "forall" | "exists":
                with self.binding(node.payload) as bound:
                    return [rf"{_quantifier(node)} {bound} :", *hang("    ", self.block(args[0], width - 4))]
            case "implies":
                first = self.block(args[0], width - 3) if args[0].op in ("and", "or") else [self._text(args[0], 2)]
                then = args[1].op in ("implies", "iff")
                return [*hang("   ", first), *hang("=> ", [self._text(args[1], 2)] if then
                                                   else self.block(args[1], width - 3))]
            case "ite":
                words = ("IF ", "THEN ", "ELSE ")
                return [text for word, arg in zip(words, args, strict=True)
                        for text in hang(word, self.block(arg, width - 5))]
            case "setof":
                with self.binding((node.payload,)) as bound:
                    return closed(hang(f"{{{bound} : ", self.block(args[0], width - len(bound) - 4)), "}")
        return [line]

    def step(self, node: Node) -> Block:
        """A formula about a step, as a property: between brackets as a key is."""
        block = self.block(node)
        bare = node.op in ("forall", "exists") or (node.op in ("and", "or") and len(block) > 1)
        return closed(hang("[][", block if bare else closed(hang("(", block), ")")), "]_vars")

    def side(self, node: Node) -> str:
        """A term beside `=` or another comparison, on one line."""
        return self._text(node, _OPERAND)

    def operand(self, node: Node, width: int = WIDTH) -> Block:
        """A term that stands behind `=`."""
        line = self.side(node)
        return [line] if len(line) <= width else closed(hang("(", self.block(node, width - 2)), ")")

    # Lines ------------------------------------------------------------------------------------------------------------

    def line(self, node: Node) -> str:
        """A term on one line."""
        return self._text(node, _LOOSE)

    def _text(self, node: Node, outer: int) -> str:
        text, level = self._shape(node)
        return f"({text})" if level < outer else text

    def _shape(self, node: Node) -> tuple[str, int]:  # noqa: PLR0911 - one case per operator
        """The text, and how tightly it binds."""
        op, args = node.op, node.args
        if op in ("forall", "exists"):
            with self.binding(node.payload) as bound:
                return f"{_quantifier(node)} {bound} : {self._text(args[0], _LOOSE)}", _LOOSE
        if op == "ite":
            parts = [self._text(arg, _LOOSE) for arg in args]
            return f"IF {parts[0]} THEN {parts[1]} ELSE {parts[2]}", _LOOSE
        if op == "not":
            return self._negation(args[0])
        if op == "absent":
            return f"{self._text(args[0], _OPERAND)} = {self.zero(args[0].sort)}", _COMPARED
        if op in ("plus", "minus"):
            sign = r"\cup" if op == "plus" else "\\"
            return f"{self._text(args[0], _ATOM)} {sign} {{{self._text(args[1], _LOOSE)}}}", _OPERAND
        if op in _BINARY:
            return self._joined(node)
        return self._atom(node), _ATOM

    def _negation(self, inner: Node) -> tuple[str, int]:
        if inner.op == "absent":
            return f"{self._text(inner.args[0], _OPERAND)} # {self.zero(inner.args[0].sort)}", _COMPARED
        if inner.op in _NEGATED:
            left, right = self._sides(inner)
            return f"{left} {_NEGATED[inner.op]} {right}", _COMPARED
        return f"~{self._text(inner, _ATOM)}", _NOT

    def _sides(self, node: Node) -> list[str]:
        """Both sides of a comparison; a set stands at its right."""
        args = node.args[::-1] if node.op == "has" else node.args
        return [self._text(arg, _OPERAND) for arg in args]

    def _joined(self, node: Node) -> tuple[str, int]:
        sign, level = _BINARY[node.op]
        if level == _COMPARED:
            left, right = self._sides(node)
            return f"{left} {sign} {right}", level
        parts = [self._text(arg, level + 1) for arg in node.args]
        last = node.args[-1]
        if node.op == "implies" and last.op in ("forall", "exists", "ite"):
            parts[-1] = self._text(last, _LOOSE)
        return f" {sign} ".join(parts), level

    def _atom(self, node: Node) -> str:
        args = node.args
        match node.op:
            case "const":
                return self._constant(node)
            case "var":
                return self._bound[node.payload]
            case "read" | "rigid":
                return self._cell(node)
            case "some":
                return self._text(args[0], _ATOM)
            case "sub":
                self.used.add("Monus")
                return f"Monus({self.line(args[0])}, {self.line(args[1])})"
            case "setof":
                with self.binding((node.payload,)) as bound:
                    return f"{{{bound} : {self.line(args[0])}}}"
        raise NotExpressibleError(f"{node.op} has no meaning without a scope")

    def _constant(self, node: Node) -> str:
        sort, number = node.sort, int(node.payload)
        if sort.kind == CHOICE:
            return f'"{sort.members[number]}"'
        if sort.kind == NAT:
            return str(number)
        if sort.kind == BOOL:
            return "TRUE" if number else "FALSE"
        if number:
            raise NotExpressibleError(f"element {number} of {sort.name} has no name without a scope")
        return self.zero(sort)

    def _cell(self, node: Node) -> str:
        phase, name = node.payload if node.op == "read" else ("now", node.payload)
        whole = self.names.of(VARIABLE, name) + ("'" if phase == "after" else "")
        if not node.args:
            return whole
        key = self.key(node.args)
        if all(arg.sort.kind != NAT or fits(arg) for arg in node.args):
            return f"{whole}[{key}]"
        self.used.add("At")
        return f"At({whole}, {f'<<{key}>>' if len(node.args) > 1 else key}, {self.zero(node.sort)})"

    def key(self, keys: Sequence[Node]) -> str:
        """Keys between brackets: behind one, TLA+ takes a name and "is in" for the beginning of a function."""
        return ", ".join(self._text(key, _ATOM if key.sort.kind == BOOL else _LOOSE) for key in keys)


def _quantifier(node: Node) -> str:
    return r"\A" if node.op == "forall" else r"\E"
