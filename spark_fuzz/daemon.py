"""The process that Spark forks its Python workers from, started with everything imported that a unit needs.

After every task PySpark runs `gc.collect()` over all that a worker has imported; frozen objects are left out of that,
which makes a task three to five times cheaper. A world that has lived leaves the generated code of its models behind,
which every worker would have to generate anew. No thread may be started here: the process forks.
"""

from __future__ import annotations

import gc
from contextlib import suppress

import pyspark.worker  # noqa: F401 - imported for the workers that are forked from here
from pyspark.daemon import manager

import spark_fuzz.decisions  # noqa: F401 - same
from spark_fuzz import runs

if __name__ == "__main__":
    with suppress(Exception):  # a world that cannot live fails its unit, which tells why
        runs.warm_up()
    gc.collect()
    gc.freeze()
    manager()
