"""Recordings of SQL92 filters: what a text compiles to, what it makes of properties, and what the broker decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impl.broker.consumer_filter_manager import ConsumerFilterData, compile_expression
from impl.broker.expression_message_filter import matches_expression
from impl.broker.sql92.expressions import Compiled
from impl.broker.sql_filter import MQFilterError, compile_sql92
from impl.decisions.java_errors import JavaError, NullPointerError
from stateful_tests.conformance.adapters.comparison import difference, outcome
from stateful_tests.conformance.replay import Adapter, Row

FILTER = "org.apache.rocketmq.filter.SqlFilter"


def sql92(row: Row) -> str | None:
    """Compile, evaluate, and the broker's decision, for each map of properties."""
    compiled: Compiled | None = None
    try:
        compiled = compile_sql92(row["a"]["expr"])
        shown: dict[str, Any] = {"text": str(compiled)}
    except JavaError as error:
        shown = _shown_error(error)
    maps = row["a"]["props"]
    data = ConsumerFilterData("G", "T", row["a"]["expr"] or "", "SQL92", 0, 0, None, compiled)
    differences = [
        difference(_comparable(row["compile"]), _comparable(shown), "compile"),
        difference(row["match"], [matches_expression(data, one) for one in maps], "match") if "match" in row else None,
    ]
    if compiled is not None:
        differences.append(difference(row["eval"], [_evaluated(compiled, one) for one in maps], "eval"))
    return next((one for one in differences if one is not None), None)


def _shown_error(error: JavaError) -> dict[str, Any]:
    shown: dict[str, Any] = {"e": error.java_class, "m": error.message}
    if isinstance(error, MQFilterError):
        shown |= {"cause": error.cause.java_class, "causeMessage": error.cause.message}
    return shown


def _comparable(compiled: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without the text of a NullPointerException, which depends on the Java version."""
    if compiled.get("e") == NullPointerError.java_class:
        return {"e": compiled["e"]}
    return compiled


def _evaluated(compiled: Compiled, properties: Mapping[str, str] | None) -> Any:
    found = outcome(lambda: compiled.evaluate(properties))
    return found.get("r") if "r" in found else found


def sql92_factory(row: Row) -> str | None:
    """Which types of expressions have a filter: the others are null."""
    found = outcome(lambda: (compile_expression("a", row["a"]), FILTER)[1])
    if found.get("e") == NullPointerError.java_class == row.get("e"):
        return None
    return difference({key: row[key] for key in ("r", "e", "m") if key in row}, found)


ADAPTERS: dict[str, Adapter] = {"sql92": sql92, "sql92-factory": sql92_factory}
