"""What a finding says was broken, in words: below a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from impl.decisions.message_queue import MessageQueue
from impl.events.sentences import SENTENCES, Words
from impl.events.sentences.words import machine
from invariants.finding import Finding

VARIABLES: Mapping[str, tuple[str, str, str]] = {
    "up": ("{0} runs", "{0} does not run", ""),
    "listed": ("{0} is listed", "{0} is not listed", ""),
    "listed at": ("{0} lists {1}", "{0} does not list {1}", ""),
    "holds": ("{0} holds {1}", "{0} does not hold {1}", ""),
    "current": ("", "", "the group object of the table is {value}"),
    "inside": ("{1} is in the group object {0}", "{1} is not in the group object {0}", ""),
    "held": ("{queue} is locked", "{queue} is not locked", ""),
    "holder": ("", "", "{value} has the lock of {queue}"),
    "locked": ("{0} believes in its lock of {queue}", "{0} does not believe in its lock of {queue}", ""),
    "subscribed": ("the group subscribes {0}", "the group does not subscribe {0}", ""),
    "version": ("", "", "the version of {0} is {value}"),
    "expression": ("", "", "the expression of {0} is {value}"),
    "known": ("the broker is known", "the broker is not known", ""),
    "stored": ("", "", "the stored version is {value}"),
    "routed": ("{0} is routed", "{0} is not routed", ""),
    "at": ("", "", "{value} stands in the place of {0}"),
    "live": ("{0} counts as alive", "{0} does not count as alive", ""),
    "age": ("", "", "{0} was last heard of {value} ms ago"),
    "channel": ("", "", "the connection of {0} is {value}"),
}
"""By the variable of a model that tables are compared with: what is said of true, of false, and of any other value.

queue -- that of the model, where it has one.
"""
_MODELS = "refines_"
_FEW = 3


_BUT = " But "


def promise(claimed: str) -> str:
    """What a claim says in general."""
    said, but, _ = claimed.partition(_BUT)
    return said if but else claimed


def breach(claimed: str) -> str:
    """How the run breaks it, without a full stop; empty: the claim does not say it apart."""
    return claimed.partition(_BUT)[2].removesuffix(".")


def claim(found: Finding, words: Words) -> str:
    """The sentence below the picture of a finding: the promise, and behind "But" how the run breaks it."""
    if found.differs:
        told = [_difference(words, found, *one) for one in found.differs[:_FEW]]
        said = "; ".join(told)
        return f"{said[0].upper()}{said[1:]}." if said.startswith("the ") else f"{said}."
    if found.property.startswith(_MODELS):
        return "Nothing that happened before allows this step."
    return words.told(found.sentence).removesuffix(".") + "."


def in_words(found: Finding, at: str, records: Sequence[tuple[int, str, Any]]) -> str:
    """The sentence of a finding without the variables of models; at -- the machine whose step showed it."""
    if not found.property.startswith(_MODELS):
        return found.sentence
    words = Words(records, SENTENCES)
    if found.differs or found.event is None:
        return claim(found, words)
    return f"{words.sentence(at, found.event)}: nothing that happened before allows this step."


def _difference(words: Words, found: Finding, variable: str, keys: tuple[Any, ...], is_now: Any, should: Any) -> str:
    now, then = (_said(words, found, variable, keys, value) for value in (is_now, should))
    return f"{now}, but what happened before leaves no other result than that {then}"


def _said(words: Words, found: Finding, variable: str, keys: tuple[Any, ...], value: Any) -> str:
    name = "listed at" if (variable, len(keys)) == ("listed", 2) else variable
    if_true, if_false, otherwise = VARIABLES.get(name, ("", "", f"{variable} is {{value}}"))
    named, mq = [_element(words, key) for key in keys], dict(found.about).get("mq")
    queue = "the queue" if mq is None else _element(words, mq)
    if isinstance(value, bool) and if_true:
        return (if_true if value else if_false).format(*named, queue=queue)
    shown = words.version_of(dict(found.about).get("group"), keys[0] if keys else "", value) if variable == "version" \
        else _element(words, value)
    return (otherwise or if_true).format(*named, value=shown, queue=queue)


def _element(words: Words, element: Any) -> str:
    """An element of a model as people call it."""
    if isinstance(element, MessageQueue):
        return words.queue(element)
    if isinstance(element, tuple) and element:
        return _element(words, element[0])
    if isinstance(element, str):
        said = words.client(element)
        return machine(said) if said.rpartition(":")[2].isdecimal() else said
    return "nobody" if element is None else str(element)
