"""Verdicts and evidence for a terminal, as rich renderables; nothing in them is read as markup.

Print them with `crop=False`: rich would cut a command at the edge, and a command must be whole to be copied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from invariants.pictures import text as text_of
from invariants.pictures.marks import EARLIER, FINDING, SEEN
from invariants.report import grouping, words
from invariants.report.runs import Run
from invariants.report.shapes import Counterexample, Picture, Proof, Step, Trace, read, text
from invariants.verdict import Outcome, Verdict

LONGEST = 40  # rows that are still read one by one
_WIDEST_NAME = 32  # characters of a property's name before it is folded
_LONGEST_NAME = 39  # the same among many rows
_FEW = 3  # so many hazards of one row are shown with their sentences
_SHOWN = 2000  # characters of a value
_ANY = 1 << 16  # columns of a terminal on which everything has room
_STYLES = {"expected": "", "different": "bold red", "unknown": "bold yellow"}
_MARKS = {"expected": "", "different": " ≠ expected", "unknown": ""}
_MOMENTS = {text_of.SIGNS[FINDING]: "bold red", text_of.SIGNS[EARLIER]: "bold yellow",
            text_of.SIGNS[SEEN]: "bold magenta", text_of.BEGAN: "bold cyan"}
# Columns that stand to the right, that stay on one line, that step back.
_NUMBERS, _WHOLE, _DIM = {"#", "ms", "of", "time"}, {"judge", "expected"}, {"#", "of", "time", "cost"}
_QUIET = {Outcome.HOLDS, Outcome.NOT_MET}  # outcomes that have nothing to show again where they are expected


# Verdicts -------------------------------------------------------------------------------------------------------------


def line(row: Verdict) -> Text:
    """A row on one line, while it is found, with its replay command below when it is not what holds as expected."""
    about = words.subject(row) + (f", {row.subject.details[grouping.MUTATION]}" if grouping.planted(row) else "")
    said = f"{row.outcome}{_hazards(row)}" + ("" if row.as_expected else f", {words.standing_words(row)}")
    shown = _text(f"{words.GLYPHS[row.outcome]} {row.judge:8} {row.property}", _STYLES[words.standing(row)])
    shown.append(f"  {words.one_line(about)}: {said}")
    shown.append(f"  {words.cost(row.cost)}", style="dim")
    if not row.as_expected and row.note:
        shown.append(f"\n    {words.one_line(row.note)}")
    if _needs_replay(row):
        shown.append("\n").append_text(_command(row.replay))
    shown.no_wrap, shown.overflow = True, "ignore"
    return shown


def kind(row: Verdict) -> tuple[str, ...]:
    """What rows have in common of which people want to see one while they are found."""
    return row.property, "planted" if grouping.planted(row) else row.judge, row.outcome, row.expected


def total(rows: Sequence[Verdict]) -> Text:
    """How many rows there are of each kind; planted bugs have a count of their own in the table."""
    rows, _ = grouping.split(rows)
    found = Counter(map(words.standing, rows))
    given_up = sum(map(words.is_trade_off, rows))
    violated, not_met = (sum(row.outcome is one and row.as_expected for row in rows)
                         for one in (Outcome.VIOLATED, Outcome.NOT_MET))
    of_them = f"{violated - given_up} of them violated" + (f", {not_met} not met" if not_met else "")
    of_them += f", {given_up} traded off" if given_up else ""
    parts = f"{found['expected']} as expected ({of_them}), {found['different']} different, {found['unknown']} unknown"
    worst = next((style for standing, style in _STYLES.items() if style and found[standing]), "bold")
    return Text(f"{len(rows)} verdict{'s' * (len(rows) != 1)}: {parts}", style=worst)


def headlines(rows: Iterable[Verdict]) -> list[Text]:
    """What rows say of variants as a whole, each with what it rests on, and with the command that shows it again."""
    told = [_text(f"{words.headline(row)}: {row.note}", _STYLES[words.standing(row)]).append("\n").append_text(
        _command(row.replay)) for row in rows if words.headline(row)]
    for one in told:
        one.no_wrap, one.overflow = True, "ignore"
    return told


def verdict_table(rows: Sequence[Verdict], *, everything: bool = False) -> RenderableType:
    """The end of each command: what differs from its expectation first, then what is unknown, then the rest.

    Below the table stands how to replay each violation, difference and unknown; `headlines` has it for variants as a
    whole. Up to LONGEST rows are read one by one. Of more, those that are as expected are one line; with everything
    they are summed up by property and judge, and violations are shown once for each property and its hazards. Planted
    bugs that were noticed are only counted.
    """
    real, planted = grouping.split(rows)
    real = sorted(real, key=lambda row: grouping.STANDINGS.index(words.standing(row)))
    missed = [row for row in planted if not row.as_expected]
    if few := len(real) <= LONGEST:
        shown = _folded(real)
    else:
        shown = [*_news(real), *(_first_of_each(real) if everything else ())]
    below = _below([(row, others) for row, others in [*zip(missed, repeat(0)), *shown]
                    if _needs_replay(row) and not words.headline(row)])
    count = [_text(grouping.noticed(planted), "bold red" if missed else "")] if planted else []
    if everything and not few:
        return Group(_summed(real), *count, *below)
    table = [_Each(shown)] if shown or (few and not planted) else []
    return Group(*table, *count, *below, *([] if few else [_rest(real)]))


def _folded(rows: Iterable[Verdict]) -> list[tuple[Verdict, int]]:
    """All rows, but of those that are unknown of one subject for one reason only the first, with how many more."""
    def reason(row: Verdict) -> tuple[object, ...]:
        one = row.outcome.is_unknown and row.note
        return (words.subject(row), row.judge, row.expected, row.note) if one else (id(row),)

    return [(own[0], len(own) - 1) for own in grouping.grouped(rows, reason).values()]


def _news(rows: Sequence[Verdict]) -> list[tuple[Verdict, int]]:
    """Each row that differs; of the unknown ones the first of each reason, with how many more there are."""
    unknown = grouping.grouped((row for row in rows if row.outcome.is_unknown), lambda row: row.note)
    different = [row for row in rows if words.standing(row) == "different"]
    return [*zip(different, repeat(0)), *((own[0], len(own) - 1) for own in unknown.values())]


def _rest(rows: Sequence[Verdict]) -> Text:
    """The rows that are as expected, in one line."""
    kinds = Counter(row.outcome for row in rows if row.as_expected)
    told = ", ".join(f"{count:,} {outcome}" for outcome, count in kinds.items())
    return _text(f"as expected: {told or 'nothing'}; --all shows them", "dim")


@dataclass(frozen=True, slots=True)
class _Each:
    """One line for each row; behind the name of its property how many more rows say the same.

    What one search, crash or file has cost is said once: its rows follow each other. On a terminal that is too narrow,
    columns in which all rows agree are one line above the others.
    """

    rows: Sequence[tuple[Verdict, int]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table, as wide as there is room."""
        columns = {name: [_COLUMNS[name](row, others) for row, others in self.rows] for name in _COLUMNS}
        spent = [(row.judge, row.subject, row.cost) for row, _ in self.rows]
        columns["cost"] = [_text("as above") if cell and before == own else cell
                           for cell, before, own in zip(columns["cost"], [None, *spent], spent, strict=False)]
        whole, agreed = _columns(columns), _agreed(columns)
        if not agreed or Measurement.get(console, options.update(max_width=_ANY), whole).minimum <= options.max_width:
            yield whole
        else:
            yield _text(" · ".join(f"{name}: {columns[name][0].plain}" for name in agreed))
            yield _columns({name: cells for name, cells in columns.items() if name not in agreed})


