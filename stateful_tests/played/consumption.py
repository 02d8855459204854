"""Traces of `ProcessQueues`, done with the offsets of a broker and those of consumers, and with their ProcessQueues."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.client.offset_store import FindBrokerResult, MQBrokerError, RemoteBrokerOffsetStore
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import PullRequest
from impl.client.rebalance_push import RebalancePushImpl
from impl.common.heartbeat_data import CLUSTERING
from impl.common.message import MessageExt
from impl.common.request_code import ResponseCode
from impl.decisions.allocation import AllocateMessageQueueAveragely
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import ConsumeFromWhere
from impl.ports.threads import UNINTERRUPTED, run_now
from stateful_tests.played.trace import PlayedTrace

_GROUP, _MQ, _ANOTHER = "G", MessageQueue("T", "broker-a", 0), MessageQueue("T", "broker-a", 1)
_FIRST, _LAST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET


@dataclass
class _Broker:
    """What consumers ask.

    fails -- whether a read is answered with an error. young -- whether the queue is. commits -- since the last reset.
    """

    manager: ConsumerOffsetManager = field(default_factory=lambda: ConsumerOffsetManager(lambda *_: 0))
    fails: bool = False
    young: bool = False
    commits: list[int] = field(default_factory=list)

    @property
    def committed(self) -> int:
        """-1 for none."""
        return self.manager.query_offset(_GROUP, _MQ.topic, _MQ.queue_id)

    def commit(self, offset: int) -> None:
        """ConsumerOffsetManager#commitOffset."""
        self.commits.append(offset)
        run_now(self.manager.commit_offset(_GROUP, _MQ.topic, _MQ.queue_id, offset, UNINTERRUPTED))


class _Member:
    """A consumer of the group. sent -- the commit that is on its way. pull -- the chain of pulls; None: no queue.

    returned -- what ProcessQueue#removeMessage has answered. late -- what a thread is about to do.
    """

    def __init__(self, broker: _Broker) -> None:
        self.broker, self.returned, self.stored = broker, 0, 0
        self.sent: int | None = None
        self.late: Any = None
        self.begin()

    def begin(self) -> None:
        """The process begins."""
        self.pull: PullRequest | None = None
        self.offsets = RemoteBrokerOffsetStore(cast("Any", self), _GROUP)
        node = SimpleNamespace(trace=lambda _: None, now_ms=lambda: 0)
        instance = SimpleNamespace(client_id="c", admin=SimpleNamespace(max_offset=self._max_offset))
        self.consumer = SimpleNamespace(offset_store=self.offsets, node=node, group=_GROUP, instance=instance)
        self.rebalance = RebalancePushImpl(
            cast("Any", node), cast("Any", instance), _GROUP, CLUSTERING, AllocateMessageQueueAveragely(),
            orderly=False, consume_from_where=_LAST, consume_timestamp_ms=0, offset_store=self.offsets,
            execute_pull_request=self._execute)

    def find_broker_address_in_subscribe(self, *_: Any, **__: Any) -> FindBrokerResult:
        """See OffsetRpc."""
        return FindBrokerResult("broker-a:10911", slave=False)

    async def query_consumer_offset(self, *_: Any) -> int:
        """See OffsetRpc."""
        if self.broker.fails or (self.broker.committed < 0 and not self.broker.young):
            raise MQBrokerError(ResponseCode.QUERY_NOT_FOUND, "")
        return max(self.broker.committed, 0)

    async def update_consumer_offset_oneway(self, addr: str, group: str, mq: MessageQueue, offset: int, _: int) -> None:
        """See OffsetRpc: the last one counts."""
        del addr, group, mq
        self.sent = offset

    async def _max_offset(self, _: MessageQueue) -> int:
        return self.stored

    def take(self, mode: ConsumeFromWhere, stored: int) -> int:
        """The queue is allocated to this member; returns where it begins."""
        self.stored, self.rebalance.consume_from_where = stored, mode
        self._rebalance(_MQ)
        assert self.pull is not None
        return self.pull.next_offset

    def leave(self) -> None:
        """The queue is allocated to another one."""
        self._rebalance()
        self.pull = None

    def _rebalance(self, *mqs: MessageQueue) -> None:
        run_now(self.rebalance.update_process_queue_table(_MQ.topic, mqs, False, UNINTERRUPTED))

    def _execute(self, pull: PullRequest) -> None:
        self.pull = pull

    def correct(self, pull: PullRequest) -> None:
        """A pull of these has brought nothing."""
        DefaultMQPushConsumerImpl.correct_tags_offset(cast("Any", self.consumer), pull)

    @property
    def memory(self) -> int | None:
        """What is remembered; None: nothing."""
        return self.offsets.clone_offset_table("").get(_MQ)

    def remember(self, offset: int) -> None:
        """ConsumeMessageConcurrentlyService#processConsumeResult."""
        self.offsets.update_offset(_MQ, offset, increase_only=True)


