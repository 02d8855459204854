"""The report page in a real browser: no errors, tables sort and filter, traces open, nothing scrolls sideways."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from invariants.report.page import write_report
from invariants.verdict import BadInputError
from stateful_tests.cover.report import browser as report_browser, samples as report_samples
from stateful_tests.cover.report.browser import Page, browser_page, find_browser

pytestmark = pytest.mark.browser
_VISIBLE = "[...document.querySelectorAll('{}')].filter((one) => one.checkVisibility()).length"
_SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("results")
    report_samples.write(directory)
    return write_report(directory).as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    try:
        found = find_browser()
    except BadInputError as error:
        pytest.fail(str(error), pytrace=False)
    with browser_page(found) as page:
        yield page


@pytest.fixture
def page(browser: Page, address: str) -> Iterator[Page]:
    browser.resize(1280, 900)
    browser.open(address)
    yield browser
    browser.run("1")  # whatever the page has said until here arrives before this answer
    assert browser.errors == []


def column(page: Page, table: str, at: int) -> list[Any]:
    return list(page.run(
        f"[...document.querySelectorAll('{table} > tbody > tr')].filter((row) => !row.hidden).map((row) => "
        f"row.cells[{at}].dataset.sort ?? row.cells[{at}].textContent.trim())"))


def natural(value: str) -> list[tuple[bool, int, str]]:
    """Text as the page sorts it: numbers within it by value, a dash for nothing first."""
    parts = re.findall(r"\d+|[^\d–]+", value.lower())
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def choose(page: Page, name: str, value: str) -> None:
    page.run(f"(() => {{ const at = document.querySelector('[name={name}]'); at.value = '{value}';"
             " at.dispatchEvent(new Event('input', {bubbles: true})); })()")


def test_the_page_loads_without_a_word_in_the_console(page: Page) -> None:
    assert page.run("document.querySelectorAll('#rows tbody tr').length") == 100
    assert page.run("window.broken") is None


def test_an_error_on_a_page_is_seen(browser: Page, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text("<!doctype html><script>missing()</script><img src='file:///nowhere.png'>"
                   "<p style='width:2000px'>wide")
    browser.resize(360, 800)
    browser.open(bad.as_uri())
    assert browser.run(_SIDEWAYS) > 0
    assert any("missing" in error for error in browser.errors)
    assert any("nowhere.png" in error for error in browser.errors)


def test_nothing_is_loaded_beside_the_page(page: Page) -> None:
    assert page.run("performance.getEntriesByType('resource').length") == 0


@pytest.mark.parametrize(("table", "columns"), [
    (".group:nth-of-type(1) table.matrix", 2), (".group:nth-of-type(2) table.matrix", 2), ("table.rows", 6)])
def test_every_column_sorts_both_ways(page: Page, table: str, columns: int) -> None:
    heads = page.run(f"document.querySelectorAll('{table} thead th').length")
    assert heads >= columns
    before = sorted(column(page, table, 0))
    for at in range(heads):
        head = f"{table} thead th:nth-child({at + 1})"
        numeric = page.run(f"document.querySelector('{head}').dataset.kind === 'number'")
        key = float if numeric else natural
        page.click(f"{head} button")
        rising = [key(value) for value in column(page, table, at)]
        assert page.run(f"document.querySelector('{head}').getAttribute('aria-sort')") == "ascending"
        page.click(f"{head} button")
        falling = [key(value) for value in column(page, table, at)]
        assert page.run(f"document.querySelector('{head}').getAttribute('aria-sort')") == "descending"
        assert rising[0] == min(rising)
        assert falling[0] == max(rising)
        assert sorted(column(page, table, 0)) == before
        if numeric:
            assert rising == sorted(rising)
            assert falling == sorted(rising, reverse=True)


def test_the_keyboard_sorts_too(page: Page) -> None:
    page.run("document.querySelector('table.rows thead th:nth-child(2) button').focus()")
    page.press("Enter", "\r")
    judges = column(page, "table.rows", 1)
    assert judges == sorted(judges)
    assert len(set(judges)) > 5


def test_filters_narrow_both_tables(page: Page) -> None:
    found = "document.querySelector('.found').textContent"
    assert page.run(found) == "100 of 100 rows"
    choose(page, "outcome", "different")
    assert page.run(found) == "2 of 100 rows"
    assert column(page, "table.matrix", 0) == ["one_lock_holder", "real_and_ours_agree"]
    assert page.run("document.querySelectorAll('table.matrix .entry:not([hidden])').length") == 2
    choose(page, "judge", "conform")
    assert column(page, "table.rows", 0) == ["real_and_ours_agree"]
    page.click(".filters button[type=reset]")
    page.run("new Promise((done) => setTimeout(done, 50))")
    assert page.run(found) == "100 of 100 rows"
    choose(page, "concept", "order_lock")
    assert {name.split("_property")[0] for name in column(page, "table.matrix", 0)} == {"order_lock", "one_lock_holder"}


def test_text_filters_by_every_word_of_a_row(page: Page) -> None:
    page.click("[name=text]")
    page.type("owner D4")
    assert column(page, "table.rows", 0) == ["one_owner_per_queue"]
    assert column(page, "table.matrix", 0) == ["one_owner_per_queue"]
    page.type(" nowhere")
    assert column(page, "table.rows", 0) == []


@pytest.mark.parametrize("how", ["click", "keyboard"])
def test_each_exhibit_opens_and_shows_its_drawing(page: Page, how: str) -> None:
    exhibits = page.run("[...document.querySelectorAll('.exhibit')].map((one) => one.id)")
    assert len(exhibits) == 5
    for name in exhibits:
        drawing = f"#{name} .exhibit-body"
        assert page.run(_VISIBLE.format(f"{drawing} svg, {drawing} table")) == 0
        if how == "click":
            page.click(f"#{name} > summary")
        else:
            page.run(f"document.querySelector('#{name} > summary').focus()")
            page.press("Enter", "\r")
        assert page.run(_VISIBLE.format(f"{drawing} svg, {drawing} table")) > 0


def test_a_link_to_closed_evidence_opens_it(page: Page) -> None:
    page.click("table.matrix a[href='#e4']")
    page.run("new Promise((done) => setTimeout(done, 50))")
    assert page.run("document.getElementById('e4').open")


def test_a_command_is_copied_or_at_least_selected(page: Page) -> None:
    page.click("#attention .copy")
    page.run("new Promise((done) => setTimeout(done, 100))")
    assert page.run("document.querySelector('#attention .copy').textContent") in {"Copied", "Selected"}


@pytest.mark.parametrize("width", [360, 700, 900, 1280])
def test_the_page_never_scrolls_sideways(page: Page, width: int) -> None:
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.resize(width, 800)
    assert page.run("innerWidth") == width
    assert page.run(_SIDEWAYS) == 0


def test_text_on_a_narrow_window_stays_inside_it_or_in_a_box_that_scrolls(page: Page) -> None:
    page.resize(360, 800)
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    outside = page.run(
        "[...document.querySelectorAll('main *, header *')].filter((one) => one.checkVisibility() && one.textContent"
        " && !one.closest('.scroll, .command, svg, thead') && one.getBoundingClientRect().right > 360.5)"
        ".map((one) => one.outerHTML.slice(0, 90))")
    assert outside == []


def test_a_step_of_a_diagram_stands_beside_what_it_changes(page: Page) -> None:
    page.click("#e4 > summary")
    boxes = page.run(
        "[...document.querySelectorAll('.exhibit[open] .sequence li')].map((row) => ['.drawing', '.effects'].map("
        "(part) => { const box = row.querySelector(part).getBoundingClientRect();"
        " return [box.top, box.right, box.left]; }))")
    assert len(boxes) == 3
    assert all(drawing[0] == effects[0] and drawing[1] <= effects[2] for drawing, effects in boxes)


@pytest.fixture(scope="module")
def grouped_address(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("grouped")
    report_samples.write_grouped(directory)
    return write_report(directory).as_uri()


@pytest.fixture
def grouped(browser: Page, grouped_address: str) -> Iterator[Page]:
    browser.resize(1280, 900)
    browser.open(grouped_address)
    yield browser
    browser.run("1")
    assert browser.errors == []


def test_a_screen_shows_fifteen_properties_of_many_scopes(grouped: Page) -> None:
    grouped.run("document.querySelector('.group').scrollIntoView()")
    seen = grouped.run(
        "[...document.querySelectorAll('.matrix tbody tr')].map((row) => row.getBoundingClientRect())"
        ".filter((box) => box.height > 0 && box.top >= 0 && box.bottom <= 900).length")
    assert seen >= 15


@pytest.mark.parametrize("how", ["click", "keyboard"])
def test_a_summary_opens_to_its_rows(grouped: Page, how: str) -> None:
    assert grouped.run(_VISIBLE.format("details.cell .entry")) == 0
    if how == "click":
        grouped.click("details.cell > summary")
    else:
        grouped.run("document.querySelector('details.cell > summary').focus()")
        grouped.press("Enter", "\r")
    assert grouped.run(_VISIBLE.format("details.cell .entry")) == 3


def test_the_kind_filters_and_a_folded_group_opens_for_it(grouped: Page) -> None:
    assert grouped.run("[...document.querySelectorAll('.group')].map((one) => one.open)") == [True, True, True, False]
    choose(grouped, "kind", "lemma")
    assert column(grouped, "table.matrix", 0) == ["only_the_living_hold"]
    assert grouped.run(_VISIBLE.format(".group")) == 1
    assert grouped.run(_VISIBLE.format(".group .entry")) == 1
    choose(grouped, "kind", "")
    assert grouped.run("[...document.querySelectorAll('.group')].map((one) => one.open)") == [True, True, True, False]


def test_a_filter_leaves_only_the_parts_of_a_summary_that_match(grouped: Page) -> None:
    choose(grouped, "outcome", "violated")
    visible = "[...document.querySelectorAll('.part')].filter((one) => one.checkVisibility())"
    assert set(grouped.run(f"{visible}.map((one) => one.dataset.outcome)")) == {"violated"}


def test_planted_mutations_are_folded_and_a_link_to_their_trace_opens_it(grouped: Page) -> None:
    assert grouped.run(_VISIBLE.format("table.planted, #planted .exhibit")) == 0
    grouped.click("#planted .fold > summary")
    assert grouped.run(_VISIBLE.format("table.planted")) == 1
    grouped.click("table.planted td a")
    grouped.run("new Promise((done) => setTimeout(done, 50))")
    assert grouped.run(_VISIBLE.format("#planted .exhibit[open] .drawing svg")) > 0


@pytest.mark.parametrize("width", [360, 700, 1280])
def test_summaries_and_planted_mutations_fit_the_window(grouped: Page, width: int) -> None:
    grouped.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    grouped.resize(width, 800)
    assert grouped.run(_SIDEWAYS) == 0
    inside = "one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 0.5"
    outside = grouped.run(
        f"[...document.querySelectorAll('.part, .cost, .given, .about, .hazards dd')].filter((one) => {inside})"
        ".map((one) => one.textContent)")
    assert outside == []


def test_a_step_is_told_to_those_who_cannot_see_the_drawing(grouped: Page) -> None:
    grouped.click("#violations .exhibit > summary")
    said = grouped.run("[...document.querySelectorAll('#violations .exhibit[open] .said')].map((one) => "
                       "[one.textContent, getComputedStyle(one).display])")
    assert len(said) == 9
    assert all(text and display != "none" for text, display in said)


def test_without_a_browser_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(report_browser.VARIABLE, raising=False)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(report_browser, "_LAUNCHER", Path("/nowhere"))
    with pytest.raises(BadInputError, match="apt-get install chromium"):
        find_browser()
    monkeypatch.setenv(report_browser.VARIABLE, "no-such-browser")
    with pytest.raises(BadInputError, match="no-such-browser: no such program"):
        find_browser()
