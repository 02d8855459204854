"""The engine of rules, with rules about a toy: a borrower takes books of a library and brings them back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pytest

from impl.events import ProcessKilled, ProcessPaused
from invariants.finding import Finding
from invariants.rules import declared
from invariants.rules.bounds import Bounds, Deadline
from invariants.rules.excuse import FOR_EVER, Excuse, cause
from invariants.rules.match import Match, machine_of, matching
from invariants.rules.past import Past, Reported, going_on
from invariants.rules.rule import RULES, Ascription, Duty, Kept, Promise, Rule, Told, after, on
from invariants.rules.watch import Run, Watch
from stateful_tests.rules.written import Tables

LATE: Deadline = lambda bounds: 100 + bounds.delay_ms  # noqa: E731  # as formulas of deadlines are declared
NO_TABLES: Any = Tables()


class Taken(NamedTuple):
    library: str
    book: str
    who: str


class Back(NamedTuple):
    library: str
    book: str
    torn: bool = False


class Closed(NamedTuple):
    """A library has closed."""

    library: str


class Lent(NamedTuple):
    """A home speaks: the book is from the library at this address."""

    book: str
    address: str


@pytest.fixture(autouse=True)
def _declarations() -> Iterator[None]:
    """What tests declare is forgotten."""
    before = dict(RULES)
    yield
    RULES.clear()
    RULES.update(before)


def taken(ms: int, at: str = "city", book: str = "b", who: str = "w") -> tuple[int, str, Any]:
    return ms, at, Taken(at, book, who)


def judged(rule: type[Rule], *records: tuple[int, str, Any], end_ms: int = 1_000_000, bounds: Bounds | None = None,
           views: Any = None) -> list[Finding]:
    watch = Watch(views or NO_TABLES, bounds or Bounds(), [rule])
    found = [one for record in records for one in watch.segment(record[1], [record])]
    return [*found, *watch.late(end_ms)]


# Matches --------------------------------------------------------------------------------------------------------------


def test_an_event_and_a_key_agree_in_all_fields_that_both_have() -> None:
    bound = matching(Back).bound(("at", "book", "who"))
    keys = [("city", "b", "w"), ("city", "b", "v"), ("city", "c", "w"), ("town", "b", "w")]
    assert bound.met(keys, "city", Back("city", "b")) == keys[:2]


def test_fields_can_be_named_and_renamed_and_be_hosts_of_addresses() -> None:
    keys = [("city", "b"), ("city", "c"), ("town", "b")]
    assert Match(Back, of="book").bound(("at", "book")).met(keys, "home", Back("x", "b")) == [keys[0], keys[2]]
    assert Match(Lent, of="at=address.machine").bound(("at", "book")).met(keys, "home", Lent("b", "city:1")) == keys[:2]
    assert Match(Closed, of="at=library").bound(("at",)).met([("city",), ("town",)], "x", Closed("town")) == [("town",)]


def test_a_match_can_want_some_events_only() -> None:
    whole = Match(Back, having=lambda event: not event.torn).bound(("book",))
    assert whole.met([("b",)], "city", Back("city", "b"))
    assert not whole.met([("b",)], "city", Back("city", "b", torn=True))


@pytest.mark.parametrize("of", ["shelf", "book=shelf", "at=shelf.machine"])
def test_a_field_that_is_none_is_refused(of: str) -> None:
    with pytest.raises(ValueError, match="do not both have"):
        Match(Back, of=of).bound(("at", "book"))


def test_the_machine_of_an_address() -> None:
    assert machine_of("city:1") == "city"


# Tables ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("survives", "power_loss", "left"), [
    ("nothing", False, [("town",)]), ("nothing", True, [("town",)]), ("kill", False, [("city",), ("town",)]),
    ("kill", True, [("town",)]), ("all", True, [("city",), ("town",)]),
])
def test_a_table_says_what_its_entries_survive(survives: str, power_loss: bool, left: list[Any]) -> None:
    table = Kept("at", survives=survives)
    table.update({("city",): 1, ("town",): 2})
    for kind, hear in table.hears():
        assert kind is ProcessKilled
        hear(1, "city", ProcessKilled(1, power_loss))
    assert list(table) == left


def test_entries_belong_to_the_machine_of_a_named_field() -> None:
    table = Kept("book at", ends=(Back,), machine="at")
    table.update({("b", "city"): 1, ("b", "town"): 2, ("c", "town"): 3})
    hears = dict(table.hears())
    hears[Back](1, "city", Back("city", "b"))
    assert list(table) == [("b", "town"), ("c", "town")]
    hears[ProcessKilled](1, "town", ProcessKilled(1, power_loss=False))
    assert not table


def test_events_begin_entries_which_are_times_or_what_is_said() -> None:
    whole = Match(Back, having=lambda event: not event.torn)
    for table, value in ((Kept("at book", begins=(whole,)), 3),
                         (Kept("at book", begins=(whole,), value=lambda ms, event: (ms, event.library)), (3, "x"))):
        hears = dict(table.hears())
        hears[Back](2, "city", Back("x", "c", torn=True))
        hears[Back](3, "city", Back("x", "b"))
        assert table == {("city", "b"): value}


def test_keys_can_be_made_of_hosts_of_addresses() -> None:
    table = Kept("machine book", survives="all", begins=(Match(Lent, of="machine=address.machine book"),))
    dict(table.hears())[Lent](3, "home", Lent("b", "city:1"))
    assert table == {("city", "b"): 3}


@pytest.mark.parametrize("match", [Closed, Match(Taken, of="book at")])
def test_what_begins_an_entry_has_all_its_fields_in_their_order(match: type | Match) -> None:
    with pytest.raises(ValueError, match="does not have all fields of a key"):
        Kept("at book", begins=(match,))


def test_a_rule_hears_what_is_so_after_an_event() -> None:
    class library_lends(Rule):  # noqa: N801  # a rule's class has the name of its property
        """A library lends nothing."""

        cite = "Library"
        away = Kept("at book", begins=(Taken,))

        @on(Taken)
        def takes(self, _: int, at: str, __: Taken) -> Iterator[Told]:
            yield self.told(f"it lends when {len(self.away)} are away", at)

        @after(Taken)
        def took(self, _: int, at: str, __: Taken) -> Iterator[Told]:
            yield self.told(f"{len(self.away)} are away", at)

    assert sentences(judged(library_lends, taken(1))) == ["it lends when 0 are away.", "1 are away."]


def test_each_who_keeps_a_declared_table_has_its_own() -> None:
    rule, run = lent_once(), Run(Any, Any, Bounds())  # type: ignore[arg-type]  # nothing is read
    one, other = rule(run), rule(run)
    one.away["city", "b"] = 1  # type: ignore[attr-defined]  # a class that is made by a function
    assert (one.away, other.away, rule.away) == ({("city", "b"): 1}, {}, {})  # type: ignore[attr-defined]  # the same


# Rules ----------------------------------------------------------------------------------------------------------------


def lent_once(*excuses: Excuse) -> type[Rule]:
    reasons = excuses

    class book_is_lent_once(Rule):  # noqa: N801  # a rule's class has the name of its property
        """A book that is away is not lent. It may be read there."""

        shipped = "violated: Z1 two readers"
        cite = "Library"
        about = "at book"
        excuses = reasons

        away = Kept("at book", ends=(Back,), begins=(Taken,))

        @on(Taken)
        def takes(self, _: int, at: str, event: Taken) -> Iterator[Told]:
            if (at, event.book) in self.away:
                yield self.told(f"{event.who} has {event.book}", at, event.book)

    return book_is_lent_once


@pytest.mark.parametrize("first", ["subscriptions", "deliveries"])
def test_rules_have_the_order_of_their_concepts_whichever_is_imported_first(first: str) -> None:
    code = f"import invariants.rules.{first}\nfrom invariants.rules.declared import RULES\nprint(*RULES)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603  # this Python
    places = {f"invariants.rules.{concept}": place for place, concept in enumerate(declared.CONCEPTS)}
    ordered = sorted(declared.BY_NAME.values(), key=lambda rule: places[rule.__module__])
    assert [name for name in told.stdout.split() if RULES[name] in ordered] == [rule.__name__ for rule in ordered]


def test_a_rule_is_declared_by_its_class() -> None:
    rule = lent_once()
    assert RULES[rule.__name__] is rule
    assert (rule.name, rule.sentence) == ("book_is_lent_once", "A book that is away is not lent. It may be read there.")
    assert rule.expected.hazards == ("Z1",)


def test_a_rule_tells_its_claim_and_what_is_wrong() -> None:
    (found,) = judged(lent_once(), taken(1), taken(2, who="v"))
    assert found.sentence == "A book that is away is not lent. It may be read there. But v has b."
    assert (found.signature, found.time_ms, found.causes) == (("book_is_lent_once", "Taken"), 2, ())
    assert not judged(lent_once(), taken(1), (2, "city", Back("city", "b")), taken(3))
    assert not judged(lent_once(), taken(1), taken(2, at="town"))


@pytest.mark.parametrize(("excuse", "ms", "silent"), [
    (Excuse("it closed", by=Closed, lasts=10), -8, True), (Excuse("it closed", by=Closed, lasts=10), -9, False),
    (Excuse("it closed", by=Closed, lasts=FOR_EVER), -9_999, True),
    (Excuse("it closed", by=Closed, lasts=lambda bounds: bounds.delay_ms), 2, True),
    (Excuse("it closed", by=Closed, lasts=lambda bounds: bounds.delay_ms), 1, False),
    (Excuse("it stood still", by=(ProcessPaused,), lasts=10), -15, True),
    (Excuse("it stood still", by=(ProcessPaused,), lasts=10), -16, False),
])
def test_an_excuse_lasts_so_long(excuse: Excuse, ms: int, silent: bool) -> None:
    event = ProcessPaused(7) if excuse.by == (ProcessPaused,) else Closed("city")
    assert (not judged(lent_once(excuse), (ms, "city", event), taken(2), taken(2))) is silent
    assert judged(lent_once(excuse), (ms, "town", event), taken(2), taken(2))


def test_an_earlier_end_does_not_shorten_an_excuse() -> None:
    excuse = Excuse("it stood still", by=ProcessPaused, lasts=0)
    records = [(1, "city", ProcessPaused(100)), (2, "city", ProcessPaused(1)), taken(50), taken(90)]
    assert not judged(lent_once(excuse), *records)


def test_an_excuse_may_end() -> None:
    excuse = Excuse("it is closed", by=Closed, lasts=FOR_EVER, until=Match(Lent, of="at=address.machine"))
    closed, open_again = (1, "city", Closed("city")), (2, "home", Lent("x", "city:1"))
    assert not judged(lent_once(excuse), closed, taken(3), taken(4))
    assert judged(lent_once(excuse), closed, open_again, taken(3), taken(4))
    assert not judged(lent_once(excuse), closed, (2, "home", Lent("x", "town:1")), taken(3), taken(4))


def test_an_excuse_may_be_a_predicate() -> None:
    excuse = Excuse("it is a copy", when=lambda rule, told: told.about[1] == "copy" and bool(rule.away))
    assert not judged(lent_once(excuse), taken(1, book="copy"), taken(2, book="copy"))
    assert judged(lent_once(excuse), taken(1), taken(2))


def test_a_cause_does_not_silence_and_an_excuse_beside_it_does() -> None:
    closed = (1, "city", Closed("city"))
    reason = cause("Z1", "it closed", by=Closed, lasts=FOR_EVER)
    assert [one.causes for one in judged(lent_once(reason), closed, taken(2), taken(3))] == [("Z1",)]
    assert [one.causes for one in judged(lent_once(reason), taken(2), taken(3))] == [()]
    excuse = Excuse("it is a copy", when=lambda *_: True)
    assert not judged(lent_once(reason, excuse), closed, taken(2), taken(3))


def test_a_rule_of_calm_worlds_is_silent_elsewhere() -> None:
    rule = lent_once()
    rule.calm = True
    assert judged(rule, taken(1), taken(2))
    assert not judged(rule, taken(1), taken(2), views=Tables(calm=False))


def test_a_watch_hears_the_events_of_its_rules_and_everything_if_something_has_a_time() -> None:
    class library_opens(Rule):  # noqa: N801  # a rule's class has the name of its property
        """The library opens."""

        cite = "Library"

        def look(self, now_ms: int) -> Iterator[Told]:
            yield self.told(f"it is {now_ms}")

    hears = Watch(NO_TABLES, Bounds(), [lent_once()]).hears
    assert hears is not None
    assert {Taken, Back} <= set(hears)
    assert Closed not in hears
    assert Watch(NO_TABLES, Bounds(), [returned()]).hears is None
    assert Watch(NO_TABLES, Bounds(), [library_opens]).hears is None


# Duties ---------------------------------------------------------------------------------------------------------------


class _Returns(Duty):
    about = "at book"
    late = "{what} has {book} for {waited_ms} ms"

    @on(Taken)
    def takes(self, ms: int, at: str, event: Taken) -> None:
        self.owe((at, event.book), ms, event.who)

    def broken(self, key: Any, what: Any, waited_ms: int) -> str | None:
        return None if what == "friend" else super().broken(key, what, waited_ms)


def returned(*excuses: Excuse) -> type[Rule]:
    reasons = excuses

    class book_is_returned(_Returns):  # noqa: N801  # a rule's class has the name of its property
        """A book is returned."""

        cite = "Library"
        within_ms = LATE
        paid_by = (Match(Back, having=lambda event: not event.torn),)
        excuses = reasons

    return book_is_returned


def sentences(found: Iterable[Finding]) -> list[str]:
    return [one.sentence.partition("But ")[2] for one in found]


def test_a_duty_is_told_when_its_time_is_over() -> None:
    assert judged(returned(), taken(1), end_ms=101) == []
    assert sentences(judged(returned(), taken(1), end_ms=102)) == ["w has b for 101 ms."]
    assert judged(returned(), taken(1), end_ms=111, bounds=Bounds(delay_ms=10)) == []
    assert judged(returned(), taken(1, who="friend"), end_ms=999) == []


def test_a_duty_is_owed_from_its_first_time_and_told_once() -> None:
    watch = Watch(NO_TABLES, Bounds(), [returned()])
    for one in (taken(1), taken(60)):
        assert watch.segment(one[1], [one]) == []
    assert sentences(watch.late(102)) == ["w has b for 101 ms."]
    assert watch.late(500) == []


def test_a_duty_is_paid_by_what_agrees_with_it() -> None:
    assert not judged(returned(), taken(1), (2, "city", Back("city", "b")))
    assert judged(returned(), taken(1), (2, "city", Back("city", "b", torn=True)))
    assert judged(returned(), taken(1), (2, "city", Back("city", "c")))
    assert judged(returned(), taken(1), (2, "town", Back("town", "b")))


def test_the_end_of_the_debtor_voids_and_its_pauses_give_time() -> None:
    killed, paused = ProcessKilled(1, power_loss=False), ProcessPaused(50)
    assert not judged(returned(), taken(1), (2, "city", killed))
    assert judged(returned(), taken(1), (2, "town", killed))
    assert not judged(returned(), taken(1), (11, "city", paused), end_ms=161)
    assert sentences(judged(returned(), taken(1), (11, "city", paused), end_ms=162)) == ["w has b for 161 ms."]
    assert judged(returned(), taken(1), (11, "town", paused), end_ms=161)
    assert judged(returned(), taken(1), (11, "city", paused), (12, "city", ProcessPaused(1)), end_ms=162)


def test_an_event_that_excuses_cancels_a_duty_and_a_cause_does_not() -> None:
    closed = (2, "city", Closed("city"))
    assert not judged(returned(Excuse("it closed", by=Closed)), taken(1), closed)
    assert not judged(returned(Excuse("it closed", by=Closed)), taken(1), closed, taken(3), end_ms=103)
    assert judged(returned(Excuse("it closed", by=Closed)), taken(1), closed, taken(3), end_ms=104)
    assert [one.causes for one in judged(returned(cause("Z1", "it closed", by=Closed)), taken(1), closed)] == [("Z1",)]
    assert [one.causes for one in judged(returned(cause("Z1", "it closed", by=Closed)), closed, taken(3))] == [()]


def test_a_duty_with_a_look_of_its_own_is_looked_at_once_and_also_if_nothing_is_owed() -> None:
    looks: list[int] = []

    class book_is_seen(_Returns):  # noqa: N801  # a rule's class has the name of its property
        """A book is seen."""

        cite = "Library"
        within_ms = LATE

        def look(self, now_ms: int) -> Iterator[Told]:
            looks.append(now_ms)
            yield from super().look(now_ms)

    assert sentences(judged(book_is_seen, taken(1), end_ms=102)) == ["w has b for 101 ms."]
    assert not judged(book_is_seen, end_ms=103)
    assert looks == [102, 103]


# Promises, and what others find ---------------------------------------------------------------------------------------


def watching(empty: list[int], *, lasts: bool = False) -> Watch:
    """Of a promise that there is no empty shelf."""
    class shelves_are_full(Promise):  # noqa: N801  # a rule's class has the name of its property
        """Shelves are full."""

        cite = "Library"
        within_ms = LATE

        def wrong(self) -> Iterator[Told]:
            yield from (Told(f"shelf {one} is empty", ("city",)) for one in self.views.empty())  # type: ignore[attr-defined]

    shelves_are_full.lasts = lasts
    tables: Any = Tables(empty=lambda: empty)
    return Watch(tables, Bounds(), [shelves_are_full])


def test_a_promise_is_true_at_its_time_and_to_the_end() -> None:
    empty = [1]
    watch = watching(empty)
    assert watch.last_promise_ms == 100
    assert watch.promised(1_099, 1_000) == []
    assert watch.kept_ms == {}
    empty.clear()
    assert watch.promised(1_099, 1_000) == []
    assert watch.promised(1_100, 1_000) == []
    assert watch.kept_ms == {"shelves_are_full": 99}
    empty.append(3)
    assert sentences(watch.promised(1_100, 1_000)) == ["shelf 3 is empty."]
    assert watch.kept_ms == {}


@pytest.mark.parametrize(("lasts", "left_ms"), [(True, 0), (False, 100)])
def test_no_world_goes_on_for_a_promise_that_is_true_and_lasts(lasts: bool, left_ms: int) -> None:
    empty = [1]
    watch = watching(empty, lasts=lasts)
    assert watch.promised(1_010, 1_000) == []
    assert watch.last_promise_ms == 100
    empty.clear()
    assert watch.promised(1_020, 1_000) == []
    assert watch.last_promise_ms == left_ms
    empty.append(2)
    assert watch.promised(1_030, 1_000) == []
    assert watch.last_promise_ms == 100


def test_what_another_judge_finds_is_put_down_to_a_cause() -> None:
    class books_differ(Ascription):  # noqa: N801  # a rule's class has a name of its own
        """Two readers have one book."""

        judges = "book_is_lent_once"
        excuses = (cause("Z1", "it closed", by=Match(Closed, of=""), lasts=5),)

    found = Finding("book_is_lent_once", None, "two", ("differs",))
    watch = Watch(NO_TABLES, Bounds(), [books_differ])
    assert watch.properties == ()  # what it judges others have found
    assert watch.ascribed(found, 1).causes == ()
    watch.segment("city", [(10, "city", Closed("city"))])
    assert watch.ascribed(found, 15).causes == ("Z1",)
    assert watch.ascribed(found, 16).causes == ()
    other = Finding("another", None, "two", ("differs",))
    assert watch.ascribed(other, 15) == Finding("another", None, "two", ("differs",), (), 15)


class Looked:
    """An event that counts how often its field is read."""

    reads = 0

    def __init__(self, offset: int) -> None:
        self._offset = offset

    @property
    def offset(self) -> int:
        type(self).reads += 1
        return self._offset


def test_who_looks_back_finds_what_agrees_behind_a_place_and_reads_each_record_once() -> None:
    past, records = Past(), 100
    for place in range(records):
        past.records.append((place, "cd"[place % 2], Looked(place % 4)))
        theirs = [one for one in range(1, place + 1) if one % 4 == 1]
        assert [one.place for one in past.of(Looked, since=0, at="d", offset=1, group=None)] == theirs
        last = past.last(Looked, Reported, since=53, at="d", offset=1)
        assert (last and last.place) == max((one for one in theirs if one > 53), default=None)
    assert past.of(Looked, at="c", offset=1) == past.of(Reported) == []
    assert len(past.of(Looked)) == Looked.reads == records


class Connected(NamedTuple):
    connection: str


def test_what_ends_on_a_connection_is_what_began_there_first() -> None:
    begun, ended = ([Reported(place, place, "c", Connected(connection)) for place, connection in these]
                    for these in (((0, "x"), (1, "y"), (2, "x"), (5, "y")), ((3, "x"), (4, "z"))))
    assert [one.place for one in going_on(begun, ended)] == [2, 1, 5]
    assert going_on(begun, []) == [begun[0], begun[2], begun[1], begun[3]]
