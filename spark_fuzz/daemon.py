"""The process that Spark forks its Python workers from, with everything imported that a unit needs; see `early`.

After every task PySpark calls `gc.collect()`, which goes through all that a worker has: with the models' code there,
that takes a good part of what a unit does. Here it does so after every TASKS: worlds are full of cycles, and with the
thresholds that `runs.warm_up` sets Python hardly ever looks at old ones, so that workers would grow to gigabytes. A
world that has lived leaves the generated code of its models behind, which every worker would have to generate anew. No
thread may be started here: the process forks. How a worker ended is noted, where PySpark does not want to know.
"""

from __future__ import annotations

import gc
import signal
from contextlib import suppress

import pyspark.daemon
import pyspark.worker

import spark_fuzz.decisions  # noqa: F401 - same
from spark_fuzz import runs
from spark_fuzz.deaths import DEATHS, reaping

TASKS = 10
"""About a minute of work."""


class Seldom:
    """Stands for the module `gc` in `pyspark.daemon`, which knows of it only `collect`. tasks -- of this worker."""

    tasks = 0

    @classmethod
    def collect(cls) -> int:
        """How many objects were freed, if it was time for it."""
        cls.tasks += 1
        return 0 if cls.tasks % TASKS else gc.collect()


def prepare() -> None:
    """Make this process what workers are forked from."""
    with suppress(Exception):  # a world that cannot live fails its unit, which tells why
        runs.warm_up()
    gc.collect()
    gc.freeze()
    DEATHS.keep()
    vars(pyspark.daemon)["gc"] = Seldom
    vars(pyspark.daemon)["signal"] = reaping(signal, DEATHS)


def serve() -> None:
    """Fork workers for the JVM that has the other ends of the standard streams, as long as it lives."""
    pyspark.daemon.manager()
