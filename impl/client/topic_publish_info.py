"""TopicPublishInfo: the queues of a topic as all producers of an instance share them, and whose turn it is."""

from __future__ import annotations

from typing import Protocol

from impl.decisions import queue_selection
from impl.decisions.java_arithmetic import wrap32
from impl.decisions.message_queue import MessageQueue
from impl.decisions.queue_selection import first_index
from impl.decisions.route_queues import TopicRouteData, topic_publish_queues

_BYTES_OF_INT, _BYTE = 4, 256


class ThreadHost(Protocol):
    """What is asked of the process that counts."""

    def current_thread(self) -> str:
        """See `impl.ports.node`."""
        ...

    def random(self, n: int, where: str) -> int:
        """See `impl.ports.node`."""
        ...


class ThreadLocalIndex:
    """`client.common.ThreadLocalIndex`: each thread counts for itself, and begins at random.

    counters -- by the name of the thread.
    """

    def __init__(self) -> None:
        """Nobody has counted."""
        self.counters: dict[str, queue_selection.ThreadLocalIndex] = {}

    def of_this_thread(self, host: ThreadHost) -> queue_selection.ThreadLocalIndex:
        """The counter of the thread that runs."""
        thread = host.current_thread()
        counter = self.counters.get(thread)
        if counter is None:
            drawn = 0
            for _ in range(_BYTES_OF_INT):
                drawn = _BYTE * drawn + host.random(_BYTE, "ThreadLocalIndex#incrementAndGet")
            counter = self.counters[thread] = queue_selection.ThreadLocalIndex(first_index(wrap32(drawn)))
        return counter


class PickedQueue:
    """A queue that was picked: in Java an element of the shared list, which others may change (4.9.3 does).

    place -- of the element in the list.
    """

    def __init__(self, queues: list[MessageQueue], place: int) -> None:
        """The element of the list at this place."""
        self.queues, self.place = queues, place

    @property
    def now(self) -> MessageQueue:
        """The queue as it is at this moment."""
        return self.queues[self.place]


class TopicPublishInfo:
    """`client.impl.producer.TopicPublishInfo`. A changed route makes a new one, so that all turns begin anew.

    message_queue_list -- the queues. order_topic -- their order is configured. have_topic_router_info -- it comes from
    a route, which may have no queue to write to. topic_route_data -- that route. send_which_queue -- whose turn it is.
    """

    def __init__(self, topic: str = "", route: TopicRouteData | None = None) -> None:
        """MQClientInstance#topicRouteData2TopicPublishInfo; without a route: nothing is known.

        Raises what Java throws for a broken orderTopicConf.
        """
        self.topic_route_data, self.have_topic_router_info = route, route is not None
        self.message_queue_list: list[MessageQueue] = []
        self.order_topic = False
        if route is not None:
            publish = topic_publish_queues(topic, route)
            self.message_queue_list, self.order_topic = publish.queues, publish.order_topic
        self.send_which_queue = ThreadLocalIndex()

    def ok(self) -> bool:
        """TopicPublishInfo#ok."""
        return bool(self.message_queue_list)

    def of_this_thread(self, host: ThreadHost) -> queue_selection.TopicPublishInfo:
        """What the thread that runs sees: the shared queues, and its own counter."""
        route = self.topic_route_data
        datas = None if route is None else [(data.broker_name, data.write_queue_nums) for data in route.queue_datas]
        return queue_selection.TopicPublishInfo(
            self.message_queue_list, self.send_which_queue.of_this_thread(host), datas)
