"""What is judged: RocketMQ 4.9.3 as shipped or repaired, and the variants that lie on it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache

from impl.variants.catalogue import NO_REPAIR
from impl.variants.fitting import is_counted
from impl.variants.mistakes import blamed
from impl.variants.stack import Calls, active
from impl.variants.subjects import REPAIRED, SHIPPED, Composed, composed, covers, repaired_without
from impl.variants.variant import Kind, Variant, VariantError
from invariants.concepts import PROPERTIES
from invariants.finding import put_down_to
from invariants.rules.declared import BY_NAME
from invariants.rules.rule import Rule
from invariants.runs import OF_RUNS
from invariants.verdict import BadInputError, Outcome
from model.language import Property

DECLARED: dict[str, Property | type[Rule]] = {**PROPERTIES, **BY_NAME}
"""Every property of a protocol, or of runs, by name."""

JUDGES = ("invariants", "stateful_tests")
"""Packages of whoever judges: what they raise is no mistake of a file."""


@dataclass(frozen=True)
class Subject:
    """RocketMQ 4.9.3 under some variants; composed -- what it is made of."""

    composed: Composed

    @property
    def name(self) -> str:
        """The whole name: shipped, repaired, repaired-HAZARD, and each of them with +BUG or +FILE."""
        return self.composed.name

    @property
    def variants(self) -> tuple[Variant, ...]:
        """What is replaced, in its order."""
        return self.composed.variants

    @property
    def top(self) -> Variant | None:
        """The variant that lies on the base; None if the subject is a base and nothing else."""
        return self.composed.top

    @property
    def kind(self) -> Kind | None:
        """What is expected of the variant on top; None if there is none."""
        return None if self.top is None else self.top.kind

    @property
    def base(self) -> str | None:
        """The subject that this one is compared with; None for those that are compared with nothing."""
        if self.composed.base is not None:
            return self.composed.base
        return None if self.name in {SHIPPED, REPAIRED} else REPAIRED

    @property
    def title(self) -> str:
        """The name for people: of files the names that their variants give themselves."""
        return "+".join([self.composed.foundation, *(one.name for one in self.composed.laid)])

    @property
    def file(self) -> str | None:
        """The path of the file that the variant on top is from; None if it is of the catalogue."""
        return self.composed.file

    @property
    def changes(self) -> tuple[Variant, ...]:
        """What makes it another subject than its base: the variant on top, the repairs that are left out."""
        if self.base is None:
            return ()
        before = {variant.name: variant for variant in subject_named(self.base).variants}
        names = {variant.name for variant in self.variants}
        laid = (variant for variant in self.variants if variant.name not in before)
        return (*laid, *(variant for name, variant in before.items() if name not in names))

    @property
    def uncounted(self) -> tuple[str, ...]:
        """What it changes and nobody counts: constants and fields, by place."""
        return tuple(one.place for variant in self.changes for one in variant.replacements if not is_counted(one))

    def said_first(self, command: str) -> list[str]:
        """What people must know of a file's variant before it is judged, in lines: the repairs that cover it.

        command -- the beginning of the command that judges a variant, up to its file.
        """
        if self.top is None or self.file is None or self.base is None:
            return []
        repairs = [one for one in subject_named(self.base).variants if one.kind == "repair"]
        if found := covers(repairs, self.top):
            hazards = {*self.undone, *(hazard for repair, _ in found for hazard in repair.hazards)}
            return [f"{self.title}: {_listed(found)}. What it does there may not show; to judge it without them:",
                    f"    {command} {shlex.quote(self.file)} --base {repaired_without(hazards)}"]
        if self.composed.left_out and (found := covers(self.composed.left_out, self.top)):
            return [f"{self.title}: the base is {self.base}; on {REPAIRED} {_listed(found)}"]
        return []

    @contextmanager
    def telling_mistakes(self) -> Iterator[None]:
        """Raise BadInputError, one line, for an error of the block that comes from a file of one's own."""
        try:
            yield
        except Exception as error:
            if told := blamed(error, self.composed.files, ("impl", "invariants.views"), JUDGES):
                raise BadInputError(told) from error
            raise

    @contextmanager
    def running(self) -> Iterator[Calls]:
        """What is made and run in the block is this subject; the block is given how often its changes are called.

        Raises BadInputError, one line, when a variant does not fit the implementation.
        """
        with ExitStack() as stack:
            try:
                calls = stack.enter_context(active(self.variants, self.changes))
            except VariantError as error:
                raise BadInputError(str(error)) from error
            yield calls

    def hazards(self, name: str) -> tuple[str, ...]:
        """The hazards that break a property of this subject: those of its base, but for what a repair on top ends."""
        declared = OF_RUNS[name].hazards if name in OF_RUNS else DECLARED[name].expected.hazards
        return tuple(hazard for hazard in declared if self.has(hazard))

    def has(self, hazard: str) -> bool:
        """Whether a hazard is there: nothing repairs it, or its repairs are left out."""
        if any(hazard in one.hazards for one in self.composed.laid if one.kind == "repair"):
            return False
        return self.composed.shipped or hazard in NO_REPAIR or hazard in self.opened

    @property
    def opened(self) -> frozenset[str]:
        """The hazards of all repairs that are left out: those that the name says, and what else comes back."""
        return frozenset(hazard for one in self.composed.left_out for hazard in (*one.hazards, *one.opens))

    @property
    def undone(self) -> tuple[str, ...]:
        """The hazards whose repairs are left out on purpose."""
        return self.composed.without

    def may_break(self, name: str) -> bool:
        """Whether a property may be broken, but by nothing that runs must meet.

        4.9.3 as shipped is expected to break it, and so is a subject without the repair of one of its hazards. What has
        no repair, and what one more hazard of a repair breaks that is left out, need not be met.
        """
        hazards = self.hazards(name)
        return not self.composed.shipped and bool(hazards) and not set(self.undone).intersection(hazards)

    def expected(self, name: str) -> Outcome:
        """The outcome that a campaign expects of a property."""
        return Outcome.VIOLATED if self.hazards(name) else Outcome.HOLDS

    def explains(self, key: Sequence[str]) -> bool:
        """Whether a hazard of this subject explains a finding.

        4.9.3 as shipped, and a subject without the repair of a hazard, break what names the hazard. Of a hazard that no
        repair ends the cause must have been seen in the run. key -- property and signature.
        """
        hazards = self.hazards(key[0])
        if self.composed.shipped:
            return bool(hazards)
        return any(put_down_to(hazard) in key for hazard in hazards) or self.masks(key)

    def masks(self, key: Sequence[str]) -> bool:
        """Whether a finding may be that of a hazard whose repair the base lacks, and whose cause nobody looks for.

        Then it does not tell of a variant on top. key -- property and signature.
        """
        hazards = self.hazards(key[0])
        put_down = any(put_down_to(hazard) in key for hazard in hazards)
        return not put_down and any(self.composed.shipped or hazard in self.opened for hazard in hazards)


def _listed(found: Sequence[tuple[Variant, str]]) -> str:
    """The repairs that cover something, and what."""
    repairs = dict.fromkeys(f"{repair.name} ({', '.join(repair.hazards)})" for repair, _ in found)
    places = dict.fromkeys(place for _, place in found)
    return f"{', '.join(places)} would be covered by {', '.join(repairs)}"


@lru_cache(maxsize=256)
def subject_named(name: str) -> Subject:
    """The subject of a name; raises BadInputError, one line, when there is none or its file is none."""
    try:
        return Subject(composed(name))
    except VariantError as error:
        raise BadInputError(str(error)) from error


def subject_on(base: str | None, variant: str) -> str:
    """The whole name of the subject in which a variant lies on a base.

    base -- a subject, whose name may itself be that of a file; None: what the kind of the variant says.
    variant -- the name of a planted bug, or a file. Raises BadInputError, one line, when one of them is none.
    """
    return subject_named(variant if base is None else f"{subject_named(base).name}+{variant}").name
