"""Variants: named functions that take the place of others while a block runs; knows nothing of RocketMQ.

A function that is imported by name stands in several modules. A replacement in a module is therefore made in every
loaded module that has the same function under the same name; in a class it is made in that class alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from inspect import Parameter, iscoroutinefunction, isfunction, signature
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Literal


class VariantError(ValueError):
    """Variants that cannot be had: one line that says what to do."""


@dataclass(frozen=True)
class Replacement:
    """One function that takes the place of another.

    owner -- the class or module that has the function. attribute -- its name there. function -- with the same
    parameters; or, if around, a function of what stands there that gives what is to stand there.
    """

    owner: type | ModuleType
    attribute: str
    function: Callable[..., Any]
    around: bool = False

    @property
    def place(self) -> str:
        """For people: module, class and name."""
        owner = self.owner
        return f"{owner.__name__ if isinstance(owner, ModuleType) else owner.__qualname__}.{self.attribute}"


@dataclass(frozen=True)
class Variant:
    """A repair or a planted bug.

    name -- as in the name of a subject. sentence -- what it does. cite -- the fix, the report or the idea. hazards --
    those that a repair makes go away. replacements -- two variants may name the very same one. over -- variants whose
    replacements its own may take the place of. undoes -- repairs that are left out where this one is.
    """

    name: str
    kind: Literal["repair", "bug"]
    sentence: str
    cite: str
    hazards: tuple[str, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    over: tuple[str, ...] = ()
    undoes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Change:
    """What one place holds before and after all variants."""

    owner: type | ModuleType
    attribute: str
    before: FunctionType
    after: Callable[..., Any]


def replace(owner: type | ModuleType, attribute: str) -> Callable[[Callable[..., Any]], Replacement]:
    """Declare the function below as what takes the place of owner.attribute."""
    return lambda function: Replacement(owner, attribute, function)


def around(owner: type | ModuleType, attribute: str) -> Callable[[Callable[..., Any]], Replacement]:
    """Declare the function below: it is given what stands at owner.attribute and gives what is to stand there."""
    return lambda function: Replacement(owner, attribute, function, around=True)


@contextmanager
def active(variants: Sequence[Variant]) -> Iterator[None]:
    """Have the variants in place while a block runs; afterwards everything is as it was.

    What is made around stands over what earlier variants have put there. Raises VariantError before anything changes.
    """
    changes = _changes(tuple(variants))
    if any(vars(change.owner).get(change.attribute) is not change.before for change in changes):
        changes = _changes.__wrapped__(tuple(variants))  # inside another such block, other functions are the originals
    with ExitStack() as stack:
        for change in changes:
            stack.callback(_put, change.owner, change.attribute, change.after, change.before)
            _put(change.owner, change.attribute, change.before, change.after)
        yield


def _put(owner: type | ModuleType, attribute: str, before: Callable[..., Any], after: Callable[..., Any]) -> None:
    """Change one place; of a module's function, every module that has imported it by its name."""
    holders: list[type | ModuleType] = [owner]
    if isinstance(owner, ModuleType):
        modules = [module for module in list(sys.modules.values()) if isinstance(module, ModuleType)]
        holders += [module for module in modules if vars(module).get(attribute) is before]
    for holder in holders:
        setattr(holder, attribute, after)


@lru_cache(maxsize=64)
def _changes(variants: tuple[Variant, ...]) -> tuple[_Change, ...]:
    """What becomes of each place, all checks made."""
    before: dict[tuple[type | ModuleType, str], FunctionType] = {}
    after: dict[tuple[type | ModuleType, str], Callable[..., Any]] = {}
    taken: dict[tuple[type | ModuleType, str], tuple[str, ...]] = {}
    made: list[Replacement] = []
    for variant in variants:
        for replacement in variant.replacements:
            if replacement in made:
                continue
            made.append(replacement)
            key = (replacement.owner, replacement.attribute)
            before.setdefault(key, _original(variant, replacement))
            _refuse_collision(variant, replacement, taken.get(key, ()))
            standing = after.get(key, before[key])
            after[key] = replacement.function(standing) if replacement.around else replacement.function
            _refuse_misfit(variant, replacement, before[key], after[key])
            taken[key] = (*taken.get(key, ()), variant.name)
    return tuple(_Change(*key, original, after[key]) for key, original in before.items())


def _original(variant: Variant, replacement: Replacement) -> FunctionType:
    owner, attribute = replacement.owner, replacement.attribute
    original = vars(owner).get(attribute)
    if isfunction(original):
        return original
    inherited = next((one.__qualname__ for one in getattr(owner, "__mro__", ()) if attribute in vars(one)), None)
    if original is not None:
        cure = "it is no function; name one"
    elif inherited is not None:
        cure = f"it is inherited; name {inherited}.{attribute}"
    else:
        cure = "there is none; correct the name"
    raise VariantError(f"variant {variant.name} replaces {replacement.place}: {cure}")


def _refuse_collision(variant: Variant, replacement: Replacement, taken: tuple[str, ...]) -> None:
    other = next((name for name in taken if name not in variant.over), None)
    if other is not None and not replacement.around:
        raise VariantError(f"variants {other} and {variant.name} both replace {replacement.place}: name {other} in "
                           f"`over` of {variant.name}, or make its replacement `around`")


def _refuse_misfit(
    variant: Variant, replacement: Replacement, before: FunctionType, after: Callable[..., Any],
) -> None:
    if _shape(before) != _shape(after):
        raise VariantError(f"variant {variant.name} replaces {replacement.place}: give its function the parameters "
                           f"{signature(before)} instead of {signature(after)}")
    if iscoroutinefunction(before) and not iscoroutinefunction(after):
        raise VariantError(f"variant {variant.name} replaces {replacement.place}: make its function `async def`")


def _shape(function: Callable[..., Any]) -> list[tuple[str, Any, bool]]:
    parameters = signature(function).parameters.values()
    return [(one.name, one.kind, one.default is not Parameter.empty) for one in parameters]


def load_variant(path: str) -> Variant:
    """The VARIANT of a file of one's own; raises VariantError if it cannot be had."""
    file = Path(path)
    if not file.is_file():
        raise VariantError(f"no file {path}: give the path of a Python file that defines VARIANT")
    spec = spec_from_file_location(f"variant of {file.resolve()}", file)
    if spec is None or spec.loader is None:
        raise VariantError(f"{path} is no Python file: give one that ends with .py and defines VARIANT")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise VariantError(f"{path} cannot be imported: mend it first ({what})") from error
    variant = getattr(module, "VARIANT", None)
    if not isinstance(variant, Variant):
        raise VariantError(f"{path} defines no VARIANT: assign it an impl.variants.variant.Variant")
    return variant
