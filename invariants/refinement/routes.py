"""One broker name at one name server, as steps of `model.route_info.routes.Routes`; `route_info` says what is visible.

What happens at the brokers' side is learnt from what arrives: a broker that is not known starts when its registration
is handled; it has reconnected when a registration comes on another connection, or when the name server sees the end of
the one that it had (then the next connection is not known yet).
"""

from __future__ import annotations

from itertools import product

from impl import events
from impl.decisions.names import MASTER_ID
from invariants import route_info as declared  # noqa: F401  # declares the properties
from invariants.finding import Finding
from invariants.refinement.monitor import Monitor, Step, judged
from invariants.views import RouteTables
from model.language.open.reading import OpenReading
from model.language.open.states import Cell, Writes
from model.route_info.routes import Routes

NAME = "refines_route_info"
VISIBLE = ("at", "live", "age", "channel")
PROPERTIES = judged(Routes.concept)
EXPIRY_MS = 120_000
PERIOD_MS = 120_000
"""What counts as in time: registrations are at most so far apart."""
SCAN_MS = 10_000 + 3 * 40_000
"""When the scan must have come: its period, and three pauses of its thread on the way."""
LONGEST_PAUSE_MS = 45_000
"""How long a thread may stand between two of its steps, and a bit."""
FEW = 8
"""So many connections that nobody needs may still be known."""
CONSTANTS = {"period": PERIOD_MS, "expiry": EXPIRY_MS, "scan": SCAN_MS}
ROLES = MASTER, SLAVE = "MASTER", "SLAVE"


