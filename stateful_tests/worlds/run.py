"""One run: a subject lives through a workload under a fault profile as a tape says, and everything about it is judged.

In the first phase anything may fail; then the world heals, and what is promised must come true in time. A run is
nothing but its tape: the same subject, world and tape give the same record in every process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from impl.hosts.simulation.digest import PART
from impl.hosts.simulation.kernel import EndlessRunError, Kernel, Record
from impl.hosts.simulation.process import Process
from impl.hosts.simulation.tape import ReplayTape, Tape, trimmed
from impl.variants.mistakes import endless
from invariants.finding import Finding
from invariants.pictures.claims import in_words
from invariants.refinement.coverage import Visited
from invariants.refinement.follower import ROUND, Following
from invariants.refinement.monitor import TooManyStatesError
from invariants.rules.watch import Watch
from invariants.verdict import known
from stateful_tests.worlds.healing import healing, is_seen_late, watching
from stateful_tests.worlds.limit import OverTimeError, limited
from stateful_tests.worlds.profiles import PROFILES, STRATEGIES, played
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.workload import Workload, traffic
from stateful_tests.worlds.workloads import WORKLOADS
from stateful_tests.worlds.world import World

MAX_SEGMENTS, MORE_SEGMENTS = 60_000, 300
"""A run may have so many segments, and so many more for each second of its time: at least twice as many as 4.9.3 has
in any workload. One that has more talks without end, and would say the same for half a minute."""
STANDS_S = 2.0
"""A run in whose world no time passes for so much CPU time, some thousand times what it needs, does not end."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is besides its tape: names, so that it fits into a row, a file, a command.

    Raises BadInputError for a name that is none.
    """

    subject: str = "shipped"
    workload: str = "clustering"
    profile: str = "storm"
    strategy: str = "uniform"

    def __post_init__(self) -> None:
        """Look everything up."""
        subject_named(self.subject)
        known("workload", self.workload, WORKLOADS)
        known("fault profile", self.profile, PROFILES)
        known("strategy", self.strategy, STRATEGIES)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What came of a run.

    digest -- of everything that was recorded. parts -- the same of each part that is full and all before it, in order.
    choices -- the tape. seen -- each signature once, in order of time. seen_after -- how many records there were then.
    unknown -- why nothing can be said of the rest; empty if all was judged. endless -- whether that is because it does
    not end. talks -- or because it has had more segments than a run may have: what was seen until then counts.
    segments, ms -- how long it was.
    kept_ms -- property to how long after the healing its promise came true; a promise that is not there has not, and
    healing_ms is how long it had. messages, requests -- how many were sent. states -- fingerprints of the model states
    that were visited, concept by concept. visited -- of the workload's enumerable scopes. told -- the tape as
    sentences, where it was a replay. calls -- how often what the subject changes was called, by place.
    """

    digest: str
    choices: tuple[int, ...]
    seen: tuple[Finding, ...]
    unknown: str
    segments: int
    ms: int
    kept_ms: dict[str, int] = field(default_factory=dict)
    states: frozenset[int] = frozenset()
    visited: tuple[Visited, ...] = ()
    told: tuple[str, ...] = ()
    calls: dict[str, int] = field(default_factory=dict)
    healing_ms: int = 0
    messages: int = 0
    requests: int = 0
    endless: bool = False
    talks: bool = False
    parts: tuple[str, ...] = ()
    seen_after: dict[tuple[str, ...], int] = field(default_factory=dict)

    def beginning(self, key: tuple[str, ...]) -> tuple[int, str]:
        """How many records the parts of the run have until a signature was seen, and their digest; 0: the whole run."""
        place = self.seen_after[key] // PART
        return ((place + 1) * PART, self.parts[place]) if place < len(self.parts) else (0, self.digest)

    def signatures(self) -> tuple[tuple[str, ...], ...]:
        """Property and signature of all that was seen, sorted."""
        return tuple(sorted({one.key for one in self.seen}))


class SeenError(Exception):
    """What a run was to be followed until has been seen, or recorded."""


