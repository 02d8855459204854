"""Traces of the data plane's models run on the implementation: it has what the model has, and breaks the promise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from impl.broker.pull_request_hold_service import PullRequestHoldService
from impl.client import send_message_back
from impl.client.offset_store import RemoteBrokerOffsetStore
from impl.client.process_queue import ProcessQueue
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import PullRequest
from impl.common.message import MessageExt
from impl.variants.catalogue import REPAIRS
from impl.variants.stack import active
from invariants import evidence
from invariants.concepts import PROPERTIES
from invariants.exploring import explore_scopes
from invariants.verdict import Outcome
from model.explorer import explore
from model.scopes import SCOPES
from stateful_tests.played.players import PLAYERS, on_the_implementation, played
from stateful_tests.played.trace import PlayedTrace
from stateful_tests.played.walks import walked

WALKS, STEPS = 3, 40
remove_message, update_offset = ProcessQueue.remove_message, RemoteBrokerOffsetStore.update_offset
UPSETS = ("reset", "crash", "drop", "drop_unknown")
STEP_BY_STEP = {name for name, player in PLAYERS.items() if not player.at_the_end}
"""The others have tests of their own: `stateful_tests/cover/crash/test_played.py`."""
SHOWN = {named.name: named for named in SCOPES if named.scope.concept.name in STEP_BY_STEP and named.violated}
BROKEN: Mapping[str, Callable[[Any], bool]] = {
    "nothing_is_skipped": lambda one: one.broker.committed == one.stored == 1 and one.settled == [],
    "memory_offset_is_least_unsettled": lambda one: one.members["member0"].memory > one.pulls("member0").next_offset,
    "committed_offset_never_regresses": lambda one: one.broker.commits != sorted(one.broker.commits),
    "ordered_message_waits_for_the_earlier": lambda one: one.given != sorted({*one.given}),
    "ordered_commit_is_what_is_settled": lambda one: one.memory < len({*one.given}),
    "dead_letter_comes_after_all_attempts": lambda one: one.dead and one.tried <= one.constants["most"],
    "send_back_keeps_the_message": lambda one: not (one.open or one.succeeded or one.dead),
    "attempts_are_bounded": lambda one: one.tried > one.constants["most"] + 1,
    "done_message_comes_no_more": lambda one: one.succeeded and bool(one.open),
    "held_pull_is_answered_in_time": lambda one: one.now_ms > 5 and not one.held and one.pull not in one.woken,
    "arriving_message_wakes_the_pull": lambda one: one.held and one.end > one.wanted,
}
"""Property to whether the implementation breaks it in the end; a reset begins the offsets of a broker anew."""


@cache
def traces(scope: str) -> Mapping[str, Any]:
    """Property to the shortest trace that breaks it."""
    named = SHOWN[scope]
    found = explore(named.scope, [PROPERTIES[name] for name in named.violated], until_decided=True).violations
    return {name: found[name] for name in named.violated}


EVERYTHING = [(scope, name) for scope, named in SHOWN.items() for name in named.violated]


@pytest.mark.parametrize(("scope", "name"), EVERYTHING)
def test_what_is_refuted_happens_on_the_implementation(scope: str, name: str) -> None:
    done = played(scope, traces(scope)[name])
    assert done.differences == []
    assert BROKEN[name](done)


@pytest.mark.parametrize(("scope", "without"), [
    *((scope, ()) for scope in SHOWN), ("process queue, X18", UPSETS), ("process queue, filter", ("settle",)),
])
def test_walks_of_the_model_are_walks_of_the_implementation(scope: str, without: tuple[str, ...]) -> None:
    """Behind what nobody wants the model goes on at once, the implementation with the next that is settled."""
    assert [done.differences for done in walks(scope, *without)] == [[]] * WALKS


def walks(scope: str, *without: str, number: int = WALKS) -> list[PlayedTrace]:
    """So many, played; without -- these actions."""
    named = next(one for one in SCOPES if one.name == scope)
    calm = copy(named.scope)
    calm.forbid = (*named.scope.forbid, *without)
    shown = next(one for one in SHOWN.values() if one.scope.concept is named.scope.concept)
    initial = next(iter(traces(shown.name).values()))["initial"]
    return [played(scope, walked(calm, initial, seed, STEPS)) for seed in range(number)]


def greedy(self: ProcessQueue, msgs: Sequence[MessageExt]) -> int:
    """Instead of removeMessage: what is not settled is passed."""
    for msg in msgs:
        self.msg_tree_map.remove(msg.queue_offset)
    return self.queue_offset_max + 1


def overtaking(self: ProcessQueue, msgs: Sequence[MessageExt]) -> int:
    """Instead of removeMessage: behind a message that is not the first one all is taken to be settled."""
    first = self.msg_tree_map.first_key()
    answer = remove_message(self, msgs)
    return answer if msgs[0].queue_offset == first else self.queue_offset_max + 1


def credulous(self: DefaultMQPushConsumerImpl, pull: PullRequest) -> None:
    """Instead of correctTagsOffset: whatever is cached."""
    self.offset_store.update_offset(pull.message_queue, pull.next_offset, increase_only=True)


def rising(self: RemoteBrokerOffsetStore, mq: Any, offset: int, *, increase_only: bool) -> None:
    """Instead of updateOffset: a reset leads forward only."""
    del increase_only
    update_offset(self, mq, offset, increase_only=True)


@pytest.mark.parametrize(("scope", "without", "where", "name", "bug"), [
    ("process queue, X18", UPSETS, ProcessQueue, "remove_message", greedy),
    ("process queue, X18", UPSETS, ProcessQueue, "remove_message", overtaking),
    ("process queue, filter", ("settle", *UPSETS), DefaultMQPushConsumerImpl, "correct_tags_offset", credulous),
    ("process queue, X18", (), RemoteBrokerOffsetStore, "update_offset", rising),
])
def test_what_passes_messages_is_noticed_in_a_walk(
    scope: str, without: tuple[str, ...], where: Any, name: str, bug: Any, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(where, name, bug)
    assert any(done.differences for done in walks(scope, *without, number=9))


def test_all_models_of_these_promises_are_played() -> None:
    assert {SHOWN[scope].scope.concept.name for scope, _ in EVERYTHING} == STEP_BY_STEP


def forgetful(self: RemoteBrokerOffsetStore, mq: Any, offset: int, *, increase_only: bool) -> None:
    """Instead of updateOffset: the last one counts."""
    del increase_only
    self.offset_table.put(mq, offset + 1)


@pytest.mark.parametrize(("scope", "where", "name", "bug"), [
    ("process queue, L1", RemoteBrokerOffsetStore, "update_offset", forgetful),
    ("process queue, X18", ProcessQueue, "remove_message", lambda *_: 0),
    ("ordered queue, X14", ProcessQueue, "commit", lambda self: self.consuming_msg_orderly_tree_map.first_key()),
    ("held pull, P13", PullRequestHoldService, "suspend_pull_request", lambda *_: None),
    ("held pull, P8", PullRequestHoldService, "_wake", lambda self, pull: self.suspend_pull_request("T", 0, pull)),
    ("delivery, X5", send_message_back, "send_to_retry_topic", lambda *_: nothing()),
])
def test_a_planted_bug_makes_a_difference(
    scope: str, where: Any, name: str, bug: Any, monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace = [*traces(scope).values()][-1]
    monkeypatch.setattr(where, name, bug)
    assert played(scope, trace).differences != []


async def nothing() -> None:
    """Instead of a copy that is sent."""


def test_a_copy_that_keeps_its_count_is_not_what_x20_says() -> None:
    repair = next(one for one in REPAIRS.values() if "X20" in one.hazards)
    with active([repair]):
        done = played("delivery, X20", traces("delivery, X20")["attempts_are_bounded"])
    assert done.differences == ["after step 1 reconsumed[1] is 1, the model has 0"]


def test_what_is_not_sent_anew_is_not_what_x5_says() -> None:
    trace = traces("delivery, X5")["done_message_comes_no_more"]
    with active([REPAIRS["sent_back_once"]]):
        assert played("delivery, X5", trace).differences != []


def test_evidence_of_these_models_is_done_with_the_implementation(tmp_path: Path) -> None:
    rows = explore_scopes(["held pull, P13"], ["arriving_message_wakes_the_pull"], out=tmp_path)
    row = next(one for one in rows if one.outcome is Outcome.VIOLATED)
    stored = evidence.read(tmp_path / str(row.evidence))
    assert [*on_the_implementation(stored)][-1] == "  it has what the model has"
    assert [*on_the_implementation({**stored, "kind": "graph"})] == []


def test_the_end_is_left_whatever_happens() -> None:
    class Stumbling(PlayedTrace):
        left = False

        def begin(self) -> None:
            """Nothing."""

        def leave(self) -> None:
            """See PlayedTrace."""
            Stumbling.left = True

    with pytest.raises(AttributeError, match="unknown"):
        Stumbling({"initial": {}, "steps": [{"action": "unknown", "arguments": {}, "changes": []}]}, {})
    assert Stumbling.left
