"""Headers as Java declares them, and the Python classes that stand for them."""

from __future__ import annotations

import pytest

from impl.common import headers
from impl.common.headers.shape import SHAPES, Shape, java_header

READ = [shape for shape in SHAPES.values() if shape.python is not None]


@pytest.mark.parametrize("shape", READ, ids=lambda shape: shape.name)
def test_every_field_of_a_java_class_is_a_field_of_the_python_class(shape: Shape) -> None:
    attributes = getattr(shape.python, "_fields", ())
    assert {field.attribute for field in (*shape.fields, *shape.beside)} <= set(attributes)


@pytest.mark.parametrize("shape", READ, ids=lambda shape: shape.name)
def test_a_field_that_only_another_java_class_has_can_be_left_out(shape: Shape) -> None:
    optional = set(getattr(shape.python, "_field_defaults", ()))
    named = {field.attribute for field in shape.fields}
    assert set(getattr(shape.python, "_fields", ())) - named <= optional


def test_every_python_header_stands_for_a_java_class() -> None:
    standing = {shape.python for shape in READ}
    named = {getattr(headers, name) for name in headers.__all__ if name.endswith("Header")}
    assert named <= standing


def test_a_field_that_is_written_wrongly_is_refused() -> None:
    with pytest.raises(ValueError, match="not a field of a header: topic"):
        java_header("Nothing", "topic")(object)
