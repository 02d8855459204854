"""Subjects by name: RocketMQ 4.9.3 with or without repairs, and the variants that lie on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import isfunction
from types import ModuleType

from impl.variants.catalogue import BUGS, NO_REPAIR, REPAIRS
from impl.variants.variant import Replacement, Variant, VariantError, absolute, is_path, load_variant

SHIPPED, REPAIRED = "shipped", "repaired"


@dataclass(frozen=True)
class Composed:
    """A subject, taken apart.

    name -- its whole name: a foundation, and behind a + each variant that lies on it; a file by its absolute path.
    base -- the name without the last variant; None if there is none. variants -- all that is in place, in its order.
    laid -- those that lie on the foundation. left_out -- repairs that the foundation lacks. without -- hazards for
    which it lacks them.
    """

    name: str
    base: str | None
    variants: tuple[Variant, ...]
    laid: tuple[Variant, ...] = ()
    left_out: tuple[Variant, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def top(self) -> Variant | None:
        """The variant that lies on top; None if nothing lies on the foundation."""
        return self.laid[-1] if self.laid else None

    @property
    def foundation(self) -> str:
        """The name of what all variants lie on."""
        return self.name.partition("+")[0]

    @property
    def shipped(self) -> bool:
        """Whether the foundation has no repairs."""
        return self.foundation == SHIPPED

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of the files that variants are from."""
        return tuple(part for part in _parts(self.name)[1:] if is_path(part))

    @property
    def file(self) -> str | None:
        """The path of the file that the variant on top is from; None if it is of the catalogue."""
        return self.files[-1] if self.files and self.name.endswith(self.files[-1]) else None


def composed(name: str) -> Composed:
    """The subject of a name.

    name -- a foundation: shipped (no repair), repaired (all of them), repaired-HAZARD (all but those of this hazard;
    several behind commas); then each variant that lies on it behind a +: a planted bug, or the path of a file (it ends
    with .py). Without a foundation the first variant lies on its own (`foundation_of`).
    Raises VariantError for anything else.
    """
    parts = _parts(name)
    if not _is_foundation(parts[0]):
        parts = [foundation_of(_alone(parts[0])), *parts]
    laid = tuple(_laid(part) for part in parts[1:])
    if twice := next((one.name for at, one in enumerate(laid) if one.name in {two.name for two in laid[:at]}), None):
        raise VariantError(f"{name}: two of its variants are called {twice}; give one of them another name")
    whole = [parts[0], *(absolute(part) if is_path(part) else part for part in parts[1:])]
    hazards, repairs = _founded(parts[0])
    undone = {repair for one in laid for repair in one.undoes}
    named = {one.name for one in repairs}
    return Composed(
        "+".join(whole), "+".join(whole[:-1]) or None, (*(one for one in repairs if one.name not in undone), *laid),
        laid, tuple(one for one in REPAIRS.values() if one.name not in named) if parts[0] != SHIPPED else (), hazards)


def variants_of(subject: str) -> tuple[Variant, ...]:
    """The variants of a subject, in the order in which they are put in place; see `composed`."""
    return composed(subject).variants


def foundation_of(variant: Variant) -> str:
    """What a variant lies on where nobody says so.

    A planted bug: all repairs. A repair: all but those of its hazards. A change: all but those that cover it.
    """
    match variant.kind:
        case "bug":
            return REPAIRED
        case "repair":
            known = {hazard for repair in REPAIRS.values() for hazard in repair.hazards}
            return repaired_without(known.intersection(variant.hazards))
    return repaired_without({hazard for repair, _ in covers(REPAIRS.values(), variant) for hazard in repair.hazards})


def repaired_without(hazards: Iterable[str]) -> str:
    """The foundation that has all repairs but those of these hazards."""
    return "-".join(filter(None, (REPAIRED, ",".join(sorted(set(hazards))))))


def covers(standing: Iterable[Variant], variant: Variant) -> list[tuple[Variant, str]]:
    """Those of the standing variants that cover what a variant replaces, each with the name of the place.

    They replace the same function, or one of the same class that calls it.
    """
    places = {key: one.place for one in variant.replacements for key in _and_callers(one)}
    return [(other, places[key]) for other in standing if other.name not in (*variant.over, *variant.undoes)
            for key in dict.fromkeys((one.owner, one.attribute) for one in other.replacements) if key in places]


def _and_callers(replacement: Replacement) -> set[tuple[type | ModuleType, str]]:
    """The place of a replacement, and those of the methods of its class from which it is called."""
    owner, names = replacement.owner, {replacement.attribute}
    if isinstance(owner, type):
        methods = {name: set(one.__code__.co_names) for name, one in vars(owner).items() if isfunction(one)}
        while more := {name for name, called in methods.items() if called & names} - names:
            names |= more
    return {(owner, name) for name in names}


# Names ----------------------------------------------------------------------------------------------------------------


def _is_foundation(part: str) -> bool:
    return part in {SHIPPED, REPAIRED} or part.startswith(f"{REPAIRED}-")


def _parts(name: str) -> list[str]:
    """What stands between the + of a name; a path may have a + of its own."""
    parts, piece = list[str](), ""
    *pieces, last = name.split("+")
    for one in pieces:
        piece += one
        if _is_foundation(piece) or piece in BUGS or piece.endswith(".py"):
            parts, piece = [*parts, piece], ""
        else:
            piece += "+"
    return [*parts, piece + last]


def _founded(foundation: str) -> tuple[tuple[str, ...], tuple[Variant, ...]]:
    """The hazards for which a foundation lacks the repairs, and the repairs that it has."""
    repairs = tuple(REPAIRS.values())
    if foundation in {SHIPPED, REPAIRED}:
        return (), () if foundation == SHIPPED else repairs
    hazards = tuple(foundation.removeprefix(f"{REPAIRED}-").split(","))
    known = sorted({name for repair in repairs for name in repair.hazards})
    for hazard in hazards:
        if hazard in NO_REPAIR:
            raise VariantError(f"hazard {hazard} has no repair that could be left out; it is in the subject repaired")
        if hazard not in known:
            raise VariantError(f"no repair is for hazard {hazard!r}: say one of {', '.join(known)}")
    return hazards, tuple(repair for repair in repairs if not set(hazards).intersection(repair.hazards))


def _alone(name: str) -> Variant:
    """The variant at the beginning of a name that has no foundation."""
    if name not in BUGS and not is_path(name):
        near = " or ".join([*get_close_matches(name, BUGS, n=3), *sorted(BUGS)][:3])
        raise VariantError(f"no subject {name!r}: say shipped, repaired, repaired-HAZARD, one of these with +BUG or "
                           f"+PATH of a Python file, or a planted bug, as {near}")
    return _laid(name)


def _laid(name: str) -> Variant:
    laid = load_variant(name) if is_path(name) else BUGS.get(name)
    if laid is None:
        near = get_close_matches(name, BUGS, n=3) or sorted(BUGS)
        raise VariantError(f"no planted bug {name!r}: say {' or '.join(near[:3])}, or another of the catalogue")
    unknown = [repair for repair in (*laid.undoes, *laid.over) if repair not in REPAIRS]
    if unknown:
        raise VariantError(f"variant {laid.name} names {unknown[0]!r} in `undoes` or `over`: there is no such repair")
    return laid
