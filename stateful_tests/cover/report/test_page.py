"""The report page as text: what is on it, that hostile input stays text, and what bad input is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from invariants.hazards import HAZARDS
from invariants.relied_on import RELIED_ON
from invariants.report.graph import LARGEST
from invariants.report.page import render, write_report
from invariants.verdict import BadInputError, Verdict
from stateful_tests.cover.report import samples


class Reader(HTMLParser):
    """Tags and visible text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, attribute: str) -> list[str]:
        return [value for _, attributes in self.tags if (value := attributes.get(attribute)) is not None]

    def lines(self, table: str) -> list[str]:
        """The property of each line of a table, in order."""
        starts = [at for at, (tag, attributes) in enumerate(self.tags) if tag == "table"
                  and table in (attributes.get("class") or "").split()]
        rest = self.tags[starts[0] + 1:]
        end = next((at for at, (tag, _) in enumerate(rest) if tag == "table"), len(rest))
        heads = [attributes for tag, attributes in rest[:end] if tag == "th"]
        return [attributes["data-sort"] or "" for attributes in heads if "data-sort" in attributes]


def read(rows: list[Verdict], evidence: dict[str, dict[str, Any]] | None = None) -> Reader:
    return Reader(render(rows, evidence or {}))


@pytest.fixture(scope="module")
def whole() -> Reader:
    return read(samples.hundred_rows(), samples.documents())


def test_the_head_line_counts_expected_different_and_unknown(whole: Reader) -> None:
    said = " ".join(whole.text.split())
    assert "2 of 100 verdicts differ from what is expected" in said
    assert "96 = as expected 2 ≠ different 2 ? unknown" in said


@pytest.mark.parametrize(("rows", "head"), [
    ([samples.row("a", "prove", "m")], "The verdict is as expected"),
    ([samples.row("a", "prove", "m"), samples.row("b", "prove", "m")], "All 2 verdicts are as expected"),
    ([samples.row("a", "prove", "m", "unknown", expected="holds")], "1 of 1 verdicts unknown, none wrong"),
    ([samples.row("a", "prove", "m", "unknown", expected="unknown")], "1 of 1 verdicts unknown, none wrong"),
    ([samples.row("change_breaks_nothing", "campaign", "m")], "m: nothing got worse; The verdict is as expected"),
    ([samples.row("change_breaks_nothing", "machine", "m", "violated", expected="holds")], "m: something got worse; 1"),
    ([samples.row("planted_bug_is_noticed", "machine", "m", "violated", expected="holds")], "m: it was not noticed; 1"),
    ([samples.row("repair_mends_its_hazards", "machine", "m", "never executed", expected="holds")],
     "m: nobody can say whether what it repairs is fixed (never executed); 1 of"),
])
def test_the_title_says_the_worst_and_unknown_is_no_success(rows: list[Verdict], head: str) -> None:
    assert head in " ".join(read(rows).text.split())


def test_what_users_rely_on_leads_every_table(whole: Reader) -> None:
    for table in ("matrix", "rows"):
        assert list(dict.fromkeys(whole.lines(table)))[:len(RELIED_ON)] == list(RELIED_ON)
    assert len(whole.lines("rows")) == 100


@pytest.fixture(scope="module")
def grouped() -> Reader:
    return read(samples.grouped_rows(), samples.grouped_documents())


def flat(page: Reader) -> str:
    return " ".join(page.text.replace("\N{NO-BREAK SPACE}", " ").split())


def test_a_cell_with_several_rows_is_one_summary_with_its_total_cost(grouped: Reader) -> None:
    said = flat(grouped)
    assert "✗ violated as expected in 2 scopes (B-2, B-10) ✓ holds in 1 3,000 states · CPU 1.5 s" in said
    cells = [attributes for tag, attributes in grouped.tags if tag == "details" and attributes.get("class") == "cell"]
    assert len(cells) == 18 + 1 + 1  # the promises, well_defined, allocation_is_total


