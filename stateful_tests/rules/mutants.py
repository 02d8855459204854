"""Changes every condition of the rules, and counts how many changes the tests of rules notice.

    make mutants
    python -m stateful_tests.rules.mutants --cosmic-ray PATH --processes 2 invariants/rules/locks.py

It works on a copy of the project. Changes are made by cosmic-ray; only those of conditions are kept: comparisons,
`and`, `or`, `not`, and the loops that nothing enters. What survives is listed, unless EQUIVALENT names it with the
reason why no test can notice it.
"""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from invariants.rules.declared import RULES

ROOT = Path(__file__).parents[2]
FOLDER = "invariants/rules"
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
CONDITIONS = (
    "ReplaceComparisonOperator_(Eq_NotEq|NotEq_Eq|Lt_GtE|Lt_LtE|LtE_Gt|LtE_Lt|Gt_LtE|Gt_GtE|GtE_Lt|GtE_Gt)",
    "ReplaceComparisonOperator_(Is_IsNot|IsNot_Is|In_NotIn|NotIn_In)", "ReplaceAndWithOr", "ReplaceOrWithAnd",
    "AddNot", "ReplaceUnaryOperator_Delete_Not", "ZeroIterationForLoop",
)
"""Operators of cosmic-ray: comparisons are turned round, and moved by one."""
TESTS = ("test_engine.py", "test_weather.py", "test_written.py", "test_generated.py", "test_ascriptions.py",
         "test_slaves.py", "test_explaining.py", "test_offset_facts.py")
"""Whole runs are no tests of conditions: they take minutes, and see them by chance."""
ENGINE = ("invariants.rules.watch", "invariants.rules.facts")
"""They, and what they import, judge with every rule."""
TOLD_BY_STORIES = "causes_"
"""How the names of modules begin whose predicates are judged by telling every story, which takes too long for this."""
TIMEOUT_S = 120
ENOUGH = 0.85


class Mutant(NamedTuple):
    """One change: the file, the line that it changes, and what it makes of it."""

    file: str
    before: str
    after: str
    noticed: bool


def copied(folder: Path) -> Path:
    """The files that git knows, in a folder."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout  # noqa: S607  # git of the PATH
    for name in names.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


def mutants_of(file: str, cosmic_ray: str) -> list[Mutant]:
    """Try every change of one file, in a copy of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = copied(Path(name))
        test = (f"{sys.executable} -m pytest -x -q -p no:cacheprovider -p no:hypothesispytest {only(file)} "
                + " ".join(f"stateful_tests/rules/{one}" for one in ordered(file)))
        config, session = folder / "mutants.toml", folder / "mutants.sqlite"
        kept = "|".join(CONDITIONS)
        config.write_text(
            f'[cosmic-ray]\nmodule-path = "{file}"\ntimeout = {TIMEOUT_S}.0\ntest-command = "{test}"\n'
            f'[cosmic-ray.distributor]\nname = "local"\n'
            f'[cosmic-ray.filters.operators-filter]\nexclude-operators = ["core/(?!({kept})$).*"]\n', "utf-8")
        tools = Path(cosmic_ray).parent
        for command in ([cosmic_ray, "init", config, session], [tools / "cr-filter-operators", session, config],
                        [cosmic_ray, "baseline", config], [cosmic_ray, "exec", config, session]):
            subprocess.run(list(map(str, command)), cwd=folder, check=True)  # noqa: S603  # what make has installed
        dumped = subprocess.run([cosmic_ray, "dump", str(session)], cwd=folder, capture_output=True, check=True)  # noqa: S603  # the same
        return [*read(dumped.stdout.decode(), file)]


def only(file: str) -> str:
    """The option of pytest that chooses the tests of the rules that a file declares; none for a part of the engine.

    Rules of other files count if these import from it: what a file has for others is noticed by their tests. So do the
    tests that have its name.
    """
    module = file.removesuffix(".py").replace("/", ".")
    engine = {name for part in ENGINE for name in (part, *imported(part))}
    names = [rule.__name__ for rule in RULES.values() if module in {rule.__module__, *imported(rule.__module__)}]
    if not names or (module in engine and all(rule.__module__ != module for rule in RULES.values())):
        return ""
    return f"-k '{' or '.join((*names, Path(own_test(file)).stem))} or predicate or put_down'"


def ordered(file: str) -> list[str]:
    """The tests, of which that with the name of the file is the first: it notices most."""
    return sorted(TESTS, key=lambda test: test != own_test(file))


def own_test(file: str) -> str:
    """The test that has the name of a file, if there is one."""
    return f"test_{Path(file).name}"


@cache
def imported(module: str) -> frozenset[str]:
    """The modules from which a file of the rules imports something."""
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text("utf-8"))
    return frozenset(one.module or "" for one in ast.walk(tree) if isinstance(one, ast.ImportFrom))


def read(dumped: str, file: str) -> Iterator[Mutant]:
    """The changes that `cosmic-ray dump` has written, and whether the tests noticed them."""
    for line in dumped.splitlines():
        _, result = json.loads(line)
        if result is not None and result["worker_outcome"] == "normal":
            diff = [one for one in (result["diff"] or "").splitlines() if not one.startswith(("---", "+++"))]
            before = " ".join(one[1:].strip() for one in diff if one.startswith("-"))
            after = " ".join(one[1:].strip() for one in diff if one.startswith("+"))
            yield Mutant(file, before, after, result["test_outcome"] != "survived")


def equivalents() -> set[tuple[str, str, str]]:
    """The changes that no test can notice: file, line before and after."""
    listed = tomllib.loads(EQUIVALENT.read_text("utf-8")).get("mutant", [])
    return {(one["file"], one["before"], one["after"]) for one in listed if one["reason"]}


def noticeable(mutants: Sequence[Mutant]) -> list[Mutant]:
    """Those that are noticed, or could be."""
    known = equivalents()
    return [one for one in mutants if one.noticed or one[:3] not in known]


def share_noticed(mutants: Sequence[Mutant]) -> float:
    """The share of the noticeable ones that is noticed; 0 if there are none."""
    real = noticeable(mutants)
    return sum(one.noticed for one in real) / len(real) if real else 0.0


def told(mutants: Sequence[Mutant]) -> str:
    """The figure, and what survives."""
    real = noticeable(mutants)
    lines = [f"{one.file}\n  - {one.before}\n  + {one.after}" for one in real if not one.noticed]
    figure = (f"{len(real) - len(lines)} of {len(real)} changed conditions are noticed: {share_noticed(mutants):.1%}; "
              f"{len(mutants) - len(real)} more cannot be noticed")
    return "\n".join([*lines, figure])


def main(
    files: Annotated[list[str] | None, typer.Argument(help="Files of invariants/rules; all without any.")] = None,
    cosmic_ray: Annotated[str, typer.Option(help="The command cosmic-ray.")] = "cosmic-ray",
    processes: Annotated[int, typer.Option(min=1, help="So many files at a time.")] = 2,
) -> None:
    """Count the changed conditions that the tests of rules notice; exit status 1 below 85 %."""
    chosen = files or sorted(str(one.relative_to(ROOT)) for one in (ROOT / FOLDER).glob("*.py")
                             if not one.stem.startswith(TOLD_BY_STORIES))
    with ThreadPoolExecutor(processes) as pool:
        found = [one for mutants in pool.map(lambda file: mutants_of(file, cosmic_ray), chosen) for one in mutants]
    typer.echo(told(found))
    sys.exit(int(share_noticed(found) < ENOUGH))


if __name__ == "__main__":
    typer.run(main)
