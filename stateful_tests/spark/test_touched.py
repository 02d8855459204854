"""What other judges say of a change."""

from __future__ import annotations

from pathlib import Path

from impl.variants.variant import Variant
from spark_fuzz import touched
from spark_fuzz.comparing import aim_of
from spark_fuzz.work import attempt
from stateful_tests.spark.planted import SHIPPED_LOOP
from stateful_tests.worlds.subjects import subject_named


def written(folder: Path, text: str) -> Variant:
    """The change of a file of this text."""
    (folder / "change.py").write_text(text, encoding="utf-8")
    top = subject_named(str(folder / "change.py")).top
    assert top is not None
    return top


def test_recorded_calls_are_compared_where_they_call_the_change(tmp_path: Path) -> None:
    written(tmp_path, SHIPPED_LOOP.replace("sub.sub_version >", "sub.sub_version >="))
    aim = aim_of(str(tmp_path / "change.py"), "shipped")
    units = list(touched.units(aim.base, aim.changed))
    assert len(units) <= 4
    rows = [row for unit in units for row in attempt(touched.work, unit)]
    others = touched.Others()
    for row in rows:
        others.take(row)
    assert [(one.judge, one.about) for one in others.found] == [(touched.RECORDED, "broker-client-sequences")]


def test_proofs_of_models_stand_for_a_method_that_their_steps_cite(tmp_path: Path) -> None:
    proofs, = touched.proofs(written(tmp_path, SHIPPED_LOOP).replacements)
    assert "put_newer" in proofs.steps
    assert proofs.watched == ("refines_subscription",)
