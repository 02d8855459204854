"""The report page: one HTML file that needs nothing else, neither network nor neighbour files.

Rows and evidence are untrusted input: the template escapes all of it, and a content security policy lets the page
run its own script only (by hash) and load nothing at all.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from invariants.pictures.text import BROKEN, WHO
from invariants.report import grouping, reading, words
from invariants.report.campaigns import COVERAGE, MATRIX
from invariants.report.compared import COMPARED
from invariants.report.view import Files, view
from invariants.verdict import Verdict

_HERE = Path(__file__).parent
NAME = "report.html"
_FILTERS = (
    words.breakable, words.cost, words.number, words.standing, words.standing_words, words.subject,
    grouping.given, grouping.hazards, grouping.kind, grouping.parts, grouping.planted, grouping.total, grouping.urgency,
)


def render(rows: Sequence[Verdict], evidence: Mapping[str, dict[str, Any]], coverage: Files = (), matrices: Files = (),
           comparisons: Files = ()) -> str:
    """The page for these rows; evidence maps the name that a row gives to the content of that file.

    coverage, matrices, comparisons -- of campaigns, with the folder that has them; see `campaigns.py`, `compared.py`.

    The same input gives the same page: there is no clock in it. A row whose evidence is not in the mapping says so;
    evidence that no row names is shown too.
    """
    style, script = (_HERE.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = _environment().get_template("page.html.j2")
    page = view(rows, evidence, coverage, matrices, comparisons)
    return template.render(page=page, style=style, script=script, digest=digest)


def write_report(directory: Path) -> Path:
    """Write report.html for the rows and evidence below a directory, into it; returns its path.

    Raises BadInputError for a row that cannot be read (file and line) and for a directory without rows.
    """
    rows = reading.rows(directory)
    page = directory / NAME
    files = (reading.campaign_files(directory, name) for name in (COVERAGE, MATRIX, COMPARED))
    page.write_text(render(rows, reading.evidence_files(directory, rows), *files), encoding="utf-8")
    return page


@cache
def _environment() -> Environment:
    """The templates, compiled once per process."""
    environment = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )
    environment.filters.update({work.__name__: work for work in _FILTERS})
    environment.filters["glyph"] = words.GLYPHS.__getitem__
    environment.globals["broken_promise"], environment.globals["who"] = BROKEN, WHO
    return environment
