"""One Spark session for the whole folder: starting it is most of what these tests cost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from spark_fuzz.cluster import Cluster, open_cluster

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder is a Spark test."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """The session."""
    with open_cluster("local[2]") as running:
        yield running
