"""Search by what people say: hazards, properties and symptoms, ranked by the words of a question.

Words are compared by their stems. What stands in few texts counts for more, as in Okapi BM25 (Robertson and Zaragoza,
2009). Words of users that the catalogue says otherwise are translated first.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import snowballstemmer

from invariants.front_desk.catalogue import entries
from invariants.hazards import HAZARDS, SYMPTOMS, Hazard
from invariants.verdict import BadInputError

SAID_OTHERWISE: Mapping[str, str] = {
    "twice": "duplicate", "again": "duplicate", "repeatedly": "duplicate", "redelivered": "duplicate",
    "reconsumed": "duplicate", "double": "duplicate", "dup": "duplicate",
    "missing": "lost", "skipped": "lost", "disappeared": "lost", "vanished": "lost", "loss": "lost", "lose": "lost",
    "hang": "stuck", "hangs": "stuck", "blocked": "stuck", "stopped": "stuck", "idle": "stuck", "nobody": "stuck",
    "accumulate": "stuck", "backlog": "stuck", "lag": "late", "slow": "late", "delay": "late", "delayed": "late",
    "imbalance": "skewed", "unbalanced": "skewed", "uneven": "skewed", "unevenly": "skewed", "busy": "skewed",
    "disorder": "unordered", "reordered": "unordered", "sequence": "unordered",
    "exception": "refused", "error": "refused", "fails": "refused", "failed": "refused", "timeout": "refused",
    "upgrade": "restart", "deploy": "restart", "deployment": "restart", "rolling": "restart", "reboot": "restart",
    "crash": "killed", "oom": "killed", "instance": "member", "client": "member", "consumer": "member",
    "lock": "ordered", "orderly": "ordered", "nameserver": "name server", "namesrv": "name server",
}
"""A word of users to one of the catalogue; both are looked for."""

EMPTY_WORDS = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "do", "does", "for", "from", "had", "has",
    "have", "how", "i", "in", "is", "it", "its", "my", "not", "of", "on", "one", "or", "our", "some", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "to", "was", "we", "were", "what", "when", "where",
    "which", "while", "who", "why", "will", "with", "you", "your", "rocketmq", "message", "messages",
})
K, B = 1.2, 0.75
"""Of BM25: how soon a word that is said often counts no more; how much a long text counts for less."""
WEIGHTS = {"name": 4, "symptom": 3, "log": 3, "seen": 2, "sentence": 2, "other": 1}
MOST = 12


@dataclass(frozen=True, slots=True)
class Hit:
    """A row of the answer. kind -- hazard, property or symptom. why -- words of the question that it matches."""

    name: str
    kind: str
    sentence: str
    why: tuple[str, ...]
    score: float


@dataclass(frozen=True, slots=True)
class _Text:
    """What can be found. words -- how often each stem is said, by weight."""

    name: str
    kind: str
    sentence: str
    words: Counter[str]


_STEMMER = snowballstemmer.stemmer("english")


def stems(text: str) -> list[str]:
    """The stems of the words that say something; of a name in camel or snake case its parts, too."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    words = re.findall(r"[a-z0-9-]+", f"{text} {apart}".replace("_", " ").lower())
    return [_stem(word) for word in dict.fromkeys(words) if word not in EMPTY_WORDS]


def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word))


def search(question: str, judged: Collection[str] = ()) -> list[Hit]:
    """What fits a question best, best first; nothing if no word of it is known.

    judged -- the properties that machines and campaigns judge of runs. Raises BadInputError for a question that says
    nothing.
    """
    asked = _asked(question)
    if not asked:
        raise BadInputError("the question has no word to look for; say what you see, as in "
                            "`rocketproof search duplicates during a rolling restart`")
    texts = list(_texts(judged))
    said_in = Counter(word for text in texts for word in text.words)
    usual = sum(text.words.total() for text in texts) / len(texts)
    hits = (_hit(text, asked, said_in, len(texts), usual) for text in texts)
    return sorted((hit for hit in hits if hit.why), key=lambda hit: (-hit.score, hit.name))[:MOST]


def _asked(question: str) -> dict[str, str]:
    """The stems to look for, each with the word that was said."""
    asked: dict[str, str] = {}
    for word in re.findall(r"[\w-]+", question):
        for one in (word, SAID_OTHERWISE.get(word.lower(), "")):
            for stem in stems(one):
                asked.setdefault(stem, word)
    return asked


def _hit(text: _Text, asked: Mapping[str, str], said_in: Counter[str], texts: int, usual: float) -> Hit:
    score, why = 0.0, dict[str, None]()
    length = 1 - B + B * text.words.total() / usual
    for stem, word in asked.items():
        if often := text.words[stem]:
            rare = math.log(1 + (texts - said_in[stem] + 0.5) / (said_in[stem] + 0.5))
            score += rare * often * (K + 1) / (often + K * length)
            why[word] = None
    return Hit(text.name, text.kind, text.sentence, tuple(why), round(score, 3))


def _texts(judged: Collection[str]) -> Iterator[_Text]:
    for hazard in HAZARDS.values():
        yield _Text(hazard.name, "hazard", hazard.sentence, _words(_of_hazard(hazard)))
    for entry in entries(judged):
        other = f"{entry.home} {' '.join(entry.hazards)}"
        parts = [("name", entry.name), ("sentence", entry.sentence), ("other", other)]
        yield _Text(entry.name, "property", entry.sentence, _words(parts))
    for name, meaning in SYMPTOMS.items():
        yield _Text(name, "symptom", meaning, _words([("name", name), ("sentence", meaning)]))


def _of_hazard(hazard: Hazard) -> Sequence[tuple[str, str]]:
    return [
        ("name", hazard.name), ("sentence", hazard.sentence), ("seen", hazard.seen), ("other", hazard.trigger),
        ("other", hazard.cite), ("other", hazard.group), ("other", " ".join(hazard.upstream)),
        *(("symptom", one) for one in hazard.symptoms), *(("log", one) for one in hazard.logs),
    ]


def _words(parts: Sequence[tuple[str, str]]) -> Counter[str]:
    words: Counter[str] = Counter()
    for kind, text in parts:
        for stem in stems(text):
            words[stem] += WEIGHTS[kind]
    return words


def told(hits: Sequence[Hit]) -> Iterator[str]:
    """The answer as people read it."""
    if not hits:
        yield "nothing is known of these words; `rocketproof list` and `rocketproof search` with what you see may help"
    for hit in hits:
        yield f"{hit.name:34} {hit.kind:9} {hit.sentence}"
        yield f"{'':34} {'':9} matches {', '.join(hit.why)}"
