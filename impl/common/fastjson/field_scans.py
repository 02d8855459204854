"""What all fast readings of a field share: its name, and what ends it (JSONScanner#scanFieldInt and its kin).

Each reads name, value and end in one go, and sets match_stat: NOT_MATCH_NAME -- another field stands there; NOT_MATCH
-- the name fits, the value does not; VALUE -- a comma follows; END -- the object is over, and the token says what
follows it. Some go back to the beginning when they fail, some stay where they are: what is read next depends on it.
"""

from __future__ import annotations

from impl.common.fastjson.characters import EOI, WHITESPACE
from impl.common.fastjson.lexer import Lexer
from impl.common.fastjson.tokens import Token

NOT_MATCH, NOT_MATCH_NAME, UNKNOWN, VALUE, END, VALUE_NULL = -1, -2, 0, 3, 4, 5
ENDS = {",": Token.COMMA, "]": Token.RBRACKET, "}": Token.RBRACE}


def match_field(lexer: Lexer, name: str) -> bool:
    """JSONLexerBase#matchField: read name and colon, and the first token of the value."""
    while not lexer.text.startswith(name, lexer.bp):
        if lexer.ch not in WHITESPACE:
            return False
        lexer.next()
    lexer.go(lexer.bp + len(name))
    if lexer.ch in "{[":
        lexer.token = Token.LBRACE if lexer.ch == "{" else Token.LBRACKET
        lexer.next()
    elif lexer.text.startswith("Set[", lexer.bp):
        lexer.token = Token.SET
        lexer.go(lexer.bp + 3)
    else:
        lexer.next_token()
    return True


def named(lexer: Lexer, name: str) -> bool:
    """Whether the field stands where the lexer stands; match_stat is set for both cases."""
    found = lexer.text.startswith(name, lexer.bp)
    lexer.match_stat = UNKNOWN if found else NOT_MATCH_NAME
    return found


def comma(lexer: Lexer) -> None:
    """Read the comma on which the lexer is."""
    lexer.go(lexer.bp + 1)
    lexer.match_stat, lexer.token = VALUE, Token.COMMA


def ended(lexer: Lexer, *, spaces: bool) -> bool:
    """Read what follows the closing brace, on which the lexer is. At the end of the text ch stays what it was."""
    lexer.bp += 1
    ch = lexer.char_at(lexer.bp)
    while spaces and ch in WHITESPACE:
        lexer.bp += 1
        ch = lexer.char_at(lexer.bp)
    if ch in ENDS:
        lexer.token = ENDS[ch]
        lexer.go(lexer.bp + 1)
    elif ch == EOI:
        lexer.token = Token.EOF
    else:
        lexer.match_stat = NOT_MATCH
        return False
    lexer.match_stat = END
    return True


def next_or_end(lexer: Lexer, index: int) -> bool:
    """A comma, or a closing brace and what follows it without white space; the lexer moves only if it fits."""
    ch = lexer.char_at(index)
    if ch == ",":
        lexer.go(index + 1)
        lexer.match_stat = VALUE
        return True
    after = lexer.char_at(index + 1)
    if ch != "}" or (after not in ENDS and after != EOI):
        return False
    lexer.token = ENDS.get(after, Token.EOF)
    lexer.go(index + 2 if after in ENDS else index + 1)
    lexer.ch = lexer.ch if after in ENDS else EOI
    lexer.match_stat = END
    return True
