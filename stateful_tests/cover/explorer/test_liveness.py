"""Liveness under fairness: known answers both ways, and a brute-force judge on random machines."""

from __future__ import annotations

from itertools import chain, combinations
from random import Random
from typing import Any

import networkx as nx
import numpy as np
import pytest

from bench import group
from bench.group import Consumer, Free, Queue
from model.explorer import Exploration, Tuning, explore, graph, liveness
from model.explorer.liveness import Avoiding, StateIndex
from model.language import FALSE, TRUE, Bool, action, every, exists, forall, leads_to, require
from model.language.batch import states
from model.language.expectation import expectation
from model.language.properties import LEADS_TO, Property
from model.language.scalar import StepReading
from model.language.scope import Scope
from model.language.state import Concept
from stateful_tests import random_concepts


class Watched(Free):
    """A group whose broker notices that a consumer died."""


@action("ConsumerManager#doChannelCloseEvent")
def notice(s: Watched, c: Consumer) -> None:
    """The broker forgets a dead consumer."""
    require(s.registered[c], ~s.alive[c])
    s.registered[c] = FALSE


def settled(s: Watched) -> Bool:
    """The list is true, everybody knows it and has its share."""
    return group.agrees(s) & forall(s.registered[c].iff(s.alive[c]) for c in every(Consumer))


CHURN = ("start", "crash", "shutdown", "expire")


@leads_to(shipped="holds", fair=("heartbeat", "notice", "fetch", "drop", "take"), until_quiet=CHURN)
def settles(s: Watched) -> tuple[Bool, Bool]:
    """Once churn stops, the group settles."""
    return TRUE, settled(s)


@leads_to(shipped="violated: G1", fair=("heartbeat", "notice", "fetch", "drop"), until_quiet=CHURN)
def settles_without_taking(s: Watched) -> tuple[Bool, Bool]:
    """Nobody has to take a queue."""
    return TRUE, settled(s)


@leads_to(shipped="violated: G2", fair=("heartbeat", "notice", "fetch", "drop", "take"))
def settles_in_spite_of_churn(s: Watched) -> tuple[Bool, Bool]:
    """Churn goes on."""
    return TRUE, settled(s)


@leads_to(shipped="violated: G3", fair=("heartbeat",))
def fetches(s: Watched) -> tuple[Bool, Bool]:
    """From a start that is no initial state: who lives learns of somebody."""
    return exists(s.alive[c] for c in every(Consumer)), FALSE


def scope(consumers: int, queues: int) -> Scope:
    return Scope(Watched, {Consumer: consumers, Queue: queues}, {"share": group.averagely(consumers, queues)})


def judged(where: Scope, *names: str, **options: Any) -> Exploration:
    return explore(where, [where.concept.properties[name] for name in names], **options)


@pytest.mark.parametrize("sizes", [(2, 1), (2, 2), (3, 1)])
def test_a_group_settles_when_all_that_helps_is_fair(sizes: tuple[int, int]) -> None:
    found = judged(scope(*sizes), "settles")
    assert (found.outcome("settles"), found.undecided) == ("holds", {})


def test_a_group_need_not_settle_when_taking_is_not_fair() -> None:
    found = judged(scope(2, 2), "settles_without_taking", "settles_in_spite_of_churn")
    assert sorted(found.violations) == ["settles_in_spite_of_churn", "settles_without_taking"]
    for name in found.violations:
        check_lasso(found, found.scope.concept.properties[name])
    stopped = found.violations["settles_without_taking"]
    assert all(step["action"] not in CHURN for step in stopped["steps"][stopped["loop"]:])
    churning = found.violations["settles_in_spite_of_churn"]
    assert {step["action"] for step in churning["steps"][churning["loop"]:]} & set(CHURN)


def test_what_leads_to_nothing_is_violated_from_where_it_begins() -> None:
    found = judged(scope(2, 1), "fetches")
    trace = found.violations["fetches"]
    check_lasso(found, found.scope.concept.properties["fetches"])
    assert trace["steps"][0]["action"] == "start"


def test_several_words_have_the_same_liveness() -> None:
    tuning = Tuning(word_bits=5)
    found = judged(scope(2, 2), "settles", "settles_without_taking", tuning=tuning)
    assert (found.outcome("settles"), found.outcome("settles_without_taking")) == ("holds", "violated")
    check_lasso(found, found.scope.concept.properties["settles_without_taking"])


