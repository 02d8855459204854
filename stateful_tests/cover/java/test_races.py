"""Hazards of RocketMQ 4.9.3 on its official classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from invariants.hazards import HAZARDS
from invariants.verdict import BadInputError
from stateful_tests.conformance.java import artefacts
from stateful_tests.conformance.java.process import JavaProcess

pytestmark = pytest.mark.java

FIRST, SECOND = "10.0.0.1:10911", "10.0.0.2:10911"
SEEN: dict[str, dict[str, Any]] = {
    "N-27": {"before": [FIRST], "answered": True, "after": []},
    "N-15": {"routes": [[FIRST], [SECOND], [FIRST]]},
    "N-30": {"permitted": [[6], [6]], "under_another_version": [4]},
    "B-33": {"entered": True, "waited_for_nothing": True, "group": False, "subscription": False},
}
"""What each leaves behind.

The living broker is not routed, each takes the other's place, the former permission is routed, the group is gone.
"""


@pytest.fixture(scope="module")
def java() -> Iterator[JavaProcess]:
    """One JVM for all tests here."""
    try:
        artefacts.jars()
    except BadInputError as error:
        pytest.fail(str(error))
    with JavaProcess() as process:
        yield process


@pytest.mark.parametrize("hazard", SEEN)
def test_the_official_classes_do_what_the_hazard_says(java: JavaProcess, hazard: str) -> None:
    assert hazard in HAZARDS
    assert java.ask(30, do="tell", hazard=hazard) == SEEN[hazard]
