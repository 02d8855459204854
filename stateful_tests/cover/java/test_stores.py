"""The store beside the real one, live: equal, damage that strikes, and a planted fault that is noticed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from impl.store.consume_queue import Unit
from stateful_tests.conformance.java.stores.damage import BLOWS, damaged
from stateful_tests.conformance.java.stores.kills import half_made, missed
from stateful_tests.conformance.java.stores.putting import Acknowledged
from stateful_tests.conformance.judge import RECORDINGS
from stateful_tests.conformance.store_images import Image
from stateful_tests.crash.recovery import Recovered

ROOT = Path(__file__).parents[3]
COMPARED = """
import os, sys
from pathlib import Path
from impl.store import commit_log_recovery
from impl.store.reput_message_service import ReputMessageService
from impl.variants.repairs.store_recovery import REPAIRS
from impl.variants.stack import active
from stateful_tests.conformance.java import artefacts, runtime
from stateful_tests.conformance.java.stores.__main__ import Runs, verdicts
out = Path(sys.argv[1])
version = runtime.start(artefacts.jars(lambda *_: None), out)
rows = list(verdicts(Runs(5, 5, 1, 2, 1, 4), 1, out, version, out))
right = commit_log_recovery.first_file_of_abnormal_recovery
commit_log_recovery.first_file_of_abnormal_recovery = lambda times, least_ms: len(times) - 1
rows.append(next(verdicts(Runs(12, 1, 1, 1, 1, 1), 1, out, version, out)))
commit_log_recovery.first_file_of_abnormal_recovery = right
with active([one for one in REPAIRS if "V42" in one.hazards]):
    rows.append(list(verdicts(Runs(1, 1, 1, 1, 1, 1), 1, out, version, out))[4])
ReputMessageService.do_reput = lambda self: None
rows.append(next(verdicts(Runs(6, 1, 1, 1, 1, 1), 1, out, version, out)))
print("".join(row.to_json() + chr(10) for row in rows), flush=True)
os._exit(0)
"""

FLUSHED = """
import json, os, sys
from dataclasses import replace
from pathlib import Path
from random import Random
from impl.hosts.files.directory import Directory
from impl.store.default_message_store import DefaultMessageStore
from impl.store.message_store_config import FlushDiskType
from stateful_tests.conformance.java import artefacts, runtime
from stateful_tests.conformance.java.stores import programs
from stateful_tests.conformance.java.stores.real import real_store, silence
out = Path(sys.argv[1])
runtime.start(artefacts.jars(lambda *_: None), out)
silence(out)
config = replace(programs.CONFIG, flush_disk_type=FlushDiskType.ASYNC_FLUSH)
message = replace(programs.drawn(Random(0)), batch=False, topic="T", queue_id=0, body=b"x" * 300, properties={})
seldom = 3_600_000
for name in ("real", "ours"):
    (out / name).mkdir()
real, ours = real_store(out / "real", config), DefaultMessageStore(Directory(out / "ours"), config, lambda: 0)
real.getMessageStoreConfig().setFlushIntervalCommitLog(seldom)
real.getMessageStoreConfig().setFlushCommitLogThoroughInterval(seldom)
real.getMessageStoreConfig().setFlushCommitLogTimed(True)
assert real.load() and ours.load() and ours.start()
real.start()
log, our_log = real.getCommitLog(), ours.commit_log
def put(count):
    for _ in range(count):
        programs.put_to_real(real, message)
        programs.put_to_ours(ours, message)
        ours.allocate_mapped_file_service.mmap_operation()
put(1)
flushed = [(int(log.flush()), our_log.flush())]
put(60)
our_log.mapped_file_queue.flushed_where = flushed[0][1]  # no thread of ours is behind, and one of the real store's is
log.deleteExpiredFile(0, 0, 0, True)
our_log.mapped_file_queue.delete_expired_file_by_time(0, 0, True)
for _ in range(3):
    put(1)
    flushed.append((int(log.flush()), our_log.flush()))
