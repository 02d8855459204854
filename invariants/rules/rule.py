"""What a rule is: a promise about runs, declared together with its judge.

A rule hears what the implementation and its host report, in order of time. There are three kinds:

    Rule     tells at once what an event shows to be wrong
    Duty     is owed by somebody from one event on, and told if nobody has paid it in time
    Promise  comes true within a time after the world has healed, and stays true

That a process ends, stands still or loses its power is treated here, and nowhere else: tables say whose they are and
what they survive (`Kept`), duties say who owes them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from copy import copy
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar

from impl.events import ClockJumped, ProcessKilled, ProcessPaused, WorldHealed
from invariants.rules.excuse import Excuse
from invariants.rules.match import Bound, Match, matching
from model.language.expectation import Expectation, expectation

if TYPE_CHECKING:  # a run gives its rules what they read
    from invariants.rules.watch import Run

RULE = "rule"
RULES: dict[str, type[Rule]] = {}
"""All that are declared, by name."""

Hear = Callable[[int, str, Any], "Iterable[Told] | None"]
"""Is given true time in ms, machine and event; gives what is wrong."""
_Method = TypeVar("_Method", bound=Callable[..., Any])


class Told(NamedTuple):
    """Something that is wrong.

    sentence -- the end of a sentence that begins with "But". about -- values of the fields that the rule is `about`.
    since_ms -- from when on it has been wrong; None: now. earlier -- the record (time in ms, machine, event) that it
    contradicts, where that is known.
    """

    sentence: str
    about: tuple[Any, ...]
    since_ms: int | None = None
    earlier: tuple[int, str, Any] | None = None


def on(*kinds: type) -> Callable[[_Method], _Method]:
    """Let a method hear events of these classes while the facts are as they were before the event."""
    return _hearing("hears_before", kinds)


def after(*kinds: type) -> Callable[[_Method], _Method]:
    """Let a method hear events of these classes when the facts include the event."""
    return _hearing("hears_after", kinds)


def _hearing(attribute: str, kinds: tuple[type, ...]) -> Callable[[_Method], _Method]:
    def mark(method: _Method) -> _Method:
        setattr(method, attribute, kinds)
        return method

    return mark


class Kept(dict[Any, Any]):
    """A table of what is so at the moment: keys are tuples of the values of named fields.

    It is declared in the class of those who keep it; each of them has a table of its own.
    about -- the names of these fields, separated by blanks; "at" is the machine of the record, others are named as in
    events. ends -- classes of events that end the entries with which they agree in all fields that both have. begins
    -- classes of events that make an entry, and have all its fields. value -- what the entry is, of true time in ms and
    event; the time unless something else is said. survives -- what an entry outlives: "nothing" (not its process),
    "kill" (not a loss of power), "all". machine -- the field that holds the machine whose process an entry belongs to.
    Raises ValueError for a field that events which begin do not have.
    """

    def __init__(
        self, about: str, ends: tuple[type | Match, ...] = (), survives: str = "nothing", machine: str = "at", *,
        begins: tuple[type | Match, ...] = (), value: Callable[[int, Any], Any] = lambda ms, _: ms,
    ) -> None:
        """Empty."""
        super().__init__()
        self.about = tuple(about.split())
        self.survives, self._value = survives, value
        self._machine = self.about.index(machine) if survives != "all" else -1
        self._ends = tuple(matching(one).bound(self.about) for one in ends)
        self._begins = tuple(matching(one).bound(self.about) for one in begins)
        for match in self._begins:
            match.gives_keys()

    def hears(self) -> Iterator[tuple[type, Hear]]:
        """What ends entries, and what begins them."""
        for hear, matches in ((self._ending, self._ends), (self._beginning, self._begins)):
            for match in matches:
                yield from ((kind, hear(match, kind)) for kind in match.kinds)
        if self.survives != "all":
            yield ProcessKilled, self.killed

    def _ending(self, match: Bound, kind: type) -> Hear:
        is_whole, read = match.having is None and kind in match.whole, match.reads[kind]

        def end(_: int, at: str, event: Any) -> None:
            if self:
                for key in match.met(self, at, event):
                    del self[key]

        def end_one(_: int, at: str, event: Any) -> None:
            if self:
                self.pop(read(at, event), None)

        return end_one if is_whole else end

    def _beginning(self, match: Bound, kind: type) -> Hear:
        having, read, value = match.having, match.reads[kind], self._value

        def begin(ms: int, at: str, event: Any) -> None:
            if having is None or having(event):
                self[read(at, event)] = value(ms, event)

        return begin

    def killed(self, _: int, at: str, event: ProcessKilled) -> None:
        """Forget what does not survive it."""
        if self and (event.power_loss or self.survives == "nothing"):
            self.drop(lambda key: key[self._machine] == at)

    def drop(self, theirs: Callable[[Any], bool]) -> None:
        """Forget the entries whose keys are theirs."""
        for key in [key for key in self if theirs(key)]:
            del self[key]


class Hears:
    """Who hears events, keeps tables, or both; a table that its class declares is empty in each new one."""

    def __new__(cls, *_: Any) -> Self:
        """Begin with tables of its own."""
        made = super().__new__(cls)
        for name, table in _declared(cls):  # type: ignore[arg-type]  # a class is hashable
            setattr(made, name, copy(table))
        return made

    def before(self) -> Iterator[tuple[type, Hear]]:
        """Who hears an event before the facts change."""
        return self._marked("hears_before")

    def after(self) -> Iterator[tuple[type, Hear]]:
        """Who hears an event when the facts have changed."""
        return self._marked("hears_after")

    def tables(self) -> Iterator[Kept]:
        """All that is kept."""
        yield from (one for one in vars(self).values() if isinstance(one, Kept))

    def _marked(self, attribute: str) -> Iterator[tuple[type, Hear]]:
        return ((kind, getattr(self, name)) for kind, name in marked(type(self), attribute))  # type: ignore[arg-type]  # a class is hashable


@cache
def marked(declared: Any, attribute: str) -> tuple[tuple[type, str], ...]:
    """The methods of a class that hear something, by the class of the event; attribute -- what marks them."""
    return tuple((kind, name) for name in sorted(dir(declared))
                 for kind in getattr(getattr(declared, name), attribute, ()))


@cache
def _declared(declared: Any) -> tuple[tuple[str, Kept], ...]:
    return tuple((name, getattr(declared, name)) for name in sorted(dir(declared))
                 if isinstance(getattr(declared, name), Kept))


class Rule(Hears):
    """Judges the property that has the name of its class; the docstring is the claim.

    shipped -- what is expected of RocketMQ 4.9.3 ("holds", or "violated: B-1 why, …"). cite -- class and method of
    RocketMQ that promise it. about -- fields that name whom a finding concerns. excuses -- when nothing is told.
    judges -- the name of the property, where it is declared by a model. calm -- judged only as long as nothing fails
    but what people do.
    A class without `cite` is a part that rules share.
    """

    shipped: ClassVar[str] = "holds"
    cite: ClassVar[str]
    about: ClassVar[str] = "at"
    excuses: ClassVar[tuple[Excuse, ...]] = ()
    judges: ClassVar[str] = ""
    calm: ClassVar[bool] = False

    name: ClassVar[str]
    sentence: ClassVar[str]
    expected: ClassVar[Expectation]

    def __init_subclass__(cls) -> None:
        """Declare it."""
        if "cite" in vars(cls) or "judges" in vars(cls):
            cls.name, cls.sentence = cls.judges or cls.__name__, (cls.__doc__ or "").partition("\n")[0]
            cls.expected = expectation(cls.shipped)
            RULES[cls.__name__] = cls

    def __init__(self, run: Run) -> None:
        """Nothing has happened; run -- what all rules read."""
        self.facts, self.views, self.bounds, self.past = run.facts, run.views, run.bounds, run.past

    @classmethod
    def claim(cls) -> str:
        """What is promised."""
        return cls.sentence

    def look(self, now_ms: int) -> Iterator[Told]:
        """What is wrong now; asked about once in a second."""
        del now_ms
        return iter(())

    def told(self, sentence: str, *about: Any, since_ms: int | None = None) -> Told:
        """Tell; about -- values of the fields that the rule is about, in their order."""
        return Told(sentence, about, since_ms)


class Duty(Rule):
    """Something that is owed by the machine that the first field of its key names.

    within_ms -- how much time the debtor has; see `invariants.rules.deadlines`. paid_by -- events that pay: they agree
    with the key in all fields that both have. The debtor's end voids a duty; while the debtor stands still no time
    counts, also if it stood still before it owed anything. by_clock -- whether the debtor sees by its clock that its
    time is over: where that is set back it has so much more. late -- what to say of a duty that was not done, with the
    fields of its key in braces, and also {what} is remembered of it and {waited_ms}.
    """

    within_ms: ClassVar[Callable[[Any], int]]
    paid_by: ClassVar[tuple[type | Match, ...]] = ()
    by_clock: ClassVar[bool] = False
    late: ClassVar[str]

    def __init__(self, run: Run) -> None:
        """Nothing is owed."""
        super().__init__(run)
        cancels = tuple(one.match for one in self.excuses if one.when is None and not one.hazard)
        self.owed = Kept(self.about, ends=(*self.paid_by, *cancels), machine=self.about.split()[0])
        self._limit_ms = type(self).within_ms(run.bounds)

    def owe(self, key: tuple[Any, ...], ms: int, what: Any = None) -> None:
        """From now on, unless it is owed already; what -- to be remembered."""
        if key not in self.owed:
            self.owed[key] = ms, max(ms, self.facts.standing_ms.get((key[0],), ms)), what

    def pay(self, key: Hashable) -> None:
        """It is done."""
        self.owed.pop(key, None)

    @on(ProcessPaused)
    def stands_still(self, ms: int, at: str, event: ProcessPaused) -> None:
        """Give the debtor its time when it goes on."""
        for key in self.owed:
            if key[0] == at:
                self.count_from(key, ms + event.ms)

    @on(ClockJumped)
    def clock_is_set(self, _: int, at: str, event: ClockJumped) -> None:
        """Give the debtor the time by which its clock was set back, if it goes by that."""
        for key in self.owed if self.by_clock else ():
            if key[0] == at:
                self.count_from(key, self.owed[key][1] - event.ms)

    def count_from(self, key: Any, ms: int) -> None:
        """The time for what is owed begins anew."""
        since_ms, counted_ms, what = self.owed[key]
        self.owed[key] = since_ms, max(counted_ms, ms), what

    def look(self, now_ms: int) -> Iterator[Told]:
        """Tell what was not done in time."""
        for key, (since_ms, counted_ms, what) in [*self.owed.items()] if self.owed else ():
            if now_ms - counted_ms > self._limit_ms:
                del self.owed[key]
                sentence = self.broken(key, what, now_ms - since_ms)
                if sentence is not None:
                    yield Told(sentence, key, since_ms)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str | None:
        """What to say of a duty that was not done; None: nothing is wrong after all."""
        names = dict(zip(self.about.split(), key, strict=True))
        return self.late.format(**names, what=what, waited_ms=waited_ms)


class Promise(Rule):
    """What is true from a time after the healing on.

    within_ms -- how long after the healing it may be wrong; see `invariants.rules.deadlines`. named -- it applies only
    to worlds whose workload names it. lasts -- once it is true nothing can make it wrong, and no world goes on for it.
    healed_ms -- when the world has healed; empty before.
    """

    within_ms: ClassVar[Callable[[Any], int]]
    named: ClassVar[bool] = False
    lasts: ClassVar[bool] = False

    healed_ms = Kept("at", survives="all", begins=(WorldHealed,))

    def __init__(self, run: Run) -> None:
        """See Rule."""
        super().__init__(run)
        self.limit_ms = type(self).within_ms(run.bounds)

    def wrong(self) -> Iterator[Told]:
        """What is wrong now."""
        raise NotImplementedError


class Ascription(Rule):
    """Puts what is found down to hazards: `excuses` are causes, whose predicates are asked about the Finding.

    judges -- the names of the properties, separated by blanks.
    """

    about = ""
