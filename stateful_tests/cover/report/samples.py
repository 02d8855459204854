"""Realistic rows and evidence for the tests of the report: traces, a counterexample, a graph, a hundred rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from invariants import evidence
from invariants.relied_on import RELIED_ON
from invariants.verdict import Outcome, Subject, Verdict

TRACE, SUBSCRIPTION, LOCK, ALLOCATION, GRAPH = (
    "evidence/one_owner_per_queue.json", "evidence/subscription.json", "evidence/order_lock.json",
    "evidence/allocation.json", "evidence/graph.json",
)
MISSING = "evidence/never_written.json"
_HEARTBEAT = "ConsumerManager#registerConsumer"
_FETCH = "MQClientInstance#findConsumerIdList"
_APPLY = "RebalanceImpl#updateProcessQueueTableInRebalance"


def row(name: str, judge: str, subject: str, outcome: str = "holds", **more: Any) -> Verdict:
    """A row whose expectation is its outcome unless told otherwise."""
    kind = more.pop("kind", "model")
    expected = Outcome(more.pop("expected", outcome))
    details = more.pop("details", {"concept": subject.split(maxsplit=1)[0]})
    replay = more.pop("replay", f"rocketproof {judge} --property {name} --scope '{subject}'")
    return Verdict(property=name, judge=judge, subject=Subject(kind, subject, details), expected=expected,
                   outcome=Outcome(outcome), replay=replay, **more)


def step(
    action: str, arguments: dict[str, str], cite: str, changes: list[tuple[str, str, str]], **more: Any,
) -> dict[str, Any]:
    """One step of a trace; flow and environment by keyword."""
    return {
        "action": action, "arguments": arguments, "cite": cite, "flow": more.get("flow"),
        "environment": more.get("environment", False),
        "changes": [{"cell": cell, "before": before, "after": after} for cell, before, after in changes],
    }


def group_trace() -> dict[str, Any]:
    """Two owners of one queue: the second member joins, and the first has not rebalanced yet (D1)."""
    verdict = row("one_owner_per_queue", "explore", "consumer_group 2 members, 2 queues, 2 brokers", "violated")
    a, b, one, two = "member-a", "member-b", "broker-1", "broker-2"
    steps = [
        step("start", {"m": a}, "DefaultMQPushConsumerImpl#start", [(f"up[{a}]", "false", "true")]),
        step("heartbeat", {"b": one, "m": a}, _HEARTBEAT, [(f"listed[{one}, {a}]", "false", "true")], flow=[a, one]),
        step("fetch", {"b": one, "m": a}, _FETCH,
             [(f"answer[{a}]", "{}", f"{{{a}}}"), (f"fetched[{a}]", "false", "true")], flow=[one, a]),
        step("apply", {"m": a}, _APPLY,
             [(f"holds[{a}, queue-0]", "false", "true"), (f"holds[{a}, queue-1]", "false", "true"),
              (f"fetched[{a}]", "true", "false")]),
        step("start", {"m": b}, "DefaultMQPushConsumerImpl#start", [(f"up[{b}]", "false", "true")]),
        step("heartbeat", {"b": two, "m": b}, _HEARTBEAT, [(f"listed[{two}, {b}]", "false", "true")], flow=[b, two]),
        step("forget", {"b": two, "m": a}, "ConsumerManager#doChannelCloseEvent, #scanNotActiveChannel", [],
             environment=True),
        step("fetch", {"b": two, "m": b}, _FETCH,
             [(f"answer[{b}]", "{}", f"{{{b}}}"), (f"fetched[{b}]", "false", "true")], flow=[two, b]),
        step("apply", {"m": b}, _APPLY,
             [(f"holds[{b}, queue-0]", "false", "true"), (f"holds[{b}, queue-1]", "false", "true"),
              (f"fetched[{b}]", "true", "false")]),
    ]
    initial = {f"{table}[{member}]": value for table, value in (("up", "false"), ("answer", "{}"), ("fetched", "false"))
               for member in (a, b)}
    return evidence.document(
        verdict, "trace", "queue-0 and queue-1 are held by member-a and by member-b at the same time.",
        initial=initial, steps=steps, lifelines=[a, b, one, two])


def subscription_trace() -> dict[str, Any]:
    """A member that subscribes differently overwrites the group's subscription: eight steps, five lifelines."""
    verdict = row("subscriptions_do_not_overwrite", "explore", "subscription 2 members", "violated")
    c1, c2, broker = "192.168.0.17@41233", "192.168.0.18@9321", "broker-a"
    said = {"consumer_group": "orders", "topic": "TopicA", "expression": "TagA || TagB"}
    steps = [
        step("subscribe", {"topic": "TopicA", "expression": "TagA || TagB", "at": c1},
             "DefaultMQPushConsumer#subscribe", [(f"wants[{c1}, TopicA]", "–", "TagA || TagB")]),
        step("lookupRoute", {"topic": "TopicA"}, "MQClientInstance#updateTopicRouteInfoFromNameServer",
             [(f"route[{c1}]", "–", broker)], flow=["namesrv", c1]),
        step("heartbeat", said, "ConsumerGroupInfo#updateSubscription", [("sub[TopicA]", "–", "TagA || TagB v1")],
             flow=[c1, broker]),
        step("subscribe", {"topic": "TopicA", "expression": "TagC", "at": c2}, "DefaultMQPushConsumer#subscribe",
             [(f"wants[{c2}, TopicA]", "–", "TagC")]),
        step("partition", {"from": c1, "to": broker}, "network", [("link", "up", "down")], environment=True,
             flow=[c1, broker]),
        step("heartbeat", {**said, "expression": "TagC"}, "ConsumerGroupInfo#updateSubscription",
             [("sub[TopicA]", "TagA || TagB v1", "TagC v2")], flow=[c2, broker]),
        step("crash", {"m": "disk of broker-a"}, "kill -9", [("confirmed", "7", "5")], environment=True),
        step("pullMessage", {"q": "TopicA/broker-a/0", "offset": "7"}, "PullMessageProcessor#processRequest",
             [(f"next[{c1}]", "7", "9"), ("skipped", "{}", "{7, 8}")], flow=[broker, c1]),
    ]
    return evidence.document(
        verdict, "trace", "member 192.168.0.17@41233 asked for TagA || TagB and is filtered by TagC.",
        initial={}, steps=steps, lifelines=["namesrv", broker, c1, c2, "operator"])


