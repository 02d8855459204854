"""What is promised of routes: the living are routed, the dead are not for long, topics are complete, clients learn."""

from __future__ import annotations

from model.language import Bool, Rank, Steps, count, every, exists, forall, helps, ite, ranking, tight
from model.language.mutations import drop_assignment, drop_guard
from model.language.properties import always, leads_to, lemma, lemma_given, never, premise, sometimes
from model.route_info.cache import RouteCache, polls_come_in_time
from model.route_info.clock import Ms
from model.route_info.routes import (
    Address,
    Connection,
    Role,
    Routes,
    elapse,
    expire,
    goodbyes_beat_restarts,
    ids_are_unique,
    register,
    registrations_come_in_time,
    scans_come_in_time,
    start,
)
from model.route_info.servers import NameServers, Server, rounds_come_in_time
from model.route_info.topics import Topic, TopicRoutes

own_unregistration = never("unregister", name="own_unregistration",
                           because="UNREGISTER_BROKER frees the id only if the address has it.")
one_step_clean_ups = never("destroy_find", "expire_find", name="one_step_clean_ups",
                           because="A clean-up decides and removes in one step.")
own_connections = never("start_beside", name="own_connections",
                        because="Every broker has a connection of its own.")
whole_registrations = never("register_half", name="whole_registrations",
                            because="No registration ends half-way.")
scan_lives = never("elapse_without_scan", name="scan_lives",
                   because="The scan's timer runs.")


@premise
def registrations_beat_the_expiry(s: Routes) -> Bool:
    """Registrations are at most 120 s apart."""
    return s.period <= s.expiry


@lemma
def the_linked_run(s: Routes) -> Bool:
    """The running, and nobody else, have connections."""
    return (forall(s.runs[a].implies(exists(s.link[a].holds(k) for k in every(Connection))) for a in every(Address))
            & forall(s.link[a].holds(k).implies(s.runs[a]) for a, k in every(Address, Connection)))


@lemma_given(goodbyes_beat_restarts)
def who_leaves_has_ended(s: Routes) -> Bool:
    """Who is unregistering does not run."""
    return forall(s.leaving[a].implies(~s.runs[a]) for a in every(Address))


@lemma
def connections_are_opened_once(s: Routes) -> Bool:
    """What is linked, closed or alive on a connection was opened."""
    return (forall(s.link[a].holds(k).implies(s.used[k]) for a, k in every(Address, Connection))
            & forall(s.closed[k].implies(s.used[k]) for k in every(Connection))
            & forall((~s.target[k].absent).implies(s.used[k]) for k in every(Connection))
            & forall(s.live[a].implies(s.used[s.channel[a]]) for a in every(Address)))


@lemma_given(own_connections, excludes=("expire_another",))
def connections_have_one_user(s: Routes) -> Bool:
    """A connection serves one broker, and is not closed while it does."""
    return (forall((s.link[a].holds(k) & s.link[b].holds(k)).implies(a == b)
                   for a, b, k in every(Address, Address, Connection))
            & forall((s.live[b] & s.link[a].holds(s.channel[b])).implies(a == b) for a, b in every(Address, Address))
            & forall((s.live[a] & s.live[b] & (s.channel[a] == s.channel[b])).implies(a == b)
                     for a, b in every(Address, Address))
            & forall(s.link[a].holds(k).implies(~s.closed[k]) for a, k in every(Address, Connection)))


@lemma_given(one_step_clean_ups, excludes=("destroy_remove", "expire_remove"))
def nothing_is_half_removed(s: Routes) -> Bool:
    """No clean-up stands between its two parts."""
    return forall(s.target[k].absent for k in every(Connection)) & forall(~s.expired[a] for a in every(Address))


@lemma_given(ids_are_unique)
def running_brokers_have_ids(s: Routes) -> Bool:
    """No two running brokers have one id."""
    return forall((s.runs[a] & s.runs[b] & (s.role[a] == s.role[b])).implies(a == b)
                  for a, b in every(Address, Address))


@lemma_given(registrations_come_in_time)
def running_brokers_are_heard(s: Routes) -> Bool:
    """The running register in time."""
    return forall(s.runs[a].implies(s.silent[a] <= s.period) for a in every(Address))


@lemma_given(own_unregistration, goodbyes_beat_restarts, ids_are_unique, one_step_clean_ups, own_connections,
             registrations_come_in_time, registrations_beat_the_expiry,
             excludes=("expire_another", "destroy_remove", "expire_remove"))
