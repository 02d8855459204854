"""One broker name at one name server, as steps of `model.route_info.Routes`; `route_info` says what is visible.

What happens at the brokers' side is learnt from what arrives: a broker that is not known starts when its registration
is handled; it has reconnected when a registration comes on another connection, or when the name server sees the end of
the one that it had (then the next connection is not known yet).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any

from impl.decisions.names import MASTER_ID
from impl.events import BrokerFound, BrokerRegistered, BrokerUnregistered
from impl.namesrv.route_info_manager import RouteInfoManager
from invariants import route_info as declared  # noqa: F401  # declares the properties
from invariants.finding import Finding
from invariants.refinement.elements import Followed, Pool, Sized, judged
from invariants.refinement.monitor import Step
from model.language.scope import Scope
from model.route_info import Routes

VISIBLE = ("at", "live", "age", "channel")
PROPERTIES = judged(tuple(Routes.concept.properties.values()))
EXPIRY_MS = 120_000
PERIOD_MS = 120_000
"""What counts as in time: registrations are at most so far apart."""
SCAN_MS = 10_000 + 3 * 40_000
"""When the scan must have come: its period, and three pauses of its thread on the way."""
MS_BITS = 18  # 262 s, more than expiry and scan; what is older looks the same
LONGEST_PAUSE_MS = 45_000
"""How long a thread may stand between two of its steps, and a bit."""
MASTER, SLAVE = range(2)  # Role


@lru_cache(maxsize=64)
def _sized(addresses: int, connections: int) -> Sized:
    return Sized(Scope(
        Routes, {"Address": addresses, "Connection": connections, "Ms": 1 << MS_BITS},
        {"period": PERIOD_MS, "expiry": EXPIRY_MS, "scan": SCAN_MS},
    ))


class BrokerName:
    """A broker name at one name server.

    running -- Address to its Role. link -- … to the Connection that it has. bound -- the name of a connection to the
    Connection that it is; a link that is not bound is one that the broker has opened, or will. closed -- Connections
    whose CLOSE event may come. entered -- Address to the connection of its last registration. targets -- Connection to
    the Address that a clean-up has found. expiring -- Addresses that the scan has taken from brokerLiveTable and not
    yet from the route. refreshed -- Address to its last registrations: when, and the states before. now_ms -- to which
    time the states belong, by the clock of the name server. was_ahead -- whether an entry was of a later time then.
    """

    def __init__(self, name: str, now_ms: int) -> None:
        """Nobody has registered."""
        self.name, self.now_ms, self.was_ahead = name, now_ms, False
        self.slave_id: int | None = None
        self.addresses, self.connections = Pool(2), Pool(4)
        self.running: dict[int, int] = {}
        self.link: dict[int, int] = {}
        self.bound: dict[str, int] = {}
        self.closed: set[int] = set()
        self.entered: dict[int, tuple[str, int]] = {}
        self.targets: dict[int, int] = {}
        self.expiring: list[int] = []
        self.refreshed: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
        self._serial = 0
        self.followed = Followed(_sized(2, 4), VISIBLE, 0, PROPERTIES)

    # Brokers ----------------------------------------------------------------------------------------------------------

    def registered(self, event: BrokerRegistered) -> list[Finding]:
        """RouteInfoManager#registerBroker."""
        role = self._role(event.broker_id)
        if role is None:
            return []
        address = self._address(event.broker_addr)
        kept = [(ms, states) for ms, states in self.refreshed.get(address, []) if self.now_ms - ms <= LONGEST_PAUSE_MS]
        self.refreshed[address] = [*kept, (self.now_ms, self.followed.states)]
        before = self._came(address, role, event.connection)
        link = self.link[address]
        self.entered[address] = event.connection, link
        if event.version is None:
            return self.followed.take(event, [[*steps, ("register_half", (address,))] for steps in before])
        return self.followed.take(event, [[*steps, ("register", (address, link))] for steps in before])

    def _came(self, address: int, role: int, connection: str) -> list[list[Step]]:
        """How the broker came to this connection."""
        steps: list[Step] = []
        if self.running.get(address, role) != role:
            steps += self._ends(address)
        known = self.bound.get(connection)
        if address not in self.running:
            return [[*steps, *chosen] for chosen in self._starts(address, role, connection)]
        old = self.link[address]
        if old == known:
            return [steps]
        if old not in self.bound.values():
            self.bound[connection] = old
            return [steps]
        if known is not None and known in self.link.values():
            steps += self._ends(address)
            return [[*steps, *chosen] for chosen in self._starts(address, role, connection)]
        self.link[address] = self.bound[connection] = new = self._connection()
        self.closed.add(old)
        return [[*steps, ("reconnect", (address, old, new))]]

    def _starts(self, address: int, role: int, connection: str) -> list[list[Step]]:
        """A broker starts; who had its id has been shut down, or will never be heard of again."""
        others = [other for other, has in self.running.items() if has == role]
        ways = [self._shut_down(other) for other in others]
        beside = next((other for other, link in self.link.items() if link == self.bound.get(connection)), None)
        self.running[address] = role
        if beside is None:
            self.link[address] = self.bound[connection] = new = self._connection()
            step: Step = "start", (address, role, new)
        else:
            self.link[address] = self.link[beside]
            step = "start_beside", (address, beside, role, self.link[beside])
        return [[*(taken for way in chosen for taken in way), step] for chosen in product(*ways)]

    def _ends(self, address: int) -> list[Step]:
        link = self.link.pop(address)
        del self.running[address]
        self.closed.add(link)
        return [("kill", (address, link))]

    def _shut_down(self, address: int) -> tuple[list[Step], list[Step]]:
        """It says goodbye and closes its connection, or it is not heard of again: the two ways to end."""
        old, new = self.link[address], self._connection()
        return [("reconnect", (address, old, new)), ("shut_down", (address, new))], self._ends(address)

    def shut_down(self, event: Any, machine: str) -> list[Finding]:
        """BrokerController#shutdown of the brokers of a machine."""
        return [found for address in self.of_machine(machine)
                for found in self.followed.take(event, self._shut_down(address))]

    def killed(self, event: Any, machine: str) -> list[Finding]:
        """A machine's process has ended, whether or not anybody tells the name server."""
        return [found for address in self.of_machine(machine)
                for found in self.followed.take(event, [self._ends(address)])]

    def of_machine(self, machine: str) -> list[int]:
        """The Addresses of a machine that run."""
        return [number for addr, number in self.addresses.given.items()
                if number in self.running and str(addr).rpartition(":")[0] == machine]

    def unregistered(self, event: BrokerUnregistered, table: RouteInfoManager) -> list[Finding]:
        """RouteInfoManager#unregisterBroker: as shipped, or as repaired upstream, if the table still has the id."""
        role = self._role(event.broker_id)
        if role is None:
            return []
        address, before = self._address(event.broker_addr), list[Step]()
        leaves = any(self.followed.reading.get(state, "leaving", address) for state in self.followed.states)
        data = table.broker_addr_table.get(self.name)
        kept = data is not None and data.broker_addrs.contains_key(event.broker_id)
        if address in self.running:
            before = self._shut_down(address)[0]
        elif not leaves:
            if not self._is_live(address) and (kept or not self._get("at", role)):
                return []  # of a broker that said so before, or was never heard of: it changes nothing
            self._leaves(address, role)
        return self.followed.take(event, [[*before, ("unregister_own" if kept else "unregister", (address,))]])

    def _leaves(self, address: int, role: int) -> None:
        """It has run and says goodbye, of which the model knows nothing, or not any more."""
        put = self.followed.reading.put
        self.followed.rewrite(lambda state: put(put(state, 1, "leaving", address), role, "role", address))

    def updated(self, event: Any, addr: str) -> list[Finding]:
        """RouteInfoManager#updateBrokerInfoUpdateTimestamp: for the model a registration that changes nothing else."""
        address = self.addresses.get(addr)
        if address is None or not self._is_live(address):
            return []
        _, entered = self.entered.get(address, ("", -1))
        if self.link.get(address) == entered:
            return self.followed.take(event, [[("register", (address, entered))]])
        self.followed.rewrite(lambda state: self.followed.reading.put(state, 0, "age", address))
        return []

    # Clean-up ---------------------------------------------------------------------------------------------------------

    def found(self, event: BrokerFound) -> list[Finding]:
        """RouteInfoManager#onChannelDestroy, under the read lock."""
        address = None if event.broker_addr is None else self.addresses.get(event.broker_addr)
        connection = self.bound.get(event.connection)
        if address is not None:
            connection = self._connection_of(address, event.connection)
        if connection is None or any(self.entered[other][1] == connection for other in self.expiring):
            return []  # of a client; or of an address that still counts as live
        before = self._closes(connection)
        if address is not None:
            self.closed.discard(connection)
            self.targets[connection] = address
            return self.followed.take(event, [[*before, ("destroy_find", (connection, address))]])
        if connection not in self.closed:
            return []
        self.closed.discard(connection)
        return self.followed.take(event, [[*before, ("destroy_nothing", (connection,))]])

    def _closes(self, connection: int) -> list[Step]:
        """The end of a connection that somebody still had."""
        steps: list[Step] = []
        for address in [address for address, link in self.link.items() if link == connection]:
            self.link[address] = new = self._connection()
            self.closed.add(connection)
            steps.append(("reconnect", (address, connection, new)))
        return steps

    def expired(self, event: Any, addr: str) -> list[Finding]:
        """RouteInfoManager#scanNotActiveBroker has removed an entry; what it read may be older than the entry (N-8)."""
        address = self.addresses.get(addr)
        if address is None:
            return []
        self.expiring.append(address)
        reading, monitor = self.followed.reading, self.followed.monitor
        step: Step = "expire_find", (address,)
        if monitor.possible([step]):
            return monitor.follow(event, [[step]])
        then = [reading.put(state, _aged(reading.get(state, "age", address), self.now_ms - ms), "age", address)
                for ms, states in self.refreshed.get(address, []) for state in states]
        return monitor.late(event, step, then)

    def dropped(self, event: Any, addr: str) -> list[Finding]:
        """RouteInfoManager#onChannelDestroy, under the write lock."""
        address = self.addresses.get(addr)
        if address is None:
            return []
        ways: list[list[Step]] = [[("destroy_remove", (connection, address))]
                                  for connection, target in self.targets.items() if target == address]
        if address in self.expiring:
            ways.append([("expire_remove", (address,))])
        ways += [[("expire_another", (other, address))] for other in self.expiring if other != address]
        if not ways and not self._is_live(address) and address not in self._at():
            return []
        findings = self.followed.take(event, ways or [[("destroy_remove", (0, address))]])
        self.targets = {connection: target for connection, target in self.targets.items() if target != address}
        self.expiring = [other for other in self.expiring if other != address and self._is_live(other)]
        return findings

    # Time and tables --------------------------------------------------------------------------------------------------

    def pass_time(self, by_ms: int) -> list[Finding]:
        """Let time pass; who has not registered for too long counts as ended."""
        findings: list[Finding] = []
        while by_ms > 0:
            slack = {address: PERIOD_MS - self._get("silent", address) for address in self.running}
            part = min([by_ms, *slack.values()])
            if part > 0:
                findings += self.followed.take(None, [self._elapse(part)])
                by_ms -= part
            if by_ms > 0:
                for address in [address for address, left in slack.items() if left <= part]:
                    findings += self.followed.take(None, self._shut_down(address))
        return findings

    def _elapse(self, by_ms: int) -> list[Step]:
        """One step for each power of two: the same in sum, and few different ones."""
        by_ms = min(by_ms, (1 << MS_BITS) - 1)
        in_time = all(self._get("age", address) + by_ms <= EXPIRY_MS + SCAN_MS
                      for address in self.addresses.given.values() if self._is_live(address))
        name = "elapse" if in_time else "elapse_without_scan"
        return [(name, (1 << bit,)) for bit in range(MS_BITS) if by_ms >> bit & 1]

    def is_ahead(self, table: RouteInfoManager) -> bool:
        """Whether an entry was written when the clock showed a later time than now."""
        entries = (table.broker_live_table.get(str(addr)) for addr in self.addresses.given)
        return any(info is not None and info.last_update_timestamp > self.now_ms for info in entries)

    def begin_anew(self, table: RouteInfoManager) -> list[Finding]:
        """Nothing is promised of time for a while: who runs has ended, what has ended has just done so."""
        self.was_ahead = self.is_ahead(table)
        findings = [found for address in list(self.running)
                    for found in self.followed.take(None, self._shut_down(address))]
        reading = self.followed.reading

        def anew(state: int) -> int:
            for addr, address in self.addresses.given.items():
                state = reading.put(state, 0, "ended", address)
                live_info, times = table.broker_live_table.get(str(addr)), self.refreshed.get(address)
                if live_info is not None:
                    state = reading.put(state, _aged(0, self.now_ms - live_info.last_update_timestamp), "age", address)
                elif times:  # it has just been removed
                    state = reading.put(state, _aged(0, self.now_ms - times[-1][0]), "age", address)
            return state

        self.followed.rewrite(anew)
        return findings

    def compare(self, table: RouteInfoManager) -> list[Finding]:
        """Compare with the tables of the name server."""
        self.addresses.settle()
        self.connections.settle()
        data = table.broker_addr_table.get(self.name)
        at = [] if data is None else [(role, self._address(addr)) for broker_id, addr in data.broker_addrs.entries()
                                      if (role := self._role(broker_id)) is not None]
        live = [(number, info) for addr, number in self.addresses.given.items()
                if (info := table.broker_live_table.get(str(addr))) is not None]
        channels = {number: self._connection_of(number, str(getattr(info.channel, "remote_address", "")))
                    for number, info in live}
        reading = self.followed.reading
        put, seen, looked = reading.put, 0, reading.whole("at") | reading.whole("live")
        for role, address in at:
            seen = put(seen, address + 1, "at", role)
        for address in self.expiring:
            seen = put(seen, 1, "live", address)
        for address, info in live:
            seen = put(put(seen, 1, "live", address), channels[address], "channel", address)
            seen = put(seen, _aged(0, self.now_ms - info.last_update_timestamp), "age", address)
            looked |= reading.whole("age", address) | reading.whole("channel", address)
        return self.followed.compare(seen, looked)

    def fingerprint(self) -> int:
        """See Followed; without ages."""
        reading = self.followed.reading
        return self.followed.fingerprint(reading.whole("age") | reading.whole("silent") | reading.whole("ended"))

    @property
    def has_master(self) -> bool:
        """Whether the id 0 has an address."""
        return bool(self._get("at", MASTER))

    @property
    def is_empty(self) -> bool:
        """Whether no address is left in the route."""
        return not self._at()

    def _get(self, *cell: str | int) -> int:
        return self.followed.reading.get(self.followed.states[0], *cell)

    def _is_live(self, address: int) -> bool:
        return bool(self._get("live", address))

    def _at(self) -> list[int]:
        return [held - 1 for role in (MASTER, SLAVE) if (held := self._get("at", role))]

    # Elements ---------------------------------------------------------------------------------------------------------

    def _role(self, broker_id: int) -> int | None:
        """MASTER, or SLAVE for the first other id; a further one is not followed."""
        if broker_id == MASTER_ID:
            return MASTER
        if self.slave_id is None:
            self.slave_id = broker_id
        return SLAVE if broker_id == self.slave_id else None

    def _address(self, addr: str) -> int:
        """The Address of "host:port"."""
        def needed(number: int) -> bool:
            leaves = any(self.followed.reading.get(state, "leaving", number) for state in self.followed.states)
            return (leaves or number in self.running or self._is_live(number) or number in self._at()
                    or number in self.expiring or number in self.targets.values())

        def new(number: int) -> None:
            self.entered.pop(number, None)
            self.refreshed.pop(number, None)
            self._clear(number < len(self.followed.reading.layout.table("live")),
                        [(name, number) for name in ("expired", "known", "silent", "ended", "age", "channel")])

        address = self.addresses.give(addr, needed, new)
        self._fit()
        return address

    def _connection(self) -> int:
        """A Connection that was never opened."""
        def needed(number: int) -> bool:
            linked = number in self.link.values() or number in self.targets
            return linked or any(number == entered for address, (_, entered) in self.entered.items()
                                 if self._is_live(address))

        def new(number: int) -> None:
            self.bound = {name: bound for name, bound in self.bound.items() if bound != number}
            self.closed.discard(number)
            self._clear(number < len(self.followed.reading.layout.table("used")),
                        [(name, number) for name in ("used", "closed", "target")])

        self._serial += 1
        connection = self.connections.give(self._serial, needed, new)
        self._fit()
        return connection

    def _clear(self, there: bool, cells: Sequence[tuple[str | int, ...]]) -> None:
        def cleared(state: int) -> int:
            for cell in cells:
                state = self.followed.reading.put(state, 0, *cell)
            return state

        if there:
            self.followed.rewrite(cleared)

    def knows(self, addr: str) -> bool:
        """Whether an address has an Address."""
        return addr in self.addresses.given

    def connection_of(self, addr: str) -> list[str]:
        """The connection on which an address registered last, if it has."""
        address = self.addresses.get(addr)
        return [] if address is None or address not in self.entered else [self.entered[address][0]]

    def _connection_of(self, address: int, connection: str) -> int:
        name, entered = self.entered.get(address, ("", -1))
        if name == connection:
            return entered
        if connection not in self.bound:
            self.bound[connection] = self._connection()
        return self.bound[connection]

    def _fit(self) -> None:
        reading = _sized(self.addresses.size, self.connections.size)
        if reading is not self.followed.reading:
            kept, old = self.refreshed, self.followed.reading
            self.refreshed = {address: [(ms, tuple(old.moved(state, reading) for state in states))
                                        for ms, states in times] for address, times in kept.items()}
            self.followed.move(reading)


def _aged(age_ms: int, by_ms: int) -> int:
    return max(0, min(age_ms + by_ms, (1 << MS_BITS) - 1))
