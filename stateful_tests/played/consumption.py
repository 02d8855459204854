"""Traces of `ProcessQueues`, done with the offsets of a broker and those of consumers, and with their ProcessQueues."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from impl.broker.consumer_offset_manager import ConsumerOffsetManager
from impl.client.offset_store import FindBrokerResult, MQBrokerError, ReadOffsetType, RemoteBrokerOffsetStore
from impl.client.process_queue import ProcessQueue
from impl.client.push_consumer import DefaultMQPushConsumerImpl
from impl.client.rebalance import PullRequest
from impl.common.message import MessageExt
from impl.common.request_code import ResponseCode
from impl.decisions.message_queue import MessageQueue
from impl.decisions.start_offset import ConsumeFromWhere, compute_pull_from_where_with_exception
from impl.ports.threads import UNINTERRUPTED, run_now
from stateful_tests.played.trace import PlayedTrace

_GROUP, _MQ = "G", MessageQueue("T", "broker-a", 0)
_FIRST, _LAST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET


@dataclass
class _Broker:
    """What consumers ask. fails -- whether a read is answered with an error. commits -- since the last reset."""

    manager: ConsumerOffsetManager = field(default_factory=lambda: ConsumerOffsetManager(lambda *_: 0))
    fails: bool = False
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
        self.broker, self.returned = broker, 0
        self.sent: int | None = None
        self.pull: PullRequest | None = None
        self.late: Any = None
        self.offsets = RemoteBrokerOffsetStore(cast("Any", self), _GROUP)
        node = SimpleNamespace(trace=lambda _: None)
        self.consumer = SimpleNamespace(
            offset_store=self.offsets, node=node, group=_GROUP, instance=SimpleNamespace(client_id="c"))

    def find_broker_address_in_subscribe(self, *_: Any, **__: Any) -> FindBrokerResult:
        """See OffsetRpc."""
        return FindBrokerResult("broker-a:10911", slave=False)

    async def query_consumer_offset(self, *_: Any) -> int:
        """See OffsetRpc."""
        if self.broker.fails or self.broker.committed < 0:
            raise MQBrokerError(ResponseCode.QUERY_NOT_FOUND, "")
        return self.broker.committed

    async def update_consumer_offset_oneway(self, addr: str, group: str, mq: MessageQueue, offset: int, _: int) -> None:
        """See OffsetRpc: the last one counts."""
        del addr, group, mq
        self.sent = offset

    def take(self, mode: ConsumeFromWhere, stored: int) -> int:
        """RebalanceImpl#updateProcessQueueTableInRebalance; returns where it begins."""
        self.offsets.remove_offset(_MQ)
        read = run_now(self.offsets.read_offset(_MQ, ReadOffsetType.READ_FROM_STORE, UNINTERRUPTED))
        begin = compute_pull_from_where_with_exception(mode, _MQ.topic, read, lambda: stored, lambda: -1)
        self.pull = PullRequest(_GROUP, _MQ, ProcessQueue(lambda: 0), begin)
        return begin

    def leave(self, *, commits: bool) -> PullRequest:
        """The queue is dropped; commits -- by RebalancePushImpl#removeUnnecessaryMessageQueue. Returns its pulls."""
        pull = self.pull
        assert pull is not None
        pull.process_queue.dropped = True
        if commits:
            run_now(self.offsets.persist(_MQ))
        self.offsets.remove_offset(_MQ)
        self.pull = None
        return pull

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

    parts = "impl.client.process_queue, impl.client.offset_store and impl.broker.consumer_offset_manager"

    def begin(self) -> None:
        """Nobody has the queue."""
        self.broker, self.stored = _Broker(), 0
        self.members: dict[str, _Member] = {}
        self.settled: list[int] = []

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
        self._member(name).leave(commits=True)
        return f"it sends {self._member(name).sent}"

    def drop_unknown(self, name: str) -> str:
        """See the model."""
        sent = self._member(name).sent
        self._member(name).leave(commits=True)
        return "it sends nothing" if self._member(name).sent == sent else "it sends an offset"

    def crash(self, name: str) -> str:
        """See the model."""
        self._member(name).leave(commits=False)
        self._member(name).late = None
        return "the process ends"

    # Consuming --------------------------------------------------------------------------------------------------------

    def pull(self, name: str) -> str:
        """See the model."""
        pull = self.pulls(name)
        pull.process_queue.put_message([MessageExt(pull.next_offset)])
        return self.pass_over(name)

    def pass_over(self, name: str) -> str:
        """See the model."""
        pull = self.pulls(name)
        pull.next_offset += 1
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
        """See the model; what members commit for it arrives at once."""
        for member in self.members.values():
            if member.pull is not None:
                member.pull.process_queue.clear()
                member.offsets.update_offset(_MQ, int(offset), increase_only=False)
                former = member.sent
                member.leave(commits=True)
                member.sent = former
        self.broker.commits.clear()
        self.broker.commit(int(offset))
        self.settled.clear()
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
