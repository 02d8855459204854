"""The step reading: Python generated from ground terms, for one state as an int, one action at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from model.language.actions import Action
from model.language.ground import AFTER, Ground
from model.language.instantiate import Env, Instance, Instantiation
from model.language.nodes import Node
from model.language.properties import Property
from model.language.scope import Scope

Code = Callable[..., Any]
_DEEP = 20  # a nested expression is cut into lines well before Python's parser refuses it


class LeavesScope(ValueError):  # noqa: N818 - what the action does, as people say it
    """The action is enabled, and its successor is not a state of the scope."""


class StepReading:
    """Evaluates a scope's declarations on single states (ints, as `Layout.pack` makes them).

    Functions are generated when they are first asked for. Actions go by name, arguments are element numbers.
    """

    def __init__(self, scope: Scope, *, actions: Mapping[str, Action] | None = None, pruned: bool = True) -> None:
        """Read a scope.

        `actions` replaces those of the concept, `pruned=False` drops what is pruned and promised,
        as monitors do.
        """
        self.ground = Instantiation(scope)
        self.layout = self.ground.layout
        self._actions = dict(scope.concept.actions if actions is None else actions)
        self._pruned = pruned
        self._instances: dict[tuple[str, tuple[int, ...]], Instance] = {}
        self._guards: dict[tuple[str, tuple[int, ...]], Code] = {}
        self._effects: dict[tuple[str, tuple[int, ...]], Code] = {}
        self._steps: dict[tuple[str, tuple[int, ...]], Code] = {}
        self._terms: dict[object, Code] = {}

    def instance(self, action: str, arguments: tuple[int, ...]) -> Instance:
        """The ground instance of an action."""
        key = (action, arguments)
        if key not in self._instances:
            made = self.ground.instance(self._actions[action], arguments, len(self._instances), pruned=self._pruned)
            self._instances[key] = made
        return self._instances[key]

    def enabled(self, action: str, arguments: tuple[int, ...], state: int) -> bool:
        """Tell whether an action is enabled."""
        guard = self._guards.get((action, arguments))
        if guard is None:
            guard = compiled(self.instance(action, arguments).guard)
            self._guards[action, arguments] = guard
        return bool(guard(state))

    def first_false_conjunct(self, action: str, arguments: tuple[int, ...], state: int) -> Node | None:
        """The first guard (or pruning) that is false, as it was declared; None when the action is enabled."""
        declared = self._actions[action]
        declared = declared.breaking(self.ground.scope.breaks) if self._pruned else declared.keeping()
        nodes = (*declared.guards, *declared.search_only)
        conjuncts = self.instance(action, arguments).conjuncts
        return next((node for node, term in zip(nodes, conjuncts, strict=False) if not self._code(term)(state)), None)

    def apply(self, action: str, arguments: tuple[int, ...], state: int) -> int:
        """The state after an action that is enabled; raises LeavesScope when that is no state of the scope."""
        effect = self._effects.get((action, arguments))
        if effect is None:
            effect = _effect(self.instance(action, arguments), self.ground)
            self._effects[action, arguments] = effect
        after: int = effect(state)
        if after < 0:
            raise self._leaves(action, arguments)
        return after

    def step(self, action: str, arguments: tuple[int, ...], state: int) -> int | None:
        """The state after an action, or None when it is not enabled; raises LeavesScope."""
        code = self._steps.get((action, arguments))
        if code is None:
            instance = self.instance(action, arguments)
            code = self._steps[action, arguments] = _effect(instance, self.ground, instance.guard)
        after: int | None = code(state)
        if after is not None and after < 0:
            raise self._leaves(action, arguments)
        return after

    def _leaves(self, action: str, arguments: tuple[int, ...]) -> LeavesScope:
        return LeavesScope(f"{action}{arguments} leaves the scope {self.ground.scope.name}")

    def successors(self, state: int) -> Iterator[tuple[Instance, int]]:
        """All steps inside the scope, in order of declaration."""
        for name, action in self._actions.items():
            if name in self.ground.scope.forbid:
                continue
            for env in self.ground.environments(action.parameters):
                arguments = tuple(env.values())
                if self.enabled(name, arguments, state):
                    try:
                        yield self.instance(name, arguments), self.apply(name, arguments, state)
                    except LeavesScope:
                        continue

    def holds(self, formula: Property | Node, state: int, after: int = 0) -> bool:
        """Tell whether a property (its condition) or a formula holds; after: the second state of a step property."""
        return bool(self.value(formula.condition if isinstance(formula, Property) else formula, state, after))

    def value(self, node: Node, state: int, after: int = 0, env: Env | None = None) -> int:
        """The encoded value of a term whose free variables are given."""
        key = (node, *(env or {}).items())
        code = self._terms.get(key)
        if code is None:
            code = self._terms[key] = compiled(self.ground.term(node, env))
        return int(code(state, after))

    def _code(self, term: Ground) -> Code:
        if term not in self._terms:
            self._terms[term] = compiled(term)
        return self._terms[term]


def compiled(term: Ground) -> Code:
    """A function of one state, or of the states before and after a step, that computes the term."""
    source = _Source((term,))
    return source.function(f"return {source.use(term)}")


def _effect(instance: Instance, ground: Instantiation, guard: Ground | None = None) -> Code:
    """A function from the state before to the state after, or -1 when that leaves the scope.

    guard -- where it is false, the function gives None.
    """
    keep, parts = (1 << 64 * ground.layout.words) - 1, []
    source = _Source((*([] if guard is None else [guard]), instance.cut, *instance.effect.values()))
    if guard is not None and guard is not ground.terms.true:
        source.line(f"if not {source.use(guard)}: return None")
    for number, value in instance.effect.items():
        cell = ground.layout.cells[number]
        keep &= ~cell.mask
        if value is not ground.cells()[number] and value.data != 0:
            parts.append(f"{source.use(value)} << {cell.position}")
        elif value is ground.cells()[number]:
            keep |= cell.mask
    leaves = [f"if {source.use(instance.cut)}: return -1"] if instance.cut is not ground.terms.false else []
    return source.function(*leaves, "return " + " | ".join([f"s & {keep}", *parts]))


class _Source:
    """Python source of some terms: what is used twice, or nested deeply, gets a line and a name."""

    def __init__(self, roots: Iterable[Ground]) -> None:
        self._uses: dict[Ground, int] = {}
        self._text: dict[Ground, tuple[str, int]] = {}
        self._tables: dict[str, Any] = {}
        self._lines: list[str] = []
        for root in roots:
            self._count(root)

    def _count(self, term: Ground) -> None:
        self._uses[term] = self._uses.get(term, 0) + 1
        if self._uses[term] == 1:
            for arg in (*term.args, *(term.args if term.op == "sub" else ())):
                self._count(arg)

    def use(self, term: Ground) -> str:
        """An expression for the term; lines that it needs are added."""
        return self._use(term)[0]

    def line(self, text: str) -> None:
        """Add a line after those that are needed so far."""
        self._lines.append(text)

    def _use(self, term: Ground) -> tuple[str, int]:
        if term not in self._text:
            inner = [self._use(arg) for arg in term.args]
            text, depth = f"({self._expression(term, [text for text, _ in inner])})", max(
                (depth for _, depth in inner), default=0) + 1
            if term.op == "const":
                text = str(term.data)
            elif self._uses[term] > 1 or depth > _DEEP:
                name = f"v{len(self._lines)}"
                self._lines.append(f"{name} = {text}")
                text, depth = name, 0
            self._text[term] = text, depth
        return self._text[term]

    def _expression(self, term: Ground, args: list[str]) -> str:  # noqa: PLR0911 - one case per operator
        match term.op:
            case "const":
                return str(term.data)
            case "bits":
                phase, position, width = term.data
                return f"{'t' if phase == AFTER else 's'} >> {position} & {(1 << width) - 1}"
            case "select":
                phase, position, width, _ = term.data
                state = "t" if phase == AFTER else "s"
                return f"{state} >> {position} + {width} * {args[0]} & {(1 << width) - 1}"
            case "lookup":
                name = f"T{len(self._tables)}"
                self._tables[name] = term.data
                inside = term.args[0].bound < len(term.data)
                return f"{name}[{args[0]}]" if inside else f"{name}[{args[0]}] if {args[0]} < {len(term.data)} else 0"
            case "and" | "or":
                return f" {term.op} ".join(args)
            case "sub":
                return f"({args[0]} - {args[1]}) * ({args[0]} > {args[1]})"
            case "ite":
                return f"{args[1]} if {args[0]} else {args[2]}"
            case "scale":
                return f"{args[0]} * {term.data}"
            case "pack":
                return " | ".join(f"{arg} << {i}" for i, arg in enumerate(args) if arg != "0")
        patterns = {"not": "not {}", "eq": "{} == {}", "lt": "{} < {}", "add": "{} + {}", "member": "{} >> {} & 1",
                    "single": "1 << {}", "union": "{} | {}", "less": "{} & ~{}"}
        return patterns[term.op].format(*args)

    def function(self, *body: str) -> Code:
        """Compile a function of the states before (s) and after (t)."""
        lines = "\n ".join([*self._lines, *body])
        space: dict[str, Any] = dict(self._tables)
        exec(f"def function(s, t=0):\n {lines}\n", space)  # noqa: S102 - the source is generated here, from terms alone
        code: Code = space["function"]
        return code
