"""The page about variants: each file that it shows does what the page says."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.client.process_queue import ProcessQueue
from impl.common.heartbeat_data import ConsumerData
from impl.decisions.subscription import SubscriptionData
from impl.ports.threads import UNINTERRUPTED, Interleave, run_now
from impl.variants.stack import Calls, active
from impl.variants.subjects import variants_of
from impl.variants.variant import KINDS, VariantError

PAGE = Path(__file__).parents[3] / "docs" / "variants.md"
SUBS = [SubscriptionData(topic=name, sub_string="*", sub_version=1) for name in ("a", "b")]
LOOK, BETWEEN = "updateSubscription: the topic has been looked up", "updateSubscription: between the two loops"

Given = Callable[[str], AbstractContextManager[Calls]]


@pytest.fixture
def given(tmp_path: Path) -> Given:
    """The subject with the variant of this name, from the page."""
    files = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)

    def subject(name: str) -> AbstractContextManager[Calls]:
        (text,) = [text for text in files if f'"{name}"' in text]
        (tmp_path / "mine.py").write_text(text, "utf-8")
        variants = variants_of(f"repaired+{tmp_path / 'mine.py'}")
        return active(variants, variants[-1:])

    return subject


class Asked:
    """A thread that notes where it could be overtaken."""

    def __init__(self) -> None:
        self.places: list[str] = []

    async def interleave(self, where: str) -> None:
        self.places.append(where)


def heartbeat(subs: Sequence[SubscriptionData]) -> tuple[list[str], list[str]]:
    """Where a heartbeat with these topics, after one with all, can be overtaken; and which topics the group has."""
    info, threads = ConsumerGroupInfo(ConsumerData("g", "", "", ""), lambda: 0), Asked()
    run_now(info.update_subscription(SUBS, UNINTERRUPTED))
    run_now(info.update_subscription(subs, threads))
    return threads.places, sorted(str(topic) for topic in info.subscription_table.key_set())


FILES = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
FITTING = [text for text in FILES if '"hidden"' not in text]


@pytest.mark.parametrize("text", FITTING, ids=[re.findall(r'Variant\(\s*"([^"]+)"', text)[0] for text in FITTING])
def test_each_file_of_the_page_can_be_put_in_place_on_its_own_base(text: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(text, "utf-8")
    variants = variants_of(str(tmp_path / "mine.py"))
    with active(variants, variants[-1:]) as calls:
        assert not any(calls.values())


def test_the_page_has_a_file_of_each_kind() -> None:
    assert {re.findall(r'Variant\(\s*"[^"]+", "(\w+)"', text)[0] for text in FILES} == {*KINDS}


def test_the_first_file_replaces_what_it_says(given: Given) -> None:
    with given("pulls-never-expire") as calls:
        assert ProcessQueue(lambda: 10**9).is_pull_expired() is False
    assert calls == {"ProcessQueue.is_pull_expired": 1}


def test_the_innermost_function_is_replaced_under_the_repairs(given: Given) -> None:
    with given("innermost") as calls:
        assert heartbeat(SUBS[:1]) == ([], ["a", "b"])
    assert calls == {"ConsumerGroupInfo.update_subscription": 2}
    with active(variants_of("repaired")):
        assert heartbeat(SUBS[:1]) == ([], ["a"])


def test_over_leaves_the_repairs_out_at_the_place(given: Given) -> None:
    with given("over-repairs"):
        assert heartbeat(SUBS[:1]) == ([LOOK], ["a", "b"])


def test_undoes_leaves_the_repairs_out_everywhere(given: Given) -> None:
    with given("undone"):
        places, topics = heartbeat(SUBS[:1])
    assert places == [LOOK, BETWEEN, "updateSubscription: before a topic is removed"]
    assert topics == ["a"]
    shipped = [place for place, _ in [heartbeat(SUBS[:1])]]
    assert shipped == [places]


def test_what_comes_later_stands_around_what_comes_earlier(given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, Interleave]] = []

    async def add(self: ConsumerGroupInfo, subs: Sequence[SubscriptionData], threads: Interleave) -> bool:
        del self
        seen.append((len(subs), threads))
        return True

    monkeypatch.setattr(ConsumerGroupInfo, "add_subscriptions", add)
    with given("ordered"):
        info = ConsumerGroupInfo(ConsumerData("g", "", "", ""), lambda: 0)
        run_now(info.update_subscription(SUBS, UNINTERRUPTED))
    assert [count for count, _ in seen] == [1, 1]  # twice, each time with the first topic alone


def test_a_held_thread_is_overtaken_at_the_other_places_only(given: Given) -> None:
    with given("held"):
        places, topics = heartbeat(SUBS[:1])
    assert places == [LOOK, "updateSubscription: before a topic is removed"]
    assert topics == ["a"]


def test_what_can_never_be_called_is_refused_with_the_line_of_the_page(given: Given) -> None:
    with pytest.raises(VariantError) as refused, given("hidden"):
        pass
    told = re.sub(r"^.*/mine.py", "my_change.py", str(refused.value))
    assert f"rocketproof: {told}" in PAGE.read_text("utf-8")
