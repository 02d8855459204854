"""The files of a broker's folder config: whether they parse, and the topics that the broker knows by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from impl.common.config_manager import load, parsed_json
from impl.common.topic_config import DEFAULT_QUEUE_NUMS
from impl.ports.disk import Disk
from stateful_tests.crash.promises import STARTS
from stateful_tests.stores.problem import WHOLE, Problem

_TOPICS = "topics.json"
_FILES = (_TOPICS, "consumerOffset.json", "subscriptionGroup.json", "consumerFilter.json", "delayOffset.json")


class _File:
    """A file of the folder, read as ConfigManager#load does. tried -- how often; document -- what parsed, if any."""

    def __init__(self, disk: Disk, path: str) -> None:
        self.tried = 0
        self.document: dict[str, Any] | None = None
        self.loads = load(disk, path, self._decode)

    def _decode(self, text: str) -> None:
        self.tried += 1
        self.document = parsed_json(text)


def torn(disk: Disk, root: str) -> Iterator[Problem]:
    """The files that do not parse."""
    for name in _FILES:
        file = _File(disk, f"{root}/config/{name}")
        if not file.loads:
            yield Problem(f"config/{name}", None, "neither it nor its .bak is JSON: the broker does not start", STARTS,
                          "V31")
        elif file.tried > (file.document is not None):
            what = "an empty table" if file.document is None else "its .bak"
            yield Problem(f"config/{name}", None, f"it is not JSON: the broker begins with {what}", WHOLE, "")


def topics_of(disk: Disk, root: str) -> Mapping[str, int] | None:
    """The topics that the broker knows, and how many queues of each are read; None: no file of them parses."""
    table = (_File(disk, f"{root}/config/{_TOPICS}").document or {}).get("topicConfigTable")
    return {topic: one.get("readQueueNums", DEFAULT_QUEUE_NUMS) for topic, one in (table or {}).items()} or None
