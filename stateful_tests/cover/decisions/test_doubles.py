"""Texts of doubles: what Java 17 prints, and what fastjson prints."""

from __future__ import annotations

import math

import pytest

from impl.decisions.java_doubles import double_text, shortest_double_text


@pytest.mark.parametrize(("value", "java", "shortest"), [
    (0.1, "0.1", "0.1"),
    (-0.001, "-0.001", "-0.001"),
    (9.5e-5, "9.5E-5", "9.5E-5"),
    (9999999.0, "9999999.0", "9999999.0"),
    (1e7, "1.0E7", "1.0E7"),
    (1e23, "9.999999999999999E22", "1.0E23"),
    (2e23, "1.9999999999999998E23", "2.0E23"),
    (8.41e21, "8.409999999999999E21", "8.41E21"),
    (2.0**-44, "5.6843418860808015E-14", "5.684341886080802E-14"),
    (2.0**63, "9.223372036854776E18", "9.223372036854776E18"),
    (-3.3743138701024626e25, "-3.3743138701024625E25", "-3.3743138701024626E25"),  # Java's long overflows
    (5e-324, "4.9E-324", "4.9E-324"),
    (1e-323, "1.0E-323", "1.0E-323"),
    (2.2e-322, "2.2E-322", "2.2E-322"),
    (1.7976931348623157e308, "1.7976931348623157E308", "1.7976931348623157E308"),
    (-0.0, "-0.0", "-0.0"),
    (-math.inf, "-Infinity", "-Infinity"),
    (math.nan, "NaN", "NaN"),
])
def test_texts(value: float, java: str, shortest: str) -> None:
    assert (double_text(value), shortest_double_text(value)) == (java, shortest)


def test_texts_are_read_back() -> None:
    for exponent in range(-1074, 1024):
        for value in (2.0**exponent, math.nextafter(2.0**exponent, math.inf)):
            assert float(double_text(value)) == float(shortest_double_text(value)) == value
