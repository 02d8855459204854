"""What other judges say of a change: recorded calls of the real 4.9.3, claims about decisions, models and proofs.

Recordings are compared, and claims asked of all small inputs, with the base in place and with the change; only what
calls a function that the change replaces is told. A proof is about a model, or about a function as 4.9.3 has it. Of a
change nothing is proved anew: it is said which proofs stand for what it replaces, and what watches over them.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from impl.variants.catalogue import REPAIRS
from impl.variants.variant import Replacement, Variant
from invariants.claim import CLAIMS
from invariants.concepts import FOLLOWED
from model.language.properties import ALWAYS, LEADS_TO, STEP
from model.language.state import Concept
from model.scopes import SCOPES
from spark_fuzz.hunts import answers
from spark_fuzz.work import Row, Unit
from stateful_tests.conformance.adapters import ADAPTERS
from stateful_tests.conformance.judge import RECORDINGS
from stateful_tests.conformance.replay import recordings, replay_file, stem
from stateful_tests.worlds.subjects import DECLARED, subject_named

PROMISED = (ALWAYS, STEP, LEADS_TO)
RECORDED, CLAIMED = "recorded calls", "claims"
_CITED = re.compile(r"([A-Z]\w+)?#(\w+)")


def units(base: str, changed: str) -> Iterator[Unit]:
    """A unit for the claims, and one for each recording whose adapter reaches a module that the change touches."""
    yield Unit(f"{changed} | {CLAIMED}", {"subjects": (base, changed), "asked": CLAIMED}, 2)
    homes = {_home(one.owner) for variant in subject_named(changed).changes for one in variant.replacements}
    for path in recordings(RECORDINGS):
        adapter = ADAPTERS.get(stem(path.name))
        if adapter is not None and homes & _reached(adapter.__module__):
            yield Unit(f"{changed} | {RECORDED} {stem(path.name)}",
                       {"subjects": (base, changed), "asked": RECORDED, "recording": path.name}, 1)


def _home(owner: object) -> str:
    """The module of a class or function; a module itself."""
    return str(owner.__name__ if isinstance(owner, ModuleType) else owner.__module__)


@cache
def _reached(module: str) -> frozenset[str]:
    """The modules of the project that a module uses, and those that these use."""
    reached, waiting = set[str](), [module]
    while waiting:
        name = waiting.pop()
        if name not in reached and name in sys.modules and name.split(".")[0] in {"impl", "stateful_tests"}:
            reached.add(name)
            values = vars(sys.modules[name]).values()
            waiting += [_home(one) for one in values if isinstance(one, ModuleType) or hasattr(one, "__module__")]
    return frozenset(reached)


def work(unit: Unit) -> Iterator[Row]:
    """A row: if the change is called, what differs from what is expected, under the base and under the change."""
    base, changed = unit.body["subjects"]
    judge = _claims if unit.body["asked"] == CLAIMED else _recorded(RECORDINGS / unit.body["recording"])
    with subject_named(changed).running() as calls:
        after = judge()
    sides = None
    if any(calls.values()):
        with subject_named(base).running():
            sides = judge(), after
    yield {"kind": "touched", "subject": changed, "property": unit.body["asked"],
           "sentence": unit.body.get("recording", ""), "sides": json.dumps(sides)}


def _claims() -> Mapping[str, tuple[int, int]]:
    """By property: inputs, and those of which a claim is false."""
    inputs, false = Counter[str](), Counter[str]()
    for name, falsified in answers():
        inputs[name] += 1
        false[name] += falsified
    return {name: (count, false[name]) for name, count in inputs.items()}


def _recorded(path: Path) -> Any:
    def judge() -> Mapping[str, tuple[int, int]]:
        found = replay_file(path, ADAPTERS)
        return {stem(path.name): (found.rows, found.different + found.not_understood)}

    return judge


@dataclass(frozen=True)
class Other:
    """What another judge says. worse -- whether the change breaks what its base keeps."""

    judge: str
    about: str
    of: int
    base: int
    changed: int

    @property
    def worse(self) -> bool:
        """Whether a claim is false with the change of inputs of which it is true without."""
        return self.judge == CLAIMED and self.changed > self.base

    def to_json(self) -> dict[str, Any]:
        """Plain values; see `invariants.report.compared`."""
        return {**vars(self), "worse": self.worse}


@dataclass
class Others:
    """What the other judges have said so far; answered -- the units that have asked them."""

    found: list[Other] = field(default_factory=list)
    answered: set[str] = field(default_factory=set)

    def take(self, row: Row) -> None:
        """Take a row of `work`."""
        self.answered.add(row["unit"])
        sides = json.loads(row["sides"])
        if sides is None:
            return
        before, after = sides
        self.found += [Other(row["property"], name, of, before[name][1], wrong) for name, (of, wrong) in after.items()
                       if row["property"] == RECORDED or wrong or before[name][1]]
        if row["property"] == CLAIMED and not any(one.judge == CLAIMED for one in self.found):
            inputs = sum(of for of, _ in after.values())
            self.found.append(Other(CLAIMED, f"{len(after)} properties of decisions", inputs, 0, 0))


def near(changes: Iterable[Variant]) -> frozenset[str]:
    """Properties that are about what a change touches.

    They judge the steps of the models that stand for it, or are broken by the hazards that repairs mend at the same
    places.
    """
    replaced = [one for variant in changes for one in variant.replacements]
    places = {(one.owner, one.attribute) for one in replaced}
    hazards = {hazard for repair in REPAIRS.values() if places & {(one.owner, one.attribute) for one in
               repair.replacements} for hazard in repair.hazards}
    broken = {name for name, one in DECLARED.items() if hazards.intersection(one.expected.hazards)}
    return frozenset(broken.union(*(one.watched for one in proofs(replaced))))


@dataclass(frozen=True)
class Proofs:
    """Which proofs stand for a place: of models, one step of which stands for it, and of claims about the function."""

    place: str
    steps: tuple[str, ...]
    proved: tuple[str, ...]
    watched: tuple[str, ...]
    claims: tuple[str, ...]

    def sentence(self, counted: Mapping[str, str]) -> str:
        """As people read it; counted -- by property, in how many runs it was seen broken."""
        said = []
        if self.steps:
            watched = (f"{name} holds" + (f" (broken {counted[name]})" if name in counted else "")
                       for name in self.watched)
            proved = f"what is proved of them, {', '.join(self.proved)}, holds of the change" if self.proved else (
                "the change is one of them")
            said.append(f"steps {', '.join(self.steps)} of the models stand for it; {proved} as long as "
                        f"{', '.join(watched)}")
        if self.claims:
            said.append(f"the proofs of {', '.join(self.claims)} read 4.9.3's own function, not the change")
        return "; ".join(said) or "no proof is about this"


def proofs(replacements: Iterable[Replacement]) -> list[Proofs]:
    """What is proved of what stands at the places of a change; each place once."""
    return list({one.place: _proofs(one) for one in replacements}.values())


def told_together(found: Iterable[Proofs], counted: Mapping[str, str]) -> list[dict[str, Any]]:
    """Plain values, see `invariants.report.compared`: places of which the same is said have one sentence."""
    places = defaultdict[str, list[str]](list)
    for one in found:
        places[one.sentence(counted)].append(one.place)
    return [{"place": ", ".join(names), "sentence": sentence} for sentence, names in places.items()]


def _proofs(replacement: Replacement) -> Proofs:
    original = vars(replacement.owner).get(replacement.attribute)
    cited = _cited(getattr(original, "__doc__", None) or "")
    steps = [(concept, action) for concept in _concepts() for action in concept.actions.values()
             if cited & _cited(action.cite)]
    met = list({concept.name: concept for concept, _ in steps}.values())
    proved = [one.name for concept in met for one in concept.properties.values()
              if one.kind in PROMISED and not one.expected.hazards]
    homes = {concept.home for concept in met}
    watched = [one.refines for one in FOLLOWED if one.name in homes]
    claims = [claim.name for claim in CLAIMS.values() if original in claim.subjects]
    names = [action.name for _, action in steps], proved, watched, claims
    return Proofs(replacement.place, *(tuple(dict.fromkeys(one)) for one in names))


def _concepts() -> list[Concept]:
    """The models, each once."""
    return list({named.scope.concept.name: named.scope.concept for named in SCOPES}.values())


def _cited(text: str) -> set[tuple[str, str]]:
    """The methods of RocketMQ that a text names: "Class#one, #other" names two of a class."""
    found, owner = set[tuple[str, str]](), ""
    for named, method in _CITED.findall(text):
        owner = named or owner
        found.add((owner, method))
    return found
