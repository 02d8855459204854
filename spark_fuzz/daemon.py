"""The process that Spark forks its Python workers from, started with everything imported that a unit needs.

After every task PySpark calls `gc.collect()`, which goes through all that a worker has: with the models' code there,
that takes a good part of what a unit does. Here it does nothing; Python's own thresholds, which `runs.warm_up` sets,
decide, as in any other process. A world that has lived leaves the generated code of its models behind, which every
worker would have to generate anew. No thread may be started here: the process forks.
"""

from __future__ import annotations

import gc
from contextlib import suppress

import pyspark.daemon
import pyspark.worker

import spark_fuzz.decisions  # noqa: F401 - same
from spark_fuzz import runs


class AsItLikes:
    """Stands for the module `gc` in `pyspark.daemon`, which knows of it only `collect`."""

    @staticmethod
    def collect() -> int:
        """Nothing, and so many objects were freed."""
        return 0


if __name__ == "__main__":
    with suppress(Exception):  # a world that cannot live fails its unit, which tells why
        runs.warm_up()
    gc.collect()
    gc.freeze()
    vars(pyspark.daemon)["gc"] = AsItLikes
    pyspark.daemon.manager()
