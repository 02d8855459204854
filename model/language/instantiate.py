"""Instantiation: quantifiers, parameters and loops of a concept over a scope, as ground terms.

What is total in `model.language.nodes` stays total: an index outside its table reads 0. An action that would leave the
scope (a natural that does not saturate, or a write outside a table) is cut: its `cut` term says where.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod

from model.language.actions import Action
from model.language.ground import AFTER, BEFORE, Ground, Terms
from model.language.layout import Cell, Layout
from model.language.mutations import Mutation
from model.language.nodes import BOOL, NAT, Node, SortInfo, Variable
from model.language.scope import Scope
from model.language.state import Concept
from model.language.tracing import Assignment

Env = Mapping[Variable, int]
Effect = dict[int, Ground]


@dataclass(frozen=True, slots=True)
class Instance:
    """An action with elements for its parameters.

    number -- its place among all instances. conjuncts -- guards and prunings, one by one. effect -- new value of each
    cell that is assigned, by cell number. cut -- where it is enabled but leaves the scope (if the guard holds).
    """

    number: int
    action: Action
    arguments: tuple[int, ...]
    conjuncts: tuple[Ground, ...]
    guard: Ground
    effect: Effect
    cut: Ground


def mutated(concept: Concept, mutation: Mutation | None) -> dict[str, Action]:
    """The actions of a concept, one of them changed by the mutation."""
    if mutation is None:
        return dict(concept.actions)
    return {name: mutation.applied(action) for name, action in concept.actions.items()}


class Instantiation:
    """The ground terms of one scope.

    scope, layout -- what was instantiated and where its cells lie. terms -- where its terms are made. mentioned --
    numbers of the cells that were read so far, even where the reading folded away.
    """

    def __init__(self, scope: Scope, layout: Layout | None = None) -> None:
        """Start without any term; each is made when it is asked for."""
        self.scope = scope
        self.layout = layout or Layout(scope)
        self.terms = Terms(self.layout.words)
        self.mentioned: set[int] = set()
        self._memo: dict[tuple[object, ...], Ground] = {}
        self._free: dict[Node, tuple[Variable, ...]] = {}
        self._reads_after: dict[Node, bool] = {}
        self._effects: dict[int, Effect | None] = {}
        self._cells = {phase: [self._cell(cell, phase) for cell in self.layout.cells] for phase in (BEFORE, AFTER)}

    def _cell(self, cell: Cell, phase: int) -> Ground:
        bound = self.scope.size(cell.sort) - 1
        return self.terms.bits(phase, cell.position, cell.width, bound, boolean=cell.sort.kind == BOOL)

    def cells(self, phase: int = BEFORE) -> list[Ground]:
        """The cells of the layout as terms."""
        return self._cells[phase]

    def term(self, node: Node, env: Env | None = None, effect: Effect | None = None) -> Ground:
        """The ground term of a node.

        env -- values of its free variables. effect -- for a formula over two states: what the step assigns; the result
        is then a term over the state before alone. Without it, cells after the step are cells of a second state.
        """
        env = env or {}
        own = None if effect is None or not self._steps(node) else id(effect)
        if own is not None:
            self._effects[id(effect)] = effect  # keeps it alive, so that its id stays its own
        key = (node, own, *(env[variable] for variable in self.free(node)))
        term = self._memo.get(key)
        if term is None:
            term = self._memo[key] = self._make(node, env, effect)
        return term

    def free(self, node: Node) -> tuple[Variable, ...]:
        """The free variables of a node, in order of occurrence."""
        found = self._free.get(node)
        if found is None:
            if node.op == "var":
                found = (node.payload,)
            else:
                bound = {"forall": node.payload, "exists": node.payload, "setof": (node.payload,)}.get(node.op, ())
                inner = dict.fromkeys(variable for arg in node.args for variable in self.free(arg))
                found = tuple(variable for variable in inner if variable not in bound)
            self._free[node] = found
        return found

    def _steps(self, node: Node) -> bool:
        """Tell whether a node reads the state after a step."""
        found = self._reads_after.get(node)
        if found is None:
            own = node.op == "read" and node.payload[0] == "after"
            found = self._reads_after[node] = own or any(map(self._steps, node.args))
        return found

    def _make(self, node: Node, env: Env, effect: Effect | None) -> Ground:  # noqa: C901, PLR0911, PLR0912 - one case per operator
        terms, op = self.terms, node.op
        if op in ("forall", "exists", "setof"):
            variables = (node.payload,) if op == "setof" else node.payload
            bodies = (self.term(node.args[0], inner, effect) for inner in self.environments(variables, env))
            if op == "setof":
                return terms.pack(tuple(bodies))
            return terms.conjoin(bodies) if op == "forall" else terms.disjoin(bodies)
        args = [self.term(arg, env, effect) for arg in node.args]
        match op:
            case "const":
                return terms.const(node.payload, boolean=node.sort.kind == BOOL)
            case "var":
                return terms.const(env[node.payload], boolean=node.payload.sort.kind == BOOL)
            case "read":
                return self._read(node, args, effect)
            case "rigid":
                sorts, values = [arg.sort for arg in node.args], self.scope.tables[node.payload]
                boolean = node.sort.kind == BOOL
                inside, index = self._index(sorts, args)
                return terms.ite(inside, terms.lookup(values, index, boolean=boolean), terms.const(0, boolean=boolean))
            case "not":
                return terms.negate(args[0])
            case "and":
                return terms.conjoin(args)
            case "or":
                return terms.disjoin(args)
            case "implies":
                return terms.disjoin((terms.negate(args[0]), args[1]))
            case "iff" | "eq":
                return terms.eq(*args)
            case "lt":
                return terms.lt(*args)
            case "le":
                return terms.negate(terms.lt(args[1], args[0]))
            case "add":
                return terms.add(*args)
            case "sub":
                return terms.sub(*args)
            case "ite":
                return terms.ite(*args)
            case "has":
                return terms.member(*args)
            case "plus" | "minus":
                single = terms.single(args[1], self.scope.size(node.args[1].sort))
                return terms.union(args[0], single) if op == "plus" else terms.less(args[0], single)
            case "some":
                return terms.add(args[0], terms.const(1))
            case "holds":
                return terms.eq(args[0], terms.add(args[1], terms.const(1)))
            case "absent":
                return terms.eq(args[0], terms.const(0))
            case "inside":
                return terms.lt(args[0], terms.const(self.scope.size(node.args[0].sort)))
        raise AssertionError(op)

    def environments(self, variables: Sequence[Variable], env: Env | None = None) -> Iterator[dict[Variable, int]]:
        """The environment with every choice of values for more variables."""
        for values in product(*(range(self.scope.size(variable.sort)) for variable in variables)):
            yield {**(env or {}), **dict(zip(variables, values, strict=True))}

    def _index(self, sorts: Sequence[SortInfo], keys: Sequence[Ground]) -> tuple[Ground, Ground]:
        """Whether the keys lie inside a table, and the place of its entry, row by row."""
        terms = self.terms
        keys = self._numbers(keys)
        sizes = [self.scope.size(sort) for sort in sorts]
        inside = terms.conjoin(terms.lt(key, terms.const(size)) for key, size in zip(keys, sizes, strict=True))
        parts = [terms.scale(key, prod(sizes[i + 1:])) for i, key in enumerate(keys)]
        return inside, reduce(terms.add, parts, terms.const(0))

    def _numbers(self, keys: Sequence[Ground]) -> list[Ground]:
        """Keys as numbers, truth values included."""
        one, zero = self.terms.const(1), self.terms.const(0)
        return [self.terms.ite(key, one, zero) if key.boolean else key for key in keys]

    def _read(self, node: Node, keys: list[Ground], effect: Effect | None) -> Ground:
        phase, name = node.payload
        cells = self.layout.table(name)
        if phase == "after" and effect is not None:
            table = [effect.get(cell.number, self._cells[BEFORE][cell.number]) for cell in cells]
        else:
            table = [self._cells[AFTER if phase == "after" else BEFORE][cell.number] for cell in cells]
        inside, index = self._index([arg.sort for arg in node.args], keys)
        read = cells if index.op != "const" else cells[index.data:index.data + 1]
        self.mentioned.update(cell.number for cell in read)
        zero = self.terms.const(0, boolean=node.sort.kind == BOOL)
        if inside is self.terms.false:
            return zero
        at = AFTER if phase == "after" and effect is None else BEFORE
        return self.terms.ite(inside, self.terms.select(table, index, at), zero)

    def instances(self, actions: Mapping[str, Action] | None = None, without: Sequence[str] = ()) -> list[Instance]:
        """All instances of the actions (of the concept, or those given), less those of some actions."""
        made: list[Instance] = []
        for name, action in (self.scope.concept.actions if actions is None else actions).items():
            if name not in without and name not in self.scope.forbid:
                for env in self.environments(action.parameters):
                    made.append(self.instance(action, tuple(env.values()), len(made)))
        return made

    def instance(self, action: Action, arguments: tuple[int, ...], number: int = 0, *, pruned: bool = True) -> Instance:
        """One instance of an action; without `pruned`, its search_only conditions and its promises are left out."""
        env = dict(zip(action.parameters, arguments, strict=True))
        action = action.breaking(self.scope.breaks) if pruned else action.keeping()
        wanted = (*action.guards, *action.search_only) if pruned else action.guards
        conjuncts = tuple(self.term(guard, env) for guard in wanted)
        effect: Effect = {}
        cut = [self.terms.false]
        for assignment in action.assignments:
            for inner in self.environments(assignment.loops, env):
                self._assign(assignment, inner, effect, cut)
        guard = self.terms.conjoin(conjuncts)
        return Instance(number, action, arguments, conjuncts, guard, effect, self.terms.disjoin(cut))

    def _assign(self, assignment: Assignment, env: Env, effect: Effect, cut: list[Ground]) -> None:
        """Assign one cell, or each cell that a state-dependent key may mean; what is assigned later wins."""
        terms, sorts = self.terms, self.scope.concept.variables[assignment.variable].keys
        keys = self._numbers([self.term(key, env) for key in assignment.keys])
        inside, _ = self._index(sorts, keys)
        cut.append(terms.negate(inside))
        choices = [(key.data,) if key.op == "const" else range(self.scope.size(sort))
                   for key, sort in zip(keys, sorts, strict=True)]
        if inside is terms.false:
            return
        value, beyond = self._value(assignment, env)
        cut.append(terms.conjoin((inside, beyond)))
        for place in product(*choices):
            chosen = terms.conjoin(terms.eq(key, terms.const(k)) for key, k in zip(keys, place, strict=True))
            cell = self.layout.cell(assignment.variable, *place)
            if chosen is not terms.false:
                before = effect.get(cell.number, self._cells[BEFORE][cell.number])
                effect[cell.number] = terms.ite(chosen, value, before)

    def _value(self, assignment: Assignment, env: Env) -> tuple[Ground, Ground]:
        """What is assigned, and where that lies beyond the scope."""
        terms = self.terms
        if assignment.value is None:
            boolean = self.scope.concept.variables[assignment.variable].value.kind == BOOL
            return terms.const(0, boolean=boolean), terms.false
        value, sort = self.term(assignment.value, env), assignment.value.sort
        if sort.kind != NAT:
            return value, terms.false
        greatest = terms.const(self.scope.size(sort) - 1)
        beyond = terms.lt(greatest, value)
        if sort.saturates:
            return terms.ite(beyond, greatest, value), terms.false
        return value, beyond
