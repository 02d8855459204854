"""CommitLogDispatcherCalcBitMap: which groups' expressions a new message fulfils, as bits of the bloom filter."""

from __future__ import annotations

from impl.broker.consumer_filter_manager import ConsumerFilterManager
from impl.decisions.java_errors import JavaError
from impl.store.dispatch_request import DispatchRequest


def calc_bit_map(manager: ConsumerFilterManager, request: DispatchRequest) -> bytes | None:
    """CommitLogDispatcherCalcBitMap#dispatch: None for a topic without filters. The dead count too."""
    by_topic = manager.filter_data_by_topic.get(request.topic)
    if by_topic is None or by_topic.group_filter_data.is_empty():
        return None
    bits = manager.bloom_filter.empty_bits()
    for data in by_topic.group_filter_data.values():
        if data.compiled_expression is None or data.bloom_filter_data is None:
            continue
        try:
            fulfilled = data.compiled_expression.evaluate(request.properties_map) is True
        except JavaError:
            continue  # logged
        if fulfilled:
            manager.bloom_filter.set_at(data.bloom_filter_data.bit_pos, bits)
    return bytes(bits)
