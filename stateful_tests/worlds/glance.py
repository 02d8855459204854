"""A glance at runs: one run of RocketMQ as shipped in which a property has something to say.

It is no search; machines and campaigns are. Of a property that hazards break a run is known that shows it, or none.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from impl.events import HOST_EVENTS
from impl.variants.subjects import SHIPPED
from invariants import evidence
from invariants.finding import Finding
from invariants.rules.bounds import Bounds
from invariants.rules.declared import BY_NAME
from invariants.rules.facts import Facts
from invariants.rules.observed import Observed
from invariants.rules.watch import Run
from invariants.runs import CAMPAIGN, further
from invariants.verdict import Outcome, Verdict
from stateful_tests.worlds.evidence import documents, verdict_of
from stateful_tests.worlds.profiles import STRATEGIES
from stateful_tests.worlds.run import Plan, RunRecord, lived
from stateful_tests.worlds.subjects import subject_named
from stateful_tests.worlds.workloads import WORKLOADS
from stateful_tests.worlds.world import World

_FIRST = ("smallest_ordered", "resets", "promotion", "operators")
"""Workloads in which most rules hear something."""
MET: Mapping[str, tuple[str, str, str, int]] = {
    "acknowledged_is_delivered": ("stored_sync", "disks", "uniform", 1),
    "order_is_kept": ("sending_in_order", "calm", "uniform", 0),
    "one_owner_at_once": ("stored", "calm", "uniform", 0),
    "delivered_was_sent": ("stored_sync", "calm", "uniform", 0),
    "committed_offset_never_goes_back": ("stored_sync", "calm", "uniform", 0),
    "listener_begins_under_a_fresh_lock": ("ordered_listeners", "storm", "uniform", 0),
    "listener_keeps_its_lock": ("ordered_listeners", "crashes", "focus", 55),
    "settled_is_committed": ("listeners", "clocks", "focus", 592),
    "refines_retry": ("stored_retry", "disks", "uniform", 0),
    "refines_commit_log": ("stored_sync", "disks", "uniform", 1),
    "refines_replication": ("replicated", "disks", "uniform", 24_969_713),
    "slave_log_is_a_prefix": ("replicated_sync", "crashes", "uniform", 0),
    "acknowledged_message_is_on_the_slave": ("replicated_sync", "crashes", "uniform", 0),
    "slave_keeps_its_connection": ("replicated", "calm", "uniform", 0),
    "time_out_is_over": ("stored_sync", "calm", "uniform", 0),
    "dispatch_goes_forward": ("stored_sync", "calm", "uniform", 0),
    "every_message_is_settled": ("other_topics", "calm", "uniform", 0),
    "ended_half_message_is_left_alone": ("transactions", "calm", "uniform", 0),
    "check_passes_every_op_message": ("transactions", "disks", "uniform", 3),
    "copy_is_the_message": ("transactions", "calm", "uniform", 0),
    "reset_goes_to_its_time": ("resets", "calm", "uniform", 1),
    "time_leads_to_its_first_message": ("bothered", "calm", "uniform", 1),
    "orders_are_kept": ("administered", "calm", "uniform", 0),
    "orders_change_nothing_else": ("administered", "calm", "uniform", 0),
    "key_values_survive": ("administered", "calm", "uniform", 1),
    "who_consumes_is_answered": ("operators", "calm", "uniform", 5),
    "group_offsets_go_with_the_group": ("operators", "calm", "uniform", 5),
    "delays_are_waited": ("delayed", "storm", "uniform", 0),
    "retries_wait_longer_each_time": ("stored_retry", "storm", "uniform", 0),
    "unit_has_the_code_of_its_record": ("stored_retry", "storm", "uniform", 0),
    "refines_process_queue": ("resets", "threads", "uniform", 1),
}
"""Workload, profile, strategy and seed of runs in which a property is met that most others do not meet."""


@dataclass(frozen=True, slots=True)
class Looked:
    """A run, how many of its events or segments a property has judged, and of which kind they are."""

    plan: Plan
    seed: int
    record: RunRecord
    judged: int
    kind: str

    def of(self, name: str) -> Finding | None:
        """What was seen of a property."""
        return next((one for one in self.record.seen if one.property == name), None)


def is_known(name: str) -> bool:
    """Whether a run is known that shows what is expected of a property, or any run will do."""
    return name in MET or not subject_named(SHIPPED).hazards(name)


def verdicts(names: Collection[str], out: Path | None = None) -> Iterator[Verdict]:
    """A verdict on RocketMQ as shipped for each of these properties of runs; out -- folder for evidence.

    It is unknown where no run has met the property, or shown what is expected of it.
    """
    return (_verdict(name, out) for name in names)


def _verdict(name: str, out: Path | None) -> Verdict:
    started, broken = time.process_time(), bool(subject_named(SHIPPED).hazards(name))
    looked = next((one for one in _runs(name, broken=broken) if (one.of(name) if broken else one.judged)), None)
    cost = {"cpu_seconds": round(time.process_time() - started, 1)}
    if looked is None:
        why = "no story and no run is known that shows it" if broken else "not met in a run of each workload"
        return verdict_of(Plan(SHIPPED), CAMPAIGN, name, Outcome.UNKNOWN, f"{why}{further(name)}", cost=cost,
                          replay=f"rocketproof campaign --subject shipped --property {name}")
    found, record = looked.of(name), looked.record
    outcome = Outcome.VIOLATED if found is not None else Outcome.UNKNOWN if record.unknown else Outcome.HOLDS
    said = found.sentence if found is not None else record.unknown or f"{looked.judged:,} {looked.kind} of one run"
    row = verdict_of(looked.plan, CAMPAIGN, name, outcome, f"{said}{further(name)}",
                     replay=f"rocketproof verify {name}", cost={"runs": 1, "segments": record.segments, **cost},
                     seed=looked.seed, key=() if found is None else found.key)
    if found is None or out is None:
        return row
    document = documents(looked.plan, record.choices, [(row, found.key)])[0]
    return row if document is None else evidence.saved(row, document, out, f"glance-{name}")


def _runs(name: str, *, broken: bool) -> Iterator[Looked]:
    known = [MET[name]] if name in MET else []
    others = ((workload, "storm", "uniform", 0) for workload in dict.fromkeys([*_FIRST, *WORKLOADS]))
    for *words, seed in known if broken else (*known, *others):
        plan = Plan(SHIPPED, *words)
        with lived(plan, STRATEGIES[plan.strategy](seed), until=(name,) if broken else ()) as (world, record):
            yield Looked(plan, seed, record, *_judged(name, plan, world, record))


def _judged(name: str, plan: Plan, world: World, record: RunRecord) -> tuple[int, str]:
    """How many events a rule has heard, or operations a check was shown; else how many segments were followed."""
    if (rule := BY_NAME.get(name)) is not None and issubclass(rule, Observed):
        is_observed = rule.check in WORKLOADS[plan.workload].observed
        return len(world.notes.history()) if is_observed else 0, "operations"
    heard = heard_by(name, world) if name in BY_NAME else set[type]()
    if not heard:
        return record.segments, "segments"
    return sum(event.__class__ in heard for _, _, event in world.simulation.kernel.records), "events"


def heard_by(name: str, world: World) -> set[type]:
    """The events that a rule judges by, but for what befalls processes and machines."""
    rule = BY_NAME[name](Run(Facts(), world.views, Bounds()))
    return {kind for hears in (rule.before(), rule.after()) for kind, _ in hears} - {*HOST_EVENTS}
