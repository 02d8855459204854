"""What is judged: RocketMQ 4.9.3 as shipped, repaired, or repaired with one bug planted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from impl.variants.catalogue import NO_REPAIR, variants_of
from impl.variants.variant import Variant, VariantError, active
from invariants.verdict import BadInputError, Outcome
from stateful_tests.worlds.promised import DECLARED, REFINES

SHIPPED = "shipped"


@dataclass(frozen=True, slots=True)
class Seen:
    """Something that went wrong.

    property -- its name. signature -- the same for all runs that go wrong in the same way. time_ms -- of the world.
    sentence -- what people read.
    """

    property: str
    signature: tuple[str, ...]
    time_ms: int
    sentence: str


@dataclass(frozen=True)
class Subject:
    """RocketMQ 4.9.3 under some variants.

    name -- shipped, repaired, repaired+BUG, repaired-HAZARD or repaired+FILE. variants -- what is replaced.
    """

    name: str
    variants: tuple[Variant, ...]

    @property
    def is_control(self) -> bool:
        """Whether nothing but what has no repair may go wrong."""
        return self.name == "repaired"

    @contextmanager
    def running(self) -> Iterator[None]:
        """What is made and run in the block is this subject."""
        with active(self.variants):
            yield

    def hazards(self, name: str) -> tuple[str, ...]:
        """The hazards that break a property of this subject; for a planted bug, those that have no repair."""
        declared = REFINES[name] if name in REFINES else DECLARED[name].expected.hazards
        if self.name == SHIPPED:
            return declared
        undone = self.name.removeprefix("repaired-")
        return tuple(hazard for hazard in declared if hazard in NO_REPAIR or hazard == undone)

    def expected(self, name: str) -> Outcome:
        """The outcome that a campaign expects of a property."""
        return Outcome.VIOLATED if self.hazards(name) else Outcome.HOLDS

    def surprises(self, seen: Iterable[Seen]) -> list[Seen]:
        """What breaks a property that this subject is expected to keep."""
        return [one for one in seen if self.expected(one.property) is Outcome.HOLDS]


@lru_cache(maxsize=64)
def subject_named(name: str) -> Subject:
    """The subject of a name; raises BadInputError, one line, when there is none or its file is none."""
    try:
        return Subject(name, tuple(variants_of(name)))
    except VariantError as error:
        raise BadInputError(str(error)) from error
