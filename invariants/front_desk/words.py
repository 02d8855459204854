"""Words of people and of the catalogue, made comparable: split, stemmed, and one for all that mean the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import snowballstemmer

ALSO_SAID: Mapping[str, str] = {
    "duplicate": "twice again repeat redeliver reconsume double dup duplication resend",
    "lost": "lose loss miss skip disappear",
    "stuck": "hang block idle nobody accumulate backlog pile deadlock stop",
    "late": "lag slow delay wait",
    "skewed": "imbalance unbalanced balance uneven tilt busy",
    "unordered": "disorder reorder sequence",
    "refused": "exception error fail timeout reject deny throw",
    "restart": "upgrade deploy deployment roll reboot",
    "dead": "crash kill die down offline oom vanish fail-over",
    "member": "instance client pod",
    "ordered": "order orderly ordering",
    "offset": "progress",
    "consume": "consumption",
    "nameserver": "namesrv",
}
"""A word of the catalogue, and what people say for it."""

TOGETHER = {"name server": "nameserver"}
"""Two words that are one."""

_ENGLISH = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it
its itself they them their theirs themselves what which who whom this that these those am is are was were be been
being have has had having do does did doing would should could ought can will shall may might must a an the and but
if or because as until while of at by for with about against between into through during before after above below to
from up down in out on off over under again further then once here there when where why how all any both each few
more most other some such no nor not only own same so than too very also just yet still one even although since
though whether either rocketmq message messages
"""
EMPTY = frozenset(_ENGLISH.split()) - {"again", "down"}
"""Words that say nothing here: those of Snowball's English list, but for two that tell what happened."""

_STEMMER = snowballstemmer.stemmer("english")


@cache
def stem(word: str) -> str:
    """The stem of a word, or of the word of the catalogue that means the same."""
    own = str(_STEMMER.stemWord(word))
    return _MEANT.get(own, own)


def stems(text: str) -> list[str]:
    """The stems of the words that say something, each once; of a name in camel or snake case its parts, too."""
    return list(dict.fromkeys(stem(word) for word in words(text) if word not in EMPTY))


def words(text: str) -> list[str]:
    """The words of a text in lower case, and the parts of those that are composed."""
    for apart, together in TOGETHER.items():
        text = re.sub(apart, together, text, flags=re.IGNORECASE)
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z]{2})-(?=[A-Za-z]{2})", " ", text)
    return re.findall(r"[a-z0-9-]*[a-z0-9]", f"{text} {parts}".replace("_", " ").lower())


_MEANT = {str(_STEMMER.stemWord(one)): str(_STEMMER.stemWord(word))
          for word, others in ALSO_SAID.items() for one in others.split()}
