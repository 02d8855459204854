"""Verdicts of rocketproof as tests of pytest: of each row that a command gives, one.

The command runs in a process of its own while tests are collected; nothing of it is imported here. With pytest-xdist it
runs once, before the workers begin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from rocketproof.child import Answer, asked, picture

_ANSWERS = pytest.StashKey[list[Answer]]()


class Command(pytest.Collector):
    """A command; its tests are the rows that it gave."""

    answer: Answer

    @classmethod
    def of(cls, session: pytest.Session, answer: Answer) -> Command:
        """The collector of an answer."""
        made: Command = cls.from_parent(session, name=answer.command, nodeid=f"rocketproof {answer.command}")
        made.answer = answer
        return made

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each row, and one that is an error if the rows are not all."""
        times = Counter[str]()
        for row in self.answer.rows:
            name = f"{row['property']}[{row['subject']['name']}]"
            times[name] += 1
            again = f"#{times[name]}" if times[name] > 1 else ""
            item: VerdictItem = VerdictItem.from_parent(self, name=f"{name}{again}")
            item.row, item.folder = row, Path(self.answer.folder)
            yield item
        if self.answer.problem:
            ended: EndItem = EndItem.from_parent(self, name="ends_with_all_verdicts")
            ended.problem = self.answer.problem
            yield ended


class VerdictItem(pytest.Item):
    """A row; the test fails unless the outcome is the expected one, also if it is unknown."""

    row: dict[str, Any]
    folder: Path

    def runtest(self) -> None:
        """Judge."""
        if self.row["standing"] != "expected":
            pytest.fail(self._told(), pytrace=False)

    def _told(self) -> str:
        """What was found, as a picture where there is one, and the command that shows it again."""
        row, evidence = self.row, self.row["evidence"]
        shown = row["note"] if evidence is None else picture(self.folder / evidence, self.config.rootpath)
        found = f"{row['property']}, {row['judge']}: {row['outcome']}, expected {row['expected']}"
        return "\n\n".join(filter(None, [found, shown, f"see it again: {row['replay']}"]))

    def reportinfo(self) -> tuple[Path, None, str]:
        """How the test is called in headings."""
        return self.config.rootpath, None, f"{self.row['judge']} {self.name}"


class EndItem(pytest.Item):
    """A command that did not end as it should: always an error, never a failure of what it judges."""

    problem: str

    def setup(self) -> NoReturn:
        """Tell why, with the last lines that the command printed."""
        pytest.fail(self.problem, pytrace=False)

    def runtest(self) -> NoReturn:
        """Never reached."""
        raise NotImplementedError

    def reportinfo(self) -> tuple[Path, None, str]:
        """How the test is called in headings."""
        return self.config.rootpath, None, self.name


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options on the command line, and in pyproject.toml or pytest.ini."""
    group = parser.getgroup("rocketproof", "verdicts of rocketproof as tests")
    group.addoption("--rocketproof", action="store_true", help="run the commands of the ini option rocketproof")
    group.addoption("--rocketproof-run", action="append", metavar="COMMAND", default=[],
                    help="run this command of rocketproof instead; may be repeated")
    group.addoption("--rocketproof-limit-s", type=float, metavar="S", help="seconds that a command may take")
    parser.addini("rocketproof", "commands of rocketproof that take --json and --out; their rows are tests",
                  type="linelist")
    parser.addini("rocketproof_limit_s", "seconds that a command may take", default="600")
    parser.addini("rocketproof_out", "folder for evidence, below the root directory", default="out/pytest")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse what could pass without judging anything."""
    if config.option.rocketproof and not _commands(config):
        raise pytest.UsageError("--rocketproof: there is nothing to run; set the ini option rocketproof, "
                                "or give --rocketproof-run COMMAND")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the rows, before -k and others select."""
    for answer in _answers(config):
        items += Command.of(session, answer).collect()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give a worker of pytest-xdist what the commands said."""
    node.workerinput["rocketproof"] = [answer.to_json() for answer in _answers(node.config)]


def _commands(config: pytest.Config) -> list[str]:
    given: list[str] = config.option.rocketproof_run
    return given or (config.getini("rocketproof") if config.option.rocketproof else [])


def _answers(config: pytest.Config) -> list[Answer]:
    """What the commands say; they run once."""
    if _ANSWERS not in config.stash:
        given = getattr(config, "workerinput", {}).get("rocketproof")
        config.stash[_ANSWERS] = _run(config) if given is None else [Answer.from_json(one) for one in given]
    return config.stash[_ANSWERS]


def _run(config: pytest.Config) -> list[Answer]:
    limit_s = config.option.rocketproof_limit_s or float(config.getini("rocketproof_limit_s"))
    out, found = Path(config.getini("rocketproof_out")), list[Answer]()
    for number, command in enumerate(_commands(config), 1):
        _tell(config, command)
        found.append(asked(command, config.rootpath, out / f"{number}", limit_s))
    return found


def _tell(config: pytest.Config, command: str) -> None:
    terminal: Any = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and config.option.verbose >= 0:
        terminal.write_line(f"rocketproof {command} …")
