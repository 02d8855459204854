"""Written histories of how often requests are answered."""

from __future__ import annotations

import invariants.rules.answered_once  # noqa: F401  # declares the rule
from impl.events import AnsweredAgain
from stateful_tests.rules.written import Written

HISTORIES = (
    Written("request_is_answered_once", ((1, "broker-a", AnsweredAgain("c1:1", 5)),), (),
            says="broker-a answers request 5 over c1:1 again"),
)