def the_known_are_fresh(s: Routes) -> Bool:
    """Who is known runs, is alive on its connection, as young as it spoke, and is at its place."""
    return forall(s.known[a].implies(
        s.runs[a] & s.live[a] & s.link[a].holds(s.channel[a]) & (s.age[a] <= s.silent[a]) & s.at[s.role[a]].holds(a))
        for a in every(Address))


@always(shipped="violated: N-1 late unregistration, N-5 shared connection, N-7 clean-up after the reconnection, "
                "N-8 scan beside registration, N-15 two brokers with one id, N-27 a restart that its goodbye overtakes",
        given=(own_unregistration, goodbyes_beat_restarts, ids_are_unique, one_step_clean_ups, own_connections,
               registrations_come_in_time, registrations_beat_the_expiry),
        excludes=("expire_another", "destroy_remove", "expire_remove"),
        broken_by=(drop_guard("expire", 1), drop_guard("destroy", 2)))
def live_broker_stays_routed(s: Routes) -> Bool:
    """A broker that registers in time over its connection is in the route under its id."""
    return forall(s.known[a].implies(s.at[s.role[a]].holds(a)) for a in every(Address))


@premise
def scans_take_time(s: Routes) -> Bool:
    """The scan has a period."""
    return s.scan > 0


@tight("live_broker_stays_routed", registrations_beat_the_expiry, where=(scans_take_time,))
def the_next_registration_is_late(s: Routes, a: Address, k: Connection) -> Steps:
    """For all periods beyond the expiry: the scan finds the broker expired just before it registers again."""
    return ((start, a, Role.MASTER, k), (register, a, k), (elapse, s.expiry + 1), (expire, a))


@lemma_given(own_unregistration, own_connections, whole_registrations, excludes=("expire_another",))
def routes_have_live_entries(s: Routes) -> Bool:
    """What is routed has an entry."""
    return forall(s.at[r].holds(a).implies(s.live[a]) for a, r in every(Address, Role))


@lemma_given(scan_lives, scans_come_in_time)
def entries_are_scanned(s: Routes) -> Bool:
    """Entries do not outlive expiry and scan, and those of the dead are older than their death."""
    return forall(s.live[a].implies((s.age[a] <= s.expiry + s.scan) & (s.runs[a] | (s.ended[a] <= s.age[a])))
                  for a in every(Address))


@always(shipped="violated: N-1 unregistration by id, N-4 the scan has died, N-5 shared connection, N-6 half of it",
        given=(own_unregistration, own_connections, whole_registrations, scan_lives, scans_come_in_time),
        excludes=("expire_another",),
        broken_by=(drop_guard("elapse", 0), drop_assignment("expire", "at")))
def dead_broker_is_dropped(s: Routes) -> Bool:
    """A broker that ended is in no route once the expiry and one scan period are over."""
    return forall((~s.runs[a] & (s.expiry + s.scan < s.ended[a])).implies(~s.at[r].holds(a))
                  for a, r in every(Address, Role))


@premise
def registrations_take_time(s: Routes) -> Bool:
    """Registrations have a period."""
    return s.period > 0


@leads_to(shipped="violated: N-1 unregistration by id, N-5 shared connection, N-6 half of it",
          fair=("elapse", "register", "expire", "expire_another"), until_quiet=("reconnect",),
          given=(own_unregistration, own_connections, whole_registrations, scans_take_time, registrations_take_time),
          excludes=("expire_another",), broken_by=(drop_assignment("expire", "at"),))
def dead_broker_is_dropped_at_last(s: Routes, a: Address) -> tuple[Bool, Bool]:
    """Whatever the periods are: a broker that ended leaves all routes, or starts again; other brokers come and go."""
    return ~s.runs[a], s.runs[a] | forall(~s.at[r].holds(a) for r in every(Role))


def registers_now(s: Routes, a: Address) -> Bool:
    """No time passes before the broker registers."""
    return s.runs[a] & (s.period <= s.silent[a])


def is_scanned_now(s: Routes, a: Address) -> Bool:
    """No time passes before the scan has found the entry."""
    return s.live[a] & (s.expiry + s.scan <= s.age[a])