print(json.dumps({"flushed": flushed, "least": [int(log.getMinOffset()), our_log.get_min_offset()]}), flush=True)
os._exit(0)
"""


RAISES = """
import sys
from pathlib import Path
from stateful_tests.conformance.java import artefacts, runtime
from stateful_tests.conformance.java.stores import programs
from stateful_tests.conformance.java.stores.real import real_store, silence
out = Path(sys.argv[1])
runtime.start(artefacts.jars(lambda *_: None), out)
silence(out)
real = real_store(out / "real", programs.CONFIG)
assert real.load()
real.start()
raise ValueError("while it runs")
"""


@pytest.mark.java
def test_v44_behind_a_clean_up_of_what_was_not_flushed_yet_the_real_store_flushes_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FLUSHED, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603  # as above
    (told,) = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")] or [{}]
    assert told, done.stderr
    (first, ours), (least, our_least) = told["flushed"][0], told["least"]
    assert told["flushed"] == [[first, ours]] * 4
    assert 0 < first == ours < least == our_least


@pytest.mark.java
def test_an_exception_ends_a_process_in_which_a_real_store_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RAISES, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603  # as above
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "ValueError: while it runs")


@pytest.mark.java
def test_damaged_directories_and_puts_and_a_planted_fault(tmp_path: Path) -> None:
    command = [sys.executable, "-c", COMPARED, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500, check=False)  # noqa: S603  # as above
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [row["outcome"] for row in rows] == ["holds"] * 6 + ["violated"] * 3, done.stderr
    assert [row["cost"]["rows"] > 4 for row in rows] == [True] * 9
    assert "after the start" in rows[8]["note"] or ": start" in rows[8]["note"]
    assert "after life 1" in rows[7]["note"]  # V42
    kept = Path(rows[6]["note"].partition(":")[0])
    assert sorted(path.name for path in kept.iterdir()) == ["before", "ours", "real"]


def test_what_was_acknowledged_and_is_not_there_is_told() -> None:
    found = Recovered(log=((0, b"r"), (100, b"r")), units={("T", 0): {0: Unit(0, 100, 0)}})
    assert list(missed(found, [Acknowledged(0, 0), Acknowledged(100, -1)])) == []
    assert list(missed(found, [Acknowledged(200, 1)])) == ["no record at 200, which was acknowledged"]
    assert [line.partition(" at ")[0] for line in missed(found, [Acknowledged(100, 1), Acknowledged(0, 1)])] == [
        "no queue leads"] * 2
    assert next(missed(Recovered("load fails"), [])) == "load fails"


def test_empty_files_at_the_ends_of_logs_and_queues_were_half_made() -> None:
    log, queue = ["commitlog/0", "commitlog/8"], ["consumequeue/T/0/0", "consumequeue/T/1/0"]
    whole = {"abort": b"", "index/1": b"", "config/a.json": b"", **dict.fromkeys((*log, *queue), b"1")}
    assert half_made(whole) == []
    assert half_made({**whole, log[1]: b"", queue[0]: b""}) == [log[1], queue[0]]
    assert half_made({**whole, log[0]: b""}) == []  # no kill leaves that


def drawing(seed: int) -> Random:
    return Random(seed)  # noqa: S311  # the same damage again


def test_each_kind_of_damage_changes_something_and_is_the_same_again() -> None:
    contents = Image(RECORDINGS / "store" / "crash" / "killed.json").contents
    for blow in BLOWS:
        changed = []
        for seed in range(5):
            found = dict(contents)
            blow(found, drawing(seed))
            changed.append(found != contents)
        assert any(changed), blow.__name__
    assert damaged(contents, drawing(3)) == damaged(contents, drawing(3))
    assert len({tuple(damaged(contents, drawing(seed))[1]) for seed in range(50)}) > 20