_COLUMNS: Mapping[str, Callable[[Verdict, int], Text]] = {
    "property": lambda row, others: _text(row.property + (f" and {others:,} more" if others else "")),
    "judge": lambda row, _: _text(row.judge), "subject": lambda row, _: _text(words.subject(row)),
    "expected": lambda row, _: _text(row.expected), "outcome": lambda row, _: _outcome(row),
    "cost": lambda row, _: _text(words.cost(row.cost))}


def _agreed(columns: Mapping[str, Sequence[Text]]) -> list[str]:
    """What all rows have in common of judge, subject and property; one of the three stays, to tell rows apart."""
    return [name for name in ("judge", "subject", "property") if len({cell.plain for cell in columns[name]}) == 1][:2]


def _columns(columns: Mapping[str, Sequence[Text]]) -> Table:
    table = _table(columns)
    for column, (name, cells) in zip(table.columns, columns.items(), strict=True):
        if name == "property":
            longest = max((len(cell) for cell in cells), default=0)
            column.min_width, column.no_wrap = min(longest, _WIDEST_NAME), longest <= _WIDEST_NAME
        column.no_wrap |= name == "outcome"
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    return table


def _summed(rows: Sequence[Verdict]) -> Table:
    """One line for each property and judge: how many scopes of each outcome, and the time."""
    table = _table(("property", "judge", "outcome", "of", "time"))
    table.padding = (0, 1, 0, 0)
    table.columns[0].width = min(max(len(row.property) for row in rows), _LONGEST_NAME)
    last = None
    for name, own in grouping.by_property(rows).items():
        group = grouping.group(own)
        if group is not last:
            table.add_section()
            table.add_row(_text(group, "bold"))
        last = group
        for at, judge in enumerate(dict.fromkeys(row.judge for row in own)):
            these = [row for row in own if row.judge == judge]
            spent = grouping.seconds(grouping.total(these))
            table.add_row(_text("" if at else name), _text(judge), _parts(these), _text(grouping.counted(these)),
                          "" if spent is None else words.seconds(round(spent, 3)))
    return table