def test_a_summary_says_first_what_needs_a_look() -> None:
    rows = [samples.row("a", "explore", "m 1"), samples.row("a", "explore", "m 2", expected="violated"),
            samples.row("a", "explore", "m 3", "unknown", expected="holds"),
            samples.row("a", "explore", "m 4", "violated", hazard=("D1",))]
    assert ("✓ holds against expectation in 1 scope ? unknown in 1 ✗ violated as expected in 1 (D1) ✓ holds in 1"
            in flat(read(rows)))


def test_a_hazard_that_a_violated_row_names_is_a_link_to_what_helps() -> None:
    page = render([samples.row("a", "campaign", "m", "violated", hazard=("D1", "Z-1")),
                   samples.row("b", "explore", "m", hazard=("D4",))], {})
    assert page.count('id="hazard-') == 1
    assert page.count('href="#hazard-D1"') >= 2
    assert '<span class="hazard">Z-1</span>' in page
    assert HAZARDS["D1"].mitigation in unescape(page)


def test_properties_stand_in_groups_headlines_first_then_concept_by_concept(grouped: Reader) -> None:
    rows = grouped.lines("rows")
    names = list(dict.fromkeys(rows))
    assert names[:2] == ["ownership_converges", "a_promise_by_steps"]
    assert names[2:20] == [f"promise_{at:02}" for at in (*range(1, 18, 2), *range(0, 18, 2))]
    assert names[20:22] == ["allocation_is_total", "conforms_to_recordings"]
    assert set(names[22:]) == {"only_the_living_hold", "two_members_share", "leases_fit_is_needed", "well_defined"}
    said = flat(grouped)
    titles = ("Promised (20)", "Decisions and strategies (1)", "Compared with RocketMQ (1)", "Supporting facts (4)")
    assert [said.index(title) for title in titles] == sorted(said.index(title) for title in titles)
    folded = ["open" in attributes for tag, attributes in grouped.tags if attributes.get("class") == "group"]
    assert folded == [True, True, True, False]


def test_a_supporting_fact_that_needs_a_look_is_not_folded() -> None:
    bad = samples.row("a_lemma", "explore", "m", "violated", expected="holds", details={"kind": "lemma"})
    page = read([bad])
    assert ["open" in attributes for _, attributes in page.tags if attributes.get("class") == "group"] == [True]


def test_planted_rows_are_no_verdicts_about_rocketmq(grouped: Reader) -> None:
    said = flat(grouped)
    assert "All 64 verdicts are as expected" in said
    assert "✗ 37 violated" in said
    assert said.count("2 of 2 planted mutations noticed") == 3  # head, the property's line, its own section
    assert len(grouped.lines("planted")) == 2
    assert len(grouped.lines("rows")) == 64
    assert "crash without the assignment of holds group 1,2,2 after 890 states · trace" in said
    assert said.index("Violations, step by step") < said.index("Planted mutations A judge that never objects")
    violations = said[said.index("Violations, step by step"):said.index("Planted mutations A judge that never objects")]
    assert "holds the lock & b too" not in violations


def test_a_planted_bug_that_no_judge_notices_is_said_at_once() -> None:
    missed = samples.planted_row("promise_00", "elapse without guard 0", "holds")
    said = flat(read([samples.row("promise_00", "explore", "m"), missed]))
    assert "1 of 1 planted mutations not noticed" in said
    assert "0 of 1 planted mutation noticed" in said
    assert "Needs a look" in said
    assert "planted mutation: elapse without guard 0" in said
    assert "as expected All" not in said
    unknown = samples.planted_row("promise_00", "elapse without guard 0", "unknown")
    assert "1 of 1 planted mutations not noticed" in flat(read([samples.row("a", "explore", "m"), unknown]))


