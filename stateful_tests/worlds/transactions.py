"""What applications do in transactions, and what they answer when brokers ask."""

from __future__ import annotations

import zlib

from impl.client.send_result import LocalTransactionState
from impl.common.message import MessageExt
from impl.common.message_const import PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX
from impl.common.message_to_send import Message
from impl.decisions.java_errors import JavaRuntimeError
from impl.events import TransactionAnswered, TransactionAsked
from impl.hosts.simulation.node import Node
from invariants.histories.operations import COMMITTED_HALF, ROLLED_BACK
from stateful_tests.worlds.contents import content_of
from stateful_tests.worlds.notes import Notes

COMMIT, ROLLBACK, UNKNOW = (
    LocalTransactionState.COMMIT_MESSAGE, LocalTransactionState.ROLLBACK_MESSAGE, LocalTransactionState.UNKNOW)
NULL, EXCEPTION = "NULL", "EXCEPTION"
"""What a listener of transactions may answer instead."""
_UNDECIDED = 3
"""What is drawn for a transaction of which nobody knows."""
ONE_IN = 3
"""Of so many transactions an application does not know at first."""
Decided = dict[tuple[str, str], LocalTransactionState | Node]
"""What has become of each transaction of a group, or the process that runs it."""


class Transactions:
    """The database of applications that send in transactions: what became of each, by group and id of its message.

    It outlives their processes. A transaction that runs, or is to be run, is UNKNOW, and one whose process has ended
    meanwhile is rolled back.
    """

    def __init__(
        self, node: Node, notes: Notes, decided: Decided, takes_ms: int, group: str, namespace: str, *,
        undecided: bool,
    ) -> None:
        """Decide for a process; decided -- the database. takes_ms -- how long a transaction takes.

        namespace -- of its client; empty: none. undecided -- of some nobody ever knows what became of them.
        """
        self.node, self._notes, self._decided, self._takes_ms = node, notes, decided, takes_ms
        self._undecided, self._namespace = undecided, namespace
        self._group, self._checked = group, set[str]()

    async def execute_local_transaction(self, msg: Message, arg: object) -> LocalTransactionState | None:
        """See TransactionListener: commit, roll back, or commit or roll back and say that nobody knows."""
        del arg
        self.node.trace(TransactionAsked(
            self._group, msg.uniq_id or "", False, msg.transaction_id or "", self._content_of(msg)))
        await self.node.sleep(self._takes_ms)
        choice = self.node.random(4, "what becomes of a transaction")
        state, key = (ROLLBACK if choice % 2 else COMMIT), msg.uniq_id or ""
        if self._undecided and choice == _UNDECIDED:
            self._decided[self._group, key] = UNKNOW
            return self._answered(key, False, _unknown(key))
        self._decided[self._group, key] = state
        self._notes.note(COMMITTED_HALF if state is COMMIT else ROLLED_BACK, self.node.name, key)
        if choice < 2:  # noqa: PLR2004  # the second half says that it does not know
            return self._answered(key, False, state)
        return self._answered(key, False, _unknown(key))

    async def check_local_transaction(self, msg: MessageExt) -> LocalTransactionState | None:
        """See TransactionListener: of some transactions it does not know at first, and says so in three ways."""
        key = msg.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX) or ""
        self.node.trace(TransactionAsked(self._group, key, True, msg.transaction_id or "", self._content_of(msg)))
        if zlib.crc32(key.encode()) % ONE_IN == 0 and key not in self._checked:
            self._checked.add(key)
            return self._answered(key, True, _unknown(key[::-1]))
        return self._answered(key, True, self._found(key))

    def _content_of(self, msg: Message | MessageExt) -> int:
        """What the application is given."""
        return content_of(msg, self._namespace)

    def _found(self, key: str) -> LocalTransactionState:
        found = self._decided.get((self._group, key), ROLLBACK)
        if not isinstance(found, LocalTransactionState):
            if found.alive:
                return UNKNOW
            self._notes.note(ROLLED_BACK, self.node.name, key)
            found = self._decided[self._group, key] = ROLLBACK
        return found

    def _answered(
        self, key: str, checked: bool, answer: LocalTransactionState | str,
    ) -> LocalTransactionState | None:
        """Say what is answered, and answer it."""
        text = answer if isinstance(answer, str) else answer.name
        self.node.trace(TransactionAnswered(self._group, key, checked, text))
        if answer == EXCEPTION:
            raise JavaRuntimeError("the listener fails")
        return answer if isinstance(answer, LocalTransactionState) else None

    def begin(self, key: str) -> None:
        """The message is about to be sent."""
        self._decided[self._group, key] = self.node

    def failed(self, key: str) -> None:
        """The message could not be sent, or nobody knows: the transaction is not run."""
        self._decided[self._group, key] = ROLLBACK


def _unknown(key: str) -> LocalTransactionState | str:
    """How an application says that it does not know."""
    return (UNKNOW, NULL, EXCEPTION)[zlib.crc32(key.encode()) % 3]
