from __future__ import annotations

import pytest

from invariants.histories import messages, sequences
from stateful_tests.histories.compare import differences


def test_the_checker_says_what_the_reference_says() -> None:
    compared = list(differences(range(1_500)))
    assert [(seed, differs) for seed, differs, _ in compared if differs] == []
    assert 0 < sum(found for *_, found in compared) < len(compared)


@pytest.mark.parametrize("check", ["_lost", "_phantom", "_duplicated", "_skipped", "_unresolved", "_transactions",
                                   "_early", "_misfiltered", "_dead_letters"])
def test_a_check_that_is_mute_differs_from_the_reference(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, check, lambda *_: iter(()))
    assert any(differs for _, differs, _ in differences(range(300)))


@pytest.mark.parametrize("check", ["_commits", "_is_delivered"])
def test_a_follower_that_is_mute_differs_from_the_reference(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequences.Member, check, lambda *_: iter(()))
    assert any(differs for _, differs, _ in differences(range(300)))
