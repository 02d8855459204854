"""One run of TLC in a process of its own, and what its messages say.

With -tool, every message stands between two lines with its number; the numbers are those of tlc2.output.EC and are the
same in all versions.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from stateful_tests.conformance.tlc.tools import jar, java

TIMEOUT_S = 600.0
HEAP = "3g"

_MESSAGE = re.compile(r"@!@!@STARTMSG (\d+)(?::\d+)? @!@!@\n(.*?)@!@!@ENDMSG \1 @!@!@", re.DOTALL)
_VERSION, _INITIAL, _STATS, _DEPTH, _DONE, _STATE = 2262, 2190, 2199, 2194, 2193, 2217
_VIOLATED = {2107: "invariant", 2110: "invariant", 2108: "property", 2112: "property", 2116: "temporal",
             2114: "deadlock"}
_ERRORS = (1000, 2103)
_PARSER = range(3000, 6000)


@dataclass(frozen=True, slots=True)
class Answer:
    """What TLC said.

    complete -- all reachable states were seen, and nothing was refuted. initial, states, transitions, depth -- as the
    explorer counts: TLC's generated states are the initial ones and one for each step, its depth counts states.
    refuted -- the first invariant or property that is false, "temporal" or "deadlock" where TLC names none, or "".
    steps -- of the trace that shows it. problem -- why there is no answer, or "". version -- of TLC. output -- all of
    it.
    """

    complete: bool = False
    initial: int = 0
    states: int = 0
    transitions: int = 0
    depth: int = 0
    refuted: str = ""
    steps: int = 0
    problem: str = ""
    version: str = ""
    output: str = ""


def run(
    folder: Path, name: str, configuration: str, *, timeout_s: float = TIMEOUT_S, deadlock: bool = False,
    quick: bool = False,
) -> Answer:
    """Run TLC on the module of this name in a folder; raises BadInputError when there is no Java or no TLC.

    deadlock -- a state without a step is an error. quick -- the run takes seconds: the second compiler of the JVM would
    not earn back what it costs.
    """
    with tempfile.TemporaryDirectory(prefix="tlc-") as scratch:
        own = Path(scratch) / "run.cfg"
        own.write_text(configuration, encoding="utf-8")
        command = [str(java()), f"-Xmx{HEAP}", "-XX:+UseSerialGC", *(["-XX:TieredStopAtLevel=1"] if quick else []),
                   f"-Djava.io.tmpdir={scratch}", "-XX:-UsePerfData", "-cp", str(jar()), "tlc2.TLC", "-tool",
                   *([] if deadlock else ["-deadlock"]), "-workers", "1", "-metadir", scratch, "-config", str(own),
                   f"{name}.tla"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,  # noqa: S603 - ours
                                  timeout=timeout_s)
        except subprocess.TimeoutExpired:
            return Answer(problem=f"TLC took longer than {timeout_s:g} s")
    return read(done.stdout + done.stderr)


def read(output: str) -> Answer:
    """What the output of a run says."""
    messages = [(int(number), text.strip()) for number, text in _MESSAGE.findall(output)]
    texts = dict(messages)
    refuted = next(((code, text) for code, text in messages if code in _VIOLATED), None)
    numbers = [int(text.split(":")[0]) for code, text in messages if code == _STATE]
    generated, distinct = _numbers(texts.get(_STATS, ""), 2)
    initial = _numbers(texts.get(_INITIAL, ""), 1)[0]
    complete = _DONE in texts and refuted is None
    return Answer(
        complete, initial, distinct, max(0, generated - initial), max(0, _numbers(texts.get(_DEPTH, ""), 1)[0] - 1),
        _name(*refuted) if refuted else "", max(numbers, default=1) - 1 if refuted else 0,
        "" if complete or refuted else _problem(messages, output), _version(texts.get(_VERSION, "")), output)


def _version(text: str) -> str:
    found = re.search(r"Version (\S+)", text)
    return f"TLC {found[1]}" if found else "TLC"


def _numbers(text: str, count: int) -> list[int]:
    found = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", text)]
    return [*found, *[0] * count][:count]


def _name(code: int, text: str) -> str:
    """What a message about a violation names."""
    named = re.search(r"(?:Invariant|[Pp]roperty) (\w+)", text)
    return named[1] if named and _VIOLATED[code] in ("invariant", "property") else _VIOLATED[code]


def _problem(messages: list[tuple[int, str]], output: str) -> str:
    """The first thing that TLC or its parser complains about, on one line."""
    parser = re.search(r"(Parse Error|Semantic errors).*?(?=\n\n\n|Residual|@!@)", output, re.DOTALL)
    errors = [parser[0]] if parser else [text for code, text in messages if code in _ERRORS or code in _PARSER]
    text = " ".join((errors[0] if errors else output[-300:]).split())
    return f"TLC gave no answer: {text[:300]}"
