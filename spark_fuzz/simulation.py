"""The campaign over simulated worlds: subjects x workloads x fault profiles x strategies, by seed, without end.

One of each is an *arm* of the plan. The plan goes in turns, each twice as long as the last one up to LONGEST. In the
first turn every arm gets a unit of one run. An arm whose units visited hardly any new state gets no more, but for
uniform ones, which get one in every turn; when no arm is left, all come back. What a turn holds is decided by all
units of the turns up to the one before the last, and by nothing else, so that equal campaigns do equal units and no
core waits for the last unit of a turn.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any

from invariants.verdict import BadInputError, known
from spark_fuzz.work import Unit
from stateful_tests.worlds.profiles import PROFILES, STRATEGIES, plays_as_uniform
from stateful_tests.worlds.run import Plan
from stateful_tests.worlds.steering import Begun, goals_of
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.workloads import WORKLOADS

CONTROL = "repaired"
UNIFORM = "uniform"
RUNS = 4
"""Seeds of a unit, but for the first of each arm: about a second of CPU time."""
LONGEST = 32
"""Units of an arm in a turn, at most."""
LOOKS, KNOWN_LOOKS = 2, 1
"""Runs of a unit that looks again, besides those that make a tape simpler; and where a hazard explains all of it.

The one run is asked for its digest only: nothing is drawn of it before somebody reads its evidence.
"""
REPLAYED = 16
"""Of so many units one replays its first run."""
LAG = 2
"""What a turn holds is decided by the turns up to so many before it, so that nobody waits for the end of the last."""
SEEDS = 1_000_000
"""Each --seed has so many seeds of its own."""
BETWEEN = " | "


@dataclass(frozen=True)
class Aim:
    """What a campaign is about; names of subjects, workloads, profiles and strategies.

    seed -- which seeds are drawn. limit -- at most so many units of the search. until_failure -- the search ends after
    the first failure that is not expected, or that a planted bug causes. towards -- folder of states that are wanted;
    wanted -- those, as texts, which runs are led towards.
    """

    subjects: tuple[str, ...] = (CONTROL,)
    workloads: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()
    seed: int = 0
    limit: int | None = None
    until_failure: bool = False
    towards: str = ""
    wanted: tuple[str, ...] = ()

    def checked(self) -> Aim:
        """This with all names looked up and none left out.

        Raises BadInputError for what is not there, also for a variant that cannot be put in place, and for a folder
        without states that are wanted.
        """
        subjects = tuple(dict.fromkeys(subject_named(name).name for name in self.subjects))
        check_subjects(subjects)
        if not 0 <= self.seed < 1 << 31:
            raise BadInputError(f"--seed {self.seed}: give a number from 0 to {(1 << 31) - 1}")
        workloads = _each_known("workload", self.workloads, WORKLOADS) or tuple(WORKLOADS)
        profiles = _each_known("fault profile", self.profiles, PROFILES) or tuple(reversed(PROFILES))
        strategies = _each_known("strategy", self.strategies, STRATEGIES) or tuple(STRATEGIES)
        wanted = tuple(goal.text() for goal in goals_of(Path(self.towards))) if self.towards else self.wanted
        return replace(self, subjects=subjects, workloads=workloads, profiles=profiles, strategies=strategies,
                       wanted=wanted)

    def arms(self) -> list[Plan]:
        """Every combination that differs from the others; those that find most come first."""
        return [
            Plan(subject, workload, profile, strategy)
            for strategy in self.strategies for profile in self.profiles
            if UNIFORM not in self.strategies or not plays_as_uniform(strategy, PROFILES[profile])
            for workload in self.workloads for subject in self.subjects
        ]

    def command(self) -> str:
        """The command line of this campaign, but for the time and the folder."""
        options = {"subject": self.subjects, "workload": self.workloads, "profile": self.profiles,
                   "strategy": self.strategies}
        tables = {"workload": set(WORKLOADS), "profile": set(PROFILES), "strategy": set(STRATEGIES)}
        words = [f"--{name} {shlex.quote(value)}" for name, values in options.items() for value in values
                 if set(values) != tables.get(name)]
        words += ["--until-failure"] if self.until_failure else []
        words += [f"--towards {shlex.quote(self.towards)}"] if self.towards else []
        return " ".join(["rocketproof campaign", *words, f"--seed {self.seed}"])

    def header(self) -> dict[str, Any]:
        """What makes two campaigns the same."""
        names = ("subjects", "workloads", "profiles", "strategies")
        wanted = {"wanted": blake2b("".join(self.wanted).encode(), digest_size=6).hexdigest()} if self.wanted else {}
        return {"campaign": "worlds", "seed": self.seed} | {name: list(getattr(self, name)) for name in names} | wanted


def _each_known(what: str, given: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    return tuple(known(what, name, names) for name in dict.fromkeys(given))


def check_subjects(names: Iterable[str]) -> None:
    """Check each of them; raise BadInputError, one line, if two are called the same."""
    known: dict[str, str] = {}
    for name in names:
        check_subject(name)
        other = known.setdefault(subject_named(name).title, name)
        if other != name:
            raise BadInputError(f"{subject_named(name).file or name}: its variant is called as that of "
                                f"{subject_named(other).file or other}; give one of them another name")


def check_subject(name: str) -> None:
    """Raise BadInputError, one line, if there is no such subject or its variant does not fit the implementation."""
    with subject_named(name).running():
        return


def subject_of(variant: str) -> str:
    """The subject that people mean by a variant: the name of a bug, a file, or the whole name of a subject."""
    return subject_named(variant).name


# Units ----------------------------------------------------------------------------------------------------------------


def search_unit(
    plan: Plan, seed: int, number: int, turn: int, *, replayed: bool = True, wanted: Sequence[str] = (),
    given: bytes = b"",
) -> Unit:
    """The unit of an arm with this number; the arm's first has number 0, and is one run only.

    replayed -- whether its first run is played again. wanted -- states that the runs are watched for. given --
    choices of another run that they begin with, but for some of the last ones.
    """
    first = seed * SEEDS + (1 + (number - 1) * RUNS if number else 0)
    after = first + (RUNS if number else 1)
    body = {"plan": asdict(plan), "seeds": (first, after), "turn": turn, "replayed": replayed, "wanted": list(wanted),
            "given": given.hex()}
    return Unit(BETWEEN.join([*asdict(plan).values(), f"seeds {first}-{after - 1}"]), body, after - first)


def plan_of(unit_id: str) -> Plan:
    """The plan of a unit, of either kind, from its id."""
    *subject, workload, profile, strategy, _ = unit_id.split(BETWEEN)
    return Plan(BETWEEN.join(subject), workload, profile, strategy)


def again_unit(
    plan: Plan, keys: Sequence[Sequence[str]], choices: bytes, digest: bytes, runs: int = 0,
    at: Sequence[int] | None = None,
) -> Unit:
    """The unit that looks again at a failing tape; see `runs`.

    keys -- the ways in which it fails. runs -- in so many it is made simpler, for the first key. at -- where that goes
    on.
    """
    return _again(plan, keys, choices, {"digest": digest.hex(), "runs": runs, "at": at and list(at), "looks": LOOKS})


def repeated_unit(
    plan: Plan, keys: Sequence[Sequence[str]], choices: bytes, digest: bytes, records: int,
) -> Unit:
    """The unit that looks again at a failing tape of which hazards explain everything, for its digest; see `runs`.

    records -- so many have the digest; 0: all of the run.
    """
    more = {"digest": digest.hex(), "runs": 0, "at": None, "looks": KNOWN_LOOKS, "records": records}
    return _again(plan, keys, choices, more)


def _again(plan: Plan, keys: Sequence[Sequence[str]], choices: bytes, more: Mapping[str, Any]) -> Unit:
    body = {"plan": asdict(plan), "keys": [list(key) for key in keys], "choices": choices.hex(), **more}
    known = "\0".join([*("\1".join(key) for key in keys), choices.hex(), str(body["at"])])
    named = blake2b(known.encode(), digest_size=6).hexdigest()
    about = f"again {keys[0][0]} {named}, {body['runs']} runs"
    return Unit(BETWEEN.join([*asdict(plan).values(), about]), body, body["runs"] + body["looks"])


def is_again(unit_id: str) -> bool:
    """Whether a unit looks again, from its id."""
    return unit_id.rpartition(BETWEEN)[2].startswith("again ")


# The plan -------------------------------------------------------------------------------------------------------------


def units(
    aim: Aim, flat: Callable[[Plan, int], bool], found: Callable[[], bool],
    near: Callable[[int], Sequence[Begun]] = lambda _: (),
) -> Iterator[Unit | int]:
    """The units of a campaign in order; a number where the rows of so many of the first ones must be known (`feed`).

    flat -- whether an arm visited hardly anything new in a turn. found -- whether a failure ends the search. near -- of
    a search for states that are wanted, how the runs of a turn begin; none ends it.
    """
    number = 0
    for unit in _led(aim, near) if aim.wanted else _search(aim, flat):
        if number == aim.limit or (aim.until_failure and found()):
            return
        number += not isinstance(unit, int)
        yield unit


def _search(aim: Aim, flat: Callable[[Plan, int], bool]) -> Iterator[Unit | int]:
    arms, given = aim.arms(), Counter[Plan]()
    turns: dict[Plan, list[int]] = {arm: [] for arm in arms}
    ends = [0]
    for turn in count():
        yield ends[max(0, turn - 1)]
        lively = [arm for arm in arms if turn < LAG or not flat(arm, _judged(turns[arm], turn))] or arms
        for number in range(min(1 << turn, LONGEST)):
            for place, arm in enumerate(arms):
                if arm in lively or (number == 0 and arm.strategy == UNIFORM):
                    replayed = (place // len(aim.subjects) + given[arm]) % REPLAYED == 0
                    yield search_unit(arm, aim.seed, given[arm], turn, replayed=replayed)
                    given[arm] += 1
                    turns[arm] = [*turns[arm], turn] if turn not in turns[arm] else turns[arm]
        ends.append(given.total())


def _led(aim: Aim, near: Callable[[int], Sequence[Begun]]) -> Iterator[Unit | int]:
    given, ends = Counter[Plan](), [0]
    for turn in count():
        yield ends[max(0, turn - 1)]
        begun = near(turn)
        if not begun:
            return
        for arm, choices in begun:
            replayed = given.total() % REPLAYED == 0
            yield search_unit(arm, aim.seed, given[arm], turn, replayed=replayed, wanted=aim.wanted, given=choices)
            given[arm] += 1
        ends.append(given.total())


def _judged(turns: Sequence[int], turn: int) -> int:
    """The turn by which it is decided whether an arm has another one."""
    return max(one for one in turns if one <= turn - LAG)


# Version --------------------------------------------------------------------------------------------------------------

_WORKING = ("effect", "hunts", "likely", "pairing", "pairs", "runs", "simulation", "touched", "work")
_JUDGED = ("impl", "model", "invariants", "stateful_tests/worlds")


@lru_cache(maxsize=8)
def version(subjects: tuple[str, ...]) -> str:
    """Stands for the code that is judged and the code that judges: other code is another campaign."""
    here = Path(__file__).resolve().parent
    root = here.parent
    files = [file for room in _JUDGED for file in sorted((root / room).rglob("*")) if file.suffix in {".py", ".toml"}]
    files += [here / f"{name}.py" for name in _WORKING]
    own = [Path(file) for name in subjects for file in subject_named(name).composed.files]
    content = blake2b(digest_size=6)
    for file in [*files, *own]:
        content.update(file.name.encode() + b"\0" + file.read_bytes())
    return content.hexdigest()
