"""The sentence of each class of events: one table, in RocketMQ's words, for whoever shows people what happened."""

from __future__ import annotations

from collections.abc import Mapping

from impl.events.sentences import (
    clients,
    consumption,
    host,
    locks,
    membership,
    messages,
    name_server,
    offsets,
    operators,
    ownership,
    polling,
    registration,
    sending,
    store,
    subscriptions,
)
from impl.events.sentences.said import Said as Said
from impl.events.sentences.words import Words as Words

SENTENCES: Mapping[type, Said] = {
    kind: said
    for part in (
        clients, consumption, host, locks, membership, messages, name_server, offsets, operators, ownership, polling,
        registration, sending, store, subscriptions)
    for kind, said in part.SENTENCES.items()
}
"""By the class of the event; each class of `impl.events` is here."""