class PlayedConsumption(PlayedTrace):
    """broker, members -- who takes part. stored -- the end of the queue. settled -- offsets, since the last reset."""

    parts = ("impl.client.process_queue, impl.client.rebalance_push, impl.client.offset_store and "
             "impl.broker.consumer_offset_manager")

    def begin(self) -> None:
        """Nobody has the queue."""
        self.broker, self.stored = _Broker(), 0
        self.members: dict[str, _Member] = {}
        self.settled: list[int] = []
        self._answered = ""

    def _member(self, name: str) -> _Member:
        return self.members.setdefault(name, _Member(self.broker))

    def pulls(self, name: str) -> PullRequest:
        """The chain of pulls of a member that has the queue."""
        pull = self._member(name).pull
        assert pull is not None
        return pull

    def append(self) -> str:
        """See the model."""
        self.stored += 1
        return f"the queue ends at {self.stored}"

    # Taking and leaving -----------------------------------------------------------------------------------------------

    def take(self, name: str) -> str:
        """See the model."""
        return f"it begins at {self._member(name).take(_FIRST, self.stored)}"

    def take_first(self, name: str) -> str:
        """See the model."""
        return self.take(name)

    def take_young(self, name: str) -> str:
        """See the model."""
        self.broker.young = True
        said = self.take(name)
        self.broker.young = False
        return f"the broker answers 0, and {said}"

    def take_forgotten(self, name: str) -> str:
        """See the model; the timer has looked at the table before the queue was there."""
        said = self.take(name)
        run_now(self._member(name).offsets.persist_all({_ANOTHER}, UNINTERRUPTED))
        return f"{said}, and the timer forgets it"

    def take_last(self, name: str) -> str:
        """See the model."""
        return f"it begins at {self._member(name).take(_LAST, self.stored)}"

    def take_despite(self, name: str) -> str:
        """See the model."""
        self.broker.fails = True
        said = self.take_last(name)
        self.broker.fails = False
        return f"the read fails, and {said}"

    def drop(self, name: str) -> str:
        """See the model."""
        self._member(name).leave()
        return f"it sends {self._member(name).sent}"

    def drop_unknown(self, name: str) -> str:
        """See the model."""
        sent = self._member(name).sent
        self._member(name).leave()
        return "it sends nothing" if self._member(name).sent == sent else "it sends an offset"

    def crash(self, name: str) -> str:
        """See the model."""
        self._member(name).begin()
        self._member(name).late = None
        return "the process ends"

    # Consuming --------------------------------------------------------------------------------------------------------

    def pull(self, name: str) -> str:
        """See the model."""
        pull = self.pulls(name)
        pull.process_queue.put_message([MessageExt(pull.next_offset)])
        pull.next_offset += 1
        return f"the next pull begins at {pull.next_offset}"

    def pass_over(self, name: str) -> str:
        """See the model; while something is cached, correctTagsOffset does nothing."""
        pull = self.pulls(name)
        pull.next_offset += 1
        if pull.process_queue.msg_tree_map:
            self._member(name).correct(pull)
        return f"the next pull begins at {pull.next_offset}"

    def correct_offset(self, name: str) -> str:
        """See the model."""
        self._member(name).correct(self.pulls(name))
        return "correctTagsOffset"

    def settle(self, name: str, offset: str) -> str:
        """See the model."""
        member = self._member(name)
        self.settled.append(int(offset))
        member.returned = self.pulls(name).process_queue.remove_message([MessageExt(int(offset))])
        self._answered = name
        return f"removeMessage: {member.returned}"

    def _gone_on(self, name: str) -> int:
        """What removeMessage has answered; where the model comes to it in several steps, the next of them."""
        behind = self.number_in(f"first[{name}]") + 1
        goes_on = behind < self.number_in(f"behind[{name}]") and not self.is_true(f"cached[{name}, {behind}]")
        return behind if goes_on else self._member(name).returned

    def go_on(self, name: str) -> str:
        """See the model."""
        offset = self._gone_on(name)
        self._member(name).remember(offset)
        return f"updateOffset({offset})"

    def remember_first(self, name: str) -> str:
        """See the model; what was settled is not cached any more."""
        behind = self.number_in(f"behind[{name}]")
        offset = self.pulls(name).process_queue.remove_message([MessageExt(behind)])
        self._member(name).remember(offset)
        return f"updateOffset({offset})"

    def go_on_slowly(self, name: str) -> str:
        """See the model."""
        member, offset = self._member(name), self._gone_on(name)
        member.late = lambda: member.remember(offset)
        return f"a thread is about to call updateOffset({offset})"

    def raise_late(self, name: str) -> str:
        """See the model."""
        self._member(name).late()
        self._member(name).late = None
        return "it goes on"

    # Committing and resetting -----------------------------------------------------------------------------------------

    def persist(self, name: str) -> str:
        """See the model."""
        run_now(self._member(name).offsets.persist_all({_MQ}, UNINTERRUPTED))
        return f"it sends {self._member(name).sent}"

    def arrive(self, name: str) -> str:
        """See the model."""
        self.broker.commit(self._member(name).sent or 0)
        return self.lose(name)

    def lose(self, name: str) -> str:
        """See the model."""
        self._member(name).sent = None
        return f"the broker has {self.broker.committed}"

    def reset(self, offset: str) -> str:
        """See the model; what members commit for it arrives at once; if none has the queue the broker is told."""
        self.settled.clear()
        self.broker.commits.clear()
        holders = [member for member in self.members.values() if member.pull is not None]
        for member in holders:
            for queue in member.rebalance.process_queue_table.values():
                queue.dropped = True
                queue.clear()
            member.offsets.update_offset(_MQ, int(offset), increase_only=False)
            former, member.sent = member.sent, None
            member.leave()
            self.broker.commit(-1 if member.sent is None else member.sent)
            member.sent = former
        if not holders:
            self.broker.commit(int(offset))
        return f"all leave, and the broker has {self.broker.committed}"

    def reset_beside_a_pull(self, offset: str, name: str) -> str:
        """See the model."""
        member, pull = self._member(name), self.pulls(name)
        member.late = lambda: member.correct(pull)
        return f"{self.reset(offset)}; a pull is held"

    def seen(self) -> Iterator[tuple[str, int | bool | str]]:
        """See PlayedTrace."""
        yield "stored", self.stored
        yield "known", self.broker.committed >= 0
        if self.broker.committed >= 0:
            yield "committed", self.broker.committed
        name, self._answered = self._answered, ""
        if name and self.is_true(f"cached[{name}, {self.number_in(f'first[{name}]')}]"):
            yield f"first[{name}]", self._member(name).returned  # a message behind it was settled
        for name, member in self.members.items():
            yield f"owns[{name}]", member.pull is not None
            yield f"sends[{name}]", member.sent is not None
            yield f"late[{name}]", member.late is not None
            if member.sent is not None:
                yield f"sent[{name}]", member.sent
            if member.pull is not None:
                yield f"next[{name}]", member.pull.next_offset
                yield from ((f"cached[{name}, {one.queue_offset}]", True)
                            for one in member.pull.process_queue.msg_tree_map.values())
                yield f"remembers[{name}]", member.memory is not None  # without the queue it is never committed
                if member.memory is not None:
                    yield f"memory[{name}]", member.memory