def lock_trace() -> dict[str, Any]:
    """Three steps on two lifelines, one of them a message to itself; text that tries to be markup."""
    verdict = row("one_lock_holder", "explore", "order_lock 2 members", "violated")
    steps = [
        step("lockBatchMQ", {"client": "<b>a</b>"}, "RebalanceLockManager#tryLockBatch", [("lock", "–", "<b>a</b>")],
             flow=["<b>a</b>", "broker"]),
        step("elapse", {"ms": "60001"}, "RebalanceLockManager#isExpired", [("age", "0", "60001")], environment=True),
        step("scan", {"what": "expired"}, "", [("lock", "<b>a</b>", "& b")], flow=["broker", "broker"]),
    ]
    return evidence.document(verdict, "trace", "</script><script>window.broken = 1</script> holds the lock & b too.",
                             initial={"lock": "–"}, steps=steps, lifelines=["<b>a</b>", "broker"])


def allocation_counterexample() -> dict[str, Any]:
    """Two members with different views of the queues: one queue has two owners, one has none."""
    verdict = row("allocation_is_exclusive", "exhaust", "averagely", "violated", kind="strategy")
    return evidence.document(
        verdict, "counterexample", "queue 1 is given to both members, queue 2 to none.",
        arguments={"strategy": "AllocateMessageQueueAveragely", "queues seen by a": ["q0", "q1"],
                   "queues seen by b": ["q0", "q1", "q2"], "members": ["a", "b"]},
        results={"a": ["q0", "q1"], "b": [], "error": None},
        table={"columns": ["queue", "a's view", "b's view", "owners"],
               "rows": [["q0", "a", "a", "a"], ["q1", "b", "a", "a, b"], ["q2", "–", "b", "none"]]})