def _parts(rows: Sequence[Verdict]) -> Text:
    shown = [Text(f"{words.GLYPHS[part.outcome]} {part.count:,} {part.verb}{_MARKS[part.standing]}",
                  style=_STYLES[part.standing]) for part in grouping.parts(rows)]
    return Text(" · ").join(shown)


def _first_of_each(rows: Sequence[Verdict]) -> list[tuple[Verdict, int]]:
    """Of what is as expected one row for each property and hazards, with how many more there are."""
    ordered = [row for own in grouping.by_property(rows).values() for row in own]
    alike = grouping.grouped((row for row in ordered if row.as_expected),
                             lambda row: (row.property, row.hazard if _needs_replay(row) else ("holds",)))
    return [(own[0], len(own) - 1) for own in alike.values()]


def _needs_replay(row: Verdict) -> bool:
    return row.outcome not in _QUIET or not row.as_expected


def _outcome(row: Verdict) -> Text:
    standing = words.standing(row)
    mark = f" {_MARKS[standing]}" if _MARKS[standing] else ""
    return _text(f"{words.outcome(row)}{mark}", _STYLES[standing])


def _below(told: Sequence[tuple[Verdict, int]]) -> list[Text]:
    """What rows say, each with its command; rows that follow each other and have one command have it below the last."""
    commands = [*(row.replay for row, _ in told), None]
    return [said for at, (row, others) in enumerate(told)
            for said in (*_said(row, others), *([_command(row.replay)] if row.replay != commands[at + 1] else []))]


def _said(row: Verdict, others: int) -> tuple[Text, ...]:
    """What a row says, in one paragraph, and the hazards that it names; others -- how many rows more say the same."""
    note = (f": {row.note}" if row.note else "") + (f"; {others:,} more like it" if others else "")
    what = f"{row.property}, {row.judge}" + (f" {words.subject(row)}" if grouping.planted(row) else "")
    sign = words.outcome(row).split()[0]
    said = f"{sign} {what}: {row.outcome}, {words.standing_words(row)}{_hazards(row)}{note}"
    return _text(said, _STYLES[words.standing(row)]), *_links(row)


def _links(row: Verdict) -> list[Text]:
    """Of the hazards that a violated row names, if they are few, the command that shows each, and what it does."""
    known = grouping.hazards(row.hazard) if row.outcome is Outcome.VIOLATED and len(row.hazard) <= _FEW else []
    return [_command(f"rocketproof show {one.name}").append(f"  # {words.one_line(one.sentence)}", style="dim")
            for one in known if one.sentence]


def _hazards(row: Verdict) -> str:
    return f" ({', '.join(row.hazard)})" if row.hazard else ""


# Evidence -------------------------------------------------------------------------------------------------------------


