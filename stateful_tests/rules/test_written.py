from __future__ import annotations

import pytest

from stateful_tests.rules.collected import HISTORIES
from stateful_tests.rules.written import Written, findings


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.rule)
def test_a_rule_tells_what_is_wrong_and_nothing_else(history: Written) -> None:
    found = findings(history, history.broken)
    assert found
    assert history.causes is None or {one.causes for one in found} == {history.causes}
    assert all(history.says in one.sentence for one in found)
    if history.kept or history.kept_views is not None or history.kept_observed is not None:
        assert findings(history, history.kept, history.kept_views, observed=history.kept_observed) == []
