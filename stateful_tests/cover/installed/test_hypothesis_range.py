"""Hypothesis is asked for in a range, and the locked version lies in it."""

from __future__ import annotations

import re

import pytest
from hypothesis import __version__ as installed

from stateful_tests.architecture.sources import ROOT
from stateful_tests.installed.hypothesis_range import declared, ends


def number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def bounds(requirement: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    low, high = re.fullmatch(r"hypothesis>=([\d.]+),<([\d.]+)", requirement).groups()  # type: ignore[union-attr]
    return number(low), number(high)


def test_the_locked_version_lies_in_the_range_and_is_the_installed_one() -> None:
    requirements = (ROOT / "requirements" / "locked.txt").read_text("utf-8")
    locked = re.findall(r"^hypothesis==([\d.]+)", requirements, re.MULTILINE)
    low, high = bounds(declared())
    assert [low <= number(version) < high for version in locked] == [True]
    assert low <= number(installed) < high


def test_both_ends_are_tried() -> None:
    assert ends("hypothesis>=1.2,<1.4") == ("hypothesis==1.2", "hypothesis>=1.2,<1.4")
    assert ends(declared())


@pytest.mark.parametrize("requirement", ["hypothesis", "hypothesis>=1", "hypothesis==1.2", "hypothesis<2"])
def test_what_is_no_range_is_refused(requirement: str) -> None:
    with pytest.raises(ValueError, match="write hypothesis>=A,<B"):
        ends(requirement)
