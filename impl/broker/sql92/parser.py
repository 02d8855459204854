"""SelectorParser, as JavaCC generated it: the grammar, what it looks ahead for, and what it says it was expecting.

It does not ask for the end of the text: what follows a complete expression is only looked at for one token, so
`a > 1 garbage` is accepted, and `a LIKE 'x%'` is the property `a`. What is expected at a place are the tokens of all
choices that have been refused since the last token was taken (jj_la1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from impl.broker.sql92 import tokens as t
from impl.broker.sql92.expressions import (
    Comparison,
    Constant,
    Equal,
    Expression,
    Logic,
    ParseError,
    Property,
    Unary,
    as_boolean,
    between,
    equal,
    in_filter,
)
from impl.broker.sql92.values import Long
from impl.decisions.java_arithmetic import INT_MAX
from impl.decisions.java_doubles import parse_double
from impl.decisions.java_errors import JavaRuntimeError
from impl.decisions.java_text import parse_integer

_CHOICES: Final = (
    {t.OR}, {t.AND}, {t.IS, t.EQUAL, t.NOT_EQUAL}, {t.EQUAL, t.NOT_EQUAL}, {t.IS},
    {t.NOT, t.BETWEEN, t.IN, t.GREATER, t.GREATER_EQUAL, t.LESS, t.LESS_EQUAL}, {t.COMMA}, {t.COMMA},
    {t.BETWEEN, t.GREATER, t.GREATER_EQUAL, t.LESS, t.LESS_EQUAL}, {t.IN},
    {t.NOT, t.TRUE, t.FALSE, t.NULL, t.DECIMAL, t.FLOAT, t.STRING, t.ID, t.OPEN, t.MINUS},
    {t.TRUE, t.FALSE, t.NULL, t.DECIMAL, t.FLOAT, t.STRING, t.ID, t.OPEN},
    {t.TRUE, t.FALSE, t.NULL, t.DECIMAL, t.FLOAT, t.STRING},
)
"""The tokens of each choice of the grammar (jjLa10, jjLa11)."""
_COMPARED: Final = {t.GREATER: ">", t.GREATER_EQUAL: ">=", t.LESS: "<", t.LESS_EQUAL: "<="}
_ENDLESS: Final = INT_MAX
_LONGEST: Final = 100  # tokens of an expected sequence

# What lookahead scans: a number is a token, a text another rule; `|` any of them, `*` any number of times

_Rule = tuple[str, tuple["int | str | _Rule", ...]]


def _seq(*parts: int | str | _Rule) -> _Rule:
    return ("seq", parts)


def _any(*parts: int | str | _Rule) -> _Rule:
    return ("|", parts)


def _many(*parts: int | str | _Rule) -> _Rule:
    return ("*", parts)


_LIST: Final = (t.IN, t.OPEN, t.STRING, _many(t.COMMA, t.STRING), t.CLOSE)
_RULES: Final[dict[str, _Rule]] = {
    "is null": _seq(t.IS, t.NULL),
    "not between": _seq(t.NOT, t.BETWEEN, "unary", t.AND, "unary"),
    "not in": _seq(t.NOT, *_LIST),
    "plus": _seq(t.PLUS, "unary"),
    "unary": _any(_seq(t.PLUS, "unary"), _seq(t.MINUS, "unary"), _seq(t.NOT, "unary"), "primary"),
    "primary": _any(
        _any(*map(_seq, (t.STRING, t.DECIMAL, t.FLOAT, t.TRUE, t.FALSE, t.NULL))), _seq(t.ID),
        _seq(t.OPEN, "or", t.CLOSE)),
    "or": _seq("and", _many(t.OR, "and")),
    "and": _seq("equality", _many(t.AND, "equality")),
    "equality": _seq("comparison", _many(_any(
        _seq(t.EQUAL, "comparison"), _seq(t.NOT_EQUAL, "comparison"), "is null", _seq(t.IS, t.NOT, t.NULL)))),
    "comparison": _seq("unary", _many(_any(
        *(_seq(kind, "unary") for kind in _COMPARED), _seq(t.BETWEEN, "unary", t.AND, "unary"), "not between",
        _seq(*_LIST), "not in"))),
}
_AHEAD: Final = ("is null", "not between", "not in", "plus")  # jj_3_1 to jj_3_4


class _LookaheadSuccess(Exception):  # noqa: N818  a jump, as in Java
    """SelectorParser.LookaheadSuccess."""


@dataclass(slots=True)
class _Call:
    """JJCalls: a look ahead that was made, to be made again when an error is told."""

    gen: int = 0
    first: t.Token | None = None
    arg: int = 0


class SelectorParser:
    """`filter.parser.SelectorParser`."""

    def __init__(self, text: str) -> None:
        """Stand before the first token."""
        self._source = t.Tokens(text)
        self._token = t.Token(t.EOF)
        self._gen = 0
        self._refused = [-1] * len(_CHOICES)
        self._calls: list[list[_Call]] = [[_Call()] for _ in _AHEAD]
        self._scan_place = self._last_place = self._token
        self._ahead = 0
        self._rescan: list[tuple[int, int]] | None = None

    # Tokens -----------------------------------------------------------------------------------------------------------

    def _next(self) -> t.Token:
        if self._token.next is None:
            self._token.next = self._source.next_token()
        return self._token.next

    def _peek(self) -> int:
        return self._next().kind

    def _take(self, *kinds: int) -> str:
        """SelectorParser#jj_consume_token, of each; the text of the last. Raises ParseError."""
        for kind in kinds:
            following = self._next()
            if following.kind != kind:
                raise self._error(kind)
            self._token = following
            self._gen += 1
        return self._token.image

    def _refuse(self, choice: int) -> None:
        self._refused[choice] = self._gen

    # Grammar ----------------------------------------------------------------------------------------------------------

    def parse(self) -> Expression:
        """SelectorParser#JmsSelector; raises JavaError."""
        return as_boolean(self._or())

    def _or(self) -> Expression:
        return self._chain(0, t.OR, "||", lambda: self._chain(1, t.AND, "&&", self._equality))

    def _chain(self, choice: int, kind: int, symbol: str, operand: Callable[[], Expression]) -> Expression:
        left = operand()
        while self._peek() == kind:
            self._take(kind)
            right = operand()
            left = Logic(symbol, as_boolean(left), as_boolean(right))
        self._refuse(choice)
        return left

    def _equality(self) -> Expression:
        left = self._comparison()
        while self._peek() in _CHOICES[2]:
            if self._peek() == t.EQUAL:
                self._take(t.EQUAL)
                left = equal(left, self._comparison())
            elif self._peek() == t.NOT_EQUAL:
                self._take(t.NOT_EQUAL)
                left = Unary("NOT", equal(left, self._comparison()))
            else:
                left = self._is_null(left)
        self._refuse(2)
        return left

    def _is_null(self, left: Expression) -> Expression:
        self._refuse(3)
        null = Equal(left, Constant(None))
        if self._looks_ahead(0, 2):
            self._take(t.IS, t.NULL)
            return null
        self._take(t.IS, t.NOT, t.NULL)
        return Unary("NOT", null)

    def _comparison(self) -> Expression:
        left = self._unary()
        while self._peek() in _CHOICES[5]:
            kind = self._peek()
            if kind in _COMPARED:
                self._take(kind)
                left = Comparison(_COMPARED[kind], left, self._unary())
            elif kind == t.BETWEEN:
                self._take(t.BETWEEN)
                left = between(left, *self._bounds())
            else:
                left = self._negated(left)
        self._refuse(5)
        return left

    def _bounds(self) -> tuple[Expression, Expression]:
        low = self._unary()
        self._take(t.AND)
        return low, self._unary()

    def _negated(self, left: Expression) -> Expression:
        """IN, and what begins with NOT."""
        self._refuse(8)
        if self._looks_ahead(1, 2):
            self._take(t.NOT, t.BETWEEN)
            low, high = self._bounds()
            return Logic("||", Comparison("<", left, low), Comparison(">", left, high))
        if self._peek() == t.IN:
            return in_filter(left, self._elements(6, t.IN), negated=False)
        self._refuse(9)
        if self._looks_ahead(2, 2):
            return in_filter(left, self._elements(7, t.NOT, t.IN), negated=True)
        raise self._error(-1)

    def _elements(self, choice: int, *kinds: int) -> list[str]:
        self._take(*kinds, t.OPEN)
        found = [self._string()]
        while self._peek() == t.COMMA:
            self._take(t.COMMA)
            found.append(self._string())
        self._refuse(choice)
        self._take(t.CLOSE)
        return found

    def _string(self) -> str:
        """SelectorParser#stringLitteral."""
        return self._take(t.STRING)[1:-1].replace("''", "'")

    def _unary(self) -> Expression:
        if self._looks_ahead(3, _ENDLESS):
            self._take(t.PLUS)
            return self._unary()
        kind = self._peek()
        if kind == t.MINUS:
            self._take(kind)
            return Unary("-", self._unary())
        if kind == t.NOT:
            self._take(kind)
            return Unary("NOT", as_boolean(self._unary()))
        if kind not in _CHOICES[11]:
            self._refuse(10)
            raise self._error(-1)
        return self._primary(kind)

    def _primary(self, kind: int) -> Expression:
        if kind == t.OPEN:
            self._take(kind)
            inside = self._or()
            self._take(t.CLOSE)
            return inside
        if kind == t.STRING:
            return Constant(self._string())
        image = self._take(kind)
        if kind == t.ID:
            return Property(image)
        if kind == t.DECIMAL:
            return Constant(_decimal(image))
        return Constant(_floating(image) if kind == t.FLOAT else {t.TRUE: True, t.FALSE: False}.get(kind))

    # Looking ahead ----------------------------------------------------------------------------------------------------

    def _looks_ahead(self, index: int, depth: int) -> bool:
        """SelectorParser#jj_2_1 and its kin: whether a rule fits, as far as so many tokens tell."""
        self._ahead, self._scan_place, self._last_place = depth, self._token, self._token
        try:
            fits = not self._fails(_AHEAD[index])
        except _LookaheadSuccess:
            fits = True
        self._save(index, depth)
        return fits

    def _save(self, index: int, depth: int) -> None:
        """SelectorParser#jj_save."""
        calls = self._calls[index]
        place = next((place for place, call in enumerate(calls) if call.gen <= self._gen), len(calls))
        if place == len(calls):
            calls.append(_Call())
        calls[place].gen = self._gen + depth - self._ahead
        calls[place].first, calls[place].arg = self._token, depth

    def _fails(self, rule: int | str | _Rule) -> bool:
        if isinstance(rule, int):
            return self._scan(rule)
        kind, parts = _RULES[rule] if isinstance(rule, str) else rule
        if kind == "seq":
            return any(self._fails(part) for part in parts)
        place = self._scan_place
        if kind == "|":
            for part in parts:
                self._scan_place = place
                if not self._fails(part):
                    return False
            return True
        while not self._fails(("seq", parts)):
            place = self._scan_place
        self._scan_place = place
        return False

    def _scan(self, kind: int) -> bool:
        """SelectorParser#jj_scan_token: True if another token stands there."""
        following = self._scan_place.next
        if self._scan_place is self._last_place:
            self._ahead -= 1
            if following is None:
                following = self._scan_place.next = self._source.next_token()
            self._last_place = following
        if following is None:
            message = "a token behind the last one that was read"
            raise AssertionError(message)
        self._scan_place = following
        if self._rescan is not None:
            self._rescan.append((kind, self._distance(following)))
        if following.kind != kind:
            return True
        if self._ahead == 0 and self._scan_place is self._last_place:
            raise _LookaheadSuccess
        return False

    def _distance(self, place: t.Token) -> int:
        count, token = 0, self._token
        while token is not place and token.next is not None:
            count, token = count + 1, token.next
        return count

    # Errors -----------------------------------------------------------------------------------------------------------

    def _error(self, kind: int) -> ParseError:
        """SelectorParser#generateParseException."""
        expected = {kind} - {-1}
        for choice, gen in enumerate(self._refused):
            if gen == self._gen:
                expected |= _CHOICES[choice]
        entries: list[tuple[int, ...]] = [(one,) for one in sorted(expected)]
        self._rescan = []
        self._rescan_tokens()
        return ParseError(self._message(_with_sequences(entries, [*self._rescan, (0, 0)])))

    def _rescan_tokens(self) -> None:
        """SelectorParser#jj_rescan_token."""
        for index, calls in enumerate(self._calls):
            try:
                for call in calls:
                    if call.gen > self._gen and call.first is not None:
                        self._ahead, self._scan_place, self._last_place = call.arg, call.first, call.first
                        self._fails(_AHEAD[index])
            except _LookaheadSuccess:
                continue

    def _message(self, entries: list[tuple[int, ...]]) -> str:
        """ParseException#initialise."""
        expected = "".join(
            "".join(f"{t.IMAGES[kind]} " for kind in entry) + ("..." if entry[-1] else "") + "\n    "
            for entry in entries)
        found, token = "", self._next()
        first = token
        for place in range(max(map(len, entries), default=0)):
            found += " " * (place > 0)
            if token.kind == t.EOF:
                found += t.IMAGES[0]
                break
            found += f' {t.IMAGES[token.kind]} "{t.add_escapes(token.image)} "'
            if token.next is None:
                break
            token = token.next
        wanted = "Was expecting:" if len(entries) == 1 else "Was expecting one of:"
        return f'Encountered "{found}" at line {first.line}, column {first.column}.\n{wanted}\n    {expected}'


def _with_sequences(entries: list[tuple[int, ...]], scanned: list[tuple[int, int]]) -> list[tuple[int, ...]]:
    """SelectorParser#jj_add_error_token of each: a sequence is added only if an equal one is there already."""
    last: list[int] = []
    for kind, place in scanned:
        if place >= _LONGEST:
            continue
        if place == len(last) + 1:
            last.append(kind)
        elif last:
            if tuple(last) in entries:
                entries.append(tuple(last))
            if place != 0:
                del last[place - 1 :]
                last += [0] * (place - 1 - len(last)) + [kind]
    return entries


def _decimal(image: str) -> int:
    """ConstantExpression#createFromDecimal: a Long if it is no Integer; raises NumberFormatError."""
    value = parse_integer(image.removesuffix("l").removesuffix("L"), 64)
    return value if value <= INT_MAX else Long(value)


def _floating(image: str) -> float:
    """ConstantExpression#createFloat: positive and finite; even 0.0 is refused."""
    value = parse_double(image)
    if value == float("inf"):
        raise JavaRuntimeError(f"{image} is greater than 1.7976931348623157E308")
    if value == 0:
        raise JavaRuntimeError(f"{image} is less than 4.9E-324")
    return value
