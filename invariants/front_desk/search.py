"""Search by what people say: hazards, properties and symptoms, ranked by the words of a question.

A text counts by Okapi BM25 (Robertson and Zaragoza, 2009) over the stems of its words (`words.py`), of which those of a
name count for more. A word that means a symptom asks for whatever has this symptom. Hazards of which a whole log line
stands in the question come first.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from invariants.front_desk.catalogue import Entry, entries
from invariants.front_desk.words import meant, stems
from invariants.hazards import HAZARDS, SYMPTOMS, Hazard
from invariants.verdict import BadInputError

K, B = 1.2, 0.75
"""Of BM25: how soon a word that is said often counts no more; how much a long text counts for less."""
WEIGHTS = {"name": 2, "log": 0.5, "seen": 2, "sentence": 1, "other": 0.5}
"""Of the parts of a text: how much a word of it counts."""
KINDS = {"hazard": 1, "property": 0.6, "symptom": 0.6}
"""How much a text counts by its kind: who asks tells what he saw, and looks for what brings it about."""
MOST = 12
_NAMED = {stems(name)[0]: f"the symptom {name}" for name in SYMPTOMS}
"""What a stem asks for if it names a symptom. Texts are asked for it, and not for the word."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A row of the answer.

    kind -- hazard, property or symptom. why -- words of the question that it matches. helps -- what mitigates it.
    """

    name: str
    kind: str
    sentence: str
    why: tuple[str, ...]
    helps: str
    score: float


@dataclass(frozen=True, slots=True)
class _Text:
    """What can be found. words -- how often each stem is said, by weight. symptoms, logs -- that it has."""

    name: str
    kind: str
    sentence: str
    helps: str
    words: Counter[str]
    symptoms: frozenset[str]
    logs: tuple[str, ...] = ()

    def is_logged(self, question: str) -> bool:
        """Whether one of its log lines stands in the question; {} stands for what RocketMQ fills in."""
        return any(_line(log).search(question) for log in self.logs)


@cache
def _line(log: str) -> re.Pattern[str]:
    return re.compile(".*?".join(map(re.escape, log.split("{}"))), re.IGNORECASE)


def search(question: str, judged: Collection[str] = ()) -> list[Hit]:
    """What fits a question best, best first; nothing if no word of it is known.

    judged -- the properties that machines and campaigns judge of runs. Raises BadInputError for a question that says
    nothing.
    """
    asked = meant(question)
    if not asked:
        raise BadInputError("the question has no word to look for; say what you see, as in "
                            "`rocketproof search duplicates during a rolling restart`")
    texts = _texts(frozenset(judged))
    rare, lengths = _measured(frozenset(judged))
    hits = (_hit(text, asked, rare, length) for text, length in zip(texts, lengths, strict=True))
    named = question.strip()  # who says a name asks for what has it
    logged = {text.name for text in texts if text.is_logged(question)}
    return sorted((one for one in hits if one.why),
                  key=lambda one: (one.name != named, one.name not in logged, -one.score, one.name))[:MOST]


def _hit(text: _Text, asked: Mapping[str, str], rare: Mapping[str, float], length: float) -> Hit:
    """A text as an answer; rare -- how much each stem and symptom says; length -- of the text, 1 is usual."""
    score, why = 0.0, dict[str, None]()
    for one, word in asked.items():
        symptom = _NAMED.get(one)
        often = text.words[one] if symptom is None else 0
        if symptom in text.symptoms:
            score += rare[symptom]
        elif often:
            score += rare[one] * often * (K + 1) / (often + K * (1 - B + B * length))
        else:
            continue
        why[word] = None
    return Hit(text.name, text.kind, text.sentence, tuple(why), text.helps, round(KINDS[text.kind] * score, 3))


@cache
def _texts(judged: frozenset[str]) -> Sequence[_Text]:
    """All that can be found."""
    return [*_hazards(), *_properties(judged), *_symptoms()]


@cache
def _measured(judged: frozenset[str]) -> tuple[Mapping[str, float], Sequence[float]]:
    """How much each stem and symptom says, and how long each text is: 1 is usual."""
    texts = _texts(judged)
    said_in = Counter(one for text in texts for one in (*text.words, *text.symptoms))
    rare = {one: math.log(1 + (len(texts) - having + 0.5) / (having + 0.5)) for one, having in said_in.items()}
    usual = sum(text.words.total() for text in texts) / len(texts)
    return rare, [text.words.total() / usual for text in texts]


def _hazards() -> Iterator[_Text]:
    for hazard in HAZARDS.values():
        yield _Text(hazard.name, "hazard", hazard.sentence, hazard.mitigation, _words(_of_hazard(hazard)),
                    _meant(*hazard.symptoms), hazard.logs)


def _properties(judged: Collection[str]) -> Iterator[_Text]:
    for entry in entries(judged):
        parts = [("name", entry.name), ("sentence", entry.sentence), ("other", entry.home),
                 ("other", " ".join(entry.hazards))]
        yield _Text(entry.name, "property", entry.sentence, _helps_property(entry), _words(parts),
                    _meant(f"{entry.name} {entry.sentence}"))


def _symptoms() -> Iterator[_Text]:
    for name, meaning in SYMPTOMS.items():
        helps = f"`rocketproof show {name!r}` says it of each hazard behind it"
        yield _Text(name, "symptom", meaning, helps, _words([("sentence", meaning)]), _meant(name))


def _meant(*texts: str) -> frozenset[str]:
    """The symptoms that texts name."""
    return frozenset(_NAMED[one] for text in texts for one in stems(text) if one in _NAMED)


def _helps_property(entry: Entry) -> str:
    """What keeps a property: the mitigation of the first hazard that breaks it."""
    if not entry.hazards:
        return "nothing is needed: 4.9.3 keeps it" if entry.expected == "holds" else "not known"
    first, *more = entry.hazards
    others = f" (and {', '.join(more)}: `rocketproof show` has them)" if more else ""
    return f"against {first}: {HAZARDS[first].mitigation}{others}"


def _of_hazard(hazard: Hazard) -> Iterable[tuple[str, str]]:
    return [
        ("name", hazard.name), ("sentence", hazard.sentence), ("seen", hazard.seen), ("other", hazard.lasts),
        ("other", hazard.trigger), ("other", hazard.cite), ("other", hazard.group),
        *(("log", one) for one in hazard.logs),
    ]


def _words(parts: Iterable[tuple[str, str]]) -> Counter[str]:
    said: Counter[str] = Counter()
    for part, text in parts:
        for one in stems(text):
            said[one] += WEIGHTS[part]  # type: ignore[assignment]  # a Counter counts halves, too
    return said


def told(hits: Sequence[Hit]) -> Iterator[str]:
    """The answer as people read it."""
    if not hits:
        yield "nothing is known of these words; `rocketproof list` and `rocketproof search` with what you see may help"
    for hit in hits:
        yield f"{hit.name:34} {hit.kind:9} {hit.sentence}"
        yield f"{'':34} {'':9} helps: {hit.helps}"
        yield f"{'':34} {'':9} matches {', '.join(hit.why)}"
