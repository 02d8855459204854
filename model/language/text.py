"""The text reading: formulas and actions as people write them, with the author's own names of bound variables."""

from __future__ import annotations

from itertools import count, groupby

from model.language.actions import Action
from model.language.nodes import BOOL, CHOICE, MAYBE, NAT, SET, TRUE, Node, Variable
from model.language.promises import Promise
from model.language.properties import LEADS_TO, Premise, Property
from model.language.rankings import Measure, Ranking, Way
from model.language.state import Concept
from model.language.tracing import PROMISED, Ground

_BINARY = {"implies": ("⇒", 1), "iff": ("⇔", 1), "or": ("∨", 2), "and": ("∧", 3), "eq": ("=", 5), "lt": ("<", 5),
           "le": ("≤", 5), "has": ("∋", 5), "add": ("+", 6), "sub": ("−", 6), "plus": ("∪", 6), "minus": ("∖", 6)}
_NEGATED = {"eq": "≠", "has": "∌"}
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_QUANTIFIER, _NOT, _ATOM = 0, 4, 9


class _Names:
    """A name per variable: the author's own, numbered where two that are visible at once would be the same.

    A prime is no such number: it marks what is read after a step.
    """

    def __init__(self) -> None:
        self.given: dict[Variable, str] = {}

    def bind(self, variables: tuple[Variable, ...]) -> str:
        for variable in variables:
            own, taken = variable.name or variable.sort.name[0].lower(), set(self.given.values())
            others = (own + str(number).translate(_SUBSCRIPTS) for number in count(2))
            self.given[variable] = own if own not in taken else next(name for name in others if name not in taken)
        groups = groupby(variables, key=lambda variable: variable.sort.name)
        return ", ".join(f"{', '.join(self.given[v] for v in group)}: {sort}" for sort, group in groups)

    def release(self, variables: tuple[Variable, ...]) -> None:
        for variable in variables:
            del self.given[variable]


def formula(node: Node) -> str:
    """The formula on one line: `∀ a, b: Member · holds[a] ∧ holds[b] ⇒ a = b`."""
    return _text(node, _Names(), 0)


def _text(node: Node, names: _Names, outer: int) -> str:
    text, level = _shape(node, names)
    return f"({text})" if level < outer else text


def _shape(node: Node, names: _Names) -> tuple[str, int]:
    """The text and how tightly it binds."""
    op, args = node.op, node.args
    if op in ("forall", "exists"):
        return _quantifier(node, names), _QUANTIFIER
    if op == "not":
        inner = args[0]
        if inner.op in _NEGATED:
            left, right = (_text(arg, names, 6) for arg in inner.args)
            return f"{left} {_NEGATED[inner.op]} {right}", 5
        return f"¬{_text(inner, names, _NOT + 1)}", _NOT
    if op in ("plus", "minus"):
        return f"{_text(args[0], names, 6)} {_BINARY[op][0]} {{{_text(args[1], names, 0)}}}", 6
    if op in _BINARY:
        sign, level = _BINARY[op]
        tighter = level + (op in ("implies", "iff"))
        parts = [_text(arg, names, tighter if i == 0 or op in ("and", "or", "implies") else level + 1)
                 for i, arg in enumerate(args)]
        return f" {sign} ".join(parts), level
    return _atom(node, names), _ATOM


def _quantifier(node: Node, names: _Names) -> str:
    bound = names.bind(node.payload)
    body = _text(node.args[0], names, 0)
    names.release(node.payload)
    return f"{'∀' if node.op == 'forall' else '∃'} {bound} · {body}"


def _atom(node: Node, names: _Names) -> str:  # noqa: PLR0911 - one case per operator
    inner = [_text(arg, names, 0) for arg in node.args] if node.op != "setof" else []
    match node.op:
        case "const":
            return constant(node)
        case "var":
            return names.given.get(node.payload) or node.payload.name or "_"
        case "read":
            phase, name = node.payload
            mark = "′" if phase == "after" else ""
            return f"{name}{mark}[{', '.join(inner)}]" if inner else name + mark
        case "rigid":
            return f"{node.payload}({', '.join(inner)})" if inner else str(node.payload)
        case "ite":
            return f"(if {inner[0]} then {inner[1]} else {inner[2]})"
        case "setof":
            bound = names.bind((node.payload,))
            body = _text(node.args[0], names, 0)
            names.release((node.payload,))
            return f"{{{bound} | {body}}}"
        case "some":
            return f"some({inner[0]})"
        case "holds":
            return f"({inner[0]} is {inner[1]})"
        case "inside":
            return f"({inner[0]} is in the scope)"
        case _:
            return f"({inner[0]} is nothing)"


