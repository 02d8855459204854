"""What all machines are: a world of a subject, in which each rule does something and is judged at once.

People are slow: most deeds take a second of the world. When a program has ended the world heals, and what is promised
must come true in time; that is judged too.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import signature
from typing import Any, ClassVar, Final, TypeVar, cast

from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from hypothesis.strategies import SearchStrategy, runner, sampled_from

from impl.decisions.allocation import AllocateMessageQueueStrategy
from impl.hosts.simulation.kernel import EndlessRunError
from impl.hosts.simulation.profile import CALM, FaultProfile
from impl.variants.mistakes import endless
from invariants.finding import Finding
from invariants.refinement.follower import ROUND, Following
from invariants.refinement.monitor import TooManyStatesError
from invariants.rules.declared import BY_NAME
from invariants.verdict import Outcome
from stateful_tests.machines.program import Line, Program, listed, one_line
from stateful_tests.machines.tape import RuleTape
from stateful_tests.worlds.healing import bounds_of, healing, watching
from stateful_tests.worlds.limit import OverTimeError, limited
from stateful_tests.worlds.profiles import PROFILES
from stateful_tests.worlds.run import Judges
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.workload import Workload
from stateful_tests.worlds.world import World

DEED_MS = 1_000
SETTLED_MS = 5_000
"""After so long a first member has joined its group and holds its queues."""
BOUNDS = bounds_of(PROFILES["storm"])
"""Deeds pause threads, and rough time may do all that a storm does."""
MAX_SEGMENTS = 500_000
DEED_S, MOST_ENDLESS = 10.0, 2
"""A deed that takes more CPU time does not end; after so many of them a search is given up."""

Drawn = Sequence[int] | Sequence[str] | Callable[[Any], Sequence[str]] | SearchStrategy[list[int]]
_Deed = TypeVar("_Deed", bound=Callable[..., Any])


class TimeOverError(BaseException):
    """The time of a search is over. Hypothesis passes it on, as it is no `Exception`."""


class ViolatedError(AssertionError):
    """A property that is expected to hold was violated: the sentence, the program, and how to see it again."""


def replay_of(concept: str, subject: str, program: Program) -> str:
    """The command that plays a program."""
    return f'rocketproof machine {concept} --subject {shlex.quote(subject)} --program "{one_line(program)}"'


@dataclass(frozen=True, slots=True)
class Found:
    """A program that broke a property.

    at_the_end -- when all of it was done, and the world healed. own_strategy -- members used another strategy than
    RocketMQ's, of which no command knows.
    """

    concept: str
    subject: str
    seen: Finding
    program: Program
    at_the_end: bool
    own_strategy: bool = False

    @property
    def replay(self) -> str:
        """The command that shows it again."""
        return replay_of(self.concept, self.subject, self.program)

    def __str__(self) -> str:
        """For people."""
        replay = "this test again; Hypothesis remembers the program" if self.own_strategy else self.replay
        return (f"{self.seen.property} is violated at {self.seen.time_ms:,} ms: {self.seen.sentence}\n"
                f"{listed(self.program)}\nreplay: {replay}")


@dataclass
class Trial:
    """What is tried with a machine, and what came of it.

    subject -- see `worlds.subjects`. wanted -- properties whose violation is a failure; None: all that the subject is
    expected to keep. to_the_end -- heal after each program, and judge the promises. on_program -- called after each.
    on_deed -- called after each deed. is_over -- whether time is over: the next deed raises TimeOverError then.
    strategy -- that all members use; None: RocketMQ's.

    programs, deeds, segments -- how many there were. endless -- deeds that did not end. calls -- how often what the
    subject changes was called, by place. found -- property to the shortest program that broke it. last -- property to
    the last such program. unknown -- why programs could not be judged to their end.
    """

    subject: str = "repaired"
    wanted: tuple[str, ...] | None = None
    to_the_end: bool = True
    on_program: Callable[[Trial], object] = bool
    on_deed: Callable[[Trial], object] = bool
    is_over: Callable[[], bool] = bool
    strategy: AllocateMessageQueueStrategy | None = None
    programs: int = 0
    deeds: int = 0
    endless: int = 0
    segments: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    found: dict[str, Found] = field(default_factory=dict)
    last: dict[str, Found] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    @property
    def given_up(self) -> bool:
        """Whether so many deeds have not ended that no other is tried: each costs seconds, and no row can hold."""
        return self.endless >= MOST_ENDLESS

    def note(self, found: Found) -> None:
        """Keep the program."""
        name = found.seen.property
        self.last[name] = found
        if name not in self.found or len(found.program) <= len(self.found[name].program):
            self.found[name] = found


def deed(sentence: str, *, lasts_ms: int = DEED_MS, **drawn: Drawn) -> Callable[[_Deed], _Deed]:
    """Declare a rule.

    sentence -- what it does, with {argument} where one stands. lasts_ms -- how long it takes at least. drawn -- what
    each argument is chosen from: values; or a function that lists the machines that there are to choose from now, and
    where that is none, the rule is not chosen; or a strategy for a list of numbers: a small tape. What stands first is
    what a shrunk program prefers.
    The function does it; it returns False if there was nothing to do.
    """
    those = [one for one in drawn.values() if callable(one)]

    def declared(function: _Deed) -> _Deed:
        @wraps(function)
        def done(self: WorldMachine, **arguments: Any) -> None:
            self.do(function, sentence, lasts_ms, arguments)

        vars(done)["drawn"] = drawn
        declare = cast("Callable[..., Any]", rule)(**{name: _strategy(one) for name, one in drawn.items()})
        return cast("_Deed", precondition(lambda self: all(one(self) for one in those))(declare(done)))

    return declared


def _strategy(drawn: Drawn) -> SearchStrategy[Any]:
    if callable(drawn):
        return runner().flatmap(lambda machine: sampled_from(drawn(machine)))
    return drawn if isinstance(drawn, SearchStrategy) else sampled_from(drawn)


class WorldMachine(RuleBasedStateMachine):
    """A program in the making.

    concept -- its name. judged -- property to the hazards of RocketMQ as shipped that can break it in this world; the
    followers of other concepts are left out, rules are judged in every world. workload -- the world, and what must
    come true at its end.
    stronger -- of a property that is judged at every step, the name that it has under what holds in this world.
    world -- use it in rules. program -- what was done so far; what found nothing to do is left out.
    said -- (time in ms, whom it happened to, sentence) for each line of it. seen -- what went wrong.
    """

    concept: ClassVar[str]
    judged: ClassVar[Mapping[str, tuple[str, ...]]]
    workload: ClassVar[Workload]
    stronger: ClassVar[Mapping[str, str]] = {}

    def __init__(self, trial: Trial | None = None, *, telling: bool = False) -> None:
        """Build the world; telling -- keep what people want to read about it."""
        super().__init__()
        self.trial: Final = trial or Trial()
        self.tape, self.judges = RuleTape(telling=telling), Judges(stronger=self.stronger)
        self.program: list[Line] = []
        self.said: list[tuple[int, str, str]] = []
        self.seen: list[Finding] = []
        self._over = self._ending = False
        with ExitStack() as opened:
            self._calls = opened.enter_context(subject_named(self.trial.subject).running())
            self.world = opened.enter_context(World(
                self.tape, CALM, self.judges, show_every=ROUND, max_segments=MAX_SEGMENTS))
            followed = self.workload.followers(self.world)
            self.watch = watching(self.world, self.workload.promises, bounds=BOUNDS)
            self.judges.following = Following([self.watch, *(one for one in followed if one.name in self.judged)])
            self.world.strategy = self.trial.strategy
            if not self.trial.given_up:
                self._watched(lambda: self.workload.build(self.world))
            self._opened = opened.pop_all()

    @classmethod
    def hazards(cls, subject: str, name: str) -> tuple[str, ...]:
        """The hazards of a subject that can break a property in this world; one that a rule declares, in any."""
        known = subject_named(subject)
        if name in BY_NAME:
            return known.hazards(name)
        return tuple(hazard for hazard in cls.judged.get(name, ()) if known.has(hazard))

    @classmethod
    def explains(cls, subject: str, found: Finding) -> bool:
        """Whether a hazard that this world can show explains a finding."""
        return bool(cls.hazards(subject, found.property)) and subject_named(subject).explains(found.key)

    @classmethod
    def expected(cls, subject: str, name: str) -> Outcome:
        """What long enough a search gives."""
        return Outcome.VIOLATED if cls.hazards(subject, name) else Outcome.HOLDS

    def pass_ms(self, ms: int, weather: FaultProfile = CALM, chance: Sequence[int] = ()) -> None:
        """Let the world go on; weather -- faults that chance, a number for each choice, may pick meanwhile."""
        kernel = self.world.simulation.kernel
        self.world.calm &= weather == CALM
        kernel.profile = replace(weather, thread_pause=1) if self.tape.pauses else weather
        self.tape.give(chance)
        self.world.run(ms)
        self.tape.give(())
        kernel.profile = CALM

    def do(self, function: Callable[..., Any], sentence: str, lasts_ms: int, arguments: dict[str, Any]) -> None:
        """Do a deed and judge."""
        if self._over or self.trial.given_up:
            return
        if self.trial.is_over():
            raise TimeOverError
        started_ms = self.world.now_ms
        given = tuple((name, arguments[name]) for name in signature(function).parameters if name in arguments)
        self.program.append(Line(function.__name__, given))
        done = self._watched(lambda: function(self, **arguments))
        self.trial.deeds += 1
        self.trial.on_deed(self.trial)
        if done is False:
            self.program.pop()
            return
        self.said.append((started_ms, str(arguments.get("who", "world")), sentence.format(**arguments)))
        if self.world.now_ms < started_ms + lasts_ms:
            self._watched(lambda: self.pass_ms(started_ms + lasts_ms - self.world.now_ms))
        self._judge()

    def end(self) -> None:
        """Heal the world, if nobody has, and judge what must come true then."""
        if not self._over and self.trial.to_the_end and not self.trial.given_up:
            self._ending = True
            self._watched(self._heal)
            self._over = True
            self._judge()

    def teardown(self) -> None:
        """End the program, unless it has failed; see RuleBasedStateMachine."""
        try:
            if sys.exc_info()[0] is None:
                self.end()
        finally:
            self._opened.close()
            self.trial.calls.update(self._calls)
            self.trial.programs += not self.trial.given_up
            self.trial.segments += self.world.simulation.kernel.segments
        self.trial.on_program(self.trial)

    def mend(self) -> None:
        """What people do when the world heals."""

    def _heal(self) -> None:
        world = self.world
        self.tape.forget()
        world.heal()
        self.mend()
        for found in healing(world, self.watch):
            self.judges.note(world.simulation.kernel, found)
            self._judge()

    def _watched(self, work: Callable[[], Any]) -> Any:
        """What the work gives; when nothing can be said of the rest, there is no rest."""
        try:
            with limited(DEED_S):
                return work()
        except (EndlessRunError, OverTimeError) as error:
            self.trial.endless += 1
            why = endless(error, subject_named(self.trial.subject).composed.files)
        except TooManyStatesError as error:
            why = str(error)
        self.trial.unknown.append(f"{one_line(self.program) or 'at the start'}: {why}")
        self._over = True
        return None

    def _judge(self) -> None:
        """Note what is new; raises ViolatedError for the first of it that is a failure."""
        judged, program = len(self.seen), tuple(self.program)
        self.seen += list(self.judges.seen.values())[judged:]
        found = [Found(self.concept, self.trial.subject, one, program, self._ending, self.trial.strategy is not None)
                 for one in self.seen[judged:]]
        for broken in found:
            self.trial.note(broken)
        failure = next((broken for broken in found if self._fails(broken.seen)), None)
        if failure is not None:
            self._over = True
            raise ViolatedError(str(failure))

    def _fails(self, found: Finding) -> bool:
        """Whether what was found is a failure."""
        if self.trial.wanted is None:
            return not self.explains(self.trial.subject, found)
        return found.property in self.trial.wanted