@pytest.mark.parametrize(("memory_bytes", "says"), [(200_000, "avoid the goal"), (20_000, "784 states and their")])
def test_too_many_steps_are_unknown(memory_bytes: int, says: str) -> None:
    found = judged(scope(2, 2), "settles", memory_bytes=memory_bytes)
    assert found.outcome("settles") == "unknown"
    assert says in found.undecided["settles"]
    assert found.unknown == ""


def test_state_numbers_do_not_depend_on_words() -> None:
    low, high = np.array([5, 1, 5, 2], np.uint64), np.array([1, 1, 0, 9], np.uint64)
    assert StateIndex([low[[0, 1, 3]]]).find([np.array([2, 5, 1, 7, 0], np.uint64)]).tolist() == [2, 0, 1, -1, -1]
    index = StateIndex([low, high])
    assert index.find([low, high]).tolist() == [0, 1, 2, 3]
    assert index.find([low, np.array([9, 9, 9, 1], np.uint64)]).tolist() == [-1, -1, -1, -1]


def check_lasso(found: Exploration, wanted: Property) -> None:
    """Replay a lasso and check all that makes it a counterexample."""
    reading, trace = StepReading(found.scope), found.violations[wanted.name]
    layout, here = reading.layout, _number(found, trace["initial"])
    run = [here]
    for taken in trace["steps"]:
        here = next(after for instance, after in reading.successors(here) if _is(found.scope, instance, taken)
                    and {c["cell"]: c["after"] for c in taken["changes"]} == _changes(layout, here, after))
        run.append(here)
    start, loop = trace["loop"], [run[i] for i in range(trace["loop"], len(run))]
    outside = [not reading.holds(wanted.condition, state) for state in run]
    demanded = [i for i, state in enumerate(run) if reading.value(wanted.when, state)]
    assert any(i <= start and all(outside[i:]) for i in demanded)
    assert run[-1] == run[start]
    steps = trace["steps"][start:]
    assert not {taken["action"] for taken in steps} & set(wanted.until_quiet)
    for name in (*wanted.fair, *wanted.strongly_fair):
        for env in reading.ground.environments(found.scope.concept.actions[name].parameters):
            arguments = tuple(env.values())
            instance = reading.instance(name, arguments)
            taken = any(_is(found.scope, instance, step) for step in steps)
            enabled = [reading.enabled(name, arguments, state) for state in loop]
            assert taken or not (any(enabled) if name in wanted.strongly_fair else all(enabled))


def _changes(layout: Any, before: int, after: int) -> dict[str, str]:
    old, new = layout.text(before), layout.text(after)
    return {cell: new[cell] for cell in new if new[cell] != old[cell]}


def _number(found: Exploration, text: dict[str, str]) -> int:
    layout = StepReading(found.scope).layout
    own = found.expander.ground.layout
    return next(layout.pack(own.unpack(state)) for state in states(found.levels[0]) if own.text(state) == text)


def _is(where: Scope, instance: Any, taken: dict[str, Any]) -> bool:
    texts = [where.text(p.sort, k) for p, k in zip(instance.action.parameters, instance.arguments, strict=True)]
    return instance.action.name == taken["action"] and list(taken["arguments"].values()) == texts


def _random(seed: int) -> tuple[Concept, Scope, Property]:
    chance = Random(seed)  # noqa: S311 - a test's choices
    concept = random_concepts.concept(seed, 10)
    author = random_concepts.Author(chance, concept.variables)
    names = list(concept.actions)
    chance.shuffle(names)
    quiet, weak, strong = ([name for name in names if chance.random() < part] for part in (0.2, 0.5, 0.4))
    wanted = Property("reaches", LEADS_TO, concept, "", author.formula(2), expectation("holds"),
                      when=author.formula(1), fair=tuple(n for n in weak if n not in quiet),
                      strongly_fair=tuple(n for n in strong if n not in quiet), until_quiet=tuple(quiet))
    concept.properties["reaches"] = wanted
    return concept, random_concepts.scope(concept, seed), wanted


