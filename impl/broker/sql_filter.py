"""SqlFilter: SQL92 texts, compiled."""

from __future__ import annotations

from impl.broker.sql92.expressions import Compiled
from impl.broker.sql92.parser import SelectorParser
from impl.decisions.java_errors import JavaError, JavaException, NullPointerError

ERROR_MESSAGE = "Invalid MessageSelector. "  # SelectorParser#parse: MQFilterException#getErrorMessage of all


class MQFilterError(JavaException):
    """A text that is no filter.

    Its message is the cause's; error_message, which clients are told, is always the same.
    """

    java_class = "org.apache.rocketmq.filter.expression.MQFilterException"

    def __init__(self, cause: JavaError) -> None:
        """MQFilterException(String, Throwable)."""
        shown = f"{cause.java_class}: {cause.message}" if cause.message is not None else cause.java_class
        super().__init__(shown)
        self.cause, self.error_message = cause, ERROR_MESSAGE


class StackOverflowError(JavaError):
    """Nesting that is too deep for the stack."""

    java_class = "java.lang.StackOverflowError"


def compile_sql92(expression: str | None) -> Compiled:
    """SqlFilter#compile; raises MQFilterError, and NullPointerError for null."""
    if expression is None:
        raise NullPointerError
    try:
        return Compiled(SelectorParser(expression).parse())
    except RecursionError as error:
        raise MQFilterError(StackOverflowError()) from error
    except JavaError as error:
        raise MQFilterError(error) from error
