"""The disks that crashes leave: counted by hand, and by brute force."""

from __future__ import annotations

from collections import Counter
from itertools import islice, product
from random import Random

import pytest

from impl.ports.disk import PAGE_BYTES
from stateful_tests.crash.images import MachineCrashes, process_crashes
from stateful_tests.crash.memory import MemoryDisk, UnendingError
from stateful_tests.crash.programs import Life
from stateful_tests.crash.recorder import Recorder
from stateful_tests.crash.workloads import WORKLOADS

Left = tuple[tuple[str, bytes], ...]


def left(image: dict[str, bytes]) -> Left:
    """An image without the zeros at the end of its files, sorted."""
    return tuple(sorted((path, data.rstrip(b"\0")) for path, data in image.items()))


def all_left(recorder: Recorder, *, journalled: bool = False) -> Counter[Left]:
    """Each image of a machine crash to the number of crash points and choices that lead to it."""
    found: Counter[Left] = Counter()
    for one in MachineCrashes(recorder, journalled=journalled).all():
        found[left(dict(one.image))] += one.crash_points()
    return found


def test_two_pages_are_lost_independently_until_they_are_forced() -> None:
    recorder = Recorder()
    file = recorder.open("f", 2 * PAGE_BYTES)  # steps 1 and 2: the name, the length
    file.force()
    file.write(PAGE_BYTES - 1, b"ab")  # steps 4 and 5: a page each
    file.write(0, b"c")
    file.force()
    first, both = b"c" + bytes(PAGE_BYTES - 2) + b"a", b"c" + bytes(PAGE_BYTES - 2) + b"ab"
    torn, second = bytes(PAGE_BYTES - 1) + b"a", bytes(PAGE_BYTES) + b"b"
    whole = bytes(PAGE_BYTES - 1) + b"ab"
    # After step 0: no file. 1: 2. 2: no file, an empty one, zeros. 3: 1. 4: 2. 5: 4. 6: three versions, and two. 7: 1.
    assert MachineCrashes(recorder).count() == 1 + 2 + 3 + 1 + 2 + 4 + 6 + 1
    assert all_left(recorder) == Counter({
        (): 3, (("f", b""),): 1 + 2 + 1 + 1 + 1 + 1, (("f", torn),): 3, (("f", second),): 2, (("f", whole),): 2,
        (("f", first),): 1, (("f", both),): 2})


def test_a_process_that_is_killed_leaves_what_it_wrote() -> None:
    recorder = Recorder()
    recorder.open("f").write(0, b"ab")
    recorder.delete("f")
    images = [left(dict(found.image)) for found in process_crashes(recorder)]
    assert images == [(), (("f", b""),), (("f", b""),), (("f", b"ab"),), ()]


def test_names_and_lengths_are_free_unless_the_file_system_has_a_journal() -> None:
    recorder = Recorder()
    recorder.open("f", 3).force()
    recorder.open("f").truncate(1)
    recorder.rename("f", "g")
    recorder.delete("g")
    assert set(all_left(recorder)) == {(), (("f", b""),), (("g", b""),), (("f", b""), ("g", b""))}
    journalled = MachineCrashes(recorder, journalled=True)
    assert all(len(choice) == 1 for step in range(journalled.steps + 1) for choice in journalled.at(step))
    assert journalled.count() == journalled.steps + 1


def brute_force(recorder: Recorder) -> Counter[Left]:
    """The same, one crash point after the other."""
    found: Counter[Left] = Counter()
    crashes = MachineCrashes(recorder)
    for step in range(crashes.steps + 1):
        for chosen in product(*crashes.at(step)):
            contents = zip(crashes.paths, chosen, strict=True)
            found[left({path: one.content for path, one in contents if one.content is not None})] += 1
    return found


@pytest.mark.parametrize("name", ["sync_two_topics", "sync_stop", "sync_kill"])
def test_the_listed_combinations_are_all_that_brute_force_finds(name: str) -> None:
    recorder = Life(WORKLOADS[name]).recorder
    crashes = MachineCrashes(recorder)
    expected = brute_force(recorder)
    assert all_left(recorder) == expected
    assert crashes.count() == expected.total()
    assert crashes.combinations() == sum(1 for _ in crashes.all())


@pytest.mark.parametrize("of", [2, 5])
def test_parts_have_each_combination_once_and_equal_images_in_one_of_them(of: int) -> None:
    crashes = MachineCrashes(Life(WORKLOADS["sync_two_topics"]).recorder)
    whole = Counter((found.since, found.until, tuple(found.image.items())) for found in crashes.all())
    parts = [Counter((found.since, found.until, tuple(found.image.items())) for found in crashes.all(part, of))
             for part in range(of)]
    assert sum(parts, Counter()) == whole
    met = Counter(image for part in parts for image in sorted({image for _, _, image in part}))
    assert set(met.values()) == {1}
    assert sum(bool(part) for part in parts) == of


def test_what_is_drawn_is_among_what_is_listed_and_the_same_for_a_seed() -> None:
    crashes = MachineCrashes(Life(WORKLOADS["sync_torn"]).recorder)
    one, other, third = (list(islice(crashes.drawn(Random(seed)), 300)) for seed in (1, 1, 2))  # noqa: S311  # a test's draws
    assert one == other != third
    assert {left(dict(found.image)) for found in one} <= {left(dict(found.image)) for found in crashes.all()}


def test_a_user_without_end_is_stopped() -> None:
    disk = MemoryDisk({"f": b"x"}, uses_left=9)
    file = disk.open("f")
    assert [file.read(0, 1) for _ in range(8)] == [b"x"] * 8
    with pytest.raises(UnendingError):
        file.read(0, 1)