def test_premises_are_said_where_the_proof_is(grouped: Reader) -> None:
    assert flat(grouped).count("given: distinct_ids, leases_fit") == 2  # in the table, and in the list of rows
    odd = samples.row("a", "prove", "m", details={"given": "x", "kind": ["always"], "concept": 7})
    assert "given:" not in flat(read([odd]))


def test_a_violation_is_headed_by_property_hazards_and_scope_and_says_what_the_hazard_is(grouped: Reader) -> None:
    said = flat(grouped)
    assert "promise_00 B-2 OrderLock, B-2 ✗ violated as expected explore · 9 steps" in said
    assert f"B-2 {HAZARDS['B-2'].sentence} {HAZARDS['B-2'].cite}" in said


def test_violations_are_ordered_by_property_then_hazard() -> None:
    rows = [samples.row(name, "explore", f"m {hazard}", "violated", hazard=(hazard,), evidence=f"{name}{hazard}.json")
            for name, hazard in (("b", "B-10"), ("b", "B-2"), ("a", "Z-1"), ("ownership_converges", "D6"))]
    page = flat(read(rows, {str(one.evidence): samples.lock_trace() for one in rows}))
    page = page[page.index("Violations, step by step"):page.index("Every row The filters")]
    heads = ["ownership_converges D6 m D6", "a Z-1 m Z-1", "b B-2 m B-2", "b B-10 m B-10"]
    assert [page.index(head) for head in heads] == sorted(page.index(head) for head in heads)


def test_only_the_last_step_is_where_it_is_violated() -> None:
    page = flat(read([samples.row("a", "explore", "m", "violated", evidence="t.json")],
                     {"t.json": samples.group_trace()}))
    assert page.count("violated here") == 1
    assert page.index("violated here") > page.index("9 apply")


def test_a_trace_costs_little_of_the_page() -> None:
    names = [f"{at:02}.json" for at in range(20)]
    rows = [samples.row(f"p{at}", "explore", "m", "violated", evidence=name) for at, name in enumerate(names)]
    size = len(render(rows, dict.fromkeys(names, samples.group_trace()))) - len(render(rows, {}))
    assert size / 20 / 9 < 1400  # characters for a step with its drawing, changes and source


def test_input_never_becomes_markup(whole: Reader) -> None:
    tags = [tag for tag, _ in whole.tags]
    assert tags.count("script") == 1
    assert {"img", "iframe", "object", "link", "b"}.isdisjoint(tags)
    assert "<img src=x onerror='window.broken = 1'>" in whole.text
    assert not [name for _, attributes in whole.tags for name in attributes if name.startswith("on")]


def test_every_field_is_escaped_wherever_it_stands() -> None:
    bad = "\"'><script>boo()</script>&"
    verdict = replace(
        samples.row(bad, bad, bad, kind=bad, replay=bad, note=bad, hazard=(bad,), evidence=bad, details={
            "concept": bad}), cost={bad: 1.0, "seconds": 2})
    body: dict[str, Any] = samples.group_trace() | {"sentence": bad, "lifelines": [bad], "initial": {bad: bad}}
    body["steps"] = [samples.step(bad, {bad: bad}, bad, [(bad, bad, bad)], flow=[bad, bad])]
    table = {"columns": [bad], "rows": [[bad]]}
    edges = [{"source": bad, "target": to, "action": bad, "arguments": {bad: bad}} for to in (bad, "2")]
    nodes = [{"id": bad, "depth": 0, "cells": {bad: bad}}, {"id": "2", "depth": 1, "cells": {"x": "$\\frac"}}]
    evidence = {
        bad: body, "1" + bad: body | {"kind": "counterexample", "arguments": {bad: bad}, "table": table},
        "2" + bad: body | {"kind": "graph", "nodes": nodes, "edges": edges}, "3" + bad: body | {"kind": bad},
    }
    for judge in (bad, "prove", "explore", "conform", "campaign"):
        page = read([replace(verdict, judge=judge)], evidence)
        assert [tag for tag, _ in page.tags].count("script") == 1
        assert "boo()" not in " ".join(name for _, attributes in page.tags for name in attributes)


