"""Simulated machines, who listens where, and the connections between them; an address is "machine:port".

Fault injected here, chosen by the tape at the rate `connect_refused` of the fault profile: nobody listens, or so it
seems. And, when `faults.py` or a scenario says so:

* `partition`: nothing passes from one machine to another, though it may pass the other way. TCP sends again what was
  not confirmed, so all of it arrives, in order, when the partition heals, if the receiving end is still open then;
* `sever`: a connection breaks; one end gets an EXCEPTION now, the other (half-open) at a later time or never: what is
  written there vanishes until it times out, is idle, or is closed;
* death of a process: kill -9 closes its connections like `close`; after a power loss nobody tells the other ends, they
  are half-open until they write to the machine that is up again, or for ever.

The faults of single messages are in `channel.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from impl.events.host import ConnectionMade, ConnectionRefused, ConnectionSevered, PartitionBegan
from impl.hosts.simulation.channel import FIN, LATENCY_MS, ONCE, Channel, Endpoint
from impl.hosts.simulation.kernel import Kernel
from impl.hosts.simulation.process import Process

Settle = Callable[[Channel | None], bool]


class Network:
    """All machines and their connections; an address is "machine:port".

    open_ends -- ends of connections that are open at one side at least, in the order of their opening. blocked -- pairs
    (from, to) of machines between which nothing passes that way. messages, requests -- how many were written to open
    connections; a request is a message that is no answer.
    """

    def __init__(self, kernel: Kernel) -> None:
        """No machine, no connection."""
        self.kernel = kernel
        self.open_ends: dict[Channel, None] = {}
        self.blocked: set[tuple[str, str]] = set()
        self.messages = self.requests = 0
        self._listeners: dict[str, tuple[Process, Endpoint]] = {}
        self._lost_power: set[Process] = set()
        self._connections = 0
        kernel.on_kill.append(self._died)

    def listen(self, process: Process, address: str, endpoint: Endpoint) -> None:
        """Accept connections to the address; raises ValueError if another process of the machine has the port."""
        process.check_alive()
        if address in self._listeners:
            raise ValueError(f"{address} is in use")
        self._listeners[address] = process, endpoint

    def unlisten(self, address: str) -> None:
        """Accept no more; connections stay."""
        self._listeners.pop(address, None)

    def connect(self, process: Process, endpoint: Endpoint, address: str, settle: Settle) -> None:
        """Connect; settle -- gets the channel, or None if refused; without a way it is never called.

        It returns whether the channel is still wanted; if not, this side hangs up.
        """
        process.check_alive()
        self.kernel.at(self.kernel.now_ms + LATENCY_MS, self._syn, (Channel(self, process, endpoint, address), settle))

    def partition(self, source: str, target: str) -> None:
        """Let nothing pass from source to target any more."""
        self.blocked.add((source, target))
        self.kernel.record(source, PartitionBegan(target))

    def heal(self) -> None:
        """End all partitions."""
        self.blocked.clear()
        for end in list(self.open_ends):
            end.release()

    def heal_one(self, way: tuple[str, str]) -> None:
        """End one partition: (source, target)."""
        self.blocked.discard(way)
        for end in list(self.open_ends):
            end.release()

    def sever(self, end: Channel, other_after_ms: int | None) -> None:
        """Break a connection: `end` sees it now, the other end after so many ms; None: it is never told."""
        self.kernel.record(end.process.name, ConnectionSevered(end.peer.process.name, other_after_ms))
        end.severed = end.peer.severed = True
        if other_after_ms is not None:
            self.kernel.at(self.kernel.now_ms + other_after_ms, end.peer.reset)
        end.reset()

    def is_up(self, process: Process) -> bool:
        """Whether the machine of a process answers: it lost no power, or runs another process by now."""
        return process not in self._lost_power or self.kernel.processes[process.name].alive

    def _syn(self, request: tuple[Channel, Settle]) -> None:
        client, settle = request
        server_name = client.remote_address.rpartition(":")[0]
        there, back = (client.process.name, server_name), (server_name, client.process.name)
        machine = self.kernel.processes.get(server_name)
        if machine is None or there in self.blocked or back in self.blocked or not self.is_up(machine):
            return
        listener = self._listeners.get(client.remote_address)
        refused = self.kernel.fault(
            self.kernel.profile.connect_refused, ONCE, lambda: client.remote_address, client.process.name, "refused",
        )
        if refused:
            self.kernel.record(client.process.name, ConnectionRefused(server_name))
        if listener is None or refused:
            self.kernel.at(self.kernel.now_ms + LATENCY_MS, settle)
            return
        self._connections += 1
        server = Channel(self, *listener, f"{client.process.name}:{32_768 + self._connections % 28_232}")
        server.peer, client.peer = client, server
        if client.process.alive:
            self.kernel.record(client.process.name, ConnectionMade(server_name, server.remote_address))
        server.open()
        self._accepted(server)
        self.kernel.at(self.kernel.now_ms + LATENCY_MS, self._established, request)

    def _accepted(self, server: Channel) -> None:
        def tell(_: Any) -> None:
            if server.process.alive and not server.later(tell):
                server.endpoint.connected(server)

        tell(None)

    def _established(self, request: tuple[Channel, Settle]) -> None:
        client, settle = request
        client.open()
        if not client.process.alive or not settle(client):
            client.lose()
            client.peer.arrive(FIN, LATENCY_MS)  # the caller has given up, or is dead: its machine hangs up

    def _died(self, process: Process, power_loss: bool) -> None:
        self._listeners = {address: owner for address, owner in self._listeners.items() if owner[0] is not process}
        if power_loss:
            self._lost_power.add(process)
        for end in list(self.open_ends):
            if end.process is process and end.active:
                end.lose()
                if not power_loss:
                    end.peer.arrive(FIN, LATENCY_MS)
