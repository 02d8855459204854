"""The text that is read, and where the reader stands in it (JSONScanner). Positions count UTF-16 units, as in Java."""

from __future__ import annotations

from impl.decisions.java_errors import JavaException
from impl.decisions.java_text import joined_text, utf16_units

EOI = "\x1a"
WHITESPACE = frozenset(" \n\r\t\f\b")
DIGITS = frozenset("0123456789")


class JSONError(JavaException):
    """`com.alibaba.fastjson.JSONException`."""

    java_class = "com.alibaba.fastjson.JSONException"


class Characters:
    """A text. bp -- the position of ch."""

    def __init__(self, text: str) -> None:
        """Stand on the first character; a byte order mark is skipped."""
        self.text = "".join(map(chr, utf16_units(text)))
        self.bp, self.ch = -1, EOI
        self.next()
        if self.ch == "\ufeff":
            self.next()

    def char_at(self, index: int) -> str:
        """The character there; EOI behind the end."""
        return self.text[index] if index < len(self.text) else EOI

    def next(self) -> str:
        """Go to the next character."""
        self.bp += 1
        self.ch = self.char_at(self.bp)
        return self.ch

    def go(self, bp: int) -> None:
        """Stand somewhere."""
        self.bp, self.ch = bp, self.char_at(bp)

    def is_eof(self) -> bool:
        """JSONScanner#isEOF."""
        return self.bp == len(self.text) or (self.ch == EOI and self.bp + 1 >= len(self.text))

    def is_blank_input(self) -> bool:
        """JSONLexerBase#isBlankInput: whether all of the text is white space."""
        for one in self.text:
            if one == EOI:
                return True
            if one not in WHITESPACE:
                return False
        return True

    def info(self) -> str:
        """JSONScanner#info: where it stands, and the text."""
        before = self.text[:self.bp]
        last = before.rfind("\n")
        # Java sets the column to 1 at a line's end and counts on from there.
        column = self.bp + 1 if last < 0 else self.bp - last + 1
        return f"pos {self.bp}, line {before.count(chr(10)) + 1}, column {column}{joined_text(self.text[:65535])}"

    def skip_whitespace(self) -> None:
        """JSONLexerBase#skipWhitespace: comments as well."""
        while self.ch in WHITESPACE or self.ch == "/":
            if self.ch == "/":
                self._skip_comment()
            else:
                self.next()

    def skip_commas(self) -> None:
        """Feature.AllowArbitraryCommas: white space, comments, and any number of commas."""
        self.skip_whitespace()
        while self.ch == ",":
            self.next()
            self.skip_whitespace()

    def _skip_comment(self) -> None:
        self.next()
        if self.ch == "/":
            while self.next() not in {"\n", EOI}:
                pass
            if self.ch == "\n":
                self.next()
        elif self.ch == "*":
            self.next()
            while self.ch != EOI:
                if self.ch != "*":
                    self.next()
                elif self.next() == "/":
                    self.next()
                    return
        else:
            raise JSONError("invalid comment")
