"""Mutations that must spoil a proof: what is proved in spite of one says nothing about it."""

from __future__ import annotations

from itertools import chain

from model.language import Mutation, Property
from proofs.apart import apart
from proofs.obligations import Induction
from proofs.ranking import owed
from proofs.solve import Answer, Questions
from proofs.solvers import ByZ3
from proofs.written import Written

HASTE = 20_000
PATIENCE = 200_000
"""Z3's resource units for a question. Most refutations are found in haste, and each is enough. A proof that is not
found is what a mutation shall bring about; the hardest one of the catalogue takes a quarter of what it is given."""


def unnoticed(
    declared: Property, reading: Written, induction: Induction, seed: int, timeout_ms: int, *, carefully: bool,
) -> str:
    """Name a mutation that the proof of a property does not notice, or ""; that a proof fails is for Z3 to say.

    carefully -- ask of each mutation in a process of its own. The limit of effort, which hardly any true proof meets,
    can crash Z3. Then nothing is proved, which is noticed.
    """
    hasty, patient = (ByZ3(reading, Questions((seed,), timeout_ms, effort)) for effort in (HASTE, PATIENCE))

    def proved_all_the_same(mutation: Mutation) -> str:
        changed = induction.mutated(mutation)
        left = []
        for one in chain(changed.of_lemmas(changed.lemmas), owed(changed, declared), changed.of_actions()):
            answer = hasty.asked(one).answer if one.action else Answer.PROVED
            if answer is Answer.REFUTED:
                return ""
            left += [one] if answer is Answer.UNKNOWN else []
        proved = all(patient.asked(one).answer is Answer.PROVED for one in left)
        return str(mutation) if proved else ""

    said = (apart(declared.broken_by, proved_all_the_same, lambda *_: "") if carefully
            else map(proved_all_the_same, declared.broken_by))
    return next(filter(None, said), "")
