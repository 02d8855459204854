from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from invariants.histories.checks import Finding
from invariants.histories.verdicts import Tally
from spark_fuzz.cluster import Cluster
from spark_fuzz.histories.files import SCHEMA, read
from spark_fuzz.histories.generate import written
from spark_fuzz.histories.made import FAULTS
from spark_fuzz.histories.on_spark import judged


def test_spark_finds_what_is_planted_and_nothing_else(cluster: Cluster, tmp_path: Path) -> None:
    path = tmp_path / "history.parquet"
    rows, planted = written(path, 20_000, tuple(FAULTS), 2)
    bad = pa.Table.from_pylist([{"kind": "sent", "process": "p", "seq": 1}], SCHEMA)
    pq.write_table(bad, tmp_path / "bad.parquet")
    tally = Tally()
    told = list(judged(cluster.context, [str(path), str(tmp_path / "bad.parquet")], None, tally, lambda _: None))
    found = Counter((one.check, *one.operations[-1].place) for one in told if isinstance(one, Finding))
    assert found == Counter(planted)
    assert (tally.operations, tally.bad) == (rows, 1)
    counted = Tally()
    counted.count([row.operation for row in read(path) if row.operation is not None])
    assert tally.present == counted.present
    assert "bad.parquet, row 1: no kind of operation is called 'sent'" in tally.sentences[0]
