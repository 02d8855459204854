"""Exhaustive search: breadth first, exact, with shortest traces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from model.explorer.checks import BEYOND, EVERYTHING, UNDEFINED, UNKEPT_STEPS, Check, checks, going_on
from model.explorer.expand import Expander, Tally
from model.explorer.exploration import Exploration, Progress
from model.explorer.identity import identity
from model.explorer.judge import Findings, Judge
from model.explorer.runs import distinct
from model.explorer.seen import Dense, Store
from model.explorer.shards import Shards
from model.explorer.storage import Directory, DiskError
from model.explorer.tables import TABLE_BITS
from model.explorer.tails import at_first, lasting
from model.explorer.trace import UNBOUNDED, Document, document, leans_on_the_end, path
from model.explorer.workers import Spent, Workers
from model.language.batch import Batch, Word, states, words
from model.language.beyond import Beyond, sees_the_end
from model.language.defined import defined
from model.language.initial import initial_states
from model.language.instantiate import Instantiation, mutated
from model.language.layout import USED, Layout
from model.language.mutations import Mutation
from model.language.properties import LEADS_TO, NEVER_STUCK, WELL_DEFINED, Premise, Property
from model.language.saturation import Kept
from model.language.scalar import compiled
from model.language.scope import Scope

DENSE_BITS = 28  # layouts up to this size use a map of all states (32 MiB), if the memory allows
_DENSE_SHARE = 4  # the part of the memory that the map may have
_GIGABYTE = 1 << 30
_BATCH_BYTES = 128  # of a state and an instance, while a batch is expanded and sorted, and those that are ahead wait
_LIVENESS_BYTES = 32  # of a state, while it is told which of them are in the goal
_CUT = "steps that leave the scope were cut: what lies behind them is not known"
_PRUNED = "steps were pruned (search_only): what lies behind them is not known"
_GOING_ON = "a step may be possible that the scope does not have: with a number beyond it, or one that is pruned"
_START = "the initial condition is not well defined in a state that it allows"


@dataclass(frozen=True, slots=True)
class Tuning:
    """How a search works; its result does not depend on it.

    batch -- states that are expanded at once; 0 chooses. table_bits -- what depends on at most so many bits is looked
    up. word_bits -- bits of a machine word that are used. dense_bits -- layouts up to so many bits use a map of all
    states. shard -- states of a shard, where they do not; 0 chooses.
    """

    batch: int = 0
    table_bits: int = TABLE_BITS
    word_bits: int = USED
    dense_bits: int = DENSE_BITS
    shard: int = 0


def explore(  # noqa: PLR0913 - each is an option of a search, and goes by name
    scope: Scope, properties: Sequence[Property] = (), *, given: Sequence[Premise] = (),
    mutation: Mutation | None = None, memory_bytes: int = 4 * _GIGABYTE, cores: int = 1, disk: Path | None = None,
    progress: Callable[[Progress], None] | None = None, until_decided: bool = False, findings_only: bool = False,
    tuning: Tuning | None = None,
) -> Exploration:
    """Search all reachable states of a scope and judge properties.

    given -- premises: their conditions must be true of the scope's rigid functions, their `never` actions do not
    happen; those of the properties are not assumed by themselves. mutation -- a change of one action. memory_bytes --
    bound for states and their tables; a search that reaches it is `unknown`. cores -- threads that work. disk -- a
    directory of this search: states are kept there, memory holds what is worked on, and the same search goes on there
    another time. progress -- called after each level. until_decided -- stop as soon as every property is violated or
    reached; the counts are then those of a part. findings_only -- violations and what is reached are told, and
    everything else is `unknown`: what lies beyond the scope is not looked at.

    Ctrl-C ends the search as `unknown` with what it saw. Raises ValueError when a premise is false in the scope, when
    no state is initial, when no action is left, or for a property about other variables; DiskError when the directory
    cannot be used.
    """
    return Search(scope, properties, given=given, mutation=mutation, findings_only=findings_only, tuning=tuning).run(
        memory_bytes, progress, until_decided=until_decided, cores=cores, disk=disk)


class Search:
    """A search that is ready to start: everything is instantiated, no state was seen. `explore` makes and runs one."""

    def __init__(
        self, scope: Scope, properties: Sequence[Property] = (), *, given: Sequence[Premise] = (),
        mutation: Mutation | None = None, findings_only: bool = False, tuning: Tuning | None = None,
    ) -> None:
        """Instantiate; arguments as for explore."""
        self.spent = Spent()
        self.tuning = tuning = tuning or Tuning()
        self.ground = Instantiation(scope, Layout(scope, tuning.word_bits))
        never = _assume(self.ground, given)
        instances = self.ground.instances(mutated(scope.concept, mutation), without=never)
        if not instances:
            raise ValueError(f"{scope.concept.name}: no action is left in the scope {scope.name}; forbid fewer")
        self.expander = Expander(self.ground, instances, table_bits=tuning.table_bits)
        self.first = distinct(words(initial_states(scope, self.ground.layout), self.ground.layout.words))
        beyond = Beyond(scope, lasting(self.ground, at_first(self.ground, self.first)))
        goes_on = self.ground.terms.true if findings_only else going_on(self.ground, self.expander, beyond)
        self.judge = Judge(checks(self.ground, self.expander, properties, beyond, whole=not findings_only),
                           self.expander, properties, goes_on)
        self.found, self.findings_only = Exploration(scope, tuple(properties), self.expander), findings_only
        self.start_in_doubt = self._start_in_doubt()

    def _start_in_doubt(self) -> str:
        initial, batch = self.found.scope.concept.initial, Batch(self.first)
        for node, doubt in ((defined(initial), _START), (Kept(self.found.scope).decided(initial), UNKEPT_STEPS)):
            if not batch.truth(self.ground.term(node)).all():
                return doubt
        return ""

    def run(
        self, memory_bytes: int = 4 * _GIGABYTE, progress: Callable[[Progress], None] | None = None, *,
        until_decided: bool = False, cores: int = 1, disk: Path | None = None,
    ) -> Exploration:
        """Search level by level, once; then judge what needs all states. Arguments as for explore."""
        found, self.memory_bytes, self.cores = self.found, memory_bytes, cores
        self.directory = Directory(disk) if disk else None
        self.store = self._store()
        found.levels = self.store.levels
        with closing(self.directory) if self.directory else nullcontext():
            try:
                with Workers(cores) as self.workers:
                    self._search(self.workers, progress, until_decided=until_decided)
                self._judge_liveness()
            except KeyboardInterrupt:
                found.unknown = "interrupted"
            except MemoryError as error:
                found.unknown = str(error) or "the machine has no more memory"
            self._report()
        if self.findings_only:
            found.unknown = found.unknown or "only what is found counts"
        found.cpu_seconds = self.spent.seconds
        return found

    def _store(self) -> Store:
        """A map of all states, if it is small beside the memory; shards else, and wherever a disk is used."""
        bits, count = self.ground.layout.top, self.ground.layout.words
        small = 1 << bits >> 3 <= max(self.memory_bytes // _DENSE_SHARE, 1)
        if count == 1 and bits <= self.tuning.dense_bits and small and not self.directory:
            return Dense(bits)
        return Shards(words=count, memory_bytes=self.memory_bytes, cores=self.cores, storage=self.directory,
                      most=self.tuning.shard)

    def _search(
        self, workers: Workers, progress: Callable[[Progress], None] | None, *, until_decided: bool,
    ) -> None:
        found, store = self.found, self.store
        goes_on = self._resume()
        if not goes_on:
            store.take([self.first])
        size = 0 if goes_on else store.close(workers)
        while goes_on or size:
            if not goes_on:
                store.begin()
                found.states += size
                self.expanded = 0
            goes_on = False
            self._level(workers)
            size = store.close(workers)
            self._record()
            if progress:
                progress(Progress(len(store.levels) - 1, found.states, size))
            if until_decided and size and all(self.judge.decided(p.name) for p in found.properties):
                found.unknown = "stopped: every property is decided"
                return

    def _level(self, workers: Workers) -> None:
        """Judge and expand the states of the last level that were not yet."""
        store, depth = self.store, len(self.store.levels) - 1
        for count, findings, tally, candidates in workers.map(
                self._work, store.levels.parts(depth, self._batch(), self.expanded)):
            self.judge.add(depth, findings)
            self.expander.count(tally)
            store.take(candidates)
            self.expanded += count
            self.found.bytes = max(self.found.bytes, store.bytes)
            if self.found.bytes > self.memory_bytes:
                raise MemoryError(f"the search reached its bound of {self.memory_bytes} bytes")
            if store.full:
                store.settle(workers)
                self._record()

    def _work(self, part: list[Word]) -> tuple[int, Findings, Tally, list[list[Word]]]:
        """Judge and expand some states; what several threads do at once."""
        batch, tally = Batch(part), Tally()
        findings = self.judge.look(batch)
        return len(batch), findings, tally, self.store.candidates(
            self.expander.moves(batch, tally), len(batch) * len(self.expander.instances))

    def _batch(self) -> int:
        """States that are expanded at once: as the store wants it, and as many as stay in the memory."""
        each = _BATCH_BYTES * self.ground.layout.words * len(self.expander.instances) * self.cores
        most = max(1 << 6, self.memory_bytes // 8 // each)
        return self.tuning.batch or min(self.store.batch, most)

    def _resume(self) -> bool:
        """Go on with what the directory holds; False when it holds nothing."""
        found = self.directory and self.directory.recorded()
        if not self.directory or not found:
            return False
        if found["identity"] != self._identity:
            raise DiskError(f"{self.directory.path} holds another search, or one of a model that has changed; "
                            "remove it, or name another directory")
        assert isinstance(self.store, Shards)  # noqa: S101 - narrows for mypy: a directory goes with shards
        self.store.restore(found["store"])
        self.directory.restore({shard.file: shard.runs for shard in self.store.shards})
        self.judge.restore(found["judge"])
        self.expander.earlier = found["fired"], found["left"]
        self.found.states, self.expanded = found["states"], found["expanded"]
        return True

    def _record(self) -> None:
        """Write down how far the search is; everything that was taken is settled."""
        if self.directory and isinstance(self.store, Shards):
            fired, left = self.expander.firings()
            self.directory.record({
                "identity": self._identity, "scope": self.found.scope.name, "states": self.found.states,
                "expanded": self.expanded, "fired": fired, "left": left, "judge": self.judge.recorded(),
                "store": self.store.recorded()})

    @cached_property
    def _identity(self) -> str:
        return identity(self.expander, self.judge.checks, states(self.first))

    def _judge_liveness(self) -> None:
        for wanted in self.found.properties:
            if wanted.kind == LEADS_TO:
                from model.explorer.liveness import judge  # noqa: PLC0415 - scipy costs 0.2 s, and few searches need it

                many = self.found.states * _LIVENESS_BYTES * self.ground.layout.words > self.memory_bytes
                if self.found.unknown or many:
                    self.found.undecided[wanted.name] = self.found.unknown or (
                        f"{self.found.states} states and their steps do not fit into {self.memory_bytes} bytes")
                    continue
                verdict = judge(self.ground, self.expander, self.found.levels, wanted, self.memory_bytes)
                if isinstance(verdict, str):
                    self.found.undecided[wanted.name] = verdict
                elif verdict is not None:
                    self.found.violations[wanted.name] = verdict

    def _report(self) -> None:
        found, judge = self.found, self.judge
        found.depth = max(0, len(found.levels) - 1)
        found.firings, found.cut = self.expander.firings()
        found.transitions = sum(found.firings.values())
        found.deadlocks, found.reached = judge.deadlocks, judge.reached
        for name, (check, depth, state) in judge.broken.items():
            trace = self._trace(depth, state, check)
            if found.undecided.get(name) != UNBOUNDED:
                found.violations[name] = trace
        self._report_reached()
        self._report_doubts()
        self._report_stuck()

    def _report_stuck(self) -> None:
        """A state without a step in the scope is stuck if surely no step is possible, and a run surely leads there."""
        found, first = self.found, self.judge.first_deadlock
        if first is not None and not leans_on_the_end(self.ground, *path(self.expander, found.levels, *first)):
            found.deadlock = self._trace(*first, None)
        elif found.deadlocks:
            found.undecided[NEVER_STUCK] = UNBOUNDED if first is not None else _GOING_ON

    def _report_reached(self) -> None:
        """What only runs of the scope may reach is not known to be reached."""
        for number, (depth, state) in self.judge.false.items() if sees_the_end(self.found.scope.concept) else ():
            check = self.judge.checks[number]
            if check.reach and leans_on_the_end(self.ground, *path(self.expander, self.found.levels, depth, state)):
                self.found.reached[check.name] = False
                self.found.undecided.setdefault(check.name, UNBOUNDED)

    def _report_doubts(self) -> None:
        """Say what could not be judged: what means nothing, what saturation blurs, what lies behind a cut."""
        found = self.found
        found.beyond = tuple(doubt for name, doubt in self.judge.doubted if name == BEYOND)
        for name, doubt in self.judge.doubted:
            if name != BEYOND:
                found.undecided.setdefault(name, doubt)
        undefined = [{**self._trace(depth, state, check), "broken_by": {"property": name}}
                     for (name, doubt), (check, depth, state) in self.judge.doubted.items() if doubt == UNDEFINED]
        if undefined:
            found.violations.setdefault(WELL_DEFINED, min(undefined, key=lambda trace: len(trace["steps"])))
        pruned = any(instance.action.search_only for instance in self.expander.instances)
        behind = _CUT if any(found.cut.values()) else _PRUNED if pruned else ""
        behind = behind or "".join(f"{name} may happen with a number beyond the scope" for name in found.beyond[:1])
        for name, reached in found.reached.items():
            if behind and not reached:
                found.undecided.setdefault(name, behind)
        found.blurred = self.start_in_doubt or found.undecided.pop(EVERYTHING, "")

    def _trace(self, depth: int, state: int, check: Check | None) -> Document:
        initial, steps = path(self.expander, self.found.levels, depth, state)
        blamed = check.blame(state) if check else None
        if blamed and check and check.name != WELL_DEFINED:
            steps.append((blamed, self.expander.after(blamed, state)))
        if check and leans_on_the_end(self.ground, initial, steps):
            self.found.undecided.setdefault(check.name, UNBOUNDED)
        trace = document(self.ground, initial, steps)
        if blamed and check and check.name == WELL_DEFINED:
            trace["broken_by"] = document(self.ground, state, [(blamed, state)])["steps"][0]
        return trace


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

