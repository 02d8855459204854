"""A process that puts is killed with -9; both stores start on what it leaves: alike, and with all that it acknowledged.

The killed process is by turns one of the real store and one of ours.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from stateful_tests.conformance.java.stores.putting import KINDS, Acknowledged, config_of
from stateful_tests.conformance.java.stores.real import ROOT
from stateful_tests.conformance.java.stores.recoveries import loaded_alike
from stateful_tests.conformance.java.stores.seen import recovered
from stateful_tests.crash.recovery import Recovered

_ROOMS = Path(__file__).parents[4]
_MOST_PUTS = 150


def kill(folder: Path, seed: int, scratch: Path, jars: Sequence[Path]) -> tuple[int, str | None]:
    """Kill a process amid its puts: how many puts it had acknowledged, and what is not as it should be.

    scratch -- where the killed process may write beside its store.
    """
    kind, random = KINDS[seed // 2 % 2], Random(f"kill {seed}")  # noqa: S311  # the same again
    (folder / "killed").mkdir()
    acknowledged = _killed(kind, folder / "killed", seed, random.randrange(1, _MOST_PUTS), scratch, jars)
    what = f"a process of {'the real store' if kind == 'real' else 'ours'}, killed after {len(acknowledged)} puts"
    contents = {str(path.relative_to(folder / "killed" / ROOT)): path.read_bytes()
                for path in sorted((folder / "killed" / ROOT).rglob("*")) if path.is_file()}
    found = loaded_alike(folder, contents, config_of(seed), what)
    if found is None:
        shutil.copytree(folder / "before", folder / "again")
        for path in half_made(contents):
            (folder / "again" / ROOT / path).unlink()
        found = next(missed(recovered(folder / "again", config_of(seed)), acknowledged), None)
    return len(acknowledged), found and f"{what}: {found}"


def half_made(contents: Mapping[str, bytes]) -> list[str]:
    """Empty files at the ends of logs and queues: the kill came before they had their length.

    No store starts on them, and an operator moves them away (V22). contents -- path below the root to bytes.
    """
    folders = {Path(path).parent for path in contents if Path(path).parts[0] in {"commitlog", "consumequeue"}}
    last = [max(path for path in contents if Path(path).parent == one) for one in sorted(folders)]
    return [path for path in last if not contents[path]]


def missed(found: Recovered, acknowledged: Sequence[Acknowledged]) -> Iterator[str]:
    """What a store has not that has started, although it was acknowledged."""
    records = {offset for offset, _ in found.log}
    units = {(offset, unit.offset) for queue in found.units.values() for offset, unit in queue.items()}
    if found.refused:
        yield found.refused
    for one in acknowledged:
        if one.offset not in records:
            yield f"no record at {one.offset}, which was acknowledged"
        elif one.queue_offset >= 0 and (one.queue_offset, one.offset) not in units:
            yield f"no queue leads at {one.queue_offset} to the record at {one.offset}, which was acknowledged"


def _killed(
    kind: str, folder: Path, seed: int, puts: int, scratch: Path, jars: Sequence[Path],
) -> list[Acknowledged]:
    """Start the process and kill it with its children after so many puts: what it had acknowledged by then."""
    module = "stateful_tests.conformance.java.stores.putting"
    with subprocess.Popen(  # noqa: S603  # our own module
        [sys.executable, "-m", module, kind, folder, str(seed), scratch, *jars], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(_ROOMS)},
    ) as process:
        assert process.stdout is not None
        lines = [line for _, line in zip(range(puts), process.stdout, strict=False)]
        process.send_signal(signal.SIGKILL)
        lines += process.stdout
    if len(lines) < puts:
        raise AssertionError(f"a process of {kind} ended by itself after {len(lines)} of {puts} puts")
    return [Acknowledged(*map(int, line.split())) for line in lines if line.endswith("\n")]
