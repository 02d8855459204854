"""The exceptions that RocketMQ's decisions throw: one Python class for each Java class, which it names."""

from __future__ import annotations

from typing import ClassVar, TypeVar

_T = TypeVar("_T")

_FAQ = "http://rocketmq.apache.org/docs/faq/"  # FAQUrl#DEFAULT_FAQ_URL


class JavaError(Exception):
    """What Java throws: `java_class` is its full class name, `message` is getMessage (None for null)."""

    java_class: ClassVar[str] = "java.lang.Throwable"

    def __init__(self, message: str | None = None) -> None:
        """Keep the message; None is Java's null."""
        super().__init__(message)
        self.message = message


class JavaException(JavaError):  # noqa: N818  # as Java calls it: what Java calls an Error is none
    """What `catch (Exception e)` catches; it lets an Error pass, which ends the thread or the job."""

    java_class = "java.lang.Exception"


class IllegalArgumentError(JavaException):
    """An argument that a method refuses."""

    java_class = "java.lang.IllegalArgumentException"


class NullPointerError(JavaException):
    """A null that was dereferenced. Its text depends on the Java version: compare the class only."""

    java_class = "java.lang.NullPointerException"


class DivisionByZeroError(JavaException):
    """Integer division or remainder by zero."""

    java_class = "java.lang.ArithmeticException"

    def __init__(self) -> None:
        """Java has one text for it."""
        super().__init__("/ by zero")


class ClassCastError(JavaException):
    """A value of another class than the code takes it for."""

    java_class = "java.lang.ClassCastException"


class IndexOutOfBoundsError(JavaException):
    """An index outside a list."""

    java_class = "java.lang.IndexOutOfBoundsException"


class ArrayIndexOutOfBoundsError(IndexOutOfBoundsError):
    """An index outside an array."""

    java_class = "java.lang.ArrayIndexOutOfBoundsException"


class StringIndexOutOfBoundsError(IndexOutOfBoundsError):
    """An index outside a text."""

    java_class = "java.lang.StringIndexOutOfBoundsException"


class NumberFormatError(IllegalArgumentError):
    """A text that is not a number."""

    java_class = "java.lang.NumberFormatException"


class NegativeArraySizeError(JavaException):
    """An array of negative length; the message is the length."""

    java_class = "java.lang.NegativeArraySizeException"


class BufferUnderflowError(JavaException):
    """A buffer that holds less than is read from it."""

    java_class = "java.nio.BufferUnderflowException"


class BufferOverflowError(JavaException):
    """A buffer that is too small for what is written to it."""

    java_class = "java.nio.BufferOverflowException"


class UnknownHostError(JavaException):
    """An address that is none."""

    java_class = "java.net.UnknownHostException"


class EndOfFileError(JavaException):
    """Data that ends too early."""

    java_class = "java.io.EOFException"


class ZipError(JavaException):
    """Data that zlib does not understand."""

    java_class = "java.util.zip.ZipException"


class VirtualMachineError(JavaError):
    """An Error of the machine: no heap is left, or a mapping faults."""

    java_class = "java.lang.VirtualMachineError"


class HeapExhaustedError(VirtualMachineError):
    """An array for which the heap has no room."""

    java_class = "java.lang.OutOfMemoryError"


class MappingFaultError(VirtualMachineError):
    """A byte of a mapped file for which the disk has no room: the kernel sends SIGBUS, and Java throws this."""

    java_class = "java.lang.InternalError"

    def __init__(self) -> None:
        """Java has one text for it."""
        super().__init__("a fault occurred in an unsafe memory access operation")


class JavaRuntimeError(JavaException):
    """A plain RuntimeException."""

    java_class = "java.lang.RuntimeException"


class MQClientError(JavaException):
    """MQClientException without a cause: the client appends the address of its questions-and-answers page."""

    java_class = "org.apache.rocketmq.client.exception.MQClientException"

    def __init__(self, message: str) -> None:
        """Append what FAQUrl#attachDefaultURL appends."""
        super().__init__(f"{message}\nFor more information, please visit the url, {_FAQ}")


def not_null(value: _T | None) -> _T:
    """The value itself; raises NullPointerError for None, where Java would dereference null."""
    if value is None:
        raise NullPointerError
    return value
