"""What worlds judge: the declared properties, and that each concept is refined."""

from __future__ import annotations

from invariants.concepts import CONCEPTS, PROPERTIES
from invariants.rules.declared import BY_NAME
from invariants.rules.rule import Rule
from model.language import Property

DECLARED: dict[str, Property | type[Rule]] = {**PROPERTIES, **BY_NAME}
"""Every property of a protocol, or of runs, by name."""

REFINES: dict[str, tuple[str, ...]] = {concept.refines: concept.hazards for concept in CONCEPTS}
"""Every step of the implementation is a step of the model; with the hazards of RocketMQ as shipped that are none."""
