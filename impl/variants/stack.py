"""Variants in place: what stands at each place that they name, while a block runs; knows nothing of RocketMQ.

A function that is imported by name stands in several modules. A replacement in a module is therefore made in every
loaded module that has the same function under the same name; in a class it is made in that class alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from inspect import Parameter, iscoroutinefunction, isfunction, signature
from types import FunctionType, ModuleType
from typing import Any

from impl.variants.reach import callers, has_hold_of, hidden_by
from impl.variants.variant import Replacement, Variant, VariantError, place_name

Calls = dict[str, int]
"""How often what stands at a place was called, by the name of the place."""

_Key = tuple[type | ModuleType, str]


@dataclass(frozen=True)
class _Change:
    """What one place holds before and after all variants."""

    owner: type | ModuleType
    attribute: str
    before: FunctionType
    after: Callable[..., Any]


@dataclass
class _Stack:
    """What variants make of one place.

    original -- what stands there without them. inner, by -- what takes its place, and whose it is; nobody's: the
    original. around -- what stands over it, the innermost first, and whose it is. under -- so many of those are of
    variants before that one.
    """

    original: FunctionType
    inner: Callable[..., Any]
    by: Variant | None = None
    under: int = 0
    around: list[tuple[Variant, Replacement]] = field(default_factory=list)

    def drop(self, names: Sequence[str]) -> None:
        """Leave out what these variants have done here."""
        if self.by is not None and self.by.name in names:
            self.inner, self.by = self.original, None
        self.around = [one for one in self.around if one[0].name not in names]

    def last(self) -> Variant | None:
        """Whose function is the outermost; nobody's if nothing is replaced."""
        return self.around[-1][0] if self.around else self.by


@dataclass(frozen=True)
class _Planned:
    """All changes, and the calls that are counted."""

    changes: tuple[_Change, ...]
    calls: Calls


@contextmanager
def active(variants: Sequence[Variant], watched: Sequence[Variant] = ()) -> Iterator[Calls]:
    """Have the variants in place while a block runs; afterwards everything is as it was.

    At each place one function is the innermost: what was declared with `replace`, or else the original. What was
    declared with `around` stands over it, that of later variants over that of earlier ones.

    watched -- variants of whose places calls are counted; the block is given the counts. Of a variant that is in place
    its own function is counted; of one that is not, the innermost function, which it would have changed.
    Raises VariantError before anything changes.
    """
    plan = _planned(tuple(variants), tuple(watched))
    if any(vars(change.owner).get(change.attribute) is not change.before for change in plan.changes):
        # Inside another such block other functions are the originals.
        plan = _planned.__wrapped__(tuple(variants), tuple(watched))
    plan.calls.update(dict.fromkeys(plan.calls, 0))
    with ExitStack() as stack:
        for change in plan.changes:
            stack.callback(_put, change.owner, change.attribute, change.after, change.before)
            _put(change.owner, change.attribute, change.before, change.after)
        yield plan.calls


def _put(owner: type | ModuleType, attribute: str, before: Callable[..., Any], after: Callable[..., Any]) -> None:
    """Change one place; of a module's function, every module that has imported it by its name."""
    holders: list[type | ModuleType] = [owner]
    if isinstance(owner, ModuleType):
        modules = [module for module in list(sys.modules.values()) if isinstance(module, ModuleType)]
        holders += [module for module in modules if vars(module).get(attribute) is before]
    for holder in holders:
        setattr(holder, attribute, after)


@lru_cache(maxsize=256)
def _planned(variants: tuple[Variant, ...], watched: tuple[Variant, ...]) -> _Planned:
    """What becomes of each place, all checks made."""
    stacks = _stacks(variants)
    for key, stack in stacks.items():
        _refuse_hidden(key, stack, stacks)
    counted: dict[_Key, Variant] = {}
    for variant in watched:
        for replacement in variant.replacements:
            key = (replacement.owner, replacement.attribute)
            counted.setdefault(key, variant)
            if key not in stacks:
                original = _original(variant, replacement)
                stacks[key] = _Stack(original, original)
    calls: Calls = {place_name(*key): 0 for key in counted}
    changes = (_Change(*key, stack.original, _made(key, stack, counted.get(key), calls))
               for key, stack in stacks.items())
    return _Planned(tuple(changes), calls)


