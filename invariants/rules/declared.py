"""All rules: whoever imports this module has them declared."""

from __future__ import annotations

from importlib import import_module

from invariants.rules.rule import RULES, Ascription, Promise, Rule

__all__ = ["BY_NAME", "CONCEPTS", "RULES"]

CONCEPTS = (
    "abandoned_queues", "administration", "answered_once", "applications", "ascriptions", "attempts", "beginnings",
    "beginnings_of_groups", "begun_again", "broken_connections", "brokered_messages", "busy_brokers",
    "causes_in_groups", "causes_of_locks", "causes_of_offsets", "causes_of_routes", "causes_of_shares", "clients",
    "consumption", "copies", "delays", "deliveries", "drawn_brokers", "expiries", "group_tables", "half_messages",
    "held_back", "held_pulls", "inquiries", "inspections", "known_brokers", "lateness", "leaving", "listener_threads",
    "listening", "locks", "membership", "notices", "observed", "offsets", "orders", "ownership", "permissions",
    "polling", "polling_in_time", "progress", "promises", "pull_answers", "pulling", "records", "registration",
    "replicated_logs", "reported_copies", "requests", "resets", "retries", "routes", "seeking", "sending",
    "server_files", "shares", "shunned_brokers", "space", "store_answers", "stored_codes", "stored_logs",
    "stored_queues", "subscriptions", "transactions", "unanswered",
)
"""The modules that declare rules; a new one belongs here."""

_PLACES = {import_module(f"invariants.rules.{concept}").__name__: place for place, concept in enumerate(CONCEPTS)}
_ORDERED = sorted(RULES.items(), key=lambda one: _PLACES.get(one[1].__module__, len(CONCEPTS)))
RULES.clear()  # their order is that of verdicts, and must not be that in which modules happened to be imported
RULES.update(_ORDERED)

BY_NAME: dict[str, type[Rule]] = {
    rule.name: rule for rule in RULES.values() if not (rule.judges and issubclass(rule, Ascription | Promise))
}
"""The rules that judge runs at each step, by property: one that they declare, or that a model declares."""
