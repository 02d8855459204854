"""Exhaustive search: breadth first, exact, with shortest traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from model.explorer.checks import EVERYTHING, UNDEFINED, UNKEPT_STEPS, WELL_DEFINED, Check, checks
from model.explorer.expand import Expander
from model.explorer.seen import FlatMap, HashSet, PagedMap, Seen, distinct
from model.explorer.tables import TABLE_BITS
from model.explorer.trace import Document, document, path
from model.language.batch import Batch, Word, Words, states, words
from model.language.defined import defined
from model.language.initial import initial_states
from model.language.instantiate import Instantiation, mutated
from model.language.layout import USED, Layout
from model.language.mutations import Mutation
from model.language.properties import LEADS_TO, SOMETIMES, Premise, Property
from model.language.saturation import Kept
from model.language.scalar import compiled
from model.language.scope import Scope

FLAT_BITS, PAGED_BITS = 28, 34  # layouts up to these sizes use a map of all states, flat (32 MiB) or in pages
_GIGABYTE = 1 << 30
_BYTES_PER_STATE = 40  # above this, and above a start of 48 MiB, a paged map is too sparse to keep
_SPARSE = 3 << 24
_CUT = "steps that leave the scope were cut: what lies behind them is not known"
_PRUNED = "steps were pruned (search_only): what lies behind them is not known"
_START = "the initial condition is not well defined in a state that it allows"


@dataclass(frozen=True, slots=True)
class Progress:
    """What is known after a level: its depth, all states so far, the states of the next level."""

    depth: int
    states: int
    frontier: int


@dataclass(slots=True)
class Exploration:
    """What a search found.

    states, transitions -- reachable states, and enabled instances of actions in them whose successor is in the scope
    (a step that changes nothing is one too). depth -- greatest distance of a state from the initial states.
    firings, cut -- per action: transitions, and enabled instances that leave the scope.
    deadlocks -- number of states in which no action is enabled; deadlock -- a shortest trace to one.
    reached -- per `sometimes` property whether it was reached.
    violations -- per violated property a shortest trace: {initial, steps, lifelines}, for leads_to also `loop`, the
    number of the step at which the part that repeats begins. A step property is broken by the last step. A broken
    obligation (a subtraction below 0, in order of reading) is filed under "well_defined", its action or its property as
    `broken_by`.
    undecided -- per property why it could not be judged. blurred -- why none is judged: the search may have taken steps
    that the concept does not have, or missed some. unknown -- why the search ended before all states were seen,
    or "". bytes -- the greatest memory of states and their tables. levels -- the states by depth. expander -- the
    successor relation, for pictures and further questions.
    """

    scope: Scope
    properties: tuple[Property, ...]
    expander: Expander = field(repr=False)
    states: int = 0
    transitions: int = 0
    depth: int = 0
    firings: dict[str, int] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    deadlocks: int = 0
    deadlock: Document | None = None
    reached: dict[str, bool] = field(default_factory=dict)
    violations: dict[str, Document] = field(default_factory=dict)
    undecided: dict[str, str] = field(default_factory=dict)
    blurred: str = ""
    unknown: str = ""
    bytes: int = 0
    levels: list[list[Word]] = field(default_factory=list, repr=False)

    def outcome(self, name: str) -> str:
        """`holds`, `violated` or `unknown` for a property that was searched for, or "well_defined"."""
        if name != WELL_DEFINED and name not in {wanted.name for wanted in self.properties}:
            raise KeyError(f"{name} was not searched for")
        kinds = {wanted.name: wanted.kind for wanted in self.properties}
        if self.blurred or (kinds.get(name) == LEADS_TO and name in self.undecided):
            return "unknown"
        if name in self.violations:
            return "violated"
        if self.reached.get(name):
            return "holds"
        if self.unknown or name in self.undecided:
            return "unknown"
        return "violated" if name in self.reached else "holds"

    def why(self, name: str) -> str:
        """Why a property is unknown, or ""."""
        return self.blurred or self.undecided.get(name, self.unknown)

    @property
    def never_fired(self) -> list[str]:
        """Actions that made no step anywhere: what is said about them is vacuous."""
        return [name for name, count in self.firings.items() if not count]


def suitable(bits: int, words: int) -> Seen:
    """The set for layouts of so many bits and words: a map of all states while that is small."""
    if bits <= FLAT_BITS:
        return FlatMap(bits)
    return PagedMap(bits) if bits <= PAGED_BITS else HashSet(words)


@dataclass(frozen=True, slots=True)
class Tuning:
    """How a search works; its result does not depend on it.

    batch -- states that are expanded at once; 0 chooses. table_bits -- what depends on at most so many bits is looked
    up. word_bits -- bits of a machine word that are used. seen -- makes the set of seen states from (bits, words).
    """

    batch: int = 0
    table_bits: int = TABLE_BITS
    word_bits: int = USED
    seen: Callable[[int, int], Seen] = suitable


def explore(  # noqa: PLR0913 - each is an option of a search, and goes by name
    scope: Scope, properties: Sequence[Property] = (), *, given: Sequence[Premise] = (),
    mutation: Mutation | None = None, memory_bytes: int = 4 * _GIGABYTE,
    progress: Callable[[Progress], None] | None = None, until_decided: bool = False, tuning: Tuning | None = None,
) -> Exploration:
    """Search all reachable states of a scope and judge properties.

    given -- premises: their conditions must be true of the scope's rigid functions, their `never` actions do not
    happen; those of the properties are not assumed by themselves. mutation -- a change of one action. memory_bytes --
    bound for states and their tables; a search that reaches it is `unknown`. progress -- called after each level.
    until_decided -- stop as soon as every property is violated or reached; the counts are then those of a part.

    Ctrl-C ends the search as `unknown` with what it saw. Raises ValueError when a premise is false in the scope, when
    no state is initial, when no action is left, or for a property about other variables.
    """
    return Search(scope, properties, given=given, mutation=mutation, tuning=tuning).run(
        memory_bytes, progress, until_decided=until_decided)


class Search:
    """A search that is ready to start: everything is instantiated, no state was seen. `explore` makes and runs one."""

    def __init__(
        self, scope: Scope, properties: Sequence[Property] = (), *, given: Sequence[Premise] = (),
        mutation: Mutation | None = None, tuning: Tuning | None = None,
    ) -> None:
        """Instantiate; arguments as for explore."""
        tuning = tuning or Tuning()
        self.ground = Instantiation(scope, Layout(scope, tuning.word_bits))
        never = _assume(self.ground, given)
        instances = self.ground.instances(mutated(scope.concept, mutation), without=never)
        if not instances:
            raise ValueError(f"{scope.concept.name}: no action is left in the scope {scope.name}; forbid fewer")
        self.expander = Expander(self.ground, instances, table_bits=tuning.table_bits)
        self.checks = checks(self.ground, self.expander, properties)
        self.found = Exploration(scope, tuple(properties), self.expander)
        self.found.reached = {p.name: False for p in properties if p.kind == SOMETIMES}
        self.batch = tuning.batch
        self.seen = tuning.seen(self.ground.layout.top, self.ground.layout.words)
        self.broken: dict[str, tuple[Check, int, int]] = {}  # check, depth, state
        self.doubted: dict[tuple[str, str], tuple[Check, int, int]] = {}  # by name and doubt: what a property rests on
        self.first_deadlock: tuple[int, int] | None = None
        self.first = words(initial_states(scope, self.ground.layout), self.ground.layout.words)
        self.start_in_doubt = self._start_in_doubt()

    def _start_in_doubt(self) -> str:
        initial, batch = self.found.scope.concept.initial, Batch(self.first)
        for node, doubt in ((defined(initial), _START), (Kept(self.found.scope).decided(initial), UNKEPT_STEPS)):
            if not batch.truth(self.ground.term(node)).all():
                return doubt
        return ""

    def run(
        self, memory_bytes: int = 4 * _GIGABYTE, progress: Callable[[Progress], None] | None = None, *,
        until_decided: bool = False,
    ) -> Exploration:
        """Search level by level, once; then judge what needs all states. Arguments as for explore."""
        found, level, self.memory_bytes = self.found, self.first, memory_bytes
        self.seen.add(level)
        try:
            while len(level[0]) and not found.unknown:
                found.levels.append(level)
                found.states += len(level[0])
                level = self._level(level)
                if progress:
                    progress(Progress(len(found.levels) - 1, found.states, len(level[0])))
                if until_decided and self._decided() and len(level[0]):
                    found.unknown = "stopped: every property is decided"
            self._judge_liveness()
        except KeyboardInterrupt:
            found.unknown = "interrupted"
        except MemoryError as error:
            found.unknown = str(error) or "the machine has no more memory"
        self._report()
        return found

    def _level(self, level: list[Word]) -> list[Word]:
        """Judge and expand the states of a level; the states of the next one."""
        new: list[list[Word]] = []
        fresh, strict = 0, self.seen.strict
        # A map is fastest while a batch stays in the second-level cache; open addressing has a price per round.
        for batch in batches(level, self.batch or (1 << 14 if strict else 1 << 13)):
            self._judge(batch)
            moves = self.expander.moves(batch, raw=not self.seen.strict)
            for candidates in self._together(moves) if self.seen.strict else moves:
                places = self.seen.add(candidates)
                if len(places):
                    new.append([word.take(places) for word in candidates])
                    fresh += len(places)
            self._bound(new, fresh)
        if not new:
            return [word[:0] for word in level]
        level = [np.concatenate(parts) for parts in zip(*new, strict=True)]
        return level if strict else distinct(level)

    @staticmethod
    def _together(moves: Iterable[list[Word]]) -> Iterator[list[Word]]:
        """All candidates at once: open addressing has a price per call, a map has none."""
        parts = list(moves)
        if parts:
            yield [np.concatenate(part) for part in zip(*parts, strict=True)]

    def _bound(self, new: list[list[Word]], fresh: int) -> None:
        """Keep to the memory bound; give up a map that is too sparse."""
        total = self.found.states + fresh
        if isinstance(self.seen, PagedMap) and self.seen.bytes > max(_SPARSE, _BYTES_PER_STATE * total):
            self.seen = HashSet(self.ground.layout.words)
            for part in (*self.found.levels, *new):
                self.seen.add(part)
        self.found.bytes = max(self.found.bytes, self.seen.bytes + 8 * self.ground.layout.words * (total + fresh))
        if self.found.bytes > self.memory_bytes:
            raise MemoryError(f"the search reached its bound of {self.memory_bytes} bytes")

    def _judge(self, batch: Batch) -> None:
        depth = len(self.found.levels) - 1
        for check in self.checks:
            if check.name in self.broken or (check.name, check.doubt) in self.doubted or (
                    not check.doubt and self.found.reached.get(check.name)):
                continue
            bad = np.logical_not(batch.truth(check.term))
            if check.reach:
                self.found.reached[check.name] = bool(bad.any())
            elif bad.any():
                first = check, depth, _state(batch, int(bad.argmax()))
                if check.doubt:
                    self.doubted[check.name, check.doubt] = first
                else:
                    self.broken[check.name] = first
        stuck = self.expander.stuck(batch)
        self.found.deadlocks += len(stuck)
        if len(stuck) and self.first_deadlock is None:
            self.first_deadlock = depth, _state(batch, int(stuck[0]))

    def _decided(self) -> bool:
        return all(p.name in self.broken or self.found.reached.get(p.name) for p in self.found.properties)

    def _judge_liveness(self) -> None:
        for wanted in self.found.properties:
            if wanted.kind == LEADS_TO:
                from model.explorer.liveness import judge  # noqa: PLC0415 - scipy costs 0.2 s, and few searches need it

                if self.found.unknown:
                    self.found.undecided[wanted.name] = self.found.unknown
                    continue
                verdict = judge(self.ground, self.expander, self.found.levels, wanted, self.memory_bytes)
                if isinstance(verdict, str):
                    self.found.undecided[wanted.name] = verdict
                elif verdict is not None:
                    self.found.violations[wanted.name] = verdict

    def _report(self) -> None:
        found = self.found
        found.depth = max(0, len(found.levels) - 1)
        found.firings, found.cut = self.expander.firings()
        found.transitions = sum(found.firings.values())
        for name, (check, depth, state) in self.broken.items():
            found.violations[name] = self._trace(depth, state, check)
        self._report_doubts()
        if self.first_deadlock is not None:
            found.deadlock = self._trace(*self.first_deadlock, None)

    def _report_doubts(self) -> None:
        """Say what could not be judged: what means nothing, what saturation blurs, what lies behind a cut."""
        found = self.found
        for name, doubt in self.doubted:
            found.undecided.setdefault(name, doubt)
        undefined = [{**self._trace(depth, state, check), "broken_by": {"property": name}}
                     for (name, doubt), (check, depth, state) in self.doubted.items() if doubt == UNDEFINED]
        if undefined:
            found.violations.setdefault(WELL_DEFINED, min(undefined, key=lambda trace: len(trace["steps"])))
        pruned = any(instance.action.search_only for instance in self.expander.instances)
        behind = _CUT if any(found.cut.values()) else _PRUNED if pruned else ""
        for name, reached in found.reached.items():
            if behind and not reached:
                found.undecided.setdefault(name, behind)
        found.blurred = self.start_in_doubt or found.undecided.pop(EVERYTHING, "")

    def _trace(self, depth: int, state: int, check: Check | None) -> Document:
        initial, steps = path(self.expander, self.found.levels, depth, state)
        blamed = check.blame(state) if check else None
        if blamed and check and check.name != WELL_DEFINED:
            steps.append((blamed, self.expander.after(blamed, state)))
        trace = document(self.ground, initial, steps)
        if blamed and check and check.name == WELL_DEFINED:
            trace["broken_by"] = document(self.ground, state, [(blamed, state)])["steps"][0]
        return trace


def batches(level: Words, size: int) -> Iterator[Batch]:
    """A level, part by part."""
    for start in range(0, len(level[0]), size):
        yield Batch([word[start:start + size] for word in level])


def _state(batch: Batch, row: int) -> int:
    return states([word[row:row + 1] for word in batch.words[0]])[0]


def _assume(ground: Instantiation, given: Sequence[Premise]) -> list[str]:
    """Actions that premises rule out; raises ValueError when the condition of a premise is false in the scope."""
    for premise in given:
        if not compiled(ground.term(defined(premise.condition)))(0):
            raise ValueError(f"the premise {premise.name} is not well defined in the scope {ground.scope.name}; "
                             "say first when its terms are")
        if not compiled(ground.term(premise.condition))(0):
            raise ValueError(f"the scope {ground.scope.name} violates the premise {premise.name} ({premise.sentence}); "
                             "give other rigid functions, or leave the premise out")
    return [name for premise in given for name in premise.never]

