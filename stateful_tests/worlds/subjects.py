"""What is judged: RocketMQ 4.9.3 as shipped, repaired, or repaired with one bug planted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache

from impl.variants.catalogue import NO_REPAIR, REPAIRED, SHIPPED, variants_of
from impl.variants.stack import Calls, active
from impl.variants.variant import Variant, VariantError
from invariants.concepts import PROPERTIES
from invariants.finding import put_down_to
from invariants.rules.declared import BY_NAME
from invariants.rules.rule import Rule
from invariants.runs import OF_RUNS
from invariants.verdict import BadInputError, Outcome
from model.language import Property

DECLARED: dict[str, Property | type[Rule]] = {**PROPERTIES, **BY_NAME}
"""Every property of a protocol, or of runs, by name."""


@dataclass(frozen=True)
class Subject:
    """RocketMQ 4.9.3 under some variants.

    name -- shipped, repaired, repaired+BUG, repaired-HAZARD or repaired+FILE. variants -- what is replaced.
    """

    name: str
    variants: tuple[Variant, ...]

    @property
    def base(self) -> str | None:
        """The subject that this one is compared with; None for those that are compared with nothing."""
        return None if self.name in {SHIPPED, REPAIRED} else REPAIRED

    @property
    def title(self) -> str:
        """The name for people: of a file the name that its variant gives itself."""
        return f"{REPAIRED}+{self.variants[-1].name}" if self.file else self.name

    @property
    def file(self) -> str | None:
        """The path of the file that the variant on top is from; None if it is of the catalogue."""
        return self.name.partition("+")[2] if self.name.endswith(".py") else None

    @property
    def changes(self) -> tuple[Variant, ...]:
        """What makes it another subject than its base: the bug that is planted, the repairs that are left out."""
        if self.base is None:
            return ()
        repairs = variants_of(REPAIRED)
        planted = tuple(variant for variant in self.variants if variant not in repairs)
        return (*planted, *(repair for repair in repairs if repair not in self.variants))

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
        """The hazards that break a property of this subject; for a planted bug, those that have no repair."""
        declared = OF_RUNS[name].hazards if name in OF_RUNS else DECLARED[name].expected.hazards
        if self.name == SHIPPED:
            return declared
        return tuple(hazard for hazard in declared if hazard in NO_REPAIR or hazard == self.undone)

    @property
    def undone(self) -> str | None:
        """The hazard whose repairs are left out on purpose."""
        return self.name.removeprefix(f"{REPAIRED}-") if self.name.startswith(f"{REPAIRED}-") else None

    def may_break(self, name: str) -> bool:
        """Whether a property may be broken, but by hazards alone that no repair ends: nothing that runs must meet.

        4.9.3 as shipped is expected to break it, and so is a subject without the repair of one of its hazards.
        """
        hazards = self.hazards(name)
        return self.name != SHIPPED and bool(hazards) and self.undone not in hazards

    def expected(self, name: str) -> Outcome:
        """The outcome that a campaign expects of a property."""
        return Outcome.VIOLATED if self.hazards(name) else Outcome.HOLDS

    def explains(self, key: Sequence[str]) -> bool:
        """Whether a hazard of this subject explains a finding.

        4.9.3 as shipped, and a subject without the repair of a hazard, break what names the hazard. Of a hazard that no
        repair ends the cause must have been seen in the run. key -- property and signature.
        """
        hazards = self.hazards(key[0])
        if self.name == SHIPPED:
            return bool(hazards)
        return any(hazard == self.undone or put_down_to(hazard) in key for hazard in hazards)


@lru_cache(maxsize=256)
def subject_named(name: str) -> Subject:
    """The subject of a name; raises BadInputError, one line, when there is none or its file is none."""
    try:
        return Subject(name, tuple(variants_of(name)))
    except VariantError as error:
        raise BadInputError(str(error)) from error