def constant(node: Node) -> str:
    """A constant as people write it."""
    sort, number = node.sort, int(node.payload)
    if sort.kind == CHOICE:
        return sort.members[number]
    if sort.kind == NAT:
        return str(number)
    if sort.kind in (SET, MAYBE):
        return ("∅" if sort.kind == SET else "nothing") if number == 0 else f"{sort.name}#{number}"
    return ("false", "true")[number] if sort.kind == "bool" else f"{sort.name}#{number}"


def heading(declared: Action) -> str:
    """Name, parameters and citation of an action on one line."""
    head = f"{declared.name}({_Names().bind(declared.parameters)})"
    return f"{head}    {declared.cite}{'   [environment]' if declared.environment else ''}"


def action(declared: Action) -> str:
    """An action as lines: its heading with the citation, its guards, its assignments."""
    names = _Names()
    names.bind(declared.parameters)
    lines = [heading(declared)]
    lines += [f"    {ground_words(ground)} {_text(guard, names, 0)}"
              for guard, ground in zip(declared.guards, declared.grounds, strict=True)]
    lines += [f"    only searched when {_text(guard, names, 0)}" for guard in declared.search_only]
    for assignment in declared.assignments:
        bound = names.bind(assignment.loops)
        keys = ", ".join(_text(key, names, 0) for key in assignment.keys)
        cell = f"{assignment.variable}[{keys}]" if keys else assignment.variable
        new = "forgotten" if assignment.value is None else _text(assignment.value, names, 0)
        lines.append(f"    {f'for {bound}: ' if bound else ''}{cell} := {new}")
        names.release(assignment.loops)
    return "\n".join(lines)


def ground_words(ground: Ground) -> str:
    """How a guard begins."""
    return f"promised ({ground.by}) that" if ground.kind == PROMISED else "when"


def claim(declared: Property) -> str:
    """The condition of a property on one line."""
    if declared.kind != LEADS_TO:
        return formula(declared.condition)
    names = _Names()
    bound = names.bind(declared.parameters)
    when, goal = (_text(part, names, 0) for part in (declared.when, declared.condition))
    return f"{f'∀ {bound} · ' if bound else ''}{when}  ⤳  {goal}"


def ranking(declared: Ranking, names: tuple[Variable, ...] = ()) -> list[str]:
    """A ranking as lines: what the measure is, and what makes it fall; names -- of the property's parameters."""
    known = _Names()
    known.bind(names)
    return _way(declared.way, known)


def _way(way: Way, names: _Names) -> list[str]:
    lines = [f"pending   {_text(way.pending, names, 0)}"] * (way.pending is not TRUE)
    lines += [f"measure   {_measured(part, names)}" for part in way.measure]
    for one in way.helpers:
        bound = names.bind(one.elements)
        arguments = ", ".join(_text(argument, names, 0) for argument in one.arguments)
        when = _text(one.when, names, 0)
        lines.append(f"helps     {one.action}({arguments}) when {when}" + (f", for any {bound}" if bound else ""))
        if one.way is not None:
            lines += [f"  its way  {line}" for line in _way(one.way, names)]
        names.release(one.elements)
    return lines


def _measured(part: Measure, names: _Names) -> str:
    bound = names.bind(part.variables)
    body = _text(part.term, names, 0)
    names.release(part.variables)
    if not bound:
        return body
    return f"#{{{bound} | {body}}}" if part.term.sort.kind == BOOL else f"Σ {bound} · {body}"


def assumption(declared: Premise) -> str:
    """A premise on one line."""
    if declared.never:
        return f"never {', '.join(declared.never)}"
    return formula(declared.meaning if isinstance(declared, Promise) else declared.condition)


def concept(declared: Concept) -> str:
    """A whole concept: variables, initial condition, actions."""
    lines = [f"{declared.name}: {declared.sentence}", ""]
    for info in declared.variables.values():
        keys = f"[{', '.join(sort.name for sort in info.keys)}]" if info.keys else ""
        role = "constant " if info.rigid else "ghost " if info.ghost else ""
        lines.append(f"  {role}{info.name}{keys}: {info.value.name}")
    lines += ["", f"initially {formula(declared.initial)}", ""]
    return "\n".join(lines) + "\n" + "\n\n".join(action(one) for one in declared.actions.values())
