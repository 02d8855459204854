"""All written histories of rules."""

from __future__ import annotations

import importlib
import pkgutil

from stateful_tests.rules import histories
from stateful_tests.rules.written import Written

HISTORIES: list[Written] = [
    one for module in pkgutil.iter_modules(histories.__path__)
    for one in importlib.import_module(f"{histories.__name__}.{module.name}").HISTORIES
]
