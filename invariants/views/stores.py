"""What the stores of brokers hold: the records of their logs, and the units of their queues."""

from __future__ import annotations

from impl.broker.controller import BrokerController
from impl.store.default_message_store import DefaultMessageStore
from impl.store.record_reader import RecordReader
from invariants.views.living import Living
from invariants.views.values import StoredRecord

_Known = tuple[DefaultMessageStore, int, int, tuple[StoredRecord, ...]]


class StoreViews:
    """Of the brokers that live and keep messages; of others everything is empty."""

    living: Living

    def log_records(self, broker: str) -> tuple[StoredRecord, ...]:
        """The records of the log, from its least offset to its end, as far as they can be read one after another."""
        store = self._store(broker)
        if store is None:
            return ()
        known: dict[str, _Known] = vars(self).setdefault("_logs", {})
        ends = store, store.get_min_phy_offset(), store.get_max_phy_offset()
        if broker not in known or known[broker][:3] != ends:
            known[broker] = *ends, tuple(_records(store))
        return known[broker][3]

    def log_records_from(self, broker: str, offset: int) -> tuple[StoredRecord, ...]:
        """The records of the log from an offset on, at which one begins or ends, as far as they are still there."""
        store = self._store(broker)
        return () if store is None else tuple(_records(store, offset))

    def queue_unit(self, broker: str, topic: str, queue_id: int, index: int) -> int | None:
        """The offset in the log that the unit of a queue names; None: there is none with this number."""
        store = self._store(broker)
        unit = None if store is None else store.find_consume_queue(topic, queue_id).unit(index)
        return None if unit is None else unit.offset

    def queue_units(self, broker: str) -> dict[tuple[str, int], tuple[int, int]]:
        """Topic and queue id to the first number of a unit and the one behind the last, equal where there is none."""
        store = self._store(broker)
        found = () if store is None else tuple(store.queues())
        return {(one.topic, one.queue_id): (one.get_min_offset_in_queue(), one.get_max_offset_in_queue())
                for one in found}

    def _store(self, broker: str) -> DefaultMessageStore | None:
        found: BrokerController | None = self.living.broker(broker)
        return None if found is None or found.data_plane is None else found.data_plane.store


def _records(store: DefaultMessageStore, offset: int = 0) -> list[StoredRecord]:
    """Read each file up to where it is readable, behind an offset."""
    found = []
    for mapped_file in store.commit_log.mapped_file_queue.mapped_files:
        skipped = max(offset - mapped_file.file_from_offset, 0)
        if skipped >= mapped_file.file_size:
            continue
        reader = RecordReader(
            mapped_file.mapped_byte_buffer, skipped, mapped_file.get_read_position(), check_crc=False, read_body=False,
            delay_levels=store.commit_log.delay_levels)
        start = mapped_file.file_from_offset + skipped
        while (request := reader.next()).success and request.msg_size > 0:
            found.append(StoredRecord(start, request.topic, request.queue_id, request.consume_queue_offset,
                                      request.msg_size, request.uniq_key))
            start += request.msg_size
    return found
