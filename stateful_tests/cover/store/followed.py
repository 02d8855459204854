"""A master and its slaves on simulated disks, followed step by step with `model.replication`.

Each file of the log holds one record, so that a position of the model is the number of a file. What is under way when
the master loses something arrives first: a slave cannot tell whether it came before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from impl.common.byte_buffer import ByteBuffer
from impl.common.message_decoder import decode
from impl.hosts.simulation.streams import Stream, connector
from impl.store.ha.ha_connection import HAConnection
from impl.store.message_store_config import BrokerRole
from impl.store.put_message_result import PutMessageFuture
from impl.store.put_message_status import PutMessageStatus
from invariants.refinement.monitor import Monitor, Step
from model.language.open.reading import OpenReading
from model.replication import Replicas
from stateful_tests.cover.store.brokers import Broker

FILE_BYTES = 128  # a record has some 95 bytes, and a blank needs 8
_READING = OpenReading(Replicas.concept)


class Followed:
    """A master, its slaves, and the model; `differences` says what the model does not have.

    steps -- all that the model has done. A message is a number, and its body that byte.
    """

    def __init__(self, slaves: int) -> None:
        """Start everybody; nobody is connected."""
        self.monitor = Monitor(_READING, (), "refines_replication", visible=())
        self.steps: list[Step] = []
        self.differences: list[str] = []
        self.master = Broker(broker_role=BrokerRole.SYNC_MASTER, mapped_file_size_commit_log=FILE_BYTES)
        self.slaves = [self._slave(number) for number in range(slaves)]
        self._of: dict[HAConnection, int] = {}
        self._acked: list[int] = []
        self._futures: dict[int, PutMessageFuture] = {}
        self._forced = self._messages = 0

    def _slave(self, number: int) -> Broker:
        def accept(_: str, end: Stream) -> bool:
            self._service.accept(end)
            self._of[self._service.connection_list[-1]] = number
            return True

        slave = Broker(broker_role=BrokerRole.SLAVE, mapped_file_size_commit_log=FILE_BYTES, connect=connector(accept))
        slave.store.ha_service.update_master_address("10.0.0.1:10912")
        return slave

    @property
    def _service(self) -> Any:
        return self.master.store.ha_service

    def possible(self, action: str, *arguments: Any) -> bool:
        """Whether the model can do this."""
        return self.monitor.possible((action, arguments))

    # What is done -----------------------------------------------------------------------------------------------------

    def put(self) -> None:
        """Put a message to the master."""
        message, self._messages = self._messages, self._messages + 1
        future = self.master.put(bytes([message]))
        self._took(("append", (message,)))
        if future.result() is None:
            self._futures[message] = future
        self._compare()

    def flush(self) -> None:
        """Force the log of the master."""
        log = self.master.store.commit_log.mapped_file_queue
        before = log.flushed_where
        while not log.flush(0):  # it tells whether there was nothing to do
            pass
        if log.flushed_where > before:
            self._forced = position(log.flushed_where)
            self._took(("flush", ()))
        self._compare()

    def slave_round(self, x: int) -> None:
        """A slave connects if it must, reports, and appends what has come."""
        client = self.slaves[x].store.ha_service.ha_client
        connected = client.connected
        client.run_once()
        if client.connected and not connected:
            self._took(("connect", (x,)))
        for step in self._appended(x):
            self._took(step)
        if connected and not client.connected:
            for connection in [one for one in self._service.connection_list if self._of[one] == x]:
                self._round_of(connection)
        self._compare()

    def master_round(self) -> None:
        """The master takes what slaves report, sends what they lack, and answers puts."""
        for connection in [*self._service.connection_list]:
            self._round_of(connection)
        self._service.group_transfer_service.run_once()
        for message, future in [*self._futures.items()]:
            if (result := future.result()) is not None:
                del self._futures[message]
                self._answered(message, result.status)
        self._compare()

    def kill(self, lost: int = 0) -> None:
        """End the master's process, cut records off the end of its log, and start it again."""
        self._arrive()
        ends = [connection.connection for connection in self._service.connection_list]
        self.master.kill()
        for end in ends:
            end.close()
        end_of_log = position(self.master.store.get_max_phy_offset())
        for number in range(end_of_log - lost, end_of_log):
            self.master.write(f"store/commitlog/{number * FILE_BYTES:020d}", 0, bytes(FILE_BYTES))
        self.master.restart()
        self._futures.clear()
        for _ in range(lost):
            self._took(("lose" if self.possible("lose") else "lose_sent", ()))
        self._took(("restart", ()))
        self._compare()

    def expire(self) -> None:
        """The oldest file of the master's log is deleted."""
        self._arrive()
        log = self.master.store.commit_log.mapped_file_queue
        assert log.mapped_files[0].destroy(0)
        log._remove(log.mapped_files[:1])  # noqa: SLF001  # deleteExpiredFileByTime ends so, for a batch of files
        self._took(("expire" if self.possible("expire") else "expire_unsent", ()))
        self._compare()

    def pass_time(self, seconds: int) -> None:
        """Let time pass for everybody."""
        for broker in (self.master, *self.slaves):
            broker.now += seconds * 1_000

    def _arrive(self) -> None:
        """Slaves take what is under way."""
        for x, slave in enumerate(self.slaves):
            if slave.store.ha_service.ha_client.connected:
                self.slave_round(x)

    # What the model does ----------------------------------------------------------------------------------------------

    def _appended(self, x: int) -> Iterator[Step]:
        """The steps by which a slave's log has grown."""
        log, value = self.slaves[x].store.commit_log, self.monitor.value
        filed, copied = bool(log.mapped_file_queue.mapped_files), position(log.get_max_offset())
        if filed and not value("filed", x) and copied == position(log.get_min_offset()):
            yield "heartbeat", (x,)
            return
        for _ in range(copied - (value("copied", x) if value("filed", x) else position(log.get_min_offset()))):
            actions = ("transfer", "transfer_first", "transfer_shifted")
            yield next((action for action in actions if self.possible(action, x)), "transfer"), (x,)

    def _round_of(self, connection: HAConnection) -> None:
        x, told = self._of[connection], list[int]()
        asked, notify = connection.slave_request_offset >= 0, self._service.notify_transfer_some

        def hear(offset: int) -> None:
            told.append(offset)
            notify(offset)

        self._service.notify_transfer_some = hear
        connection.run_once()
        self._service.notify_transfer_some = notify
        for offset in told:
            if not asked:
                self._took(self._asks(x))
            elif offset:
                self._took(("report", (x, position(offset))))
            asked = True
        if connection not in self._service.connection_list:
            actions = ("refuse", "leave", "disconnect")
            self._took(next((action, (x,)) for action in actions if self.possible(action, x)))

    def _asks(self, x: int) -> Step:
        """The step for a slave's first report."""
        if self.slaves[x].store.get_max_phy_offset():
            return "ask", (x,)
        newest = self.master.store.get_max_phy_offset() // FILE_BYTES
        return ("ask_late", (x, newest)) if newest > self.monitor.value("first") else ("ask_empty", (x,))

    def _answered(self, message: int, status: PutMessageStatus) -> None:
        if status is PutMessageStatus.PUT_OK:
            self._acked.append(message)
            self._took(("acknowledge", (message,)))
        else:
            assert status is PutMessageStatus.FLUSH_SLAVE_TIMEOUT
            self._took(("time_out", (message,)))

    def _took(self, *steps: Step) -> None:
        for step in steps:
            self.steps.append(step)
            self.differences += [f"{step}: {found.sentence}" for found in self.monitor.take(None, step)]

    def _compare(self) -> None:
        """Look at everything that the brokers have."""
        log, service = self.master.store, self._service
        seen: dict[tuple[Any, ...], Any] = {
            ("first",): position(log.get_min_phy_offset()), ("end",): position(log.get_max_phy_offset()),
            ("flushed",): self._forced, ("push2slave",): position(service.push2_slave_max_offset)}
        for message in range(self._messages):
            seen["waiting", message] = message in self._futures
            seen["acked", message] = message in self._acked
        seen |= {("log", place): message for place, message in messages(self.master).items()}
        connections = {self._of[one]: one for one in service.connection_list}
        for x, slave in enumerate(self.slaves):
            seen["connected", x] = x in connections
            seen["asked", x] = x in connections and connections[x].slave_request_offset >= 0
            seen["filed", x] = bool(slave.store.commit_log.mapped_file_queue.mapped_files)
            if seen["filed", x]:
                seen["begin", x] = position(slave.store.get_min_phy_offset())
                seen["copied", x] = position(slave.store.get_max_phy_offset())
                seen |= {("copy", x, place): message for place, message in messages(slave).items()}
        for cell, value in seen.items():
            if (model := self.monitor.value(*cell)) != value:
                self.differences.append(f"{cell} is {value}, the model has {model}")


def position(offset: int) -> int:
    """How many records of the log begin before an offset."""
    return -(-offset // FILE_BYTES)


def messages(broker: Broker) -> dict[int, int]:
    """What each position of a broker's log has."""
    found, store = dict[int, int](), broker.store
    for place in range(position(store.get_min_phy_offset()), position(store.get_max_phy_offset())):
        data = store.get_commit_log_data(place * FILE_BYTES)
        assert data is not None
        message = decode(ByteBuffer(data.read()))
        assert message is not None
        assert message.body is not None
        found[place] = message.body[0]
        data.release()
    return found
