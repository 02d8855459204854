"""Planted bugs of how many messages a pull is given: when a batch is full, of the disk and of memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from impl.store import message_reads
from impl.variants.variant import Variant, around, seeded

_IDEA = "an idea: a port that reads a disk as it reads memory, or counts otherwise"


class _Asked(NamedTuple):
    """What the decision of 4.9.3 is asked.

    size -- of the next message. wanted -- how many the pull wants. total, number -- bytes and messages that the batch
    has. is_in_disk -- where the next message is.
    """

    size: int
    wanted: int
    total: int
    number: int
    is_in_disk: bool


def _asked_otherwise(name: str, sentence: str, change: Callable[[_Asked], _Asked]) -> Variant:
    """A bug by which the decision is asked something else."""

    def wrap(original: Callable[..., bool]) -> Callable[..., bool]:
        def is_the_batch_full(
            size_py: int, max_msg_nums: int, buffer_total: int, message_total: int, *, is_in_disk: bool,
        ) -> bool:
            *asked, on_disk = change(_Asked(size_py, max_msg_nums, buffer_total, message_total, is_in_disk))
            return original(*asked, is_in_disk=on_disk)

        return is_the_batch_full

    return seeded(_IDEA, name, sentence, around(message_reads, "is_the_batch_full")(wrap))


BUGS = (
    _asked_otherwise("disks-are-read-as-memory", "A pull finds 32 messages, wherever they are.",
                     lambda asked: asked._replace(is_in_disk=False)),
    _asked_otherwise("memory-is-read-as-a-disk", "A pull finds 8 messages, wherever they are.",
                     lambda asked: asked._replace(is_in_disk=True)),
    _asked_otherwise("answers-have-any-size", "A pull finds 8 messages, or 32, however long they are.",
                     lambda asked: asked._replace(size=0, total=asked.number)),
    _asked_otherwise("answers-have-one-more", "A pull finds 9 messages of a disk, or 33.",
                     lambda asked: asked._replace(number=asked.number - 1, wanted=asked.wanted - 1)),
    _asked_otherwise("first-message-must-fit", "A pull finds no message of more than 64 KiB on a disk.",
                     lambda asked: asked._replace(total=asked.total or 1, number=asked.number or 1)),
    _asked_otherwise("kilobytes-have-1000-bytes", "A pull finds 64,000 bytes of a disk, or 256,000.",
                     lambda asked: asked._replace(size=asked.size * 128 // 125, total=asked.total * 128 // 125)),
)
