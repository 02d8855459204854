"""Which queue a producer sends to: round robin over a 32-bit counter, avoiding a broker, by hash."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from impl.decisions.java_arithmetic import absolute32, remainder, wrap32
from impl.decisions.java_errors import NullPointerError
from impl.decisions.message_queue import MessageQueue


def first_index(random_int: int) -> int:
    """The value that a thread's counter starts from, for any random int; negative for the least one."""
    return absolute32(random_int)


def next_index(index: int) -> int:
    """The counter's stored value after one more call; ThreadLocalIndex#incrementAndGet stores it."""
    return wrap32(index + 1)


def answered_index(index: int) -> int:
    """What ThreadLocalIndex#incrementAndGet answers for a stored value; negative for the least int."""
    return absolute32(index)


def position(index: int, size: int) -> int:
    """The position in a list of `size` queues for an index; TopicPublishInfo#selectOneMessageQueue.

    Domain: any int, size >= 1. Raises DivisionByZeroError for an empty list.
    """
    place = remainder(absolute32(index), size)
    if place < 0:
        return 0
    return place


def plain_position(index: int, size: int) -> tuple[int, int]:
    """One plain pick: the new stored counter and the position; TopicPublishInfo#selectOneMessageQueue()."""
    index = next_index(index)
    return index, position(answered_index(index), size)


def avoiding_position(index: int, size: int, avoided: Callable[[int], bool]) -> tuple[int, int]:
    """One pick that avoids positions: the new stored counter and the position.

    avoided -- whether the queue at a position is at the broker of the last attempt.
    TopicPublishInfo#selectOneMessageQueue(lastBrokerName): at most `size` picks, then one more plain one.
    """
    for _ in range(size):
        index, place = plain_position(index, size)
        if not avoided(place):
            return index, place
    return plain_position(index, size)


def write_queue_id(index: int, write_queue_nums: int) -> int:
    """The queue id that the latency strategy writes; MQFaultStrategy#selectOneMessageQueue, without a guard.

    Negative where the answered index is (the least int) and write_queue_nums is no power of two.
    """
    return remainder(answered_index(index), write_queue_nums)


def hash_position(hash_code: int, size: int) -> int:
    """The position for an argument's hashCode; SelectMessageQueueByHash#select.

    Domain: any int, size >= 1. Raises DivisionByZeroError for an empty list.
    """
    place = remainder(hash_code, size)
    if place < 0:
        return absolute32(place)
    return place


def machine_room_position(size: int) -> None:
    """SelectMessageQueueByMachineRoom#select: null, whatever it is given."""
    del size


@dataclass
class ThreadLocalIndex:
    """One thread's counter of a ThreadLocalIndex; index is the stored value, an int."""

    index: int

    def increment_and_get(self) -> int:
        """ThreadLocalIndex#incrementAndGet."""
        self.index = next_index(self.index)
        return answered_index(self.index)


@dataclass
class TopicPublishInfo:
    """What a producer knows of a topic; `client.impl.producer.TopicPublishInfo`, seen by one thread.

    message_queue_list -- the queues; the latency strategy replaces elements (Java changes the shared objects).
    send_which_queue -- the counter.
    route -- (broker name, write queue count) of each queue data in route order, None without a route.
    """

    message_queue_list: list[MessageQueue]
    send_which_queue: ThreadLocalIndex
    route: Sequence[tuple[str, int]] | None = field(default=None)

    def select_one_position(self) -> int:
        """TopicPublishInfo#selectOneMessageQueue(), as a position."""
        counter = self.send_which_queue
        counter.index = next_index(counter.index)  # stored before an empty list makes the remainder fail
        return position(answered_index(counter.index), len(self.message_queue_list))

    def select_one_position_avoiding(self, last_broker_name: str | None) -> int:
        """TopicPublishInfo#selectOneMessageQueue(lastBrokerName), as a position; None avoids nothing."""
        if last_broker_name is None or not self.message_queue_list:
            return self.select_one_position()
        queues, counter = self.message_queue_list, self.send_which_queue
        counter.index, place = avoiding_position(
            counter.index, len(queues), lambda place: queues[place].broker_name == last_broker_name,
        )
        return place

    def get_queue_id_by_broker(self, broker_name: str | None) -> int:
        """TopicPublishInfo#getQueueIdByBroker: the first write queue count of a broker, -1 for none."""
        if self.route is None:
            raise NullPointerError
        return next((write_queue_nums for name, write_queue_nums in self.route if name == broker_name), -1)
