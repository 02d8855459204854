"""Variants: named functions that are to take the place of others; knows nothing of RocketMQ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args

Kind = Literal["repair", "bug", "change"]
"""What is expected of a variant: a repair makes its hazards go away; a bug is planted so that judges notice it; of a
change is expected what holds of its base."""
KINDS: tuple[str, ...] = get_args(Kind)


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
        return place_name(self.owner, self.attribute)


@dataclass(frozen=True)
class Variant:
    """A repair, a planted bug, or a change.

    name -- as in the name of a subject. kind -- what is expected of it. sentence -- what it does. cite -- the fix, the
    report or the idea. hazards -- those that a repair makes go away. replacements -- two variants may name the very
    same one. over -- variants that are left out at the places that this one replaces, also what they have put around.
    undoes -- repairs that are left out everywhere where this one is in place.
    Raises VariantError if the kind is none.
    """

    name: str
    kind: Kind = ""  # type: ignore[assignment]  # a file without a kind is told what to add
    sentence: str = ""
    cite: str = ""
    hazards: tuple[str, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    over: tuple[str, ...] = ()
    undoes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what does not say what is expected of it."""
        if self.kind not in KINDS:
            raise VariantError(
                f'variant {self.name} does not say its kind: add kind="change" if nothing may get worse, kind="bug" if '
                'it is planted to be noticed, kind="repair" if it makes hazards go away')


def place_name(owner: type | ModuleType, attribute: str) -> str:
    """For people: module or class, and name."""
    return f"{owner.__name__ if isinstance(owner, ModuleType) else owner.__qualname__}.{attribute}"


def replace(owner: type | ModuleType, attribute: str) -> Callable[[Callable[..., Any]], Replacement]:
    """Declare the function below: it takes the place of owner.attribute, and what stands around that stays there."""
    return lambda function: Replacement(owner, attribute, function)


def around(owner: type | ModuleType, attribute: str) -> Callable[[Callable[..., Any]], Replacement]:
    """Declare the function below: it is given what stands at owner.attribute and gives what is to stand there."""
    return lambda function: Replacement(owner, attribute, function, around=True)


def is_path(name: str) -> bool:
    """Whether a name is meant as the path of a file; no planted bug is called so."""
    return "/" in name or name.endswith(".py") or Path(name).is_file()


def absolute(path: str) -> str:
    """The path of a file wherever a command is given."""
    return str(Path(path).resolve())


def load_variant(path: str) -> Variant:
    """The VARIANT of a file of one's own; raises VariantError if it cannot be had."""
    file = Path(path)
    if not file.is_file():
        raise VariantError(f"no file {path}: give the path of a Python file that defines VARIANT")
    spec = spec_from_file_location(f"variant of {file.resolve()}", file) if file.suffix == ".py" else None
    if spec is None or spec.loader is None:
        raise VariantError(f"{path} is no Python file: give one that ends with .py and defines VARIANT")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except VariantError as error:
        raise VariantError(f"{path}: {error}") from error
    except Exception as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise VariantError(f"{path} cannot be imported: mend it first ({what})") from error
    variant = getattr(module, "VARIANT", None)
    if not isinstance(variant, Variant):
        raise VariantError(f"{path} defines no VARIANT: assign it an impl.variants.variant.Variant")
    return variant
