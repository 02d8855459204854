"""Words of people and of the catalogue, made comparable: split, translated, stemmed, and one for all of one meaning.

`glossary.toml` says what people say for a word of the catalogue, in English and in Chinese.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import snowballstemmer

GLOSSARY: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("glossary.toml").read_text(encoding="utf-8"))
"""By a word of the catalogue: what is said for it, by language, with blanks between."""

_ENGLISH = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it
its itself they them their theirs themselves what which who whom this that these those am is are was were be been
being have has had having do does did doing would should could ought can will shall may might must a an the and but
if or because as until while of at by for with about against between into through during before after above below to
from up out in on off over under further then once here there when where why how all any both each few
more most other some such no nor not only own same so than too very also just yet still one even although since
though whether either neither already rocketmq message come came get got make made let use know say see look find found
happen give given keep kept go went s ms
"""
_STEMMER = snowballstemmer.stemmer("english")
_EMPTY = frozenset(_STEMMER.stemWords(_ENGLISH.split()))
"""Stems of words that say nothing here: Snowball's English list, but for two that tell what happened (again, down)."""


def _said(language: str) -> Iterator[tuple[str, str]]:
    """What is said in a language, and the word of the catalogue; an underscore stands for a blank."""
    return ((one.replace("_", " "), word) for word, said in GLOSSARY.items() for one in said.get(language, "").split())


def _terms() -> Mapping[str, list[str]]:
    """What is looked up before a text is split: Chinese, which has no blanks, and English of several words."""
    words = defaultdict(list)
    for term, word in (*_said("chinese"), *_said("english")):
        if " " in term or not term.isascii():
            words[term].append(word)
    return words


_TERMS = _terms()
_TERM = re.compile("|".join(map(re.escape, sorted(_TERMS, key=len, reverse=True))), re.IGNORECASE)
_MEANT = {str(_STEMMER.stemWord(one)): str(_STEMMER.stemWord(word)) for one, word in _said("english")}


@cache
def stem(word: str) -> str:
    """The stem of a word, or of the word of the catalogue that means the same; empty for a word that says nothing."""
    own = str(_STEMMER.stemWord(word))
    return "" if own in _EMPTY else _MEANT.get(own, own)


def meant(text: str) -> dict[str, str]:
    """What a text says: the stems of its words that say something, each with the word that was said for it first."""
    said: dict[str, str] = {}
    for word, english in _words(text):
        said.setdefault(stem(english), word)
    said.pop("", None)
    return said


def stems(text: str) -> list[str]:
    """The stems of the words that say something, each once; of a name in camel or snake case its parts, too."""
    return list(meant(text))


def _words(text: str) -> Iterator[tuple[str, str]]:
    """The words of a text in lower case, each with what it is in English, and the parts of those that are composed."""
    for found in _TERM.finditer(text):
        term = found.group().lower()
        yield from ((term, word) for word in _TERMS[term])
    text = _TERM.sub(" ", text)
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z]{2})-(?=[A-Za-z]{2})", " ", text)
    for word in re.findall(r"[a-z0-9-]*[a-z0-9]", f"{text} {parts}".replace("_", " ").lower()):
        yield word, word
