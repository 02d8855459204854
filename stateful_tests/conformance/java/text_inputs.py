"""Fresh JSON, SQL92 and frames for the live comparison, in the words of the recordings' arguments."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import impl.common.bodies  # noqa: F401  declares the classes
from impl.common.fastjson.beans import BEANS, ENUMS
from impl.common.fastjson.types import JavaType

NAMES = ("frames", "frames-odd", "json-bodies", "json-decode-odd", "sql92")
_PACKAGE = "org.apache.rocketmq."
_FRAME = "RemotingCommand"
_CLASSES = sorted(  # those that have a public constructor without arguments, down to their parts
    one.name.removeprefix(_PACKAGE) for name, one in BEANS.items()
    if name not in {_FRAME, "MessageQueueForC", "ResetOffsetBodyForC"})
_TEXTS = (
    "T", "%RETRY%G", "", " ", "1", "true", "null", "b0", 'x"y', "\\", "/", "<>&'", "\n\t\x00\x1f", "\x7f\u2028", "é",
    "订单", "\ud83d", "😀", "\ufeff", "c0@DEFAULT",
)
_NUMBERS = (
    "0", "1", "-1", "007", "-0", "+1", "1.0", "5.5", "1e3", "1E400", ".5", "1.", "-", "0x1F", "1L", "1D", "2147483647",
    "2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", "1700000000000", "NaN",
)
_ODD = (
    "null", "true", "false", "undefined", "[]", "{}", '""', "''", '"1"', '"x"', "[null]", '[1,"a",{"b":[]}]', '{"a":1}',
    "{a:1}", "{'a':1}", "{1:2}", "{[1]:2}", "nul", "T", "[,]", "[1,]", "[1 2]", "{,}", '{"a" 1}', '{"a":}', '"\\u12"',
    '"\\q"', '"\\x4', "new Date(1)", "Set[1]", "(1)",
)
_BASE64 = ("", "AAAA", "QQ==", "QUI=", " ", "é")
_SPACES = ("",) * 12 + (" ", "\n", "\t", "/*c*/", "//c\n", "\ufeff", "\x0b")
_PIECES = (*'":,{}[]\\\'0123456789-+.eE/*abnrtfu \n\x00\x1a', "//c", "/*", "null", "订")
_TAILS = ("x", "}", "]", ",", "{}", " ", "\x00", "//c", "1", '"')
_SURROGATE = re.compile("[\ud800-\udfff\U00010000-\U0010ffff]")  # JPype cannot raise what says one
_ESCAPED_SURROGATE = re.compile(r"\\u[dD]")
_ENDLESS = re.compile(  # a constant without its closing quote: Java reads on until an int overflows
    '"(?:language|serializeTypeCurrentRPC|topicFilterType|consumeType|messageModel|consumeFromWhere|consumeResult)":'
    '"[^"]*$')
_LANGUAGES = (*ENUMS["LanguageCode"][1], None)
_VARIABLES = ("a", "b", "c", "TAGS", "_a", "A")
_LITERALS = (
    "1", "0", "-1", "+5", "10", "2147483648", "9223372036854775807", "1.5", "0.5", ".5", "1.0", "-2.5", "1e2",
    "123456.125", "'x'", "'1'", "'1.5'", "''", "'it''s'", "'订单'", "TRUE", "FALSE", "NULL", "1L", "00", "0.0", "b",
)
_SQL_PIECES = (
    "(", ")", ",", "=", "<>", "<", ">=", "!=", "AND", "or", "NOT", "IN", "is", "NULL", "BETWEEN", "LIKE", "'x'", "'",
    "1", "a", "1a", "a-b", "$a", "-", "+", "--c\n", "/*c*/", ";", ".", "订", "\t", "TRUE",
)
_VALUES = (
    "1", "0", "-1", "1.5", "1.0", "x", "", " 1", "true", "TRUE", "it's", "10", "NaN", "1d", "0x1", "1e0", "订单",
    "9223372036854775807", "9223372036854775808", "+1", "1.", "٣",
)


class TextInputs:
    """Arguments `a` of rows of the recordings in NAMES, drawn from a generator that others may draw from too.

    Those of `json-bodies` are {class, text}: Java reads the text, and the row is about the object that it makes of it.
    """

    def __init__(self, dice: random.Random) -> None:
        """Draw from these dice."""
        self._dice = dice

    def arguments(self, name: str) -> Any:
        """The arguments of one row."""
        made: dict[str, Callable[[], Any]] = {
            "frames": self._frame, "frames-odd": self._odd_frame, "json-bodies": self._body,
            "json-decode-odd": self._odd_text, "sql92": self._filter,
        }
        return made[name]()

    def _chance(self, percent: int) -> bool:
        return self._dice.randrange(100) < percent

    def _int(self) -> int:
        return self._dice.choice((0, 1, -1, 6, 399, 2**31 - 1, -(2**31), self._dice.randint(-(2**31), 2**31 - 1)))

    # JSON -----------------------------------------------------------------------------------------------------------

    def _body(self) -> dict[str, Any]:
        name = self._dice.choice(_CLASSES)
        return {"class": name, "text": self._object(name.rpartition(".")[2], odd=0)}

    def _odd_text(self) -> dict[str, Any]:
        """A text with odd values, or one that is damaged, or both."""
        name = self._dice.choice(_CLASSES)
        text = self._object(name.rpartition(".")[2], odd=self._dice.choice((0, 5, 15)))
        return {"class": name, "text": self._readable(self._damaged(text, _PIECES) if self._chance(50) else text)}

    def _readable(self, text: str) -> str:
        text = _ESCAPED_SURROGATE.sub(r"\\u0", _SURROGATE.sub("é", text))
        return "{}" if _ENDLESS.search(text) else text

    def _damaged(self, text: str, pieces: Sequence[str]) -> str:
        place, piece = self._dice.randrange(len(text) + 1), self._dice.choice(pieces)
        match self._dice.randrange(4):
            case 0:
                return text[:place]
            case 1:
                return text[:place] + text[place + 1 :]
            case 2:
                return text[:place] + piece + text[place:]
        return text + self._dice.choice(_TAILS)

    def _object(self, name: str, odd: int) -> str:
        fields = [field for field in BEANS[name].fields if self._chance(75)]
        if self._chance(30):
            self._dice.shuffle(fields)
        return "{" + ",".join(self._entry(f'"{self._named(one.name, odd)}"', one.type, odd) for one in fields) + "}"

    def _named(self, name: str, odd: int) -> str:
        others = (name.upper(), f"_{name}", f"{name} ", name[:-1], "".join(f"-{one}" for one in name))
        return self._dice.choice(others) if self._chance(odd) else name

    def _entry(self, key: str, kind: JavaType, odd: int) -> str:
        space = [self._dice.choice(_SPACES) if odd else "" for _ in range(4)]
        return f"{space[0]}{key}{space[1]}:{space[2]}{self._value(kind, odd)}{space[3]}"

    def _value(self, kind: JavaType, odd: int) -> str:
        """A value; of a hundred so many as `odd` says are none of their type."""
        if self._chance(odd):
            return self._dice.choice(_ODD)
        if kind.name in BEANS:
            return self._object(kind.name, odd)
        if kind.is_map:
            items = [self._entry(self._key(kind.arguments[0]), kind.arguments[1], odd) for _ in self._some()]
            return "{" + ",".join(items) + "}"
        if kind.is_collection:
            return "[" + ",".join(self._value(kind.arguments[0], odd) for _ in self._some()) + "]"
        return self._plain(kind.name, odd)

    def _some(self) -> range:
        return range(self._dice.choice((0, 1, 1, 2, 3)))

    def _key(self, kind: JavaType) -> str:
        return self._object(kind.name, 0) if kind.name in BEANS else self._plain(kind.name, 0)

    def _plain(self, name: str, odd: int) -> str:
        if name in ENUMS:
            return json.dumps(self._dice.choice(ENUMS[name][1]))
        if name == "boolean":
            return self._dice.choice(("true", "false"))
        if name == "byte[]":
            return json.dumps(self._dice.choice(_BASE64))
        if name == "String":
            text = "".join(self._dice.choices(_TEXTS, k=self._dice.choice((1, 1, 2))))
            return json.dumps(text, ensure_ascii=self._chance(20))
        if name == "double":
            return repr(self._dice.uniform(0, 1e6))
        return self._dice.choice(_NUMBERS) if self._chance(odd) else str(self._int())

    # Frames -----------------------------------------------------------------------------------------------------------

    def _frame(self) -> dict[str, Any]:
        names = self._dice.sample(_TEXTS, self._dice.choice((0, 1, 2, 3, 14)))
        ext = [[name, self._dice.choice((*_TEXTS, None))] for name in names]
        return {
            "code": self._int(), "language": self._dice.choice(_LANGUAGES), "version": self._int(),
            "opaque": self._int(), "flag": self._int(), "remark": self._dice.choice((*_TEXTS, None)),
            "ext": None if self._chance(10) else ext, "type": self._dice.choice(("JSON", "ROCKETMQ")),
            "body": None if self._chance(20) else self._dice.randbytes(self._dice.choice((0, 1, 20))).hex(),
        }

    def _odd_frame(self) -> dict[str, Any]:
        """A header that somebody writes; text that is no UTF-8 is not asked for."""
        text = self._object(_FRAME, odd=self._dice.choice((0, 5, 15)))
        text = self._readable(self._damaged(text, _PIECES) if self._chance(40) else text)
        header = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\ufffd", "?")
        return {"header": header, "type": 0, "body": self._dice.choice(("", "00ff"))}

    # SQL92 ------------------------------------------------------------------------------------------------------------

    def _filter(self) -> dict[str, Any]:
        text = self._condition(0)
        while self._chance(30):
            text = self._damaged(text, [f" {one} " for one in _SQL_PIECES])
        maps: list[Mapping[str, str] | None] = [
            {name: self._dice.choice(_VALUES) for name in _VARIABLES if self._chance(55)} for _ in range(8)]
        return {"expr": text, "props": [None, {}, *maps]}

    def _condition(self, depth: int) -> str:
        negated, one = self._dice.choice(("", "", "NOT ")), self._dice.choice(_VARIABLES)
        if depth > 2 or self._chance(50):  # noqa: PLR2004  deep enough
            first, second = self._dice.choices(_LITERALS, k=2)
            return self._dice.choice((
                f"{one} {self._dice.choice(('=', '<>', '<', '<=', '>', '>='))} {first}", one,
                f"{one} {negated}BETWEEN {first} AND {second}", f"{one} IS {negated}NULL",
                f"{one} {negated}IN ('x', {first if first[0] == chr(39) else repr('1')})", f"{first} = {one}",
            ))
        left, right = self._condition(depth + 1), self._condition(depth + 1)
        return self._dice.choice((
            f"({left})", f"NOT {left}", f"{left} AND {right}", f"{left} or {right}", f"({left}) = {right}"))
