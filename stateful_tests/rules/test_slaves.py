from __future__ import annotations

from typing import Any

import pytest

from invariants.rules.deadlines import COPIED_MS
from invariants.rules.server_files import slave_follows_its_master
from invariants.rules.watch import Watch
from stateful_tests.rules.histories.server_files import EIGHT, FOUR, MASTER, SLAVE, B
from stateful_tests.rules.written import END_MS, STORMY, Tables, Turns


@pytest.mark.parametrize(("last_ms", "told"), [(2 * COPIED_MS, False), (2 * COPIED_MS + 1, True)])
def test_slave_follows_its_master_but_for_what_has_changed_lately(last_ms: int, told: bool) -> None:
    looks = [[MASTER._replace(now_ms=ms), SLAVE] for ms in (0, COPIED_MS, last_ms)]
    of_master = Turns(FOUR, EIGHT, EIGHT)
    views: Any = Tables(brokers=Turns(*looks), topics=lambda broker: of_master() if broker == B else FOUR)
    watch = Watch(views, STORMY, [slave_follows_its_master])
    found = [bool(watch.promised(END_MS, 0)) for _ in looks]
    assert found == [False, False, told]
