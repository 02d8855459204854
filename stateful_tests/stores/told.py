"""An inspection, as people read it."""

from __future__ import annotations

from collections.abc import Iterator

from impl.decisions.java_calendar import time_millis_to_human_string3
from invariants.hazards import HAZARDS
from invariants.verdict import Outcome, Subject, Verdict
from stateful_tests.crash.promises import STARTS
from stateful_tests.stores.inspection import Inspection, QueueSeen
from stateful_tests.stores.problem import JUDGED, Problem
from stateful_tests.stores.sizes import DEFAULT


def told(found: Inspection) -> Iterator[str]:
    """Line by line."""
    sizes = found.sizes
    yield f"{found.directory}: only read, nothing in it was changed"
    yield f"last stop   {'clean' if found.clean else 'not clean: the file abort is there'}"
    yield (f"sizes       log files {sizes.commit_log_bytes:,} bytes, queue files {sizes.consume_queue_bytes:,} bytes, "
           f"index {sizes.hash_slots:,} slots and {sizes.index_entries:,} entries")
    if sizes.commit_log_bytes != DEFAULT.mapped_file_size_commit_log:
        yield (f"            not the default: a broker without mappedFileSizeCommitLog={sizes.commit_log_bytes} "
               "does not start on these log files")
    yield "checkpoint  " + ", ".join(
        f"{name} {_time(time_ms)}" for name, time_ms in zip(("log", "queues", "index"), found.checkpoint, strict=True))
    if found.log_files or found.queues:
        yield from _after_a_start(found)
    yield ""
    yield from map(_line, found.problems)
    if not found.problems:
        yield "no problem found"
    for name in dict.fromkeys(problem.hazard for problem in found.problems if problem.hazard):
        yield f"{name}: what helps: {HAZARDS[name].mitigation} `rocketproof show {name}` says all of it."
    if not found.starts:
        yield "the broker does not start on this directory"


def _after_a_start(found: Inspection) -> Iterator[str]:
    yield ""
    yield "after a start of the broker:"
    yield (f"log         {found.log_files} files, offsets {found.log_begin:,} … {found.log_end:,}, "
           f"{found.records:,} records for queues")
    for queue in found.queues:
        name = f"{queue.topic}-{queue.queue_id}"
        yield f"queue       {name}  {queue.min_offset:,} … {queue.max_offset:,}{_changed(queue)}"
    for file in found.index:
        what = f"{file.entries:,} entries, {_time(file.begin_timestamp)} … {_time(file.end_timestamp)}"
        yield f"index       {file.file}  {what}{'' if file.kept else ', deleted'}"
    for topic in found.deleted_topics:
        yield f"topic       {topic}  is deleted, and has records in the log"
    for name in found.deleted:
        yield f"deleted     {name}"


def _changed(queue: QueueSeen) -> str:
    if queue.max_offset > queue.before:
        return f"  {queue.max_offset - queue.before} units built"
    return f"  {queue.before - queue.max_offset} units cut" if queue.max_offset < queue.before else ""


def rows(found: Inspection, replay: str) -> list[Verdict]:
    """The same as verdicts: one for each problem, and one for each property that nothing speaks against.

    replay -- the command that has looked. Of a directory on which no store starts only problems are told.
    """
    said = [(problem.property, _place(problem), problem.sentence, tuple(filter(None, [problem.hazard])))
            for problem in found.problems]
    if not found.starts:
        said.append((STARTS, found.directory, "the broker does not start on this directory", ()))
    broken = {name for name, *_ in said}
    return [
        *(Verdict(name, "store", Subject("directory", place), Outcome.HOLDS, Outcome.VIOLATED, replay, hazard,
                  note=sentence) for name, place, sentence, hazard in said),
        *(Verdict(name, "store", Subject("directory", found.directory), Outcome.HOLDS, Outcome.HOLDS, replay)
          for name in JUDGED if found.starts and name not in broken)]


def _place(problem: Problem) -> str:
    return problem.file if problem.position is None else f"{problem.file}:{problem.position}"


def _line(problem: Problem) -> str:
    named = ", ".join(filter(None, [problem.property, problem.hazard]))
    return f"✗ {_place(problem)}: {problem.sentence} ({named})"


def _time(time_ms: int) -> str:
    """A time in UTC, to the second; "none" for 0."""
    return time_millis_to_human_string3(time_ms) if time_ms else "none"
