"""Which hazards a finding shows, of those that can break its property; what a rule contradicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from impl.events import OffsetCommitted
from invariants.finding import put_down_to
from invariants.rules.bounds import Bounds
from invariants.rules.declared import RULES
from invariants.rules.explaining import Reading, Record, remember
from invariants.rules.rule import Hear, Hears, Kept, Told
from invariants.rules.telling_apart import looked_for, perhaps, shown
from invariants.rules.watch import Watch
from stateful_tests.rules.collected import HISTORIES
from stateful_tests.rules.written import Tables, findings

BROKER = "broker-a"
TABLES: Any = Tables()
MANY = 60
"""So many rules name a record that they contradict, in some written history; more is better."""
SEVERAL = ("D2", "D4", "D5")


def test_a_finding_shows_the_hazards_whose_cause_was_seen() -> None:
    key = ("a_property", "QueueTaken", put_down_to("D4"))
    assert shown(SEVERAL, key) == ("D4",)
    assert perhaps(SEVERAL, key) == ""


def test_a_finding_of_which_no_cause_was_seen_shows_those_of_which_nobody_sees_one() -> None:
    key = ("a_property", "QueueTaken")
    assert shown(("D2",), key) == ("D2",)
    assert perhaps(("D2",), key) == ""
    assert shown(SEVERAL, key) == SEVERAL
    assert perhaps(SEVERAL, key) == "; D2, D4 or D5: the run does not tell them apart"
    assert perhaps((), key) == ""


def test_a_hazard_whose_cause_is_looked_for_and_was_not_seen_is_not_shown() -> None:
    hazards, key = ("B-11", "B-17", "D5"), ("connections_of_members_last", "ConsumerRemoved")
    assert looked_for(key[0]) == {"B-11"}
    assert shown(hazards, key) == ("B-17", "D5")
    assert shown(hazards[:1], key) == ()
    assert perhaps(hazards[:1], key) == "; the run shows no cause of B-11"


def test_a_rule_names_the_record_that_it_contradicts() -> None:
    rules = [RULES["commits_go_down_by_resets_only"]]
    records = [(at, BROKER, OffsetCommitted(BROKER, "G", "orders", queue_id, offset, "c1:32768"))
               for at, (queue_id, offset) in enumerate([(0, 10), (0, 20), (1, 90), (0, 15)])]
    watch, silent = (Watch(TABLES, Bounds(), rules, explains=explains) for explains in (True, False))
    (found,), (plain,) = watch.segment(BROKER, records), silent.segment(BROKER, records)
    assert found.earlier == records[1]
    assert (plain.earlier, plain) == (None, found)


def test_rules_judge_alike_whether_they_explain_or_not_and_most_can() -> None:
    explained, silent = set[str](), set[str]()
    for history in HISTORIES:
        found = findings(history, history.broken, explains=True)
        assert found == findings(history, history.broken), history.rule
        (explained if any(one.earlier for one in found) else silent).add(history.rule)
    assert len(explained) >= MANY
    assert all(one.earlier is None or one.earlier in history.broken for history in HISTORIES
               for one in findings(history, history.broken, explains=True))


ABOUT = "key", "who"


class Lent(NamedTuple):
    """Somebody has a book from now on."""

    key: str
    who: str


class Library(Hears):
    """Remembers who has which book, which ones are away, and who has had them first."""

    has = Kept("key who", survives="all")
    away, first = (Kept("key", survives="all") for _ in range(2))

    def __init__(self) -> None:
        """Nothing is lent."""
        self.reading = Reading()
        remember(self, self.reading)

    def hears(self, ms: int, key: str, who: str, *, told: Told | None = None) -> Record | None:
        """A book is lent; told -- what is told then, when all is read: the record that it contradicts."""
        def lends(ms: int, _: str, event: Lent) -> list[Told] | None:
            for _again in range(2):
                self.has[event.key, event.who] = self.away[event.key,] = ms
            self.first.setdefault((event.key,), event.who)
            return [told] if told and [*self.has] else None

        said = self.reading.hearing(lends, ABOUT)(ms, "city", Lent(key, who))
        return None if said is None else next(iter(said)).earlier

    def looks(self, told: Told, *tables: Kept) -> Record | None:
        """Nothing has happened, and something is told when tables were read: the record that it contradicts."""
        def tells() -> Iterator[Told]:
            self.has["k", "nobody"] = self.away["k",] = 99
            yield from [told for table in tables or (self.has, self.away) if [*table]][:1]

        (said,) = self.reading.looking(tells(), ABOUT)
        return said.earlier


def is_away(key: str = "k", who: str = "w", since_ms: int | None = None) -> Told:
    return Told("it is away", (key, who), since_ms)


@pytest.mark.parametrize(("lent", "since_ms", "named"), [
    (((1, "k", "w"), (2, "k", "v")), None, (1, "w")), (((1, "k", "u"), (2, "k", "v")), None, (2, "v")),
    (((1, "k", "u"), (2, "j", "w")), None, (1, "u")), (((2, "j", "w"),), None, None),
    (((1, "k", "w"), (2, "k", "v"), (3, "k", "w")), 2, (2, "v")), (((1, "k", "w"), (3, "k", "w")), 2, (1, "w")),
    (((3, "k", "w"),), 2, None),
])
def test_what_is_told_contradicts_the_last_record_of_its_thing_that_concerns_it_most(
    lent: tuple[tuple[int, str, str], ...], since_ms: int | None, named: tuple[int, str] | None,
) -> None:
    library, other = Library(), Library()
    for one in lent:
        assert library.hears(*one) is other.hears(*one) is None
    for found in (library.hears(9, "i", "w", told=is_away(since_ms=since_ms)),
                  other.looks(is_away(since_ms=since_ms))):
        assert (found and (found[0], found[2].who)) == named


def test_what_excuses_read_between_two_findings_explains_nothing() -> None:
    library = Library()
    library.hears(1, "k", "w")

    def tells(*_: Any) -> Iterator[Told]:
        yield is_away()
        yield is_away()
        assert library.away["k",] == 1
        yield is_away()

    ways: tuple[Hear, ...] = (lambda *_: library.reading.looking(tells(), ABOUT),
                             library.reading.hearing(tells, ABOUT))
    for tell in ways:
        named = []
        for told in tell(9, "city", None) or ():
            named.append(told.earlier)
            assert library.away["k",] == 1  # as an excuse does
        assert named == [None, None, (1, "city", Lent("k", "w"))]


def test_no_record_contradicts_itself_and_who_names_a_record_has_named_it() -> None:
    library, named = Library(), (7, "town", Lent("j", "x"))
    assert library.hears(1, "k", "w", told=is_away()) is None
    assert library.hears(2, "k", "w", told=is_away()) == (1, "city", Lent("k", "w"))
    assert library.hears(3, "k", "w", told=is_away()._replace(earlier=named)) is named


def test_of_the_records_of_one_time_the_last_one_is_named_and_of_an_entry_that_stays_the_first_one() -> None:
    library, told = Library(), Told("it is away", ("k",))
    for who in "uvw":
        library.hears(1, "k", who)
    assert library.looks(told) == (1, "city", Lent("k", "w"))
    assert library.looks(told, library.first) == (1, "city", Lent("k", "u"))


def test_an_entry_remembers_each_record_once_the_first_and_the_last_ones() -> None:
    library = Library()
    for ms in range(1, 8):
        library.hears(ms, "k", "w")
    found = [library.looks(is_away(since_ms=ms)) for ms in range(1, 8)]
    assert [one and one[0] for one in found] == [1, 1, 1, 1, 5, 6, 7]
