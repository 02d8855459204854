"""The Python text of terms and actions over sparse states.

In the text, `g` reads a cell of the state and `h` one of the state after a step, each with the value of a cell that was
never written; `u` has what a reading was given: `U_Sort` the elements of a sort, `F_Sort` the element of a cell of that
sort that was never written, `N_Sort` how many naturals there are, and `R_name` rigid functions and constants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from model.language.actions import Action
from model.language.nodes import BOOL, FREE, MAYBE, NAT, SET, Node, SortInfo, Variable
from model.language.state import Concept
from model.language.tracing import Assignment, free_variables

Names = Mapping[Variable | Node, str]
"""What variables, and terms that were computed before, are called."""

_PATTERNS = {
    "not": "(not {})", "iff": "({} == {})", "eq": "({} == {})", "lt": "({} < {})", "le": "({} <= {})",
    "add": "({} + {})", "sub": "max(0, {} - {})", "ite": "({1} if {0} else {2})", "implies": "(not {} or {})",
    "has": "({1} in {0})", "plus": "({} | {{{}}})", "minus": "({} - {{{}}})", "some": "{}",
    "holds": "({} == {})", "absent": "({} == None)",  # not `is`: a term may be a literal
}


def unset(sort: SortInfo) -> str:
    """The value of a cell that was never written."""
    if sort.kind == FREE:
        return f"u.F_{sort.name}"
    return {BOOL: "False", SET: "EMPTY", NAT: "0", MAYBE: "None"}.get(sort.kind) or repr(sort.members[0])


def element(sort: SortInfo, number: int) -> str:
    """A constant by its number; see `nodes.const`."""
    match sort.kind:
        case "bool":
            return str(bool(number))
        case "nat":
            return str(number)
        case "choice":
            return repr(sort.members[number])
        case "maybe":
            return "None" if number == 0 else element(_inner(sort), number - 1)
        case "set":
            inside = [element(_inner(sort), i) for i in range(number.bit_length()) if number >> i & 1]
            return f"frozenset(({', '.join(inside)},))" if inside else "EMPTY"
    raise ValueError(f"{sort.name} has no constants")


def _inner(sort: SortInfo) -> SortInfo:
    assert sort.element is not None  # noqa: S101 - narrows for mypy
    return sort.element


def elements(sort: SortInfo) -> str:
    """What a variable of a sort ranges over."""
    match sort.kind:
        case "bool":
            return "(False, True)"
        case "choice":
            return repr(sort.members)
        case "nat":
            return f"u.naturals({sort.name!r})"
        case "maybe":
            return f"(None, *{elements(_inner(sort))})"
        case "set":
            return f"subsets({elements(_inner(sort))})"
    return f"u.U_{sort.name}"


def conjuncts(node: Node) -> tuple[Node, ...]:
    """The parts of a conjunction."""
    return node.args if node.op == "and" else (node,)


def filters(op: str, body: Node) -> tuple[Node, ...]:
    """What is true of all elements for which the body of a quantifier has to be looked at."""
    if op != "forall":
        return conjuncts(body)
    if body.op == "implies":
        return (*conjuncts(body.args[0]), *filters(op, body.args[1]))
    disjuncts = body.args if body.op == "or" else (body,)
    return tuple(part for one in disjuncts if one.op == "not" for part in conjuncts(one.args[0]))


class Writer:
    """Writes the text of a concept's terms.

    within -- the reading is within a scope: what is assigned has to fit into it.
    """

    def __init__(self, concept: Concept, *, within: bool = False) -> None:
        """Write for this concept."""
        self.concept, self.within = concept, within
        self._count = 0

    def text(self, node: Node, names: Names) -> str:  # noqa: PLR0911 - one case per operator
        """The text of a term."""
        if node in names:
            return names[node]
        match node.op:
            case "const":
                return element(node.sort, node.payload)
            case "var":
                return names[node.payload]
            case "forall" | "exists" | "setof":
                return self._quantified(node, names)
            case "inside":
                return f"({self.text(node.args[0], names)} < u.N_{node.args[0].sort.name})"
        args = [self.text(arg, names) for arg in node.args]
        if node.op == "read":
            phase, name = node.payload
            return f"{'h' if phase == 'after' else 'g'}({self.cell(name, args)}, {unset(node.sort)})"
        if node.op == "rigid":
            return f"u.R_{node.payload}({', '.join(args)})" if args else f"u.R_{node.payload}"
        if node.op in ("and", "or"):
            return f"({f' {node.op} '.join(args)})"
        if node.op == "holds" and node.args[1].op == "const":
            return f"({args[0]} == {args[1]})"
        return _PATTERNS[node.op].format(*args)

    def cell(self, name: str, keys: Sequence[str]) -> str:
        """The text of a cell."""
        return f"({', '.join([repr(name), *keys])},)"

    def _quantified(self, node: Node, names: Names) -> str:
        """The text of a quantifier; what quantifies in it and is the same for all elements is computed once."""
        variables = (node.payload,) if node.op == "setof" else node.payload
        outer, body = dict(names), node.args[0]
        for once in dict.fromkeys(_fixed(body, frozenset(variables))):
            if once not in outer:
                self._count += 1
                outer[once] = f"o{self._count}"
        inner, loops = self.loops(node.op, variables, body, outer)
        run, said = _clauses(loops), self.text(body, inner)
        if node.op == "setof":
            text = f"frozenset({inner[node.payload]} {run} if {said})"
        else:
            text = f"{'all' if node.op == 'forall' else 'any'}({said} {run})"
        hoisted = [once for once in outer if once not in names and isinstance(once, Node)]
        if not hoisted:
            return text
        values = ", ".join(self.text(once, names) for once in hoisted)
        return f"(lambda {', '.join(outer[once] for once in hoisted)}: {text})({values})"

    # Quantifiers ------------------------------------------------------------------------------------------------------

    def loops(
        self, op: str, variables: Sequence[Variable], body: Node, names: Names,
    ) -> tuple[dict[Variable | Node, str], list[tuple[str, str]]]:
        """Names of bound variables; and through what each of them has to run, in an order in which this is possible."""
        inner, left, loops = dict(names), list(variables), list[tuple[str, str]]()
        given = filters(op, body)
        bound = {variable for variable in names if isinstance(variable, Variable)}
        while left:
            variable, source = self._next(left, bound, given, inner)
            self._count += 1
            inner[variable] = f"q{self._count}"
            loops.append((inner[variable], source))
            left.remove(variable)
            bound.add(variable)
        return inner, loops

    def _next(
        self, left: Sequence[Variable], bound: set[Variable], given: Sequence[Node], names: Names,
    ) -> tuple[Variable, str]:
        """The variable with the fewest elements to look at, or of which most is given, and which elements these are."""
        fallback: tuple[Variable, str] | None = None
        for variable in left:
            for source, few in self._sources(variable, bound, given, names):
                if few:
                    return variable, source
                fallback = fallback or (variable, source)
        plains = [variable for variable in left if variable.sort.kind != NAT]
        plain = next((one for one in plains if _completes(one, bound, given)), plains[0] if plains else None)
        if plain is not None and not (fallback and self._determines(fallback[0], left, bound, given)):
            return plain, elements(plain.sort)
        return fallback or (left[0], elements(left[0].sort))

    def _determines(
        self, variable: Variable, left: Sequence[Variable], bound: set[Variable], given: Sequence[Node],
    ) -> bool:
        """Whether another variable has one element at most once this one is bound."""
        names: dict[Variable | Node, str] = dict.fromkeys((*bound, variable), "")
        return any(few for other in left if other is not variable
                   for _, few in self._sources(other, {*bound, variable}, given, names))

    def _sources(
        self, variable: Variable, bound: set[Variable], given: Sequence[Node], names: Names,
    ) -> Iterator[tuple[str, bool]]:
        """Sets that the elements of a variable lie in: a text, and whether there is one element at most."""
        sort = variable.sort
        for node in given:
            pairs = (node.args, node.args[::-1]) if node.op in ("eq", "holds") else (node.args,)
            for pair in pairs if len(node.args) == 2 else ():  # noqa: PLR2004 - a relation of two terms
                own, other = (pair[0], pair[1]) if node.op in ("lt", "le") else (pair[1], pair[0])
                if own.op != "var" or own.payload is not variable or not free_variables(other) <= bound:
                    continue
                value = self.text(other, names)
                if node.op in ("eq", "holds") and sort.kind in (FREE, NAT):
                    yield f"u.one_{sort.name}({value})", True
                elif node.op == "has" and sort.kind == FREE:
                    yield f"u.some_{sort.name}({value})", True
                elif node.op in ("lt", "le"):
                    top = value if node.op == "lt" else f"{value} + 1"
                    yield f"range(min(u.N_{sort.name}, {top}))", False

    # Actions ----------------------------------------------------------------------------------------------------------

    def action(self, action: Action, *, pruned: bool) -> str:
        """A function of `g`, `u` and the arguments that gives what the action assigns, or None if it is not enabled."""
        names: dict[Variable | Node, str] = {v: f"a{i}" for i, v in enumerate(action.parameters)}
        guards = (*action.guards, *action.search_only) if pruned else action.guards
        shared = _shared(action, guards)
        lines = [f"if {name} not in u.U_{v.sort.name}: u.add({v.sort.name!r}, {name})" for v, name in names.items()
                 if isinstance(v, Variable) and v.sort.kind == FREE]
        for guard in guards:
            lines += self._compute(shared, names, guard)
            lines.append(f"if not {self.text(guard, names)}: return None")
        for one in action.assignments:
            lines += self._compute(shared, names, *one.keys, *(() if one.value is None else (one.value,)))
        return "\n ".join([f"def function({', '.join(['g', 'u', *map(names.__getitem__, action.parameters)])}):",
                           *lines, *self._assign(action.assignments, names)])

    def _compute(self, shared: set[Node], names: dict[Variable | Node, str], *nodes: Node) -> Iterator[str]:
        """Lines that compute terms which are read more than once, inner ones first."""
        for node in nodes:
            yield from self._compute(shared, names, *node.args)
            if node in shared and node not in names:
                self._count += 1
                yield f"v{self._count} = {self.text(node, names)}"
                names[node] = f"v{self._count}"

    def _assign(self, assignments: Sequence[Assignment], names: Names) -> list[str]:
        """Lines that give all that is assigned; what is assigned later wins."""
        if not any(one.loops for one in assignments):
            return [f"return {{{', '.join(': '.join(self._assigned(one, names)) for one in assignments)}}}"]
        lines = ["w = {}"]
        for one in assignments:
            inner, indent = dict(names), ""
            for variable in one.loops:
                looped = self._looped(variable, one, inner)
                self._count += 1
                inner[variable] = f"l{self._count}"
                lines.append(f"{indent}for {inner[variable]} in {looped}:")
                indent += " "
            cell, value = self._assigned(one, inner)
            lines.append(f"{indent}w[{cell}] = {value}")
        return [*lines, "return w"]

    def _looped(self, variable: Variable, one: Assignment, names: Names) -> str:
        """What a loop of an assignment runs through: where it changes nothing it need not come."""
        bound = {known for known in names if isinstance(known, Variable)}
        given = _changed_where(one) if variable.sort.kind == NAT else ()
        source = next((source for source, _ in self._sources(variable, bound, given, names)), elements(variable.sort))
        for node in given:
            is_least = node.op == "le" and node.args[1].op == "var" and node.args[1].payload is variable
            if is_least and free_variables(node.args[0]) <= bound and source.startswith("range("):
                return source.replace("range(", f"range({self.text(node.args[0], names)}, ", 1)
        return source

    def _assigned(self, one: Assignment, names: Names) -> tuple[str, str]:
        info = self.concept.variables[one.variable]
        keys = [self._fitting(sort, self.text(key, names), "inside")
                for sort, key in zip(info.keys, one.keys, strict=True)]
        if one.value is None:
            return self.cell(one.variable, keys), unset(info.value)
        return self.cell(one.variable, keys), self._fitting(info.value, self.text(one.value, names), "fitting")

    def _fitting(self, sort: SortInfo, value: str, how: str) -> str:
        return f"u.{how}({sort.name!r}, {value})" if self.within and sort.kind == NAT else value


def _fixed(node: Node, bound: frozenset[Variable]) -> Iterator[Node]:
    """The largest parts of a formula that quantify and do not depend on what is bound around them."""
    if node.op in ("forall", "exists", "setof") and not free_variables(node) & bound:
        yield node
        return
    own = (node.payload,) if node.op == "setof" else node.payload if node.op in ("forall", "exists") else ()
    for arg in node.args:
        yield from _fixed(arg, bound.union(own))


def _completes(variable: Variable, bound: set[Variable], given: Sequence[Node]) -> bool:
    """Whether something that is given speaks of this variable, and else of bound ones only."""
    return any(variable in free <= {*bound, variable} for free in map(free_variables, given))


def _clauses(loops: Sequence[tuple[str, str]]) -> str:
    return " ".join(f"for {name} in {values}" for name, values in loops)


def _changed_where(one: Assignment) -> tuple[Node, ...]:
    """What is true wherever a loop can change a cell: `ite(condition, value, cell)`, and `cell | condition`."""
    value = one.value
    if value is None or value.op not in ("ite", "or"):
        return ()
    kept = [arg for arg in value.args if arg.op == "read" and arg.payload[1] == one.variable and arg.args == one.keys]
    if not kept or (value.op == "ite" and value.args[2] is not kept[-1]):
        return ()
    given = value.args[:1] if value.op == "ite" else [arg for arg in value.args if arg not in kept]
    return conjuncts(given[0]) if len(given) == 1 else ()


def _shared(action: Action, guards: Sequence[Node]) -> set[Node]:
    """Reads that occur more than once and depend on the parameters alone."""
    counts: Counter[Node] = Counter()
    visible = frozenset(action.parameters)

    def count(node: Node) -> None:
        counts[node] += 1
        for arg in node.args:
            count(arg)

    for guard in guards:
        count(guard)
    for one in action.assignments:
        for node in (*one.keys, *(() if one.value is None else (one.value,))):
            count(node)
    return {node for node, times in counts.items()
            if times > 1 and node.op == "read" and free_variables(node) <= visible}
