"""A concept as a TLA+ module: constants, variables, actions, properties, each with what was written about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from model.language.actions import Action
from model.language.nodes import CHOICE, FREE, NAT
from model.language.properties import ALWAYS, LEADS_TO, LEMMA, SOMETIMES, STEP, Premise, Property
from model.language.state import Concept
from model.tla.actions import Actions, tuple_of
from model.tla.initial import initial
from model.tla.names import ANY, GREATEST, NEVER, PREMISE, PROPERTY, SORT, VARIABLE, Names, module_name
from model.tla.terms import WIDTH, Block, Terms, closed, hang

# What definitions may need: what it is, its parameters, its body.
OPERATORS = {
    "Holds": ("A condition that TLC does not split into its alternatives: one instance of an action is one step.",
              ("condition",), "{0} = TRUE"),
    "Promised": ("A condition that a promise sees to, where that is kept.", ("promise", "condition"),
                 r"({0} \in Broken \/ {1}) = TRUE"),
    "Monus": ("Subtraction of naturals.", ("a", "b"), "IF {1} <= {0} THEN {0} - {1} ELSE 0"),
    "At": ("A cell of a table whose key may lie outside.", ("table", "key", "otherwise"),
           r"IF {1} \in DOMAIN {0} THEN {0}[{1}] ELSE {2}"),
    "Capped": ("The greatest age stands for itself and all above it.", ("number", "greatest"),
               "IF {0} > {1} THEN {1} ELSE {0}"),
}
_KINDS = {ALWAYS: "Invariants", LEMMA: "Invariants that support proofs", STEP: "True of every step",
          SOMETIMES: "Reachable: TLC has to refute that they are never true", LEADS_TO: "Liveness"}


def comment(*paragraphs: str) -> Block:
    """Lines of a comment, a paragraph each."""
    texts = (text.replace("(*", "( *").replace("*)", "* )") for text in paragraphs if text)
    return [rf"\* {line}" for text in texts for line in wrap(text, WIDTH)]


def text_of(lines: Iterable[str]) -> str:
    """The text of a file: never two empty lines."""
    stripped = [line.rstrip() for line in lines]
    kept = (line for i, line in enumerate(stripped) if line or i == 0 or stripped[i - 1])
    return "\n".join(kept) + "\n"


def heading(text: str) -> Block:
    """A line that divides the module."""
    return ["", "-" * 80, *comment(text), ""]


class Module:
    """The module of one concept.

    name -- of the module and its file. names -- of what it defines. terms, actions -- its writers.
    """

    def __init__(self, concept: Concept) -> None:
        """Name and write everything; raises NotExpressibleError when something cannot be written."""
        self.concept, self.names = concept, Names(concept)
        self.name = module_name(concept.name)
        self.terms = Terms(self.names, concept.variables)
        self.actions = Actions(concept, self.terms)
        self.state = [info for info in concept.variables.values() if not info.rigid]
        self.rigid = [info for info in concept.variables.values() if info.rigid]
        self._body = [*self._types(), *self._behaviour(), *self._premises(), *self._properties()]  # tells what it needs

    def text(self) -> str:
        """The whole module."""
        head = f" MODULE {self.name} ".center(80, "-")
        lines = [head, *comment(f"{self.concept.name}: {self.concept.sentence}",
                                f"Exported by rocketproof from {self.concept.module.rpartition('.')[2]}.py."),
                 "EXTENDS Naturals", *self._declarations(), *self._operators(), *self._body, "", "=" * 80]
        return text_of(lines)

    # Declarations -----------------------------------------------------------------------------------------------------

    def _declarations(self) -> Iterator[str]:
        yield from self._constants()
        yield from self._sorts()
        yield from ("", "VARIABLES", *_listed((self.names.of(VARIABLE, info.name), "a ghost: only properties read it"
                                               if info.ghost else "") for info in self.state))
        yield from ("", *tuple_of("vars == ", [self.names.of(VARIABLE, info.name) for info in self.state]).copy())

    def _types(self) -> Iterator[str]:
        types = [rf"{self.names.of(VARIABLE, info.name)} \in {self.terms.type_of(info)}" for info in self.state]
        yield from ("", "TypeOK ==", *(rf"    /\ {text}" for text in types))
        if self.rigid:
            yield from ("", *(("ASSUME " if i == 0 else " " * 7)
                              + rf"/\ {self.names.of(VARIABLE, info.name)} \in {self.terms.type_of(info)}"
                              for i, info in enumerate(self.rigid)))

    def _operators(self) -> Iterator[str]:
        for name, (text, parameters, body) in OPERATORS.items():
            if name in self.terms.used:
                own = [self.names.free(parameter) for parameter in parameters]
                yield from ("", *comment(text), f"{name}({', '.join(own)}) == {body.format(*own)}")

    def constants(self) -> Iterator[tuple[str, str]]:
        """Names of the constants, and what each is."""
        for name, sort in self.concept.sorts.items():
            if sort.kind == FREE:
                yield self.names.of(SORT, name), self._sentence(name)
                if name in self.terms.forgotten:
                    yield self.names.of(ANY, name), f"the {self.names.of(SORT, name)} in a cell that means nothing"
            if sort.kind == NAT:
                yield self.names.of(GREATEST, name), f"the greatest number of {self.names.of(SORT, name)}"
        if self.has_none:
            yield "None", "what a cell holds that holds nothing"
        if self.has_promises:
            yield "Broken", "the promises that are not kept, by name"
        for info in self.rigid:
            yield self.names.of(VARIABLE, info.name), ""

    @property
    def has_promises(self) -> bool:
        """Whether some action rests on a promise."""
        return any(action.promises for action in self.concept.actions.values())

    @property
    def has_none(self) -> bool:
        """Whether something may hold nothing."""
        return "None" in self.terms.used

    def _sentence(self, sort: str) -> str:
        return " ".join((self.concept.classes[sort].__doc__ or "").split())

    def _constants(self) -> Iterator[str]:
        constants = list(self.constants())
        if constants:
            yield from ("", "CONSTANTS", *_listed(constants))

    def _sorts(self) -> Iterator[str]:
        for name, sort in self.concept.sorts.items():
            own = self.names.of(SORT, name)
            if sort.kind == CHOICE:
                yield from ("", *comment(self._sentence(name)))
                members = ", ".join(f'"{member}"' for member in sort.members)
                yield f"{own} == {{{members}}}"
            if sort.kind == NAT:
                yield from ("", *comment(self._sentence(name)), f"{own} == 0 .. {self.names.of(GREATEST, name)}")

    # Behaviour --------------------------------------------------------------------------------------------------------

    def _behaviour(self) -> Iterator[str]:
        yield from heading("Behaviour")
        yield from initial(self.concept, self.terms)
        for action in self.concept.actions.values():
            world = "done by the world" if action.environment else ""
            one = f"one step by {action.atomic_by}" if action.atomic_by else ""
            cite = "; ".join(text for text in (action.cite, world, one) if text)
            yield from ("", *comment(cite, action.sentence), *self.actions.definition(action))
        yield from ("", *self.next("Next", self.concept.actions.values()), "", "Spec == Init /\\ [][Next]_vars")

    def next(self, name: str, actions: Iterable[Action]) -> Block:
        """The disjunction of actions."""
        return [f"{name} ==", *(rf"    \/ {self.actions.instance(action)}" for action in actions)]

    # Properties -------------------------------------------------------------------------------------------------------

    def _premises(self) -> Iterator[str]:
        premises = {one.name: one for declared in self.concept.properties.values() for one in declared.given}
        if premises:
            yield from heading("Premises under which properties are proved")
        for one in premises.values():
            yield from comment(one.sentence)
            never = ", ".join(one.never)
            name = self.names.of(PREMISE, one.name)
            kept = [rf'"{one.name}" \notin Broken'] if one.of_steps else self.terms.block(one.condition)
            yield from [*comment(f"{name}: no step is {never}."), ""] if one.never else [*definition(name, kept), ""]

    def _properties(self) -> Iterator[str]:
        for kind, title in _KINDS.items():
            declared = [one for one in self.concept.properties.values() if one.kind == kind]
            if declared:
                yield from heading(title)
            for one in declared:
                yield from (*comment(one.sentence, _expected(one)), *self.property(one), "")

    def property(self, declared: Property, without: Sequence[str] = (), suffix: str = "") -> Block:
        """The definition of a property; without -- actions that do not happen; suffix -- of its name."""
        name = self.names.of(PROPERTY, declared.name) + suffix
        if declared.kind == LEADS_TO:
            return self._leads_to(name, declared, without)
        if declared.kind == STEP:
            return definition(name, self.terms.step(declared.condition))
        lines = definition(name, self.terms.block(declared.condition))
        if declared.kind == SOMETIMES:
            lines += definition(self.names.of(NEVER, declared.name), [f"~{name}"])
        return lines

    def _leads_to(self, name: str, declared: Property, without: Sequence[str]) -> Block:
        with self.terms.binding(declared.parameters) as bound:
            leads = self._arrow(declared)
        if bound:
            leads = [rf"\A {bound} :", *hang("    ", leads)]
        fair = list(self._fairness(declared, without))
        if not fair:
            return definition(name, leads)
        return [f"{name} ==", *(rf"       /\ {text}" for text in fair), *closed(hang("    => (", leads), ")")]

    def _arrow(self, declared: Property) -> Block:
        """`(when) ~> (goal)`, on one line if it is short."""
        when, goal = (self.terms.block(node, WIDTH - 16) for node in (declared.when, declared.condition))
        leads = [*closed(hang("(", when), ")"), *closed(hang("~> (", goal), ")")]
        line = " ".join(leads)
        return [line] if len(when) == len(goal) == 1 and len(line) < WIDTH - 20 else leads

    def _fairness(self, declared: Property, without: Sequence[str]) -> Iterator[str]:
        for names, sign in ((declared.fair, "WF"), (declared.strongly_fair, "SF")):
            for name in names:
                if name not in without:
                    yield self.actions.fair(self.concept.actions[name], sign)
        for name in declared.until_quiet:
            if name not in without:
                happens = self.actions.instance(self.concept.actions[name])
                yield f"<>[][~{f'({happens})' if ' ' in happens else happens}]_vars"


def definition(name: str, block: Block) -> Block:
    """`name == …`, on one line if it is short."""
    if len(block) == 1 and len(name) + len(block[0]) < WIDTH:
        return [f"{name} == {block[0]}"]
    return [f"{name} ==", *hang("    ", block)]


def _expected(declared: Property) -> str:
    """What is expected of what is modelled, and what a proof assumes."""
    hazards = ", ".join(declared.expected.hazards)
    expected = f"Expected: violated ({hazards})." if hazards else ""
    given: Sequence[Premise] = declared.given
    return f"{expected} Proved under: {', '.join(one.name for one in given)}.".strip() if given else expected


def _listed(entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Names with commas between them, each with its comment."""
    entries = list(entries)
    width = max(len(name) for name, _ in entries) + 3
    for place, (name, text) in enumerate(entries):
        comma = "," if place < len(entries) - 1 else ""
        yield f"    {(name + comma).ljust(width)}" + (rf"\* {text}" if text else "")
