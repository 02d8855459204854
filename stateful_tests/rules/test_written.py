from __future__ import annotations

import importlib
import pkgutil

import pytest

from stateful_tests.rules import histories
from stateful_tests.rules.written import Written, findings

HISTORIES: list[Written] = [
    one for module in pkgutil.iter_modules(histories.__path__)
    for one in importlib.import_module(f"{histories.__name__}.{module.name}").HISTORIES
]


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.rule)
def test_a_rule_tells_what_is_wrong_and_nothing_else(history: Written) -> None:
    assert findings(history, history.broken)
    if history.kept or history.kept_views is not None:
        assert findings(history, history.kept, history.kept_views) == []
