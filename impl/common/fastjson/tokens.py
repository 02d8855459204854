"""JSONToken: what a lexer can stand on."""

from __future__ import annotations

from enum import IntEnum


class Token(IntEnum):
    """`parser.JSONToken`, with its numbers: one message shows a number."""

    ERROR = 1
    LITERAL_INT = 2
    LITERAL_FLOAT = 3
    LITERAL_STRING = 4
    TRUE = 6
    FALSE = 7
    NULL = 8
    NEW = 9
    LPAREN = 10
    RPAREN = 11
    LBRACE = 12
    RBRACE = 13
    LBRACKET = 14
    RBRACKET = 15
    COMMA = 16
    COLON = 17
    IDENTIFIER = 18
    EOF = 20
    SET = 21
    TREE_SET = 22
    UNDEFINED = 23
    SEMI = 24
    DOT = 25
    HEX = 26

    @property
    def text(self) -> str:
        """JSONToken#name."""
        return _NAMES[self]


_NAMES = {
    Token.ERROR: "error", Token.LITERAL_INT: "int", Token.LITERAL_FLOAT: "float", Token.LITERAL_STRING: "string",
    Token.TRUE: "true", Token.FALSE: "false", Token.NULL: "null", Token.NEW: "new", Token.LPAREN: "(",
    Token.RPAREN: ")", Token.LBRACE: "{", Token.RBRACE: "}", Token.LBRACKET: "[", Token.RBRACKET: "]",
    Token.COMMA: ",", Token.COLON: ":", Token.IDENTIFIER: "ident", Token.EOF: "EOF", Token.UNDEFINED: "undefined",
    Token.SEMI: ";", Token.DOT: ".", Token.SET: "Set", Token.TREE_SET: "TreeSet", Token.HEX: "hex",
}