class Judges:
    """The kernel's monitor: shows segments to followers and keeps what they find, each signature once.

    following -- who follows; at first nobody. seen -- what was found, by its key. seen_after -- how many records there
    were then. unknown -- why they saw no more. endless, talks -- whether that is because the run did not end, or had
    too many segments.
    """

    def __init__(
        self, until: tuple[str, ...] = (), stronger: Mapping[str, str] | None = None, records: int = 0,
    ) -> None:
        """Have seen nothing.

        until -- what ends the run: the key of a finding, or a property alone. records -- so many end it, too; 0: no
        number does. stronger -- of a property, the name that it has under what holds in this world.
        """
        self.until, self.stronger, self.records = until, stronger or {}, records
        self.seen: dict[tuple[str, ...], Finding] = {}
        self.seen_after: dict[tuple[str, ...], int] = {}
        self.unknown, self.endless, self.talks = "", False, False
        self.following = Following()

    def __call__(self, process: Process, records: Sequence[Record], due: bool) -> None:
        """See `impl.hosts.simulation.kernel.Monitor`."""
        following = self.following
        for follower in following.followers if due else following.concerned(records):
            found = follower.segment(process.name, records, whole=due)
            if found:
                self.note(process.kernel, found, process.name)
        if self.records and len(process.kernel.records) >= self.records:
            raise SeenError

    def note(self, kernel: Kernel, findings: Iterable[Finding], machine: str = "") -> None:
        """Keep what is new; machine -- whose segment showed it."""
        time_ms, position = kernel.now_ms, len(kernel.records)
        watch = next((one for one in self.following.followers if isinstance(one, Watch)), None)
        for one in findings:
            finding = replace(one, property=self.stronger.get(one.property, one.property))
            found = finding if watch is None or finding.time_ms >= 0 else watch.ascribed(finding, time_ms)
            if found.key not in self.seen:
                sentence = in_words(found, machine, kernel.records)
                self.seen_after[found.key] = position
                self.seen[found.key] = replace(found, sentence=sentence) if found.position >= 0 else replace(
                    found, sentence=sentence, time_ms=time_ms, machine=machine, position=position)
                if self.until in {found.key, (found.property,)}:
                    raise SeenError


@contextmanager
def lived(
    plan: Plan, tape: Tape, *, judged: bool = True, until: tuple[str, ...] = (), records: int = 0,
) -> Iterator[tuple[World, RunRecord]]:
    """Live through a plan as the tape says; in the block the world can still be looked at.

    judged -- False: no followers, only the promises. until, records -- what ends the run, see Judges.
    Raises BadInputError, one line, for an error of a file of one's own.
    """
    workload, judges = WORKLOADS[plan.workload], Judges(until, records=records)
    profile = played(PROFILES[plan.profile], plan.strategy, tape)
    judged = judged and not (until and is_seen_late(until))  # which is seen without the others
    world = World(tape, profile, judges, show_every=ROUND, max_segments=MAX_SEGMENTS,
                  more_segments=MORE_SEGMENTS)
    if hasattr(tape, "clock"):
        tape.clock = lambda: world.now_ms
    with subject_named(plan.subject).running() as calls, world:
        kept: dict[str, int] = {}
        with subject_named(plan.subject).telling_mistakes():
            try:
                with limited(STANDS_S, lambda: world.now_ms):
                    kept = _live(world, workload, judges, judged=judged)
            except TooManyStatesError as error:
                judges.unknown = str(error)
            except (EndlessRunError, OverTimeError) as error:
                judges.unknown = endless(error, subject_named(plan.subject).composed.files)
                judges.talks = isinstance(error, EndlessRunError) and not error.stands
                judges.endless = not judges.talks
            except SeenError:
                pass
        yield world, _record(world, judges, kept, tape, dict(calls))


def run(
    plan: Plan, tape: Tape, *, judged: bool = True, until: tuple[str, ...] = (), records: int = 0,
) -> RunRecord:
    """Live through a plan as the tape says; see `lived`."""
    with lived(plan, tape, judged=judged, until=until, records=records) as (_, record):
        return record


def _live(world: World, workload: Workload, judges: Judges, *, judged: bool) -> dict[str, int]:
    """Both phases; how long each promise took."""
    watch = watching(world, workload.promises, promises_only=not judged, observed=workload.observed)
    judges.following = Following([watch, *(workload.followers(world) if judged else ())])  # causes are seen first
    workload.build(world)
    world.strike()
    world.simulation.kernel.world.spawn("traffic", traffic(world, workload.deeds))
    world.run(workload.storm_ms)
    world.heal()
    for machine, consumer in world.running():
        if consumer.pause:
            world.call(machine, consumer.resume)
    for found in healing(world, watch):
        judges.note(world.simulation.kernel, found)
    if workload.observed:
        judges.note(world.simulation.kernel, watch.observed(world.notes.history()))
    return watch.kept_ms


def _record(world: World, judges: Judges, kept: dict[str, int], tape: Tape, calls: dict[str, int]) -> RunRecord:
    kernel, network, followed = world.simulation.kernel, world.simulation.network, judges.following.followers
    told = tuple(tape.sentences) if isinstance(tape, ReplayTape) else ()
    *parts, digest = world.simulation.digests()
    states = frozenset(state for follower in followed for state in getattr(follower, "visited", ()))
    visited = tuple(found for one in followed if (found := getattr(one, "watched", None)) is not None)
    return RunRecord(
        digest, tuple(trimmed(tape.choices)), tuple(judges.seen.values()), judges.unknown,
        kernel.segments, kernel.now_ms, kept, states, visited, told, calls,
        kernel.now_ms - world.healed_ms if world.healed else 0, network.messages, network.requests, judges.endless,
        judges.talks, tuple(parts), judges.seen_after)
