"""`rocketproof store`: what is said of a directory, that it stays as it is, and how much memory it takes."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import struct
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from impl.common.record_layout import BLANK_MAGIC_CODE
from impl.store.message_store_config import MessageStoreConfig
from invariants.__main__ import app
from invariants.verdict import BadInputError
from stateful_tests.conformance.judge import RECORDINGS
from stateful_tests.conformance.store_images import images
from stateful_tests.cover.store.brokers import SMALL, Broker
from stateful_tests.cover.store.directories import on_files, put_four_files, put_ten
from stateful_tests.crash.demonstrations import DEMONSTRATIONS
from stateful_tests.crash.promises import CONSECUTIVE, MISSED, NAMES, SURVIVES
from stateful_tests.stores.inspection import Inspection, inspect
from stateful_tests.stores.problem import JUDGED, WHOLE
from stateful_tests.stores.sizes import Sizes, sizes_of
from stateful_tests.stores.told import told

IMAGES = {image.name: image for image in images(RECORDINGS)}


def laid_out(contents: Mapping[str, bytes], root: Path) -> Path:
    for path, data in contents.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return root


def looked_at(root: Path) -> Inspection:
    return inspect(root, sizes_of(root))


def hazards(found: Inspection) -> list[str]:
    return [problem.hazard for problem in found.problems]


def fingerprint(root: Path) -> dict[str, Any]:
    return {str(path): (path.stat().st_mtime_ns, path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest())
            for path in sorted(root.rglob("*"))}


@pytest.mark.parametrize("offset", [0, 1])
def test_a_level_that_goes_on_beyond_the_end_of_its_queue_is_told(offset: int, tmp_path: Path) -> None:
    file = tmp_path / "config" / "delayOffset.json"
    file.parent.mkdir()
    file.write_text(f'{{"offsetTable":{{"2":{offset}}}}}')
    found = looked_at(laid_out(IMAGES["tags_keys_properties/clean"].contents, tmp_path))
    assert hazards(found) == ["V42"] * offset
    assert all(one.sentence.startswith("level 2 goes on at 1, and its queue ends at 0: ") for one in found.problems)


@pytest.mark.parametrize("queues", [0, 1, 2])
def test_a_queue_that_the_table_of_topics_does_not_have_is_told(queues: int, tmp_path: Path) -> None:
    root = on_files(tmp_path, put_two_queues)
    (root / "abort").unlink()
    topics = root / "config" / "topics.json"
    topics.parent.mkdir(exist_ok=True)
    topics.write_text(json.dumps({"topicConfigTable": {"U": {}, "T": {"readQueueNums": queues}}}))
    found = looked_at(root)
    assert hazards(found) == ([] if queues else ["V43"])
    assert all(one.sentence.startswith("config/topics.json has 0 queues of the topic to read: consumers are given "
                                       "nothing of this one, which has 3 messages") for one in found.problems)


@pytest.mark.parametrize(("name", "expected"), [
    ("crash/killed", ["V13"]), ("crash/torn_body", ["V13", "V2"]), ("crash/torn_body_recovered", ["V4", "V4"]),
    ("crash/lost_queue", []), ("expired/clean", ["V18", "V18"]), ("no_abort_dirty/flipped_bit", ["V2"]),
    ("no_abort_dirty/flipped_bit_recovered", ["V2"]), ("plain_rolls/without_consumequeue", []),
    ("tags_keys_properties/clean", []), ("transactions/clean", []),
])
def test_images_of_the_real_broker(name: str, expected: list[str], tmp_path: Path) -> None:
    image = IMAGES[name]
    root = laid_out(image.contents, tmp_path)
    before = fingerprint(root)
    found = looked_at(root)
    assert fingerprint(root) == before
    assert (hazards(found), found.starts) == (expected, True)
    recovered = image.recovered()
    answers = image.answers if image.has_answers or recovered is None else recovered.answers
    ends = {(queue["topic"], queue["queueId"]): queue["max"] for queue in answers["queues"]}
    if name != "crash/torn_body_recovered" and int(answers["runtime"]["commitLogMaxOffset"]) == found.log_end:
        assert {(queue.topic, queue.queue_id): queue.max_offset for queue in found.queues} == ends | {
            (queue.topic, queue.queue_id): 0 for queue in found.queues if queue.max_offset == 0}
    conf = image.config()
    if found.index:
        assert (found.sizes.hash_slots, found.sizes.index_entries) == (conf.max_hash_slot_num, conf.max_index_num)
    assert "only read, nothing in it was changed" in next(told(found))


def test_units_that_do_not_fit_their_records(tmp_path: Path) -> None:
    root = on_files(tmp_path, put_ten)
    queue = root / "consumequeue" / "T" / "0" / "00000000000000000000"
    data = bytearray(queue.read_bytes())
    data[2 * 20 + 12:3 * 20] = bytes(8)
    data[4 * 20:5 * 20] = data[3 * 20:4 * 20]
    queue.write_bytes(data)
    os.truncate(root / "abort", 0)
    found = looked_at(root)
    said = [(problem.position, problem.hazard) for problem in found.problems if "unit" in problem.sentence]
    assert said == [(40, "V8"), (None, "V10"), (80, "V3")]


def queue_file(root: Path) -> Path:
    return root / "consumequeue" / "T" / "0" / "00000000000000000000"


def put_two_queues(broker: Broker) -> None:
    for number in range(7):
        broker.put(b"%d" % number, topic="T" if number % 2 else "U")
        broker.dispatch()


def put_ten_of_800_bytes(broker: Broker) -> None:
    for _ in range(10):
        broker.put(bytes(800))
        broker.dispatch()


def judged(found: Inspection) -> list[tuple[str, str, str]]:
    return [(problem.property, problem.hazard, problem.sentence) for problem in found.problems]


def test_records_that_no_queue_has(tmp_path: Path) -> None:
    root = on_files(tmp_path, put_two_queues)
    assert (looked_at(root).records, looked_at(root).problems) == (7, [])
    (root / "abort").unlink()
    data = queue_file(root).read_bytes()
    queue_file(root).write_bytes(data[:40] + data[20:40] + data[60:])
    found = looked_at(root)
    last = int.from_bytes(data[40:48], "big")
    assert judged(found) == [
        (MISSED, "V26", f"the record at {last} of the log, of queue offset 2, is in no unit"),
        (NAMES, "V3", f"unit 2: the record at {int.from_bytes(data[20:28], 'big')} has queue offset 1")]
    queue_file(root).write_bytes(data[20:] + data[:20])
    found = looked_at(root)
    assert [one[:2] for one in judged(found)] == [(MISSED, "V26"), (NAMES, "V3"), (NAMES, "V3"), (CONSECUTIVE, "V3")]


def test_a_queue_that_is_gone_and_a_topic_that_was_deleted(tmp_path: Path) -> None:
    root = on_files(tmp_path, put_two_queues)
    (root / "abort").unlink()
    queue_file(root).unlink()
    found = looked_at(root)
    first = int.from_bytes((root / "consumequeue" / "U" / "0" / ("0" * 20)).read_bytes()[8:12], "big")
    assert judged(found) == [(
        MISSED, "V26", f"the queue is missing, and the log has 3 records of it, the first at offset {first}")]
    topics = root / "config" / "topics.json"
    topics.parent.mkdir(exist_ok=True)
    topics.write_text(json.dumps({"topicConfigTable": {"U": {}}}))
    found = looked_at(root)
    assert (found.problems, found.deleted_topics) == ([], ["T"])
    assert "topic       T  is deleted, and has records in the log" in told(found)
    topics.write_text('{"topicConfigTable": {"U"')
    assert [problem.file for problem in looked_at(root).problems] == ["config/topics.json", "consumequeue/T/0"]
    topics.with_suffix(".json.bak").write_text("[")
    assert looked_at(root).problems[0].sentence == "neither it nor its .bak is JSON: the broker does not start"


def test_a_log_that_cannot_be_read_in_its_midst(tmp_path: Path) -> None:
    root = on_files(tmp_path, put_ten_of_800_bytes)
    (root / "abort").unlink()
    log = root / "commitlog" / ("0" * 20)
    log.write_bytes(bytes(2_048))
    assert [(problem.property, problem.position, problem.hazard) for problem in looked_at(root).problems] == [
        (WHOLE, 0, "V2"), (NAMES, 0, "V4"), (NAMES, 20, "V4")]


def test_a_log_that_ends_with_a_blank(tmp_path: Path) -> None:
    root = on_files(tmp_path, put_ten)
    (root / "abort").unlink()
    log = root / "commitlog" / ("0" * 20)
    end = looked_at(root).log_end
    with log.open("r+b") as file:
        file.seek(end)
        file.write(struct.pack(">ii", 2_048 - end, BLANK_MAGIC_CODE))
    assert (looked_at(root).log_end, looked_at(root).problems) == (end, [])


def test_a_record_that_a_recovery_leaves_out_is_seen_where_the_crash_atlas_sees_it(tmp_path: Path) -> None:
    made = DEMONSTRATIONS["V26"].make()
    for path, data in made.image.items():
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    config = made.life.workload.config
    found = inspect(tmp_path / "store", Sizes(
        config.mapped_file_size_commit_log, config.mapped_file_size_consume_queue, config.max_hash_slot_num,
        config.max_index_num))
    assert (MISSED, "V26") in [one[:2] for one in judged(found)]


def test_a_directory_that_does_not_start(tmp_path: Path) -> None:
    root = on_files(tmp_path, put_four_files)
    (root / "abort").unlink()
    (root / "commitlog" / "00000000000000002048").unlink()
    found = looked_at(root)
    assert (hazards(found), found.starts) == (["V22", "V22"], False)
    (root / "commitlog" / "00000000000000008192").write_bytes(b"")
    found = looked_at(root)
    assert [problem.file for problem in found.problems][:2] == [
        "commitlog/00000000000000004096", "commitlog/00000000000000008192"]
    assert found.problems[1].sentence == "0 bytes, not 2048: the broker does not start"
    assert list(told(found))[-1] == "the broker does not start on this directory"


def test_a_file_that_may_not_be_read_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = on_files(tmp_path, put_four_files)
    denied = root / "commitlog" / "00000000000000002048"
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != denied and allowed(path, mode))
    with pytest.raises(BadInputError, match=r"00000000000000002048: cannot be read; look at the store as the user"):
        looked_at(root)


def test_of_each_hazard_that_is_found_it_is_said_once_what_helps(tmp_path: Path) -> None:
    root = on_files(tmp_path, put_ten)
    with queue_file(root).open("r+b") as file:
        file.write(os.pread(file.fileno(), 12, 0) + bytes(8) + os.pread(file.fileno(), 12, 20) + bytes(8))
    lines = list(told(looked_at(root)))
    assert len([line for line in lines if line.endswith("(unit_names_its_record, V8)")]) == 2
    assert len([line for line in lines if line.startswith("V8: what helps: Build the consume queues anew")]) == 1
    assert "a broker without mappedFileSizeCommitLog=2048 does not start" in "\n".join(lines)


def test_a_log_that_is_elsewhere(tmp_path: Path) -> None:
    root = on_files(tmp_path, put_two_queues)
    for path in (root / "commitlog").iterdir():
        path.unlink()
    found = looked_at(root)
    assert [problem.file for problem in found.problems if problem.property == SURVIVES] == ["commitlog"]
    assert {name.partition("/")[0] for name in found.deleted} >= {"consumequeue"}


HOLDING = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_directory_that_a_broker_holds(tmp_path: Path) -> None:
    root = on_files(tmp_path, put_ten)
    command = [sys.executable, "-c", HOLDING, str(root / "lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:  # noqa: S603  # as above
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        (problem,) = [problem for problem in looked_at(root).problems if problem.file == "lock"]
        holder.communicate()
    assert (problem.hazard, f"process {holder.pid} holds" in problem.sentence) == ("V12", True)
    assert "lock" not in [problem.file for problem in looked_at(root).problems]


def test_sizes_that_the_files_do_not_say(tmp_path: Path) -> None:
    root = on_files(tmp_path, put_ten)
    assert sizes_of(root) == Sizes(2_048, 200, SMALL.max_hash_slot_num, SMALL.max_index_num)
    assert sizes_of(root, {"hash_slots": 3, "index_entries": 4}) == Sizes(2_048, 200, 3, 4)
    assert sizes_of(tmp_path) == Sizes()
    for index in (root / "index").iterdir():
        index.write_bytes(index.read_bytes()[:40] + b"\x7f" * 300)
    with pytest.raises(BadInputError, match="are no index file of any size; give --hash-slots and --index-entries"):
        sizes_of(root)


def test_ten_gibibytes_of_sparse_files_take_no_memory(tmp_path: Path) -> None:
    root, file_bytes = on_files(tmp_path, put_ten), MessageStoreConfig().mapped_file_size_commit_log
    log = root / "commitlog"
    (record,) = [path.read_bytes() for path in log.iterdir() if path.name == "0" * 20]
    for path in log.iterdir():
        path.unlink()
    for number in range(10):
        with (log / f"{number * file_bytes:020d}").open("wb") as file:
            file.write(record if number == 0 else b"")
            file.truncate(file_bytes)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = looked_at(root)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 100
    assert (found.starts, found.log_end > 0, len(found.deleted)) == (True, True, 10)
    assert [(queue.max_offset, queue.before) for queue in found.queues] == [(10, 10)]


def run(*arguments: str | Path) -> Any:
    return CliRunner(env={"COLUMNS": "160"}).invoke(app, ["store", *map(str, arguments)])


def test_the_command(tmp_path: Path) -> None:
    root = laid_out(IMAGES["crash/torn_body"].contents, tmp_path / "store")
    result = run(root)
    assert result.exit_code == 1
    assert "queue       HbrCrashU-0  0 … 40  1 units cut\n" in result.stdout
    assert "✗ commitlog/00000000000000131072:26657: a start ends the log here: the checksum" in result.stdout
    result = run(root, "--json", "-")
    assert json.loads(result.stdout)["problems"][1]["position"] == 26_657
    clean = laid_out(IMAGES["transactions/clean"].contents, tmp_path / "clean")
    assert run(clean).exit_code == 0
    assert run(clean, "--log-file-bytes", "4096").exit_code == 1
    result = run(tmp_path)
    assert (result.exit_code, "no folder commitlog in it" in result.stderr) == (2, True)
    assert "rocketproof store" in run("--help").stdout.partition("Examples:")[2]


def test_it_is_told_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, said = on_files(tmp_path, put_ten), list[str]()
    inspect(root, sizes_of(root), said.append)
    assert said == ["files", "recovery", "dispatch", "queue T-0", "what is behind the end of the log"]
    monkeypatch.setattr("invariants.front_desk.desk.TOLD_S", 0.0)
    assert run(root).stderr.startswith("store: 0 s | ")
    monkeypatch.undo()
    assert not run(root).stderr


@pytest.mark.parametrize(("name", "problems"), [("plain_rolls/without_consumequeue", 0), ("crash/torn_body", 2)])
def test_problems_are_failed_tests_for_other_programs(name: str, problems: int, tmp_path: Path) -> None:
    root = laid_out(IMAGES[name].contents, tmp_path / "store")
    words = ["store", root, "--junit", tmp_path / "store.xml", "--summary", tmp_path / "store.md"]
    result = CliRunner().invoke(app, [*map(str, words)])
    assert result.exit_code == min(problems, 1), result.output
    suite = (tmp_path / "store.xml").read_text("utf-8")
    assert f'tests="{len(JUDGED)}" failures="{problems}" errors="0"' in suite
    assert suite.count("<failure ") == problems
    assert (tmp_path / "store.md").read_text("utf-8").count("✗ violated") == problems