class BrokerName:
    """A broker name at one name server. An Address is "host:port"; a Connection is a number.

    table -- what the name server has.
    running -- address to its Role. link -- … to the Connection that it has. bound -- the name of a connection to the
    Connection that it is; a link that is not bound is one that the broker has opened, or will. closed -- Connections
    whose CLOSE event may come. entered -- address to the connection of its last registration. targets -- Connection to
    the address that a clean-up has found. expiring -- addresses that the scan has taken from brokerLiveTable and not
    yet from the route. refreshed -- address to its last registrations: when, and what `expire_find` reads in the states
    before. unheard -- addresses that ran when the clock was set, and that nothing was heard of since. stamps_ms --
    address to the time that its entry was given last, by the clock of the name server. now_ms -- to which time the
    states belong, by the same clock. was_ahead -- whether an entry was of a later time then.
    """

    def __init__(self, name: str, table: RouteTables) -> None:
        """Nobody has registered."""
        self.name, self.table, self.now_ms, self.was_ahead = name, table, table.now_ms(), False
        self.slave_id: int | None = None
        self.running: dict[str, str] = {}
        self.link: dict[str, int] = {}
        self.bound: dict[str, int] = {}
        self.closed: set[int] = set()
        self.entered: dict[str, tuple[str, int]] = {}
        self.targets: dict[int, str] = {}
        self.expiring: list[str] = []
        self.refreshed: dict[str, list[tuple[int, list[Writes]]]] = {}
        self.unheard: set[str] = set()
        self.stamps_ms: dict[str, int] = {}
        self._serial = 0
        self.monitor = Monitor(OpenReading(Routes.concept, CONSTANTS), PROPERTIES, NAME, visible=VISIBLE,
                               unmarked=("age", "silent", "ended"), kept=("Address",))
        self.value = self.monitor.value
        self._named = self.monitor.reading.given.named

    def registered(self, event: events.BrokerRegistered) -> list[Finding]:
        """RouteInfoManager#registerBroker."""
        role = self._role(event.broker_id)
        if role is None:
            return []
        address = event.broker_addr
        kept = [(ms, states) for ms, states in self.refreshed.get(address, []) if self.now_ms - ms <= LONGEST_PAUSE_MS]
        before: list[Writes] = [{cell: state.get(cell, unset) for cell, unset in (
            (("live", address), False), (("age", address), 0))} for state in self.monitor.states.views]
        self.refreshed[address] = [*kept, (self.now_ms, before)]
        self._stamped(address)
        return self._enters(event, role, event.connection, whole=event.version is not None)

    def _enters(
        self, event: events.BrokerRegistered | events.BrokerUpdateTimestamp, role: str, connection: str, *, whole: bool,
    ) -> list[Finding]:
        """A broker is heard of on a connection; whole -- its registration is handled to the end."""
        address = event.broker_addr
        ways = self._came(address, role, connection)
        link = self.link[address]
        self.entered[address] = connection, link
        last: Step = ("register", (address, link)) if whole else ("register_half", (address,))
        return self.monitor.follow(event, [[*steps, last] for steps in ways])

    def _came(self, address: str, role: str, connection: str) -> list[list[Step]]:
        """How the broker came to this connection."""
        steps: list[Step] = []
        self.unheard.discard(address)
        if self.running.get(address, role) != role:
            steps += self._ends(address)
        known = self.bound.get(connection)
        old = self.link.get(address)
        if old is not None and (old == known or old not in self.bound.values()):
            self.bound[connection] = old
            return [steps]
        if old is not None and known in self.link.values():
            steps += self._ends(address)
        if old is None or known in self.link.values():
            return [[*steps, *chosen] for chosen in self._starts(address, role, connection)]
        self.link[address] = self.bound[connection] = new = self._connection()
        self.closed.add(old)
        return [[*steps, ("reconnect", (address, old, new))]]

    def _starts(self, address: str, role: str, connection: str) -> list[list[Step]]:
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

    def _ends(self, address: str) -> list[Step]:
        link = self.link.pop(address)
        del self.running[address]
        self.closed.add(link)
        return [("kill", (address, link))]

    def _shut_down(self, address: str) -> tuple[list[Step], list[Step]]:
        """It says goodbye and closes its connection, or it is not heard of again: the two ways to end."""
        old, new = self.link[address], self._connection()
        return [("reconnect", (address, old, new)), ("shut_down", (address, new))], self._ends(address)

    def end(self, event: events.BrokerStopping | events.ProcessKilled, machine: str) -> list[Finding]:
        """The brokers of a machine end."""
        return [found for address in self.of_machine(machine) for found in self.monitor.follow(
            event, self._shut_down(address) if isinstance(event, events.BrokerStopping) else [self._ends(address)])]

    def gone(self, machine: str) -> None:
        """What ran on a machine is heard of no more."""
        self.unheard = {addr for addr in self.unheard if addr.rpartition(":")[0] != machine}

    def of_machine(self, machine: str) -> list[str]:
        """The addresses of a machine that run."""
        return [addr for addr in self._named["Address"] if addr in self.running and addr.rpartition(":")[0] == machine]

    def unregistered(self, event: events.BrokerUnregistered) -> list[Finding]:
        """RouteInfoManager#unregisterBroker: as shipped, or as repaired upstream, if the table still has the id."""
        role = self._role(event.broker_id)
        if role is None:
            return []
        address, before = event.broker_addr, list[Step]()
        kept = event.broker_id in self.table.addresses(self.name)
        if address in self.running:
            before, _ = self._shut_down(address)
        elif True not in self.monitor.values("leaving", address):
            if not self.value("live", address) and (kept or self.value("at", role) is None):
                return []  # of a broker that said so before, or was never heard of: it changes nothing
            # It has run and says goodbye, of which the model knows nothing, or not any more.
            self.monitor.write({("leaving", address): True, ("role", address): role})
        return self.monitor.take(event, *before, ("unregister_own" if kept else "unregister", (address,)))

    def updated(self, event: events.BrokerUpdateTimestamp) -> list[Finding]:
        """RouteInfoManager#updateBrokerInfoUpdateTimestamp: for the model a registration that changes nothing else."""
        address = event.broker_addr
        self._stamped(address)
        connection, entered = self.entered.get(address, ("", -1))
        if not self.value("live", address):
            return []
        role = next((role for role, held in self.at().items() if held == address), None)
        if role is not None and address in self.unheard:
            return self._enters(event, role, connection, whole=True)  # it has run on while the clock was set
        if self.link.get(address) == entered:
            return self.monitor.take(event, ("register", (address, entered)))
        self.monitor.write({("age", address): 0})
        return []

    def asked(self, event: events.VersionQueried) -> list[Finding]:
        """DefaultRequestProcessor#queryBrokerTopicConfig: a repair enters the connection of the question (N-17).

        As shipped the entry keeps its own; which of the two a name server does shows in its table.
        """
        address, role = event.broker_addr, self.running.get(event.broker_addr)
        live_info, (entered, _) = self.table.live(address), self.entered.get(address, ("", -1))
        if event.changed or live_info is None or not entered != event.connection == live_info.connection:
            return []
        found = [] if role is None else self.monitor.follow(event, self._came(address, role, event.connection))
        link = self._connection_of(address, event.connection) if role is None else self.link[address]
        self.entered[address] = event.connection, link
        self.monitor.write({("channel", address): link})
        return found

    def found(self, event: events.BrokerFound) -> list[Finding]:
        """RouteInfoManager#onChannelDestroy, under the read lock."""
        address = event.broker_addr if event.broker_addr is not None and self.knows(event.broker_addr) else None
        connection = self.bound.get(event.connection)
        if address is not None:
            connection = self._connection_of(address, event.connection)
        if connection is None or any(self.entered[other][1] == connection for other in self.expiring):
            return []  # of a client; or of an address that still counts as live
        before: list[Step] = []
        for had in [had for had, link in self.link.items() if link == connection]:  # the connection of one that runs
            self.link[had] = new = self._connection()
            self.closed.add(connection)
            before.append(("reconnect", (had, connection, new)))
        if address is None and connection not in self.closed:
            return []
        self.closed.discard(connection)
        step: Step = "destroy_nothing", (connection,)
        if address is not None:
            self.targets[connection] = address
            step = "destroy_find", (connection, address)
        return self.monitor.take(event, *before, step)

    def expired(self, event: events.BrokerLiveRemoved) -> list[Finding]:
        """RouteInfoManager#scanNotActiveBroker has removed an entry; what it read may be older than the entry (N-8)."""
        address = event.broker_addr
        step: Step = "expire_find", (address,)
        self.expiring.append(address)
        if self.monitor.possible(step):
            return self.monitor.take(event, step)
        then = [{**cells, ("age", address): max(0, cells["age", address] + self.now_ms - ms)}
                for ms, states in self.refreshed.get(address, []) for cells in states]
        return self.monitor.late(event, self.monitor.foresee(step, then))

    def dropped(self, event: events.BrokerDropped) -> list[Finding]:
        """RouteInfoManager#onChannelDestroy, under the write lock."""
        address = event.broker_addr
        ways: list[list[Step]] = [[("destroy_remove", (connection, address))]
                                  for connection, target in self.targets.items() if target == address]
        if address in self.expiring:
            ways.append([("expire_remove", (address,))])
        ways += [[("expire_another", (other, address))] for other in self.expiring if other != address]
        if not ways and not self.value("live", address) and address not in self.at().values():
            return []
        findings = self.monitor.follow(event, ways or [[("destroy_remove", (0, address))]])
        self.targets = {connection: target for connection, target in self.targets.items() if target != address}
        self.expiring = [other for other in self.expiring if other != address and self.value("live", other)]
        return findings

    # Time and tables --------------------------------------------------------------------------------------------------

    def pass_time(self, by_ms: int) -> list[Finding]:
        """Let time pass; who has not registered for too long counts as ended."""
        findings: list[Finding] = []
        while by_ms > 0:
            slack = {address: PERIOD_MS - self.value("silent", address) for address in self.running}
            part = min([by_ms, *slack.values()])
            if part > 0:
                in_time = all(self.value("age", address) + part <= EXPIRY_MS + SCAN_MS
                              for address in self._named["Address"] if self.value("live", address))
                findings += self.monitor.take(None, ("elapse" if in_time else "elapse_without_scan", (part,)))
                by_ms -= part
            if by_ms > 0:
                for address in [address for address, left in slack.items() if left <= part]:
                    findings += self.monitor.follow(None, self._shut_down(address))
        return findings

    def jumped(self, by_ms: int) -> None:
        """The clock was set: what happened is as long ago as before, and by the clock each entry is so much older."""
        self.now_ms += by_ms
        for address, times in self.refreshed.items():
            age = "age", address
            self.refreshed[address] = [
                (ms + by_ms, [{**cells, age: cells[age] + by_ms} for cells in states]) for ms, states in times]

    def is_ahead(self) -> bool:
        """Whether an entry was written when the clock showed a later time than now."""
        entries = (self.table.live(addr) for addr in self._named["Address"])
        return any(info is not None and info.last_update_timestamp > self.now_ms for info in entries)

    def begin_anew(self) -> list[Finding]:
        """Nothing is promised of time for a while: who runs has ended, what has ended has just done so."""
        self.was_ahead = self.is_ahead()
        self.unheard.update(self.running)
        findings = [found for address in list(self.running)
                    for found in self.monitor.follow(None, self._shut_down(address))]
        anew: Writes = {}
        for address in self._named["Address"]:
            anew["ended", address] = 0
            if address in self.stamps_ms:  # the table may have a later time by now
                anew["age", address] = max(0, self.now_ms - self.stamps_ms[address])
        self.monitor.write(anew)
        return findings

    def compare(self) -> list[Finding]:
        """Compare with the tables of the name server."""
        seen: Writes = {("at", role): addr for broker_id, addr in self.table.addresses(self.name).items()
                        if (role := self._role(broker_id)) is not None}
        looked: list[Cell] = [("at", role) for role in ROLES]
        for address in dict.fromkeys((*self._named["Address"], *seen.values())):
            live_info = self.table.live(address)
            looked.append(("live", address))
            seen["live", address] = live_info is not None or address in self.expiring
            if live_info is not None:
                seen["channel", address] = self._connection_of(address, live_info.connection)
                seen["age", address] = max(0, self.now_ms - live_info.last_update_timestamp)
                looked += (("channel", address), ("age", address))
        return self.monitor.compare(seen, looked)

    def _stamped(self, address: str) -> None:
        live_info = self.table.live(address)
        if live_info is not None:
            self.stamps_ms[address] = live_info.last_update_timestamp

    def at(self) -> dict[str, str]:
        """Role to the address that has it in the route."""
        return {role: held for role in ROLES if (held := self.value("at", role)) is not None}

    # Elements ---------------------------------------------------------------------------------------------------------

    def _role(self, broker_id: int) -> str | None:
        """MASTER, or SLAVE for the first other id; a further one is not followed."""
        if broker_id != MASTER_ID and self.slave_id is None:
            self.slave_id = broker_id
        return {MASTER_ID: MASTER, self.slave_id: SLAVE}.get(broker_id)

    def _connection(self) -> int:
        """A Connection that was never opened; those of which nobody speaks any more are forgotten."""
        self._serial += 1
        known = self._named["Connection"]
        needed = {*self.link.values(), *self.targets, *(entered for address, (_, entered) in self.entered.items()
                                                        if self.value("live", address))}
        if len(known) > len(needed) + FEW:
            self.monitor.forget("Connection", [one for one in known if one not in needed])
            self.bound = {name: bound for name, bound in self.bound.items() if bound in needed}
            self.closed &= needed
        return self._serial

    def knows(self, addr: str) -> bool:
        """Whether an address was ever named."""
        return addr in self._named["Address"]

    def _connection_of(self, address: str, connection: str) -> int:
        name, entered = self.entered.get(address, ("", -1))
        if name == connection:
            return entered
        if connection not in self.bound:
            self.bound[connection] = self._connection()
        return self.bound[connection]
