"""Values of the running JVM: texts, names and queues out of JSON, results back in one text.

Reading a result through its getters would cost a crossing per field; fastjson, which RocketMQ itself brings, writes a
whole batch in one call, as ASCII, so that a lone surrogate survives. (Nothing is read by it: it refuses the least int.)
Only the worker imports this, after the JVM has started.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import jpype

from impl.decisions.java_text import utf16_units

_CAUSE_PATHS = (
    (("java.lang.Throwable", "getClass", "java.lang.Class"), ("java.lang.Class", "getName", "java.lang.String")),
    (("java.lang.Throwable", "getMessage", "java.lang.String"),),
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_KEPT_LISTS = 4096
_KEPT_QUEUES = 1 << 16


class JavaValues:
    """Makers and a writer of Java values.

    message_queue -- the Java class whose objects stand for queues; a user's class path may bring its own.
    """

    def __init__(self, message_queue: Any = None) -> None:
        """Bind the Java classes once: a look-up costs more than a call."""
        self._message_queue = message_queue or jpype.JClass("org.apache.rocketmq.common.message.MessageQueue")
        self._as_list = jpype.JClass("java.util.Arrays").asList
        self._list, self._chars = jpype.JClass("java.util.ArrayList"), jpype.JArray(jpype.JChar)
        self._objects, self._strings = jpype.JArray(jpype.JObject), jpype.JArray(jpype.JString)
        self._json = jpype.JClass("com.alibaba.fastjson.JSON")
        feature = jpype.JClass("com.alibaba.fastjson.serializer.SerializerFeature")
        self._writing = jpype.JArray(feature)([feature.DisableCircularReferenceDetect, feature.BrowserCompatible])
        self.queue = lru_cache(_KEPT_QUEUES)(self._made_queue)
        self._kept_queues = lru_cache(_KEPT_LISTS)(self._made_queues)
        self._kept_texts = lru_cache(_KEPT_LISTS)(self._made_texts)

    def text(self, value: str | None) -> Any:
        """What JPype passes as a String, null for None. It refuses a lone surrogate, which goes by UTF-16 units."""
        if value is None or value.isascii() or not _SURROGATE.search(value):
            return value
        return jpype.JString(self._chars(utf16_units(value)))

    def queues(self, text: str) -> Any:
        """A List<MessageQueue> from JSON rows [broker name, queue id, topic]; null from `null`.

        The list is new, its queues are shared with other lists, as RebalanceImpl#rebalanceByTopic does it.
        """
        kept = self._kept_queues(text)
        return None if kept is None else self._list(kept)

    def texts(self, text: str) -> Any:
        """A new List<String> from a JSON array of texts and nulls; null from `null`."""
        kept = self._kept_texts(text)
        return None if kept is None else self._list(kept)

    def _made_queue(self, broker_name: str | None, queue_id: int, topic: str | None) -> Any:
        return self._message_queue(self.text(topic), self.text(broker_name), jpype.JInt(queue_id))

    def _made_queues(self, text: str) -> Any:
        rows = json.loads(text)
        return None if rows is None else self._as_list(self._objects([self.queue(*row) for row in rows]))

    def _made_texts(self, text: str) -> Any:
        names = json.loads(text)
        return None if names is None else self._as_list(self._strings([self.text(name) for name in names]))

    def new_list(self) -> Any:
        """An empty ArrayList."""
        return self._list()

    def copied(self, result: Any) -> Any:
        """A list of the elements of any Java collection as they are now; null for null."""
        return None if result is None else self._list(result)

    def written(self, value: Any) -> str:
        """The ASCII JSON text of any Java value; a queue is {brokerName, queueId, topic} without its null fields."""
        return str(self._json.toJSONString(value, self._writing))

    def error(self, thrown: Any) -> tuple[str, str | None]:
        """Class name and message of a Java Throwable."""
        try:
            message = json.loads(self.written(thrown.getMessage()))
        except jpype.JException as error:  # a getMessage that throws
            message = f"(getMessage throws {error.getClass().getName()})"
        return str(thrown.getClass().getName()), message

    def hidden_error(self, target: Any, method_name: str, *arguments: Any) -> tuple[str, str | None]:
        """What a call throws, made again by reflection: JPype cannot raise an exception that says a lone surrogate.

        The Throwable itself never reaches Python, only its class name and message. A call that does not throw this time
        counts as one that does: it answered differently.
        """
        named = [method for method in target.getClass().getMethods() if str(method.getName()) == method_name]
        method = next(one for one in named if not one.isBridge() and one.getParameterCount() == len(arguments))
        method.setAccessible(True)
        try:
            method.invoke(target, jpype.JArray(jpype.JObject)(arguments))
        except jpype.JException as wrapper:
            name, message = (self._of_cause(wrapper, *path) for path in _CAUSE_PATHS)
            return str(name), message
        return "java.lang.Exception", "the same call throws once and then does not"

    def _of_cause(self, wrapper: Any, *path: tuple[str, str, str]) -> str | None:
        """A text reached from wrapper.getCause() by methods, each [class, name, class of the result]."""
        handles = jpype.JClass("java.lang.invoke.MethodHandles")
        look_up: Any = None
        for owner, name, result in (("java.lang.Throwable", "getCause", "java.lang.Throwable"), *path):
            method_type = jpype.JClass("java.lang.invoke.MethodType").methodType(jpype.JClass(result).class_)
            step = handles.publicLookup().findVirtual(jpype.JClass(owner).class_, name, method_type)
            look_up = step if look_up is None else handles.filterReturnValue(look_up, step)
        text: str | None = json.loads(self.written(look_up.invokeWithArguments(jpype.JArray(jpype.JObject)([wrapper]))))
        return text


@cache
def _only(kind: Callable[[JavaValues], Any], values: JavaValues) -> Any:
    return kind(values)


def bound(kind: Callable[[JavaValues], Any], name: str) -> Callable[[JavaValues], Callable[[Any], dict[str, Any]]]:
    """What makes the function that answers rows of a recording; kind -- binds the classes, once for all recordings."""

    def answering(values: JavaValues) -> Callable[[Any], dict[str, Any]]:
        answer: Callable[[Any], dict[str, Any]] = getattr(_only(kind, values), name.replace("-", "_"))
        return answer

    return answering
