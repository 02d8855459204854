"""Who may import whom: this file is the rule."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("model", "invariants", "impl", "stateful_tests", "proofs", "spark_fuzz")

# What a file may import of the other rooms, by the longest prefix of its module's name that stands here.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "model": (),
    "impl": (),
    "invariants": ("model",),
    "invariants.refinement": ("model", "impl.events", "impl.decisions", "impl.broker", "impl.client", "impl.namesrv"),
    "invariants.rules": ("model", "impl.events", "impl.decisions"),
    "invariants.views": ("model", "impl.decisions", "impl.broker", "impl.client", "impl.namesrv"),
    "invariants.decisions": ("model", "impl.decisions"),
    "invariants.allocation": ("model", "impl.decisions"),
    "proofs": ("invariants", "model", "impl.decisions"),
    "stateful_tests": ("model", "invariants", "impl"),
    "stateful_tests.language.z3_reader": ("model", "invariants", "impl", "proofs"),
    "spark_fuzz": ("model", "invariants", "impl", "proofs", "stateful_tests"),
}

# Engines of others enter through one room each.
ENGINES: dict[str, tuple[str, ...]] = {
    "z3": ("proofs",),
    "pyspark": ("spark_fuzz", "stateful_tests.spark"),
    "pyarrow": ("spark_fuzz", "stateful_tests.spark"),
    "hypothesis": ("stateful_tests",),
    "pytest": ("stateful_tests",),
    "jpype": ("stateful_tests.conformance.java",),
    "jgo": ("stateful_tests.conformance.java",),
    "networkx": ("model.explorer", "invariants.report", "stateful_tests"),
    "scipy": ("model.explorer",),
    "matplotlib": ("invariants.report",),
    "jinja2": ("invariants.report",),
}

# The outside world: only where the implementation meets it, and where commands, judges and tests run.
WORLD = ("asyncio", "concurrent", "datetime", "multiprocessing", "random", "secrets", "select", "selectors", "socket",
         "ssl", "subprocess", "threading", "time", "uuid")
WORLDLY = ("impl.hosts", "stateful_tests", "spark_fuzz", "proofs", "invariants.front_desk")
CLOCK_OF_A_JUDGE = {("invariants.exploring", "time")}  # CPU seconds are a column of its rows

# Executors of a campaign import these: no test framework may come along.
LEAN = ("model", "invariants", "impl", "stateful_tests.worlds")


def modules() -> Iterator[tuple[str, Path]]:
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            yield ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"), path


def is_free(module: str) -> bool:
    """Composition roots, tests and what supports them."""
    last = module.rpartition(".")[2]
    return last in ("__main__", "conftest") or last.startswith("test_") or within(module, ("stateful_tests.spark",))


def imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield "." * node.level + (node.module or "")
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module in ROOMS)


def within(module: str, prefixes: tuple[str, ...]) -> bool:
    return any(module == prefix or module.startswith(prefix + ".") for prefix in prefixes)


def offences(module: str, source: str) -> list[str]:
    """What a module imports that it may not."""
    rule = max((prefix for prefix in MAY_IMPORT if within(module, (prefix,))), key=len)
    allowed, room = MAY_IMPORT[rule], module.partition(".")[0]
    found = []
    for name in dict.fromkeys(imported(source)):
        head = name.partition(".")[0]
        if not head:
            found.append(f"{module} imports {name}: write the whole name, so that the rule can be read off")
        if head in ROOMS and head != room and not is_free(module) and not within(name, allowed) \
                and name not in ROOMS:
            found.append(f"{module} imports {name}")
        if head in ROOMS and head != room and not is_free(module) and name in ROOMS and not within(name, allowed) \
                and not any(prefix.startswith(name + ".") for prefix in allowed):
            found.append(f"{module} imports {name}")
        if head in ENGINES and not within(module, ENGINES[head]):
            found.append(f"{module} imports {name}")
        if head in ("hypothesis", "pytest") and within(module, LEAN):
            found.append(f"{module} imports {name}")
        if head in WORLD and not is_free(module) and not within(module, WORLDLY) \
                and (module, head) not in CLOCK_OF_A_JUDGE:
            found.append(f"{module} imports {name}")
    return found


@pytest.mark.parametrize(("module", "path"), list(modules()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_module_imports_what_it_may(module: str, path: Path) -> None:
    assert offences(module, path.read_text("utf-8")) == []


@pytest.mark.parametrize(("module", "line"), [
    ("model.consumer_group", "from impl.decisions import allocation"),
    ("impl.broker.controller", "from model.language import State"),
    ("impl.broker.controller", "import impl.hosts.simulation, invariants.verdict"),
    ("impl.decisions.allocation", "import random"),
    ("impl.client.push_consumer", "import asyncio"),
    ("invariants.exploring", "from proofs.prove import Prover"),
    ("invariants.claim", "from impl.decisions import allocation"),
    ("invariants.order_lock", "import z3"),
    ("invariants.views.brokers", "from impl.hosts.simulation.kernel import Kernel"),
    ("invariants.order_lock", "from impl.broker.controller import BrokerController"),
    ("invariants.allocation", "from hypothesis import given"),
    ("proofs.prove", "from impl.broker import consumer_manager"),
    ("proofs.prove", "from stateful_tests.decisions import exhaust"),
    ("stateful_tests.decisions.exhaust", "from proofs.paths import paths"),
    ("stateful_tests.language.agreement", "from proofs.reading import Reading"),
    ("stateful_tests.decisions.exhaust", "import pyspark"),
    ("stateful_tests.worlds.group", "import pytest_x, pytest"),
    ("spark_fuzz.work", "import z3"),
    ("model.explorer.search", "from time import sleep"),
    ("model.explorer.search", "from concurrent.futures import ThreadPoolExecutor"),
    ("model.explorer.search", "from ..language import State"),
])
def test_the_rule_can_be_broken(module: str, line: str) -> None:
    if module.startswith("stateful_tests.worlds"):
        assert "pytest" in [name for name in imported(line) if name in ENGINES]
    assert offences(module, line)


def test_roots_are_free() -> None:
    assert offences("invariants.__main__", "from proofs.prove import Prover") == []
    assert offences("stateful_tests.cover.proofs.test_proofs", "from proofs.prove import Prover") == []


# Helpers of tests ----------------------------------------------------------------------------------------------------

STORIES = "stateful_tests.stories"
"""That a story breaks what it names, and does so no more when it is repaired, is tested, too."""


def borrowed(source: str) -> list[str]:
    """What is imported of test modules: helpers belong into a module beside them. Whole stories may be imported."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2].startswith("test_"):
            found.append(f"{node.module}")
        elif isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.module != STORIES):
            found += [alias.name for alias in node.names if alias.name.rpartition(".")[2].startswith("test_")]
    return found


@pytest.mark.parametrize("path", sorted((ROOT / "stateful_tests").rglob("*.py")), ids=lambda path: path.stem)
def test_helpers_of_tests_are_modules(path: Path) -> None:
    assert borrowed(path.read_text("utf-8")) == []


def test_a_borrowed_helper_is_noticed() -> None:
    assert borrowed("from stateful_tests.cover.readings.test_agree import by_z3")
    assert borrowed("from stateful_tests.stories.test_two_owners import believes")
    assert borrowed("from stateful_tests.cover.readings import test_agree")
    assert borrowed("import stateful_tests.stories.test_two_owners")
    assert borrowed("from stateful_tests.stories import test_two_owners, scenes") == []
