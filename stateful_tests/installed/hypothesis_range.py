"""Whether machines and random inputs work with both ends of the range of Hypothesis that pyproject.toml allows.

`make hypothesis-range` makes a virtual environment for each end, and runs the tests that write programs there.
"""

from __future__ import annotations

import re
import sys
import tempfile
import tomllib
from pathlib import Path

from stateful_tests.installed.environment import ROOT, Environment, ran, succeeded

TESTS = ("stateful_tests/cover/machines", "stateful_tests/cover/claims/test_decisions.py",
         "stateful_tests/cover/claims/test_allocation.py")
LIMIT_S = 3_600


def declared() -> str:
    """What the metadata asks for, as "hypothesis>=1.2,<1.3"."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (found,) = [one for one in project["dependencies"] if one.startswith("hypothesis")]
    return str(found)


def ends(requirement: str) -> tuple[str, str]:
    """The requirements of the oldest and of the newest version; raises ValueError unless both are bounded."""
    bounds = re.fullmatch(r"hypothesis>=([\d.]+),<[\d.]+", requirement)
    if bounds is None:
        raise ValueError(f"{requirement}: no range; write hypothesis>=A,<B")
    return f"hypothesis=={bounds[1]}", requirement


def works(requirement: str, folder: Path) -> bool:
    """Whether the tests pass with that version."""
    made = Environment.made(folder)
    made.install([requirement])
    version = succeeded(made.python, "-c", "import hypothesis; print(hypothesis.__version__)").strip()
    tell(f"hypothesis {version}")
    done = ran(made.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS, folder=ROOT, limit_s=LIMIT_S)
    tell(done.stdout[-4_000:] + done.stderr[-1_000:])
    return done.returncode == 0


def tell(text: str) -> None:
    """Print at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Both ends; the status is 1 if one of them fails."""
    with tempfile.TemporaryDirectory() as folder:
        failed = [one for number, one in enumerate(ends(declared())) if not works(one, Path(folder) / str(number))]
    tell(f"fails with {', '.join(failed)}" if failed else "both ends work")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