@ranking("dead_broker_is_dropped_at_last")
def its_entry_expires(s: Routes, a: Address, x: Address, k: Connection) -> Rank:
    """Time passes until the entry is expired; the registrations and scans of others for which it waits come first."""
    fresh = s.age[a] <= s.expiry
    nobody = forall(~registers_now(s, b) & ~is_scanned_now(s, b) for b in every(Address))
    return Rank(
        measure=(ite(fresh, s.expiry + 1 - s.age[a], Ms.of(0)),
                 count(fresh & registers_now(s, b) for b in every(Address)),
                 count(fresh & is_scanned_now(s, b) for b in every(Address))),
        helpers=(helps(~fresh, expire, a), helps(fresh & registers_now(s, x) & s.link[x].holds(k), register, x, k),
                 helps(fresh & is_scanned_now(s, x), expire, x), helps(fresh & nobody, elapse, Ms.of(1))))


@sometimes
def a_slave_takes_over(s: Routes) -> Bool:
    """A master and a slave are routed."""
    return exists(s.at[Role.MASTER].holds(a) & s.at[Role.SLAVE].holds(b) & s.known[a] & s.known[b]
                  for a, b in every(Address, Address))


no_increments = never("create_by_admin", name="no_increments",
                      because="Every registration carries the whole topic table.")
no_promotion = never("register_as_slave", name="no_promotion",
                     because="No broker changes from slave to master under one version.")


@lemma_given(no_increments, no_promotion)
def equal_versions_mean_equal_topics(s: TopicRoutes) -> Bool:
    """If the stored version is the broker's, everything is routed."""
    return (s.known & (s.stored == s.version)).implies(forall(s.exists[t].implies(s.routed[t]) for t in every(Topic)))


@lemma
def stored_versions_are_old(s: TopicRoutes) -> Bool:
    """A name server never has a version that the broker has not reached."""
    return s.known.implies(s.stored <= s.version)


@always(shipped="violated: N-2 an increment hides the rest, N-3 … without any loss, N-16 promotion without topics",
        given=(no_increments, no_promotion), broken_by=(drop_assignment("create", "version"),))
def full_registration_installs_all_topics(s: TopicRoutes) -> Bool:
    """After a full registration every topic of the broker is routed."""
    return s.complete.implies(forall(s.exists[t].implies(s.routed[t]) for t in every(Topic)))


@sometimes
def topics_are_routed(s: TopicRoutes) -> Bool:
    """Two topics are routed."""
    return s.complete & exists(~(t == u) & s.routed[t] & s.routed[u] for t, u in every(Topic, Topic))


always_registers = never("skip", "time_out", name="always_registers",
                         because="Every round registers at every server that can be reached.")


@lemma_given(always_registers, rounds_come_in_time)
def rounds_are_in_time(s: NameServers) -> Bool:
    """Who is up and does not know the broker came up after the last round."""
    return forall((s.since[n] <= s.period) & (s.up[n] & ~s.knows[n]).implies(s.calm[n] <= s.since[n])
                  for n in every(Server))


@always(shipped="violated: N-18 a vote is missing, N-21 a time-out removes the broker",
        given=(always_registers, rounds_come_in_time),
        broken_by=(drop_guard("go_on", 1), drop_assignment("register_at", "knows")))
def every_name_server_learns(s: NameServers) -> Bool:
    """A name server that has been reachable for longer than one registration period knows the broker."""
    return forall((s.up[n] & (s.period < s.calm[n])).implies(s.knows[n]) for n in every(Server))


@sometimes
def all_servers_know(s: NameServers) -> Bool:
    """Every server knows the broker, for longer than a period."""
    return forall(s.knows[n] & (s.period < s.calm[n]) for n in every(Server))


routes_stay = never("delete", name="routes_stay",
                    because="A topic that was routed keeps a route.")


@lemma_given(routes_stay, polls_come_in_time)
def old_routes_are_young(s: RouteCache) -> Bool:
    """A cache that differs from the route was filled before the last change."""
    return (s.polled <= s.poll) & (s.present & ~s.cached.holds(s.route)).implies(s.changed <= s.polled) & (
        (~s.present).implies(s.cached.absent))


def is_true(s: RouteCache) -> Bool:
    """The cache holds the route, or nothing where there is none."""
    return s.present.implies(s.cached.holds(s.route)) & (~s.present).implies(s.cached.absent)


@always(shipped="violated: R-1 deleted routes are kept", given=(routes_stay, polls_come_in_time),
        broken_by=(drop_guard("run_on", 1), drop_assignment("change", "changed")))
def route_cache_becomes_true(s: RouteCache) -> Bool:
    """One poll period after the last change a client's route is the name server's."""
    return (s.poll < s.changed).implies(is_true(s))


@sometimes
def a_route_is_old(s: RouteCache) -> Bool:
    """A client has the route for longer than a period."""
    return (s.poll < s.changed) & s.cached.holds(s.route)
