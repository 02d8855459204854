"""The process that Spark forks its Python workers from, started with everything imported that a unit needs.

After every task PySpark calls `gc.collect()` for all that a worker has, which is a good part of what a unit takes once
the models' code is there. Here a worker collects after some tasks only, and then takes what is left out
of later collections: between two tasks no world is alive. A world that has lived leaves the generated code of its
models behind, which every worker would have to generate anew. No thread may be started here: the process forks.
"""

from __future__ import annotations

import gc
from contextlib import suppress

import pyspark.daemon
import pyspark.worker

import spark_fuzz.decisions  # noqa: F401 - same
from spark_fuzz import runs

TASKS = 16
"""Between two collections."""


class Collector:
    """Stands for the module `gc` in `pyspark.daemon`, which knows of it only `collect`."""

    def __init__(self) -> None:
        """No task has ended."""
        self.ended = 0

    def collect(self) -> None:
        """A task has ended."""
        self.ended += 1
        if self.ended % TASKS == 0:
            gc.collect()
            gc.freeze()


if __name__ == "__main__":
    with suppress(Exception):  # a world that cannot live fails its unit, which tells why
        runs.warm_up()
    gc.collect()
    gc.freeze()
    vars(pyspark.daemon)["gc"] = Collector()
    pyspark.daemon.manager()
