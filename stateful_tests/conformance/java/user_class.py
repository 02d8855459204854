"""A strategy class from a user's class path, loaded and made; every way in which that fails has its own sentence.

Only the worker imports this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jpype

from invariants.verdict import BadInputError

STRATEGY = "org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy"
_MESSAGE_QUEUE = "org.apache.rocketmq.common.message.MessageQueue"


def loader(entries: Sequence[str], jars: Sequence[str]) -> Any:
    """A class loader over the user's entries, then the official jars: RocketMQ classes of the user's own come first.

    Its parent is Java's own platform, so that nothing that this tool needs hides what the user brings.
    """
    uri, platform = jpype.JClass("java.net.URI"), jpype.JClass("java.lang.ClassLoader").getPlatformClassLoader()
    texts = [Path(entry).absolute().as_uri() + ("/" if Path(entry).is_dir() else "") for entry in [*entries, *jars]]
    urls = jpype.JArray(jpype.JClass("java.net.URL"))([uri(text).toURL() for text in texts])
    return jpype.JClass("java.net.URLClassLoader")(urls, platform)


def make(class_name: str, entries: Sequence[str], jars: Sequence[str]) -> tuple[Any, Any]:
    """An instance of the user's class by its public no-arg constructor, and the MessageQueue class that it sees.

    Raises BadInputError when there is no such class, it is no concrete AllocateMessageQueueStrategy, it lacks such a
    constructor, or the constructor throws.
    """
    loading = loader(entries, jars)
    jpype.JClass("java.lang.Thread").currentThread().setContextClassLoader(loading)
    loaded = _loaded(class_name, loading)
    interface = loading.loadClass(STRATEGY)
    modifier = jpype.JClass("java.lang.reflect.Modifier")
    if not interface.isAssignableFrom(loaded):
        raise BadInputError(f"{class_name} does not implement {STRATEGY}; --class names an allocation strategy")
    if modifier.isAbstract(loaded.getModifiers()):
        raise BadInputError(f"{class_name} is abstract; name a class with a public no-arg constructor")
    return _made(class_name, loaded), jpype.JClass(loading.loadClass(_MESSAGE_QUEUE))


def _loaded(class_name: str, loading: Any) -> Any:
    """The java.lang.Class of that name, initialised."""
    try:
        return jpype.JClass("java.lang.Class").forName(class_name, True, loading)
    except jpype.JException as error:
        raise BadInputError(_why_not_loaded(class_name, error)) from error


def _why_not_loaded(class_name: str, error: Any) -> str:
    """One sentence for a Throwable of Class#forName."""
    kind = str(error.getClass().getSimpleName())
    version = jpype.JClass("java.lang.System").getProperty("java.version")
    missing = f"class {class_name} is not on the class path; give the binary name, as com.example.Outer$Nested"
    sentences: dict[str, Callable[[], str]] = {
        "ClassNotFoundException": lambda: missing,
        "UnsupportedClassVersionError": lambda: (
            f"class {class_name} is compiled for a newer Java than {version}; set JAVA_HOME to that Java"
        ),
        "ExceptionInInitializerError": lambda: (
            f"the static initialiser of {class_name} throws {error.getCause()}; it must run outside your application"
        ),
        "NoClassDefFoundError": lambda: (
            missing if "wrong name" in str(error.getMessage()) else
            f"class {class_name} needs {error.getMessage()}, which is not on the class path; add the jar that holds it"
        ),
    }
    return sentences.get(kind, lambda: f"class {class_name} cannot be loaded: {error}; compile it again")()


def _made(class_name: str, loaded: Any) -> Any:
    """A new instance."""
    try:
        return loaded.getConstructor(jpype.JArray(jpype.JClass("java.lang.Class"))(0)).newInstance()
    except jpype.JException as error:
        kind = str(error.getClass().getSimpleName())
        if kind == "InvocationTargetException":
            reason = f"the constructor of {class_name} throws {error.getCause()}; it must run outside your application"
        elif kind in {"ExceptionInInitializerError", "NoClassDefFoundError"}:
            reason = _why_not_loaded(class_name, error)
        else:
            reason = f"{class_name} has no public no-arg constructor; wrap it in a public class that has one"
        raise BadInputError(reason) from error
