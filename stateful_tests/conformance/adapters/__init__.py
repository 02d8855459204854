"""Adapters: which function of the implementation a recording is about, and how its rows name arguments and answers.

Each module of this package holds one family in `ADAPTERS`, by the recording's name without suffixes. An adapter takes
a row and answers None when the implementation does what was recorded, else one line that says what differs.
"""

from __future__ import annotations

from stateful_tests.conformance.adapters import (
    allocation,
    broker_clients,
    client_tables,
    constants,
    consumer,
    message_bytes,
    names,
    queue_choice,
    remoting,
    route_info,
    sql_filter,
    store,
    store_files,
)
from stateful_tests.conformance.replay import Adapter

ADAPTERS: dict[str, Adapter] = {
    **allocation.ADAPTERS,
    **broker_clients.ADAPTERS,
    **client_tables.ADAPTERS,
    **constants.ADAPTERS,
    **consumer.ADAPTERS,
    **message_bytes.ADAPTERS,
    **names.ADAPTERS,
    **queue_choice.ADAPTERS,
    **remoting.ADAPTERS,
    **route_info.ADAPTERS,
    **sql_filter.ADAPTERS,
    **store.ADAPTERS,
    **store_files.ADAPTERS,
}
