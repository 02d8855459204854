"""Whether what is to stand at a place fits what stands there; what fits can count how often it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from dis import get_instructions
from functools import lru_cache, wraps
from inspect import Parameter, iscoroutinefunction, isfunction, signature
from itertools import pairwise
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any, Final

from impl.variants.change import Field
from impl.variants.reach import callers
from impl.variants.variant import Replacement, Variant, VariantError

ABSENT: Final = object()
"""What stands at a place that nobody has written yet."""

_SORTS: Final[Mapping[type, str]] = {
    FunctionType: "a method", property: "a property", staticmethod: "a static method", classmethod: "a class method",
}


def refused(variant: Variant, place: str, where: str, cure: str) -> VariantError:
    """The error that says which variant cannot replace what, where that is declared, and what to do."""
    return VariantError(f"{f'{where}: ' if where else ''}variant {variant.name} replaces {place}: {cure}")


# What stands there ----------------------------------------------------------------------------------------------------


def original_of(variant: Variant, replacement: Replacement) -> Any:
    """What stands at the place of a replacement; ABSENT where something is added. Raises VariantError."""
    owner, attribute = replacement.owner, replacement.attribute
    original = vars(owner).get(attribute, ABSENT)
    if replacement.added:
        cure = "" if original is ABSENT else "it is there already; leave `new` or `field` out"
    elif original is ABSENT:
        cure = _missing(replacement)
    else:
        cure = _unlike(replacement, original)
    if cure:
        raise refused(variant, replacement.place, replacement.where, cure)
    return original


def _missing(replacement: Replacement) -> str:
    """What to do about a name that the owner does not have."""
    owner, attribute = replacement.owner, replacement.attribute
    inherited = next((one.__qualname__ for one in getattr(owner, "__mro__", ()) if attribute in vars(one)), None)
    if inherited is not None:
        return f"it is inherited; name {inherited}.{attribute}, or say `new` to override it in this class alone"
    near = get_close_matches(attribute, vars(owner), n=1)
    return f"there is none; correct the name{f' (did you mean {near[0]}?)' if near else ', or say `new`'}"


def _unlike(replacement: Replacement, original: Any) -> str:
    """Why something else cannot take the place of what stands there; empty if it can."""
    owner, attribute, value = replacement.owner, replacement.attribute, replacement.value
    if isinstance(owner, ModuleType) and hasattr(original, "cache_info"):
        found = callers(owner, attribute)
        what = f"that calls it: {', '.join(found)}" if found else "that uses it"
        return f"it is cached, and cannot be replaced; name a plain function {what}"
    if isinstance(original, MemberDescriptorType | GetSetDescriptorType) or attribute in getattr(
            owner, "__dataclass_fields__", ()):
        return "it is a field of each object; name the function that assigns it"
    if isinstance(original, type):
        return "it is a class; name its functions"
    sort = _SORTS.get(type(original))
    if replacement.around:
        return "" if isfunction(original) else f"it is {sort or 'no function'}; `around` needs a function"
    if sort is None:
        return "it is no function; name one" if callable(value) or isinstance(value, Field) else ""
    return "" if type(value) is type(original) else f"it is {sort}; make yours one"


# Whether it fits ------------------------------------------------------------------------------------------------------


def refuse_misfit(variant: Variant, replacement: Replacement, before: Any, after: Any) -> None:
    """Raise VariantError for a function that whoever calls the one before could not call."""
    old, own = _function(before), _function(after)
    if old is None or own is None:
        return
    if not _takes(_shape(own), _shape(old)):
        raise refused(variant, replacement.place, replacement.where, "give its function the parameters "
                      f"{signature(old)} instead of {signature(own)}; more parameters need a default")
    if isinstance(replacement.owner, type) and _lacks_its_class(own):
        raise refused(variant, replacement.place, replacement.where, "super() needs a class around it: write the "
                      f"function in a class below `@patch({replacement.owner.__name__})`")
    if iscoroutinefunction(old) and not iscoroutinefunction(own):
        raise refused(variant, replacement.place, replacement.where, "make its function `async def`")


def _lacks_its_class(function: Callable[..., Any]) -> bool:
    """Whether a function calls `super()` without arguments outside any class."""
    code = function.__code__
    if "super" not in code.co_names or "__class__" in code.co_freevars:
        return False
    steps = [(one.opname, one.argval) for one in get_instructions(code) if one.opname not in {"CACHE", "PRECALL"}]
    return any(one == ("LOAD_GLOBAL", "super") and after in {("CALL", 0), ("PUSH_NULL", None)}
               for one, after in pairwise(steps))


def _function(value: Any) -> Callable[..., Any] | None:
    """What is called of a method, or of a property when it is read; None of anything else."""
    match value:
        case staticmethod() | classmethod():
            return _function(value.__func__)
        case property():
            return value.fget
    return value if isfunction(value) else None


def names_of(function: Callable[..., Any]) -> list[str]:
    """The names of its parameters."""
    return [name for name, *_ in _shape(function)]


_Parameter = tuple[str, Any, bool]


@lru_cache(maxsize=4096)
def _shape(function: Callable[..., Any]) -> list[_Parameter]:
    parameters = signature(function).parameters.values()
    return [(one.name, one.kind, one.default is not Parameter.empty) for one in parameters]


def _takes(own: list[_Parameter], old: list[_Parameter]) -> bool:
    """Whether a function can be called in each way in which the old one could be."""
    placed, others = _split(old)
    own_placed, own_others = _split(own)
    more = own_placed[len(placed):] + [one for one in own_others if one not in others]
    spare = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return (own_placed[:len(placed)] == placed and all(one in own_others for one in others)
            and all(default or kind in spare for _, kind, default in more))


def _split(shape: list[_Parameter]) -> tuple[list[_Parameter], list[_Parameter]]:
    """Parameters that have a place, and the others."""
    placed = [one for one in shape if one[1] in {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}]
    return placed, [one for one in shape if one not in placed]


# Counting -------------------------------------------------------------------------------------------------------------


def is_counted(replacement: Replacement) -> bool:
    """Whether it can be counted how often the place of a replacement is used: a constant and a field cannot."""
    return replacement.around or _function(replacement.value) is not None


def counting(standing: Any, place: str, calls: dict[str, int]) -> Any:
    """The same, which counts how often it is called; of a property, how often it is read."""
    match standing:
        case staticmethod() | classmethod():
            return type(standing)(counting(standing.__func__, place, calls))
        case property():
            return property(counting(standing.fget, place, calls), standing.fset, standing.fdel, standing.__doc__)

    @wraps(standing)
    def counted(*args: Any, **kwargs: Any) -> Any:
        calls[place] += 1
        return standing(*args, **kwargs)

    return counted
