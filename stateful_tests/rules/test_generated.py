from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Any

import pytest

from invariants.rules.declared import RULES
from invariants.rules.excuse import Excuse
from invariants.rules.rule import Ascription, Rule
from stateful_tests.rules.collected import HISTORIES
from stateful_tests.rules.generated import (
    ELSEWHERE,
    Broken,
    Declared,
    broken,
    declared,
    ends_of_debtors,
    is_duty,
    made,
    silenced as places_of,
)
from stateful_tests.rules.written import findings

JUDGING = [rule for rule in RULES.values() if not issubclass(rule, Ascription)]
DECLARED = [one for rule in JUDGING for one in declared(rule)]
DUTIES = [rule for rule in RULES.values() if is_duty(rule)]


def stories(rule: type[Rule]) -> Iterator[Broken]:
    yield from (broken(one) for one in HISTORIES if RULES[one.rule] is rule)


def shown(one: Declared) -> tuple[Broken, list[int]]:
    """A broken history of the rule that the event silences, and where."""
    for story in stories(one.rule):
        if places := places_of(one, story):
            return story, places
    raise AssertionError(f"{one}: no broken history of the rule is changed by it")


def lasts_a_time(excuse: Excuse | None) -> bool:
    """Whether an excuse ends by itself, and not at once."""
    return excuse is not None and (callable(excuse.lasts) or 0 < excuse.lasts < inf)


def test_every_rule_has_a_broken_history() -> None:
    assert {one.rule for one in HISTORIES} == {rule.__name__ for rule in JUDGING}


@pytest.mark.parametrize("one", DECLARED, ids=str)
def test_what_is_declared_of_an_event_is_so_and_no_field_of_it_is_without_meaning(one: Declared) -> None:
    story, places = shown(one)
    for place, _ in one.match.pairs(one.kind, [*story.about]):
        at, event = made(one.match, one.kind, story.about, wrong=[*story.about][place])
        assert not any(one.meant(story.with_record(where, at, event)) for where in places), [*story.about][place]


@pytest.mark.parametrize("one", [one for one in DECLARED if one.match.having is not None], ids=str)
def test_an_event_that_is_not_meant_changes_nothing(one: Declared) -> None:
    story, places = shown(one)
    at, event = made(one.match, one.kind, story.about, had=False)
    assert not any(one.meant(story.with_record(where, at, event)) for where in places)


@pytest.mark.parametrize("one", [one for one in DECLARED if lasts_a_time(one.excuse)], ids=str)
def test_an_excuse_lasts_as_long_as_it_says(one: Declared) -> None:
    story, _ = shown(one)
    assert one.excuse is not None
    lasts: Any = one.excuse.lasts
    last_ms = story.since_ms - (lasts(story.history.bounds) if callable(lasts) else lasts)
    at, event = made(one.match, one.kind, story.about)
    if hasattr(event, "ms"):
        event = event._replace(ms=0)
    assert one.meant(story.with_record(0, at, event, last_ms))
    assert not one.meant(story.with_record(0, at, event, last_ms - 1))


@pytest.mark.parametrize("rule", DUTIES, ids=lambda rule: rule.__name__)
def test_a_debtor_that_ends_owes_nothing_and_one_that_stands_still_has_time(rule: type[Rule]) -> None:
    story = next(stories(rule))
    assert [what for what, found in ends_of_debtors(story, story.told.about[0]) if found] == []
    assert [what for what, found in ends_of_debtors(story, ELSEWHERE) if not found] == []


def test_every_predicate_that_excuses_is_true_once_and_false_once(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: dict[str, set[bool]] = {
        f"{rule.__name__}: {one.sentence}": set() for rule in JUDGING for one in rule.excuses
        if one.when is not None
    }
    original: Callable[[Excuse, Any, Any], bool] = Excuse.holds

    def holds(self: Excuse, rule: Rule, told: Any) -> bool:
        answer = original(self, rule, told)
        answers[f"{type(rule).__name__}: {self.sentence}"].add(answer)
        return answer

    monkeypatch.setattr(Excuse, "holds", holds)
    for history in HISTORIES:
        findings(history, history.broken)
        findings(history, history.kept, history.kept_views, observed=history.kept_observed)
    assert {one for one, said in answers.items() if said != {True, False}} == set()
