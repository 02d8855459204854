"""Directories on this machine's disk, as a broker with small files has left them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from impl.hosts.files.directory import Directory
from stateful_tests.cover.store.brokers import Broker


def on_files(root: Path, prepare: Callable[[Broker], None]) -> Path:
    """A directory that a broker with small files has left."""
    broker = Broker()
    broker.store.shutdown()
    broker.disk = Directory(root)  # type: ignore[assignment]  # as a store sees both
    broker.restart()
    prepare(broker)
    broker.kill()
    return root / "store"


def put_ten(broker: Broker) -> None:
    """Ten messages with keys and tags, dispatched."""
    for number in range(10):
        broker.put(b"%d" % number, properties={"KEYS": f"k{number}", "TAGS": "tag"})
        broker.dispatch()


def put_four_files(broker: Broker) -> None:
    """Seven messages, in four files of the log."""
    for _ in range(7):
        broker.put(bytes(800))
