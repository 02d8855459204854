"""Store directories of the real RocketMQ 4.9.3: images, and what the real broker said about them.

`CASE/IMAGE.tar.xz` is a store directory, `CASE/IMAGE.json` what the broker answered while it ran on exactly that image:
`conf` (its configuration), `queues`, `index`, `runtime`, `files`, `checkpoint`. An image without answers was made from
another one by hand; the image that its `see` names is the same directory after the real broker recovered it. So is
`NAME_recovered`, and one whose `about` says "started on NAME".
"""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from impl.hosts.simulation.disk import Disk as SimulatedDisk, MachineDisk
from impl.hosts.simulation.kernel import Kernel
from impl.hosts.simulation.tape import ReplayTape
from impl.ports.disk import Disk
from impl.store.message_store_config import BrokerRole, FlushDiskType, MessageStoreConfig
from invariants.verdict import BadInputError

ROOT = "store"  # the folder of an image that the broker calls storePathRootDir
DELAY_OFFSETS = "config/delayOffset.json"
_RECOVERED = "_recovered"
_STARTED_ON = re.compile(r"started on (\w+)")


@dataclass(frozen=True)
class Image:
    """One image. path -- of its JSON file."""

    path: Path

    @property
    def name(self) -> str:
        """Case and image."""
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def names(self) -> tuple[str, str]:
        """By which it is asked for: alone, or with its whole case."""
        return self.name, self.path.parent.name

    @cached_property
    def answers(self) -> Mapping[str, Any]:
        """The JSON file; raises BadInputError."""
        try:
            found: Mapping[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BadInputError(f"{self.path}: cannot be read ({error}); copy or record the image again") from error
        return found

    @property
    def contents(self) -> Mapping[str, bytes]:
        """The files of the image by their path below the root folder, the configuration aside; raises BadInputError."""
        return {name: data for name, data in self._all_files.items() if not name.startswith("config/")}

    @property
    def delay_offsets(self) -> Mapping[str, bytes]:
        """The file of the configuration that the store reads itself; raises BadInputError."""
        return {name: data for name, data in self._all_files.items() if name == DELAY_OFFSETS}

    @property
    def consumer_offsets(self) -> str:
        """What the broker has written of the offsets of groups; raises BadInputError."""
        return self._all_files["config/consumerOffset.json"].decode()

    @cached_property
    def _all_files(self) -> Mapping[str, bytes]:
        archive = self.path.with_suffix(".tar.xz")
        try:
            with tarfile.open(archive, "r:xz") as tar:
                return {member.name.removeprefix(f"{ROOT}/"): file.read() for member in tar
                        if (file := tar.extractfile(member)) is not None}
        except (OSError, EOFError, tarfile.TarError) as error:
            raise BadInputError(f"{archive}: cannot be read ({error}); copy or record the image again") from error

    @property
    def has_answers(self) -> bool:
        """Whether the real broker was asked about it."""
        return "queues" in self.answers

    def recovered(self) -> Image | None:
        """The same directory after the real broker was started on it, and stopped; None: there is no such image."""
        others = [Image(path) for path in sorted(self.path.parent.glob("*.json")) if path != self.path]
        return next((other for other in others if self.was_started_on(other)), None)

    def was_started_on(self, other: Image) -> bool:
        """Whether the other image is this directory after the broker ran on it."""
        started = _STARTED_ON.search(other.answers.get("about", ""))
        return (
            self.answers.get("see") == other.path.name or other.path.stem == f"{self.path.stem}{_RECOVERED}"
            or (started is not None and started[1] == self.path.stem)
        )

    def config(self) -> MessageStoreConfig:
        """The configuration with which the broker ran on it, or on what was made of it."""
        source = self if "conf" in self.answers else self.recovered()
        if source is None:
            raise BadInputError(f"{self.path}: no 'conf' in it, nor in an image that was recovered from it")
        return config_of(source.answers["conf"])

    def source(self) -> Image | None:
        """The image on which the broker was started whose answers these are; None: that of this image."""
        others = [Image(path) for path in sorted(self.path.parent.glob("*.json")) if path != self.path]
        return next((other for other in others if other.was_started_on(self)), None)

    def modified_ms(self, name: str) -> int:
        """When a file was changed."""
        time_ms: int = self.answers["files"][name]["mtime_ms"]
        return time_ms

    def when_asked(self, log_end: int) -> Mapping[str, bytes]:
        """The files as a crash had left them at the time of the answers, when the log ended at this offset."""
        found = dict(self.contents) | {"abort": b""}
        for name, data in self.contents.items():
            if name.startswith("commitlog/"):
                kept = min(max(log_end - int(name.rpartition("/")[2]), 0), len(data))
                found[name] = data[:kept] + bytes(len(data) - kept)
        return found


Host: TypeAlias = "Callable[[Image, Mapping[str, bytes]], Disk]"
"""Gives a disk that holds these files of an image, each with its time of change."""


def simulated(image: Image, contents: Mapping[str, bytes]) -> Disk:
    """A Host: the disk of a simulated machine."""
    kernel = Kernel(ReplayTape([]))
    machine = MachineDisk(kernel, "broker")
    for name, data in contents.items():
        storage = machine.make(f"{ROOT}/{name}")
        storage.write(0, data, kernel.now_ms)
        storage.modified_ms = image.modified_ms(name) if name in image.contents else 0
    return SimulatedDisk(kernel.world, machine)


def config_of(conf: Mapping[str, str]) -> MessageStoreConfig:
    """The part of a broker's configuration that the store reads."""
    default = MessageStoreConfig()
    return MessageStoreConfig(
        store_path_root_dir=ROOT, store_path_commit_log=f"{ROOT}/commitlog",
        mapped_file_size_commit_log=int(conf.get("mappedFileSizeCommitLog", default.mapped_file_size_commit_log)),
        configured_file_size_consume_queue=int(
            conf.get("mappedFileSizeConsumeQueue", default.configured_file_size_consume_queue)),
        max_hash_slot_num=int(conf.get("maxHashSlotNum", default.max_hash_slot_num)),
        max_index_num=int(conf.get("maxIndexNum", default.max_index_num)),
        max_message_size=int(conf.get("maxMessageSize", default.max_message_size)),
        max_msgs_num_batch=int(conf.get("maxMsgsNumBatch", default.max_msgs_num_batch)),
        message_delay_level=conf.get("messageDelayLevel", default.message_delay_level),
        message_index_enable=conf.get("messageIndexEnable", "true") == "true",
        check_crc_on_recover=conf.get("checkCRCOnRecover", "true") == "true",
        flush_disk_type=FlushDiskType(conf.get("flushDiskType", FlushDiskType.ASYNC_FLUSH)),
        broker_role=BrokerRole(conf.get("brokerRole", BrokerRole.ASYNC_MASTER)),
        message_index_safe=conf.get("messageIndexSafe") == "true", broker_id=int(conf.get("brokerId", "0")),
    )


def images(directory: Path) -> Iterator[Image]:
    """The images below a folder, or below its folder `store`, by their names."""
    for root in (directory, directory / "store"):
        for path in sorted(root.glob("*/*.json")):
            if path.with_suffix(".tar.xz").is_file():
                yield Image(path)