def _stacks(variants: Sequence[Variant]) -> dict[_Key, _Stack]:
    """What stands at each place that variants name."""
    stacks: dict[_Key, _Stack] = {}
    made: list[Replacement] = []
    for variant in variants:
        for replacement in variant.replacements:
            if replacement in made:
                continue
            made.append(replacement)
            original = _original(variant, replacement)
            stack = stacks.setdefault((replacement.owner, replacement.attribute), _Stack(original, original))
            if replacement.around:
                stack.around.append((variant, replacement))
                continue
            stack.drop(variant.over)
            _refuse_collision(variant, replacement, stack.by)
            _refuse_misfit(variant, replacement.place, original, replacement.function)
            stack.inner, stack.by, stack.under = replacement.function, variant, len(stack.around)
    return stacks


def _made(key: _Key, stack: _Stack, counted: Variant | None, calls: Calls) -> Callable[..., Any]:
    """What is to stand at a place; counted -- whose function counts its calls, the innermost if it has none here."""
    place = place_name(*key)
    own = counted is not None and counted in [stack.by, *(variant for variant, _ in stack.around)]
    standing = stack.inner
    if counted is not None and (not own or stack.by == counted):
        standing, counted = _counting(standing, place, calls), None
    for number, (variant, replacement) in enumerate(stack.around):
        after = replacement.function(standing)
        _refuse_misfit(variant, place, stack.original, after)
        if stack.by is not None and number < stack.under and not has_hold_of(after, standing):
            raise VariantError(f"variant {stack.by.name} replaces {place}: that is never called, as {variant.name} "
                               f"stands around it without a call; name {variant.name} in `over` of {stack.by.name}")
        standing = after
        if variant == counted:
            standing = _counting(standing, place, calls)
    return standing


def _counting(function: Callable[..., Any], place: str, calls: Calls) -> Callable[..., Any]:
    """The same function, which counts how often it is called."""
    @wraps(function)
    def counting(*args: Any, **kwargs: Any) -> Any:
        calls[place] += 1
        return function(*args, **kwargs)

    return counting


def _original(variant: Variant, replacement: Replacement) -> FunctionType:
    owner, attribute = replacement.owner, replacement.attribute
    original = vars(owner).get(attribute)
    if isfunction(original):
        return original
    inherited = next((one.__qualname__ for one in getattr(owner, "__mro__", ()) if attribute in vars(one)), None)
    if isinstance(owner, ModuleType) and hasattr(original, "cache_info"):
        cure = f"it is cached, and cannot be replaced; name a plain function {_that_calls(owner, attribute)}"
    elif original is not None:
        cure = "it is no function; name one"
    elif inherited is not None:
        cure = f"it is inherited; name {inherited}.{attribute}"
    else:
        cure = "there is none; correct the name"
    raise VariantError(f"variant {variant.name} replaces {replacement.place}: {cure}")


def _that_calls(owner: ModuleType, attribute: str) -> str:
    """Which functions one can name instead of one that is cached."""
    found = callers(owner, attribute)
    return f"that calls it: {', '.join(found)}" if found else "that uses it"


def _refuse_collision(variant: Variant, replacement: Replacement, other: Variant | None) -> None:
    if other is not None:
        raise VariantError(f"variants {other.name} and {variant.name} both replace {replacement.place}: name "
                           f"{other.name} in `over` of {variant.name}, or make its replacement `around`")


def _refuse_hidden(key: _Key, stack: _Stack, stacks: Mapping[_Key, _Stack]) -> None:
    """Refuse to replace a method that the classes which inherit from its class have of their own."""
    owner, attribute = key
    variant = stack.last()
    if isinstance(owner, ModuleType) or variant is None:
        return

    def standing(one: type) -> object:
        own = stacks.get((one, attribute))
        return vars(one).get(attribute) if own is None else own.inner

    hiding = hidden_by(owner, attribute, standing)
    if hiding is not None:
        raise VariantError(f"variant {variant.name} replaces {place_name(*key)}: that is never called, as "
                           f"{hiding.__qualname__} has a method of its own; replace {place_name(hiding, attribute)}")


def _refuse_misfit(
    variant: Variant, place: str, before: FunctionType, after: Callable[..., Any],
) -> None:
    if _shape(before) != _shape(after):
        raise VariantError(f"variant {variant.name} replaces {place}: give its function the parameters "
                           f"{signature(before)} instead of {signature(after)}")
    if iscoroutinefunction(before) and not iscoroutinefunction(after):
        raise VariantError(f"variant {variant.name} replaces {place}: make its function `async def`")


def _shape(function: Callable[..., Any]) -> list[tuple[str, Any, bool]]:
    parameters = signature(function).parameters.values()
    return [(one.name, one.kind, one.default is not Parameter.empty) for one in parameters]
