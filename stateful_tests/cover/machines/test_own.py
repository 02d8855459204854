"""Machines for test files of a user's own: what fails, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rocketproof import state_machine
from stateful_tests.installed.environment import PROJECT
from stateful_tests.machines import own
from stateful_tests.machines.machine import ViolatedError, WorldMachine


class Greedy:
    def allocate(self, _group: str, _me: str, queues: Any, _members: Any, /) -> Any:
        return list(queues)


class RoundRobin:
    def allocate(self, _group: str, me: str, queues: Any, members: Any, /) -> Any:
        return [queue for place, queue in enumerate(queues) if members[place % len(members)] == me]


class Broken:
    def allocate(self, _group: str, _me: str, _queues: Any, members: Any, /) -> Any:
        return members.nothing


def play(machine: Any, **program: dict[str, Any]) -> set[str]:
    """Do each line, and end; what the program breaks."""
    made: WorldMachine = machine()
    try:
        for rule, arguments in program.items():
            getattr(made, rule)(**arguments)
    finally:
        made.teardown()
    return {*made.trial.found}


@pytest.fixture
def change(tmp_path: Path) -> Path:
    file = tmp_path / "change.py"
    file.write_text(PROJECT["change.py"], "utf-8")
    return file


def test_a_change_fails_by_what_its_base_keeps(change: Path) -> None:
    with pytest.raises(ViolatedError, match="refines_subscription is violated") as error:
        play(state_machine("subscription", variant=change), pass_time={"s": 1})
    assert f"+{change} --program" in str(error.value)
    with pytest.raises(ViolatedError, match="table_is_one_members_set is violated"):
        play(state_machine("subscription", variant=change, properties=["table_is_one_members_set"]), pass_time={"s": 1})


def test_a_change_does_not_fail_by_what_its_base_breaks_too(change: Path) -> None:
    text = PROJECT["change.py"].replace("return False", "return await ORIGINAL(self, sub_list, threads)")
    text = text.replace("\n\n\n@replace", "\nORIGINAL = ConsumerGroupInfo.add_subscriptions\n\n\n@replace")
    change.write_text(text, "utf-8")
    assert "one_owner_per_queue" in play(state_machine("consumer_group", variant=change, base="shipped"),
                                         stand_still={"who": "consumer1", "s": 5}, start={"who": "consumer2"})


def test_a_strategy_is_that_of_all_members() -> None:
    play(state_machine("consumer_group", strategy=RoundRobin()), start={"who": "consumer2"})
    with pytest.raises(ViolatedError, match="one_owner_when_settled is violated") as error:
        play(state_machine("consumer_group", strategy=Greedy()), start={"who": "consumer2"})
    assert str(error.value).endswith("replay: this test again; Hypothesis remembers the program")
    with pytest.raises(AttributeError, match="nothing"):
        play(state_machine("consumer_group", strategy=Broken()))


def test_only_named_properties_fail() -> None:
    deeds: dict[str, dict[str, Any]] = {"stand_still": {"who": "consumer1", "s": 5}, "start": {"who": "consumer2"}}
    play(state_machine("consumer_group", subject="shipped"), **deeds)
    play(state_machine("consumer_group", subject="shipped", properties=["ownership_converges"]), **deeds)
    with pytest.raises(ViolatedError, match="one_owner_per_queue is violated"):
        play(state_machine("consumer_group", subject="shipped", properties=["one_owner_per_queue"]), **deeds)


def test_what_cannot_be_judged_fails() -> None:
    machine = state_machine("subscription")
    made: Any = machine()
    made.trial.unknown.append("too many states")
    with pytest.raises(own.UnjudgedError, match="too many states"):
        made.teardown()


@pytest.mark.parametrize(("arguments", "said"), [
    ({"concept": "nothing"}, "no machine for 'nothing'"),
    ({"concept": "subscription", "variant": "nowhere.py"}, "nowhere.py"),
    ({"concept": "subscription", "subject": "mended"}, "mended"),
    ({"concept": "subscription", "properties": ["nothing_is_lost"]}, "does not judge nothing_is_lost"),
    ({"concept": "subscription", "variant": "a.py", "subject": "shipped"}, "not both"),
    ({"concept": "subscription", "base": "shipped"}, "say with variant what lies on the base"),
    ({"concept": "subscription", "variant": "a.py", "strategy": Greedy()}, "not both"),
])
def test_what_cannot_be_made_is_refused_in_one_sentence(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said) as error:
        state_machine(**arguments)
    assert "\n" not in str(error.value)