def small_graph(states: int = 60) -> dict[str, Any]:
    """A graph of 60 states in layers, some of whose steps go back."""
    verdict = row("one_owner_per_queue", "explore", "consumer_group 2,1", "violated")
    nodes = [{"id": at, "depth": (at + 1).bit_length() - 1,
              "cells": {"up": "{a}", "listed": str(at % 7), "$answer": str(at)}} for at in range(states)]
    edges = [{"source": at, "target": to, "action": action, "arguments": {"m": "a"}} for at in range(states)
             for to, action in ((2 * at + 1, "heartbeat"), (2 * at + 2, "fetch"), (at // 3, "forget <all>"))
             if to < states and (action != "forget <all>" or at % 9 == 0)]
    return evidence.document(verdict, "graph", "All states of one queue and two members.", nodes=nodes, edges=edges)


def documents() -> dict[str, dict[str, Any]]:
    """Every sample by the name that its row gives."""
    return {TRACE: group_trace(), SUBSCRIPTION: subscription_trace(), LOCK: lock_trace(),
            ALLOCATION: allocation_counterexample(), GRAPH: small_graph()}


def hundred_rows() -> list[Verdict]:
    """A hundred rows of all judges; two differ, two are unknown, one lacks its evidence, one is hostile."""
    rows = [
        row("one_owner_per_queue", "explore", "consumer_group 2 members, 2 queues, 2 brokers", "violated",
            evidence=TRACE, hazard=("D1", "D2", "D4"),
            cost={"states": 19683, "transitions": 250047, "depth": 9, "cut": 0, "cpu_seconds": 0.4213},
            note="A member that joins takes queues which their owner has not given up yet."),
        row("subscriptions_do_not_overwrite", "explore", "subscription 2 members", "violated", evidence=SUBSCRIPTION,
            hazard=("D8",), cost={"states": 812, "transitions": 4000, "depth": 8, "cut": 12, "cpu_seconds": 0.02}),
        row("one_lock_holder", "explore", "order_lock 2 members", "violated", expected="holds", evidence=LOCK,
            cost={"states": 99, "transitions": 300, "depth": 3, "cut": 0, "cpu_seconds": 0.01},
            note="<img src=x onerror='window.broken = 1'>"),
        row("allocation_is_exclusive", "exhaust", "averagely", "violated", kind="strategy", evidence=ALLOCATION,
            hazard=("D3",), cost={"inputs": 512, "cpu_seconds": 0.08}, details={"concept": "allocation"}),
        row("allocation_is_exclusive", "prove", "averagely", kind="strategy", cost={"obligations": 12, "seconds": 0.42},
            details={"concept": "allocation"}),
        row("start_offset_is_in_range", "prove", "next_offset", "unknown", expected="holds", kind="decision",
            cost={"obligations": 3, "seconds": 20.0}, note="The solver gave up after 20 s.", evidence=MISSING),
        row("routes_expire", "explore", "route_info 3,3", "unknown", expected="holds",
            cost={"states": 41000000, "transitions": 600000000, "depth": 17, "cut": 0, "cpu_seconds": 61.5},
            note="Stopped at 2 GiB of states."),
        row("real_and_ours_agree", "conform", "allocation-average-circle-hash.jsonl.gz", kind="recording",
            cost={"rows": 54321, "different": 0}, details={"concept": "allocation"}),
        row("real_and_ours_agree", "conform", "allocation-machine-room.jsonl.gz", "violated", expected="holds",
            kind="recording", cost={"rows": 8000, "different": 3}, details={"concept": "allocation"}),
        row("decisions_hold", "campaign", "decisions n ≤ 64, m ≤ 24", kind="decision", seed=42,
            cost={"runs": 1_200_000, "cpu_seconds": 58.2}, details={"concept": "allocation"}),
    ]
    rows += [row(name, "explore" if at % 2 else "machine", "process_queue 2,4",
                 cost={"states": 100 * at, "cpu_seconds": 0.1}) for at, name in enumerate(RELIED_ON)]
    return rows + [_plain(at) for at in range(100 - len(rows))]


def _plain(at: int) -> Verdict:
    """One of many rows that hold as expected."""
    concepts = ("consumer_group", "subscription", "order_lock", "route_info", "process_queue")
    judges = ("prove", "explore", "machine", "check")
    concept, judge = concepts[at // 4 % 5], judges[at % 4]
    proof, search = {"obligations": at + 1, "seconds": 0.013 * (at + 1)}, {"states": 37 * at, "cpu_seconds": 0.01 * at}
    name, scope = f"{concept}_property_{at // 20}", f"{concept} {at % 3 + 1},2"
    return row(name, judge, scope, cost=proof if judge == "prove" else search)


PLANTED = "evidence/planted.json"


def planted_row(name: str, mutation: str, outcome: str = "violated", **more: Any) -> Verdict:
    """A row about a bug that was planted into a model: expected to be noticed."""
    details = {"concept": "Group", "kind": "always", "mutation": mutation}
    return row(name, "explore", "group 1,2,2", outcome, expected="violated", details=details,
               cost={"states": 890, "transitions": 5000, "cpu_seconds": 0.01}, note=f"planted: {mutation}", **more)


def grouped_rows() -> list[Verdict]:
    """Rows as judges write them today: kinds, premises, several scopes, planted bugs, claims, recordings."""
    promised = [one for at in range(18) for one in _scopes(f"promise_{at:02}", "Group" if at % 2 else "OrderLock")]
    given = {"concept": "Convergence", "kind": "always", "given": ["distinct_ids", "leases_fit"]}
    claim, inputs = {"claim": "averagely_is_total"}, {"inputs": "equal lists"}
    return [
        *promised,
        row("ownership_converges", "prove", "consumer_group.Convergence", details=given,
            cost={"obligations": 21, "seconds": 1.0}),
        row("a_promise_by_steps", "explore", "filters", details={"concept": "Filters", "kind": "step"}),
        row("only_the_living_hold", "explore", "group 1,2,2", details={"concept": "Group", "kind": "lemma"}),
        row("two_members_share", "explore", "group 1,2,2", details={"concept": "Group", "kind": "sometimes"}),
        row("well_defined", "explore", "group 1,2,2", details={"concept": "Group", "kind": "scope"}),
        row("well_defined", "explore", "order lock", details={"concept": "OrderLock", "kind": "scope"}),
        row("leases_fit_is_needed", "prove", "order_lock.OrderLock", details={"concept": "OrderLock", "kind": "run"}),
        row("allocation_is_total", "exhaust", "allocation.averagely", kind="decision", details=claim),
        row("allocation_is_total", "exhaust", "AVG", "violated", kind="strategy", details=inputs, hazard=("A-4",)),
        row("conforms_to_recordings", "conform", "names.jsonl", kind="recording", cost={"rows": 8, "different": 0},
            details={"java": "AllocateMessageQueueStrategy#getName"}),
        planted_row("promise_00", "crash without the assignment of holds", evidence=PLANTED),
        planted_row("promise_00", "elapse without guard 0"),
    ]


def _scopes(name: str, concept: str) -> list[Verdict]:
    """A promise that hazards break in two of three scopes."""
    details = {"concept": concept, "kind": "always"}
    cost = {"states": 1000, "transitions": 9000, "depth": 17, "cut": 0, "cpu_seconds": 0.5}
    broken = [row(name, "explore", f"{concept}, {hazard}", "violated", hazard=(hazard,), details=details, cost=cost,
                  evidence=TRACE if (name, hazard) == ("promise_00", "B-2") else None) for hazard in ("B-10", "B-2")]
    return [*broken, row(name, "explore", concept, details=details, cost=cost)]


def grouped_documents() -> dict[str, dict[str, Any]]:
    """The evidence of the grouped rows: a violation, and a planted bug that was noticed."""
    return {TRACE: group_trace(), PLANTED: lock_trace()}


def write_grouped(directory: Path) -> None:
    """A result directory with the grouped rows."""
    lines = "".join(f"{one.to_json()}\n" for one in grouped_rows())
    (directory / "verdicts.jsonl").write_text(lines, encoding="utf-8")
    for name, body in grouped_documents().items():
        evidence.write(directory / name, body)


def write(directory: Path) -> None:
    """A result directory as judges write it: rows in two files, evidence beside them."""
    rows = hundred_rows()
    for name, part in (("explore.jsonl", rows[:50]), ("nested/others.jsonl", rows[50:])):
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{row.to_json()}\n" for row in part), encoding="utf-8")
    for name, body in documents().items():
        evidence.write(directory / name, body)
