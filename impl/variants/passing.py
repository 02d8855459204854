"""A new parameter of a method reaches it although a class stands over it that has only the old ones.

Brokers and name servers use classes that report what they do. Such a class has a method of its own, which calls the one
that it inherits with the parameters that it knows. What it does not know waits meanwhile: nothing else runs between two
places where threads may be overtaken, so that the inherited method finds what its own call was given.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from functools import partial, wraps
from inspect import iscoroutine, signature
from types import coroutine
from typing import Any

from impl.variants.fitting import names_of


@dataclass
class _Given:
    """What a call gives to the inherited method; owner -- whose method it is. taken -- whether it has arrived."""

    owner: object
    arguments: dict[str, Any]
    taken: bool = False


class Passing:
    """The new parameters of one method."""

    def __init__(self, old: Callable[..., Any], new: Callable[..., Any]) -> None:
        """Pass what the new function has and the old one has not."""
        self._signature = signature(new)
        self._more = [name for name in names_of(new) if name not in names_of(old)]
        self._waiting: list[_Given] = []

    def over(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method of a class that stands over it: it can be given what it does not know."""
        @wraps(method)
        def passing(*args: Any, **kwargs: Any) -> Any:
            bound = self._signature.bind(*args, **kwargs)
            given = _Given(args[0], {name: bound.arguments.pop(name) for name in self._more if name in bound.arguments})
            answer = self._step(given, partial(method, *bound.args, **bound.kwargs))
            return self._goes_on(answer, given) if iscoroutine(answer) else answer

        return passing

    def under(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method itself: it takes what waits for it."""
        @wraps(method)
        def taking(owner: object, *args: Any, **kwargs: Any) -> Any:
            given = next((one for one in reversed(self._waiting) if one.owner is owner and not one.taken), None)
            if given is None:
                return method(owner, *args, **kwargs)
            given.taken = True
            return method(owner, *args, **{**given.arguments, **kwargs})

        return taking

    def _step(self, given: _Given, step: Callable[[], Any]) -> Any:
        """What a step gives, in which no other thread runs, while something waits."""
        self._waiting.append(given)
        try:
            answer = step()
        except BaseException:
            self._waiting.remove(given)
            raise
        self._waiting.remove(given)
        return answer

    async def _goes_on(self, method: Coroutine[Any, Any, Any], given: _Given) -> Any:
        return await self._steps(method, given)

    @coroutine
    def _steps(self, method: Coroutine[Any, Any, Any], given: _Given) -> Generator[Any, Any, Any]:
        """Let a method go on step by step; in each of them it may call the inherited one."""
        step: Callable[[], Any] = partial(method.send, None)
        while True:
            try:
                awaited = self._step(given, step)
            except StopIteration as end:
                return end.value
            try:
                value = yield awaited
            except GeneratorExit:
                method.close()
                raise
            except BaseException as error:  # noqa: BLE001 - the method is told whatever it is
                step = partial(method.throw, error)
            else:
                step = partial(method.send, value)