def test_the_page_needs_nothing_beside_it(whole: Reader) -> None:
    assert not whole.values("src")
    assert all(link.startswith(("#", "./evidence/")) for link in whole.values("href"))
    policy = next(value for value in whole.values("content") if "default-src" in value)
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy


def test_ids_are_unique_and_links_lead_somewhere(whole: Reader) -> None:
    ids = whole.values("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in whole.values("href") if link.startswith("#")} <= set(ids)


def test_the_same_input_gives_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    samples.write(tmp_path)
    code = ("import sys; from pathlib import Path; from invariants.report.page import write_report;"
            " sys.stdout.write(write_report(Path(sys.argv[1])).read_text())")
    elsewhere = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code, str(tmp_path)], check=True, capture_output=True,
        env=os.environ | {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"})
    assert write_report(tmp_path).read_bytes() == elsewhere.stdout
    assert len(elsewhere.stdout) > 100_000


def test_the_order_of_rows_does_not_matter() -> None:
    rows = samples.hundred_rows()
    assert render(rows, samples.documents()) == render(rows[::-1], samples.documents())


def test_missing_evidence_is_said_at_its_row(whole: Reader) -> None:
    assert f"Evidence {samples.MISSING} is missing or unreadable." in whole.text


STATE = {"id": 1, "depth": 0, "cells": {}}


@pytest.mark.parametrize(("change", "reason"), [
    ({"steps": []}, "steps: Tuple should have at least 1 item"),
    ({"steps": [{"arguments": {}}]}, "steps.0.action: Field required"),
    ({"steps": "many"}, "steps: Input should be a valid tuple, not many"),
    ({"steps": [samples.step("a", {}, "", [], flow=["x"])]}, "steps.0.flow.1: Field required"),
    ({"steps": [{"action": "a", "changes": [{"cell": "c"}]}]}, "steps.0.changes.0.before: Field required"),
    ({"lifelines": 7}, "lifelines: Input should be a valid tuple, not 7"),
    ({"kind": "counterexample", "table": {"columns": ["a"], "rows": [["1", "2"]]}}, "each row needs 1 cells"),
    ({"kind": "graph", "nodes": [], "edges": []}, "nodes: Tuple should have at least 1 item"),
    ({"kind": "graph", "nodes": [STATE], "edges": [{"source": 1, "target": 2, "action": "a"}]}, "joins no two nodes"),
    ({"kind": "graph", "nodes": [STATE, STATE], "edges": []}, "ids that differ"),
    ({"kind": "graph", "nodes": [{**STATE, "depth": -1}], "edges": []}, "nodes.0.depth: Input should be greater"),
    ({"kind": "song"}, "evidence of kind song has no picture"),
    ({"kind": None}, "evidence of kind null has no picture"),
])
def test_evidence_that_cannot_be_drawn_is_shown_with_the_reason(change: dict[str, Any], reason: str) -> None:
    rows = samples.hundred_rows()[:1]
    assert reason in read(rows, {samples.TRACE: samples.group_trace() | change}).text


def test_evidence_without_a_row_is_shown_too() -> None:
    page = read([samples.row("a", "prove", "m")], {"alone.json": samples.allocation_counterexample()})
    assert "queue 1 is given to both members, queue 2 to none." in page.text
    assert "AllocateMessageQueueAveragely" in page.text


def test_a_graph_too_large_to_look_at_is_listed_and_not_drawn() -> None:
    page = read([samples.row("a", "explore", "m")], {"big.json": samples.small_graph(LARGEST + 1)})
    assert f"Not drawn: a picture shows up to {LARGEST} states." in page.text
    assert f"{LARGEST + 1} states" in page.text


def test_a_page_without_rows_or_with_odd_numbers_is_made() -> None:
    assert "0 as expected" in " ".join(read([]).text.replace("=", "").split())
    odd = samples.row("a", "prove", "m", cost={"seconds": float("nan"), "states": True, "runs": float("inf")})
    assert "nan s" in read([odd]).text.replace("\N{NO-BREAK SPACE}", " ")


def test_proofs_searches_conformance_and_campaigns_have_their_numbers(whole: Reader) -> None:
    said = " ".join(whole.text.replace("\N{NO-BREAK SPACE}", " ").split())
    for words_of in ("20 s", "250,047", "54,321", "1,200,000 runs", "600,000,000"):
        assert words_of in said


def test_write_report_finds_rows_and_evidence_at_any_depth(tmp_path: Path) -> None:
    samples.write(tmp_path)
    deep = tmp_path / "campaign" / "part"
    deep.mkdir(parents=True)
    verdict = samples.row("deep_property", "campaign", "run", "violated", evidence="evidence/deep.json")
    (deep / "rows.jsonl").write_text(verdict.to_json() + "\n\n", encoding="utf-8")
    (deep / "evidence").mkdir()
    (deep / "evidence" / "deep.json").write_text(json.dumps(samples.lock_trace() | {"sentence": "Deep down."}))
    (deep / "evidence" / "not-rows.jsonl").write_text("{}\n")
    (tmp_path / "unrelated.json").write_text("[1, 2]")
    page = Reader(write_report(tmp_path).read_text(encoding="utf-8"))
    assert "Deep down." in page.text
    assert "./campaign/part/evidence/deep.json" in page.values("href")
    assert "101" in page.text
    assert f"Evidence {samples.MISSING} is missing" in page.text


def test_evidence_outside_the_directory_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text(json.dumps(samples.lock_trace()))
    inside = tmp_path / "results"
    inside.mkdir()
    for at, name in enumerate(["../secret.json", str(tmp_path / "secret.json"), "/dev/null"]):
        verdict = samples.row(f"p{at}", "explore", "m", "violated", evidence=name)
        (inside / f"{at}.jsonl").write_text(verdict.to_json())
    page = Reader(write_report(inside).read_text(encoding="utf-8"))
    assert page.text.count("is missing or unreadable") == 3
    assert "holds the lock" not in page.text


def test_a_row_with_a_line_separator_in_a_string_is_one_row(tmp_path: Path) -> None:
    verdict = samples.row("a", "prove", "m", note="one\N{LINE SEPARATOR}two")
    (tmp_path / "rows.jsonl").write_text(verdict.to_json(), encoding="utf-8")
    assert "one\N{LINE SEPARATOR}two" in Reader(write_report(tmp_path).read_text(encoding="utf-8")).text


@pytest.mark.parametrize("line", [
    "{", "[]", "{}", '{"property": 1}', samples.row("a", "b", "c").to_json().replace('"a"', "7"),
    samples.row("a", "b", "c", evidence="e").to_json().replace('"e"', '"e\\u0000"'),
    samples.row("a", "b", "c").to_json().replace('"cost": {}', '"cost": []'),
    samples.row("a", "b", "c").to_json().replace('"hazard": []', '"hazard": [1]'),
])
def test_a_bad_row_is_named_by_file_and_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "rows.jsonl").write_text(samples.row("a", "b", "c").to_json() + "\n" + line + "\n")
    with pytest.raises(BadInputError, match=r"rows\.jsonl:2: not a verdict row"):
        write_report(tmp_path)
    assert not (tmp_path / "report.html").exists()


def test_a_directory_without_rows_says_which_command_makes_some(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="rocketproof verify --json"):
        write_report(tmp_path)
    with pytest.raises(BadInputError, match="no such directory"):
        write_report(tmp_path / "nowhere")
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInputError, match=r"binary\.jsonl: cannot be read"):
        write_report(tmp_path)
