"""Variants in place: what stands at each place that they name, while a block runs; knows nothing of RocketMQ.

What is imported by name stands in several modules. A replacement in a module is therefore made in every loaded module
that has imported it, and that of a function in every table that holds it (`places`); in a class it is made in that
class alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from inspect import isfunction
from types import ModuleType
from typing import Any

from impl.variants.change import Field
from impl.variants.fitting import (
    ABSENT,
    counting,
    is_counted,
    names_of,
    original_of,
    refuse_misfit,
    refused,
)
from impl.variants.passing import Passing
from impl.variants.places import put
from impl.variants.reach import has_hold_of, heirs, hidden_by
from impl.variants.variant import Replacement, Variant, VariantError, place_name

Calls = dict[str, int]
"""How often what stands at a place was called, by the name of the place."""

_Key = tuple[type | ModuleType, str]


@dataclass(frozen=True)
class _Change:
    """What one place holds before and after all variants."""

    owner: type | ModuleType
    attribute: str
    before: Any
    after: Any


@dataclass
class _Stack:
    """What variants make of one place.

    original -- what stands there without them. inner, by -- what takes its place, and whose it is; nobody's: the
    original. where -- the file and line that say so. around -- what stands over it, the innermost first, and whose it
    is. under -- so many of those are of variants before that one.
    """

    original: Any
    inner: Any
    by: Variant | None = None
    where: str = ""
    under: int = 0
    around: list[tuple[Variant, Replacement]] = field(default_factory=list)

    def drop(self, names: Sequence[str]) -> None:
        """Leave out what these variants have done here."""
        if self.by is not None and self.by.name in names:
            self.inner, self.by = self.original, None
        self.around = [one for one in self.around if one[0].name not in names]

    def last(self) -> tuple[Variant | None, str]:
        """Whose function is the outermost, and where it is declared; nobody's if nothing is replaced."""
        return (self.around[-1][0], self.around[-1][1].where) if self.around else (self.by, self.where)


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
    if any(vars(change.owner).get(change.attribute, ABSENT) is not change.before for change in plan.changes):
        # Inside another such block other functions are the originals.
        plan = _planned.__wrapped__(tuple(variants), tuple(watched))
    plan.calls.update(dict.fromkeys(plan.calls, 0))
    with ExitStack() as stack:
        for change in plan.changes:
            if isinstance(change.after, Field):
                stack.callback(change.after.forget)
            stack.callback(put, change.owner, change.attribute, change.after, change.before)
            put(change.owner, change.attribute, change.before, change.after)
        yield plan.calls


@lru_cache(maxsize=256)
def _planned(variants: tuple[Variant, ...], watched: tuple[Variant, ...]) -> _Planned:
    """What becomes of each place, all checks made."""
    stacks = _stacks(variants)
    for key, stack in stacks.items():
        _refuse_hidden(key, stack, stacks)
    for owner, attribute in list(stacks):
        if isinstance(owner, type):
            _pass_more(owner, attribute, stacks)
    counted: dict[_Key, Variant] = {}
    for variant in watched:
        for replacement in variant.replacements:
            key = (replacement.owner, replacement.attribute)
            if not is_counted(replacement):
                continue
            counted.setdefault(key, variant)
            if key not in stacks:
                original = original_of(variant, replacement)
                stacks[key] = _Stack(original, original)
    calls: Calls = {place_name(*key): 0 for key in counted}
    changes = (_Change(*key, stack.original, _made(key, stack, counted.get(key), calls))
               for key, stack in stacks.items())
    return _Planned(tuple(changes), calls)


def _stacks(variants: Sequence[Variant]) -> dict[_Key, _Stack]:
    """What stands at each place that variants name."""
    stacks: dict[_Key, _Stack] = {}
    made: dict[_Key, list[Replacement]] = {}
    for variant in variants:
        for replacement in variant.replacements:
            key = (replacement.owner, replacement.attribute)
            if replacement in made.setdefault(key, []):
                continue
            made[key].append(replacement)
            original = original_of(variant, replacement)
            stack = stacks.setdefault(key, _Stack(original, original))
            if replacement.around:
                stack.around.append((variant, replacement))
                continue
            stack.drop(variant.over)
            _refuse_collision(variant, replacement, stack.by)
            refuse_misfit(variant, replacement, original, replacement.value)
            stack.inner, stack.by, stack.under = replacement.value, variant, len(stack.around)
            stack.where = replacement.where
    return stacks


def _pass_more(owner: type, attribute: str, stacks: dict[_Key, _Stack]) -> None:
    """Have new parameters of a method reach it through the classes that stand over it."""
    stack = stacks[owner, attribute]
    if not (isfunction(stack.original) and isfunction(stack.inner)) or (
            names_of(stack.original) == names_of(stack.inner)):
        return
    passing = Passing(stack.original, stack.inner)
    over = [(heir, vars(heir).get(attribute)) for heir in heirs(owner) if (heir, attribute) not in stacks]
    for heir, method in over:
        if isfunction(method):
            stacks[heir, attribute] = _Stack(method, passing.over(method))
    stack.inner = passing.under(stack.inner)


def _made(key: _Key, stack: _Stack, counted: Variant | None, calls: Calls) -> Any:
    """What is to stand at a place; counted -- whose function counts its calls, the innermost if it has none here."""
    place = place_name(*key)
    own = counted is not None and counted in [stack.by, *(variant for variant, _ in stack.around)]
    standing = stack.inner
    if counted is not None and (not own or stack.by == counted):
        standing, counted = counting(standing, place, calls), None
    for number, (variant, replacement) in enumerate(stack.around):
        after = replacement.value(standing)
        refuse_misfit(variant, replacement, stack.original, after)
        if stack.by is not None and number < stack.under and not has_hold_of(after, standing):
            raise refused(stack.by, place, stack.where, f"that is never called, as {variant.name} stands around it "
                          f"without a call; name {variant.name} in `over` of {stack.by.name}")
        standing = after
        if variant == counted:
            standing = counting(standing, place, calls)
    return standing


def _refuse_collision(variant: Variant, replacement: Replacement, other: Variant | None) -> None:
    if other is not None and variant.kind != "change":  # a change is about what was there before it
        raise VariantError(f"variants {other.name} and {variant.name} both replace {replacement.place}: name "
                           f"{other.name} in `over` of {variant.name}, or make its replacement `around`")


def _refuse_hidden(key: _Key, stack: _Stack, stacks: Mapping[_Key, _Stack]) -> None:
    """Refuse to replace a method that the classes which inherit from its class have of their own."""
    owner, attribute = key
    variant, where = stack.last()
    if isinstance(owner, ModuleType) or variant is None or stack.original is ABSENT:
        return

    def standing(one: type) -> object:
        own = stacks.get((one, attribute))
        return vars(one).get(attribute) if own is None else own.inner

    hiding = hidden_by(owner, attribute, standing)
    if hiding is not None:
        raise refused(variant, place_name(*key), where, f"that is never called, as {hiding.__qualname__} has a method "
                      f"of its own; replace {place_name(hiding, attribute)}")
