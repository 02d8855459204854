"""How long three people wait for the first useful answer: each of their tasks as a command, in an empty folder.

The first row is the base line of this machine at this time: a command that only says its version. A task's answer is
there when a line of its output has what the task asks for; `ended_s` is when the command has ended. One JSON object a
line:

    person, task, command
    answer_s    until the answer stands there; null if it never does
    answer_cpu_s    CPU time of all processes of the command until then: what else the machine does adds nothing to it
    ended_s     until the command has ended
    status      of the command; null if it was ended after LIMIT_S
    load        of the machine when the task began, over a minute

    python -m bench.first_answers             # some six minutes
    python -m bench.first_answers operator
    python -m bench.first_answers committer --minutes 8     # comparisons on a machine that is busy
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
LIMIT_S = 300.0
WRONG = '''"""The newest heartbeat wins, whatever its version is."""

from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.variants.variant import Variant, replace


@replace(ConsumerGroupInfo, "add_subscriptions")
async def add_subscriptions(self, sub_list, threads):
    for sub in sub_list:
        await threads.interleave("updateSubscription: the topic has been looked up")
        self.subscription_table.put(sub.topic, sub)
    return bool(sub_list)


VARIANT = Variant("newest-wins", "change", "The newest heartbeat wins.", "an idea", replacements=(add_subscriptions,))
'''
ADAPTER = f"{shlex.quote(sys.executable)} {shlex.quote(str(ROOT / 'examples/adapters/adapter.py'))}"


class Task(NamedTuple):
    """What somebody wants to know: the words behind `rocketproof`, and what a line must have that answers it."""

    person: str
    asks: str
    words: str
    answer: str


TASKS = (
    Task("nobody", "base line: how soon does a command begin?", "--version", r"\d"),
    Task("operator", "duplicates during a rolling restart: what can it be?",
         "search duplicates during a rolling restart", r"^D8 "),
    Task("operator", "what helps against it?", "show D8", r"Restart brokers while"),
    Task("client author", "is my strategy right?", f"check allocation --exec {shlex.quote(ADAPTER)}",
         r"\d verdicts: "),
    Task("client author", "is my port right?", f"conform --exec {shlex.quote(ADAPTER)}", r"conforms_to_recordings"),
    Task("committer", "the smallest program that shows what my wrong change breaks",
         "machine subscription --variant wrong.py --base shipped", r"--program "),
    Task("committer", "what does my wrong change break?", "compare wrong.py --base shipped --minutes 1.5",
         r"(?<!seems )broken: "),
    Task("committer", "does this repair of B-29 mend it?",
         f"compare {ROOT / 'examples/changes/compute_subscription.py'} --base shipped --minutes 2",
         r"fixed: .*refines_subscription"),
    Task("committer", "the shipped code, copied: does it make a difference?",
         f"compare {ROOT / 'examples/changes/shipped_loop.py'} --base shipped --minutes 1", r"^no difference seen"),
)


def timed(task: Task, folder: Path, minutes: float | None) -> dict[str, Any]:
    """A task, done in a folder that has nothing but the file of the wrong change; minutes -- of a comparison."""
    (folder / "wrong.py").write_text(WRONG, encoding="utf-8")
    words = task.words if minutes is None else re.sub(r"--minutes [\d.]+", f"--minutes {minutes:g}", task.words)
    load, began, answer_s, answer_cpu_s = os.getloadavg()[0], time.monotonic(), None, None
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "invariants", *shlex.split(words)]
    with subprocess.Popen(  # noqa: S603 - the words of TASKS
            command, cwd=folder, env={**os.environ, "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"}, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True) as process:
        late = Timer(LIMIT_S + 60 * (minutes or 0), process.kill)
        late.start()
        for line in process.stdout or ():
            if answer_s is None and re.search(task.answer, line):
                answer_s, answer_cpu_s = time.monotonic() - began, _spent_s(process.pid)
        status = process.wait()
        late.cancel()
    told = words.replace(f"{ROOT}/", "").replace(sys.executable, "python")
    return {"person": task.person, "task": task.asks, "command": f"rocketproof {told}",
            "answer_s": answer_s and round(answer_s, 1), "answer_cpu_s": answer_cpu_s and round(answer_cpu_s, 1),
            "ended_s": round(time.monotonic() - began, 1), "status": None if status < 0 else status,
            "load": round(load, 1)}


def _spent_s(session: int) -> float:
    """CPU time of the processes of a session, and of what they have waited for."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            _, _, _, own, *rest = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
            ticks += sum(map(int, rest[7:11])) if int(own) == session else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def measured(persons: list[str], minutes: float | None) -> Iterator[dict[str, Any]]:
    """The base line, then the tasks of these persons, of all if none is named; each task in a folder of its own."""
    for task in TASKS:
        if task.person == "nobody" or not persons or any(task.person.startswith(one) for one in persons):
            with tempfile.TemporaryDirectory() as folder:
                yield timed(task, Path(folder), minutes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("persons", nargs="*")
    parser.add_argument("--minutes", type=float)
    given = parser.parse_args()
    for row in measured(given.persons, given.minutes):
        print(json.dumps(row), flush=True)
