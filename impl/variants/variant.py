"""Variants: named functions that are to take the place of others; knows nothing of RocketMQ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args

from impl.variants.mistakes import import_error, unknown_name

Kind = Literal["repair", "bug", "change"]
"""What is expected of a variant: a repair makes its hazards go away; a bug is planted so that judges notice it; of a
change is expected what holds of its base."""
KINDS: tuple[str, ...] = get_args(Kind)


class VariantError(ValueError):
    """Variants that cannot be had: one line that says what to do."""


@dataclass(frozen=True)
class Replacement:
    """Something that takes the place of something else: a function, a property, a constant.

    owner -- the class or module that has it. attribute -- its name there. value -- what is to stand there, a function
    with the same parameters; or, if around, a function of what stands there that gives what is to stand there. added
    -- whether the owner has nothing under this name. where -- file and line, for who has made a mistake there.
    """

    owner: type | ModuleType
    attribute: str
    value: Any
    around: bool = False
    added: bool = False
    where: str = ""

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
    undoes -- repairs that are left out everywhere where this one is in place. opens -- of a repair, the hazards that
    come back where it is left out, although other repairs are for them.
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
    opens: tuple[str, ...] = ()

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
    return lambda function: Replacement(owner, attribute, function, where=_line(function))


def around(owner: type | ModuleType, attribute: str) -> Callable[[Callable[..., Any]], Replacement]:
    """Declare the function below: it is given what stands at owner.attribute and gives what is to stand there."""
    return lambda function: Replacement(owner, attribute, function, around=True, where=_line(function))


def seeded(cite: str, name: str, sentence: str, *replacements: Replacement) -> Variant:
    """A planted bug that leaves every repair in place; its name says that it was seeded."""
    return Variant(f"seeded-{name}", "bug", sentence, cite, replacements=replacements)


def _line(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    return "" if code is None else f"{code.co_filename}:{code.co_firstlineno}"


def is_path(name: str) -> bool:
    """Whether a name is meant as the path of a file; no planted bug is called so."""
    return "/" in name or name.endswith(".py") or Path(name).is_file()


def absolute(path: str) -> str:
    """The path of a file wherever a command is given."""
    return str(Path(path).resolve())


def load_variant(named: str) -> Variant:
    """The VARIANT of a file of one's own; raises VariantError if it cannot be had."""
    file = Path(absolute(named))
    path = str(file)
    if not file.is_file():
        raise VariantError(f"no file {named}: give the path of a Python file that defines VARIANT")
    spec = spec_from_file_location(f"variant of {file.resolve()}", file) if file.suffix == ".py" else None
    if spec is None or spec.loader is None:
        raise VariantError(f"{named} is no Python file: give one that ends with .py and defines VARIANT")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except VariantError as error:
        raise VariantError(f"{path}: {error}") from error
    except Exception as error:
        raise VariantError(import_error(path, error)) from error
    variant = getattr(module, "VARIANT", None)
    if not isinstance(variant, Variant):
        raise VariantError(f"{path} defines no VARIANT: assign it an impl.variants.variant.Variant")
    if not all(isinstance(one, Replacement) for one in variant.replacements):
        raise VariantError(f"{path}: the replacements of {variant.name} are no Replacements: several are given as "
                           "replacements=(one, two), those of classes as replacements=(*First, *Second)")
    code = compile(file.read_text("utf-8"), path, "exec")
    if unknown := unknown_name(code, module):
        raise VariantError(unknown)
    return variant