def evidence_view(document: Mapping[str, Any]) -> RenderableType:
    """What the evidence shows; raises BadInputError when it has not the shape of its kind."""
    sentence = _text(text(document.get("sentence", "")), "bold")
    match document["kind"]:
        case "trace":
            return trace_table(document)
        case "run":
            return _run(read(Run, document), document)
        case "graph":
            states = f"{len(document['nodes'])} states, {len(document['edges'])} steps."
            return _text(f"{document['sentence']} {states}")
        case "proof":
            proof = read(Proof, document)
            return Group(sentence, *(_text(f"  {table.title}: {', '.join(what for what, _ in table.rows)}")
                                     for table in proof.tables))
    found = read(Counterexample, document)
    arguments = [_text(f"  {name} = {words.one_line(value)[:_SHOWN]}") for name, value in found.arguments.items()]
    table = [_table(found.table.columns, found.table.rows)] if found.table.columns else []
    asked = [_text("What the program was asked:"), *map(_command, found.asked)] if found.asked else []
    return Group(sentence, *arguments, *table, *asked)


def trace_table(evidence: Mapping[str, Any]) -> RenderableType:
    """A trace as numbered steps: action, arguments, changes; the sentence of the violation and its replay below.

    Raises BadInputError when the evidence is not a trace.
    """
    trace = read(Trace, evidence)
    table = _table(("#", "step", "arguments", "changes"))
    for at, step in enumerate(trace.steps, 1):
        flow = [f"{step.flow[0]} → {step.flow[1]}"] if step.flow else []
        arguments = _lines([*flow, *(f"{name} = {value}" for name, value in step.arguments.items())])
        changes = _lines(f"{change.cell}: {change.before} → {change.after}" for change in step.changes) or Text("–")
        table.add_row(str(at), _action(step), arguments, changes, style="bold" if at == len(trace.steps) else "")
    sentence = _text(f"✗ {text(evidence.get('sentence', ''))}", "bold red")
    return Group(table, sentence, _command(text(evidence.get("replay", ""))))


def _action(step: Step) -> Text:
    shown = _text(step.action)
    shown.append(" (environment)" if step.environment else "", style="yellow")
    if step.cite:
        shown.append(f"\n{words.one_line(step.cite)}", style="dim not bold")
    return shown


def _run(run: Run, document: Mapping[str, Any]) -> RenderableType:
    """The picture of what led to the failure, and what was broken."""
    about = "{property}: {plan[subject]}, workload {plan[workload]}, profile {plan[profile]}".format_map(document)
    claim = run.picture.claim or text(document.get("sentence", ""))
    below = (_whole(words.one_line(one), "bold") for one in text_of.below(claim, run.picture.names))
    return Group(_text(about, "bold"), Text(""), *picture_lines(run.picture), *below)


def picture_lines(picture: Picture) -> list[Text]:
    """The lines of a picture; those of its moments stand out, its legend steps back."""
    shown = text_of.lines(picture.lifelines, picture.rows, picture.left_out)
    legend = len(text_of.legend(picture.rows, text_of.WIDEST))
    drawn = [_whole(one, next((style for sign, style in _MOMENTS.items() if f" {sign} " in one), ""))
             for one in shown[:len(shown) - legend]]
    return [*drawn, *(_whole(one, "dim") for one in shown[len(shown) - legend:])]


def conclusion(stored: Outcome, found: Verdict) -> Text:
    """Whether a replay shows what was stored, in one line."""
    because = f": {found.note}" if found.note else ""
    if found.outcome is stored:
        return _text(f"confirmed: {found.property} is {found.outcome} again{because}", "bold")
    return _text(f"not confirmed: {found.property} was {stored}, and is {found.outcome} now{because}", "bold red")


# Pieces ---------------------------------------------------------------------------------------------------------------


def _table(columns: Iterable[str], rows: Iterable[Sequence[str]] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(_text(name), overflow="fold", style="dim" if name in _DIM else "",
                         justify="right" if name in _NUMBERS else "left", no_wrap=name in _WHOLE | _NUMBERS)
    for row in rows:
        table.add_row(*map(_text, row))
    return table


def _command(command: str) -> Text:
    """A command on one line of its own, never wrapped, so that it can be copied whole."""
    return _whole(f"    {words.one_line(command)}", "cyan")


def _whole(line: str, style: str) -> Text:
    """A line that is never wrapped."""
    return Text(line, style=style, no_wrap=True, overflow="ignore")


def _lines(lines: Iterable[str]) -> Text:
    return Text("\n".join(map(words.one_line, lines)))


def _text(value: str, style: str = "") -> Text:
    return Text(words.one_line(value), style=style)