def brute_force(found: Exploration, wanted: Property) -> bool:
    """Whether a fair run avoids the goal, for each set of strongly fair instances that may never be enabled again."""
    reading, drawn = StepReading(found.scope), graph(found, 2000)
    by_text = {tuple(sorted(node["cells"].items())): node["id"] for node in drawn["nodes"]}
    numbers = {by_text[tuple(sorted(reading.layout.text(s).items()))]: s for s in _all(found, reading)}
    goal = {n for n, s in numbers.items() if reading.holds(wanted.condition, s)}
    edges = [e for e in drawn["edges"] if e["source"] not in goal and e["target"] not in goal]
    avoiding: Any = nx.MultiDiGraph()
    avoiding.add_nodes_from(n for n in numbers if n not in goal)
    avoiding.add_edges_from((e["source"], e["target"]) for e in edges)
    starts = [n for n, s in numbers.items() if n not in goal and reading.value(wanted.when, s)]
    region = set(starts).union(*(nx.descendants(avoiding, n) for n in starts))
    fair = [(name, tuple(env.values())) for name in dict.fromkeys((*wanted.fair, *wanted.strongly_fair))
            for env in reading.ground.environments(found.scope.concept.actions[name].parameters)]
    enabled = {key: {n for n in region if reading.enabled(*key, numbers[n])} for key in fair}
    if any(not any(n in enabled[key] for key in fair) for n in region):
        return True
    strong = [key for key in fair if key[0] in wanted.strongly_fair]
    texts = {key: (key[0], *(found.scope.text(p.sort, k) for p, k in zip(
        found.scope.concept.actions[key[0]].parameters, key[1], strict=True))) for key in fair}
    inner = [e for e in edges if e["action"] not in wanted.until_quiet]
    for never in chain.from_iterable(combinations(strong, n) for n in range(len(strong) + 1)):
        left = region.difference(*(enabled[key] for key in never))
        kept = [e for e in inner if e["source"] in left and e["target"] in left]
        whole: Any = nx.MultiDiGraph()
        whole.add_edges_from((e["source"], e["target"]) for e in kept)
        for component in nx.strongly_connected_components(whole):
            own = [e for e in kept if e["source"] in component and e["target"] in component]
            taken = {(e["action"], *e["arguments"].values()) for e in own}
            if own and all(key in never or texts[key] in taken
                           or (key not in strong and not component <= enabled[key]) for key in fair):
                return True
    return False


def _all(found: Exploration, reading: StepReading) -> list[int]:
    own = found.expander.ground.layout
    return [reading.layout.pack(own.unpack(state)) for level in found.levels for state in states(level)]


def verdicts(most: int = 30) -> list[tuple[int, bool, bool]]:
    made: list[tuple[int, bool, bool]] = []
    seed = 0
    while len(made) < most:
        concept, where, wanted = _random(seed)
        found = explore(where, [wanted], memory_bytes=1 << 26)
        strong = sum(len(list(found.expander.ground.environments(concept.actions[n].parameters)))
                     for n in wanted.strongly_fair)
        if 6 <= found.states <= 150 and strong <= 6:
            violated = "reaches" in found.violations  # whatever fairness and saturation leave open
            made.append((seed, violated, brute_force(found, wanted)))
            if violated:
                check_lasso(found, wanted)
        seed += 1
    return made


@pytest.fixture
def within_the_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    """No number lies beyond it: so brute force sees it."""
    monkeypatch.setattr(Avoiding, "unbounded", lambda *_: None)
    monkeypatch.setattr(liveness, "leans_on_the_end", lambda *_: False)


@pytest.mark.usefixtures("within_the_scope")
def test_random_machines_are_judged_as_by_brute_force() -> None:
    made = verdicts()
    assert [seed for seed, fast, slow in made if fast != slow] == []
    assert 5 < sum(violated for _, violated, _ in made) < 25


@pytest.mark.usefixtures("within_the_scope")
def test_a_fault_in_the_judge_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Avoiding._fair

    def only_weak(self: Avoiding, *args: Any) -> Any:
        self.strong = np.zeros(len(self.fair), np.bool_)
        return plain(self, *args)

    monkeypatch.setattr(Avoiding, "_fair", only_weak)
    try:
        assert any(fast != slow for _, fast, slow in verdicts())
    except AssertionError:
        return  # a lasso that is not fair
