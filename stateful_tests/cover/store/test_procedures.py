"""What the pages of hazards tell people to do can be typed, and does with a store what they say in each case."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from impl.common.message_const import PROPERTY_DELAY_TIME_LEVEL, PROPERTY_TAGS
from impl.hosts.files.directory import Directory
from invariants.hazards import HAZARDS, PROCEDURES, Hazard
from stateful_tests.cover.store.brokers import Broker
from stateful_tests.stores.inspection import inspect
from stateful_tests.stores.sizes import Sizes, sizes_of

LEVEL_OF_AN_HOUR = "17"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store of several log files, with a checkpoint and a delayed message, of which the broker was killed."""
    return _left(tmp_path, Broker.kill)


def _left(folder: Path, end: Callable[[Broker], None]) -> Path:
    broker = Broker()
    broker.store.shutdown()
    broker.disk = Directory(folder)  # type: ignore[assignment]  # as a store sees both
    broker.restart()
    for number in range(20):
        delay = {PROPERTY_DELAY_TIME_LEVEL: LEVEL_OF_AN_HOUR} if number in {2, 18} else {}
        tags = {PROPERTY_TAGS: "tag"} if number < 10 else {}
        broker.put(bytes(300), properties=delay | tags)
        broker.dispatch()
        broker.flush()
        broker.now += 2_000
    broker.now += 100_000
    broker.flush()
    end(broker)
    return folder / "store"


def _sizes(root: Path) -> Sizes:
    return sizes_of(root, {"commit_log_bytes": 2_048, "consume_queue_bytes": 200})


def _problems(root: Path) -> set[str]:
    """The hazards of a start; the name of an index file goes by this machine's clock, and is no matter here."""
    found = inspect(root, _sizes(root))
    assert found.starts
    return {problem.hazard for problem in found.problems} - {"V13"}


def _without(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return root


def test_the_store_is_sound_before(root: Path) -> None:
    assert len(list((root / "commitlog").iterdir())) > 2
    assert _problems(root) == set()


def test_after_a_crash_queues_alone_are_not_built_from_the_whole_log(root: Path) -> None:
    assert "V10" in _problems(_without(root, "consumequeue"))


def test_after_a_crash_the_checkpoint_has_to_go_with_them_and_delayed_messages_come_at_once(root: Path) -> None:
    assert _problems(_without(root, "consumequeue", "checkpoint")) == {"V5"}


def test_after_an_orderly_stop_queues_alone_are_built_from_the_whole_log(tmp_path: Path) -> None:
    root = _left(tmp_path, lambda broker: broker.store.shutdown())
    assert not (root / "abort").exists()
    assert _problems(_without(root, "consumequeue")) == set()


def test_a_copied_log_alone_is_a_whole_store(root: Path) -> None:
    assert _problems(_without(root, "consumequeue", "checkpoint", "abort", "index")) == set()


def test_who_is_told_to_build_queues_anew_is_told_of_checkpoint() -> None:
    told = [one.mitigation for one in HAZARDS.values() if re.search(r"folder\s+consumequeue", one.mitigation)]
    assert len(told) > 3
    assert all(PROCEDURES["build_queues_anew"] in one for one in told)


def test_nobody_is_told_to_empty_a_slave_and_no_more() -> None:
    told = [one.mitigation for one in HAZARDS.values() if re.search(r"[Ee]mpty (its|the)\b", one.mitigation)]
    assert told
    assert all(PROCEDURES["copy_the_log"] in one for one in told)


@pytest.mark.parametrize("name", PROCEDURES)
def test_every_procedure_helps_against_a_hazard(name: str) -> None:
    assert any(PROCEDURES[name] in hazard.mitigation for hazard in HAZARDS.values())


@pytest.mark.parametrize("hazard", HAZARDS.values(), ids=HAZARDS)
def test_a_command_of_mqadmin_says_whom_it_asks(hazard: Hazard) -> None:
    assert all(" -n NAMESRV:9876" in one for one in re.findall(r"mqadmin [^`]*", hazard.mitigation))


def test_who_is_told_of_a_shorter_lease_is_told_how_short_it_may_be() -> None:
    told = [one.mitigation for one in HAZARDS.values() if "broker.rebalance.lockMaxLiveTime" in one.mitigation]
    assert len(told) > 2
    assert all(PROCEDURES["shorter_lease"] in one for one in told)
