"""Named scopes: sizes, rigid functions and the counts that a search of them must give.

A scope that shows a hazard leaves out what shows the others (`forbid`), so that the shortest trace tells that story.
Numbers in brackets behind a strategy or period are scaled: only their order matters (30 s < 60 s becomes 1 < 3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from model.commit_log.index import Index
from model.commit_log.store import Store
from model.consumer_group import Convergence, Group, Running
from model.delivery import Delivery
from model.fault_strategy import PublishList, Sending
from model.language.scope import Scope
from model.language.state import State
from model.language.values import Term
from model.order_lock import Abandoned, OrderLock
from model.process_queue.concurrent import ProcessQueues
from model.process_queue.ordered import OrderedQueue
from model.pull import LongPolling
from model.registration import Membership, Registration
from model.replication import Replicas
from model.retry import Level
from model.route_info.cache import RouteCache
from model.route_info.routes import Routes
from model.route_info.servers import NameServers
from model.route_info.topics import TopicRoutes
from model.slave_read import SlaveRead
from model.subscription import Filters, Subscriptions, Versions
from model.transaction import Transaction


@dataclass(frozen=True, slots=True)
class NamedScope:
    """A scope, the counts pinned for it, and what is expected to fail there.

    violated -- hazards that the scope shows, by property. unreached -- `sometimes` properties that it cannot reach.
    heavy -- takes more than a few seconds: searched when named, or by the long tests. stuck -- whether some state has
    no step. file -- of a user's own that declares it, or "".
    """

    scope: Scope
    states: int
    transitions: int
    depth: int
    violated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unreached: tuple[str, ...] = ()
    heavy: bool = False
    stuck: bool = False
    file: str = ""

    @property
    def name(self) -> str:
        """As people call it."""
        return self.scope.name


def averagely(queues: int) -> Callable[[frozenset[int], int, int], bool]:
    """Shares of AllocateMessageQueueAveragely by its closed form: blocks in order, the first members get one more."""
    def share(view: frozenset[int], member: int, queue: int) -> bool:
        members = sorted(view)
        if not members:
            return False
        each, more = divmod(queues, len(members))
        large = more * (each + 1)
        place = queue // (each + 1) if queue < large else more + (queue - large) // max(each, 1)
        return members[place] == member

    return share


def _group(name: str, *, brokers: int = 1, members: int = 2, queues: int = 2, **rigid: Any) -> Scope:
    functions = {"share": averagely(queues), "subscribes": lambda _: True, "leader": lambda m: m, **rigid}
    return Scope(Group, {"Broker": brokers, "Member": members, "Queue": queues}, functions, name=name)


def _running(name: str, restarted: Callable[[int], bool], forbid: tuple[str, ...]) -> Scope:
    functions: dict[str, Any] = {"share": averagely(2), "subscribes": lambda _: True, "leader": lambda m: m,
                                 "restarted": restarted}
    return Scope(Running, {"Broker": 2, "Member": 2, "Queue": 2}, functions, name=name, forbid=forbid)


def _convergence(name: str, forbid: tuple[str, ...] = (), **rigid: Any) -> Scope:
    functions = {"share": averagely(2), "subscribes": lambda _: True, "leader": lambda m: m, "period": 1, "lag": 2,
                 **rigid}
    return Scope(Convergence, {"Member": 2, "Queue": 2, "Ms": 5}, functions, name=name, forbid=forbid)


def _plain(owner: type[State], name: str, sizes: dict[type[Term] | str, int], rigid: Mapping[str, Any] | None = None,
           forbid: tuple[str, ...] = (), breaks: tuple[str, ...] = ()) -> Scope:
    return Scope(owner, sizes, rigid or {}, name=name, forbid=forbid, breaks=breaks)


_SPLIT = ("find_group", "put_channel", "remove_channel", "remove_group")
_WHOLE_LEAVE = ("unregister",)
_TOPICS = {"wants": lambda m, t: m == t, "first_text": lambda _m, _t: 0}
_SAME_TOPICS = {"wants": lambda _m, _t: True, "first_text": lambda _m, _t: 1}
_ROLLED_OUT = {"wants": lambda m, t: t <= m, "first_text": lambda _m, _t: 0}  # one client, before and since
_TEXTS = {"wants": lambda _m, _t: True, "first_text": lambda m, _t: m}
_THREADS = ("begin", "add_topic", "turn", "remove_topic", "done")
_LOOK_AND_PUT = ("look_up", "put_newer", "put_if_absent")
_LEASES = {"client_live": 1, "broker_live": 2, "rpc_max": 1, "batch_max": 1}
_SHORT = {"client_live": 1, "broker_live": 3, "rpc_max": 1, "batch_max": 1}
_MEMBERSHIP = {"period": 1, "expiry": 1, "scan": 1}
_ROUTES = {"period": 1, "expiry": 1, "scan": 1}
_FAST = ("fast_read", "fast_grant", "fast_miss")
_LATE = ("drop_later", "unlock_late")


def _lock(name: str, constants: Mapping[str, int], forbid: tuple[str, ...]) -> Scope:
    return _plain(OrderLock, name, {"Client": 2, "Ms": 5}, constants, forbid)


def _routes(name: str, *kept: str, connections: int = 2, breaks: tuple[str, ...] = ()) -> Scope:
    """Name one hazard's actions, or the promise that it breaks; those of the others do not happen."""
    hazards = {"unregister", "destroy_find", "destroy_remove", "expire_find", "expire_remove", "start_beside",
               "expire_another", "register_half", "elapse_without_scan"}
    repaired = () if "unregister" not in kept else ("unregister_own",)
    return _plain(Routes, name, {"Address": 2, "Connection": connections, "Ms": 4}, _ROUTES,
                  (*sorted(hazards - set(kept)), *repaired), breaks)


def _replicas(name: str, *kept: str, slaves: int = 1, messages: int = 3, without: tuple[str, ...] = ()) -> Scope:
    """Name one hazard's actions; those of the others do not happen. without -- what does not happen either."""
    hazards = {"lose_sent", "refuse", "ask_late", "expire_unsent", "transfer_first", "transfer_shifted", "leave",
               "lose_copy"}
    sizes: dict[type[Term] | str, int] = {"Slave": slaves, "Message": messages, "Position": messages + 1}
    return _plain(Replicas, name, sizes, forbid=(*sorted(hazards - set(kept)), *without))


def _level(name: str, kept: str = "") -> Scope:
    """Name one hazard's action; those of the others do not happen."""
    hazards = {"forget_due", "deliver_more"} - {kept}
    return _plain(Level, name, {"Place": 4, "Ms": 4}, {"delay": 1}, tuple(sorted(hazards)))


def _store(
    name: str, *kept: str, queues: int = 1, records: int = 2, without: tuple[str, ...] = (),
    breaks: tuple[str, ...] = (),
) -> Scope:
    """Name one hazard's actions; those of the others do not happen. without -- what does not happen either."""
    hazards = {"flush_in_vain", "rot", "recover_more", "tear", "lose_abort", "keep_zeros", "expire_early", "pass_over",
               "flush_newer"}
    sizes: dict[type[Term] | str, int] = {"Queue": queues, "Position": records + 1, "QueueOffset": records + 1}
    return _plain(Store, name, sizes, forbid=(*sorted(hazards - set(kept)), *without), breaks=breaks)


def _index(name: str, *kept: str) -> Scope:
    """Name one hazard's action; those of the others do not happen."""
    hazards = {"load_late", "darken_stopped"} - set(kept)
    return _plain(Index, name, {"Position": 4}, forbid=tuple(sorted(hazards)))


def _consumed(
    name: str, *kept: str, members: int = 1, offsets: int = 3, without: tuple[str, ...] = (),
    breaks: tuple[str, ...] = (), unwanted: int = -1,
) -> Scope:
    """Name one hazard's actions; those of the others do not happen. unwanted -- what the group filters away."""
    hazards = {"take_last", "take_despite", "go_on_slowly", "raise_late", "reset_beside_a_pull"} - set(kept)
    sizes: dict[type[Term] | str, int] = {"Member": members, "QueueOffset": offsets}
    return _plain(ProcessQueues, name, sizes, {"wanted": lambda o: o != unwanted}, (*sorted(hazards), *without), breaks)


_CHECKS = ("checks_meet_no_answer", "checks_come_after_the_transaction")


def _transaction(name: str, *kept: str, without: tuple[str, ...] = (), breaks: tuple[str, ...] = ()) -> Scope:
    """Name one hazard's actions; those of the others do not happen. without -- what does not happen either."""
    hazards = {"answer_early", "give_up", "halt"} - set(kept)
    return _plain(Transaction, name, {}, forbid=(*sorted(hazards), *without), breaks=breaks)


def _delivery(name: str, *kept: str) -> Scope:
    """Name one hazard's actions; those of the others do not happen."""
    hazards = {"swallow", "send_back_twice", "bury_copy", "bury_early", "begin_anew", "deliver_again",
               "send_back_at_work"}.difference(kept)
    return _plain(Delivery, name, {"Record": 6, "Times": 6}, {"most": 2}, tuple(sorted(hazards)))


def _pull(name: str, *kept: str, breaks: tuple[str, ...] = ()) -> Scope:
    """Name one hazard's action, or the promise that it breaks; those of the others do not happen."""
    periods = {"hold_max": 3, "scan_period": 2}
    return _plain(LongPolling, name, {"Ms": 8}, periods, tuple(sorted({"refuse"} - set(kept))), breaks)


def _slave_read(name: str, *kept: str, without: tuple[str, ...] = ()) -> Scope:
    """Name one hazard's actions; those of the others do not happen. without -- what does not happen either."""
    hazards = {"stay", "master_ends"} - set(kept)
    return _plain(SlaveRead, name, {"Messages": 5}, {"memory": 1}, (*sorted(hazards), *without))


SCOPES: tuple[NamedScope, ...] = (
    NamedScope(_group("group 1,2,2"), 2089, 17628, 15, {"one_owner_per_queue": ("D1",)}),
    NamedScope(_group("group 2,2,2", brokers=2), 10591, 146704, 14, {"one_owner_per_queue": ("D1",)}),
    NamedScope(_group("group 2,3,2", brokers=2, members=3), 8852100, 188969492, 22,
               {"one_owner_per_queue": ("D1",)}, heavy=True),
    NamedScope(_group("group, one client id", leader=lambda _: 0), 2089, 17628, 15,
               {"one_owner_per_queue": ("D1",), "one_owner_when_settled": ("D6",),
                "every_queue_owned_when_settled": ("U3",)}),
    NamedScope(_group("group, topics differ", subscribes=lambda m: m == 0), 182, 1308, 10,
               {"every_queue_owned_when_settled": ("U4",)}, ("two_members_share",)),
    NamedScope(_group("group, lists overlap", share=lambda _view, _member, _queue: True), 1456, 11928, 15,
               {"one_owner_per_queue": ("D1",), "one_owner_when_settled": ("A-4",)}),
    NamedScope(_group("group, a room not listed", share=lambda view, m, q: q == 0 and averagely(2)(view, m, q)),
               1380, 11331, 15,
               {"one_owner_per_queue": ("D1",), "every_queue_owned_when_settled": ("L13",)}, ("two_members_share",)),
    NamedScope(_running("running group, D2", lambda b: b == 1, ("forget",)), 391, 3642, 9,
               {"one_owner_while_nobody_joins": ("D2",)}),
    NamedScope(_running("running group, D4", lambda _: False, ("heartbeat",)), 2992, 24796, 10,
               {"one_owner_while_nobody_joins": ("D4",)}),
    NamedScope(_convergence("convergence", ("elapse_beside_a_ghost",)), 2831, 12999, 17),
    NamedScope(_convergence("convergence, ghost"), 2972, 17177, 17, {"ownership_converges": ("B-10",)}),
    NamedScope(_convergence("convergence, one client id", ("elapse_beside_a_ghost",), leader=lambda _: 0),
               2831, 12999, 17,
               {"ownership_converges": ("D6",), "ownership_converges_at_last": ("D6",)}),
    NamedScope(_plain(Registration, "registration", {"Channel": 3, "Info": 2}, forbid=_SPLIT),
               1250, 3978, 13, stuck=True),
    NamedScope(_plain(Registration, "registration, B-7", {"Channel": 2, "Info": 2},
                      forbid=("heartbeat", "unregister")), 316, 592, 14,
               {"answered_heartbeat_means_listed": ("B-7",)}, stuck=True),
    NamedScope(_plain(Registration, "registration, B-8", {"Channel": 3, "Info": 2},
                      forbid=("find_group", "put_channel", "unregister")), 3337, 8772, 21,
               {"answered_heartbeat_means_listed": ("B-8",)}, stuck=True),
    NamedScope(_plain(Registration, "registration, B-9", {"Channel": 2, "Info": 2}, forbid=_SPLIT,
                      breaks=("leaves_quietly",)), 369, 912, 12,
               {"leaving_member_stays_gone": ("B-9",)}, stuck=True),
    NamedScope(_plain(Membership, "membership", {"Channel": 2, "GroupName": 1, "Info": 2, "Ms": 6}, _MEMBERSHIP,
                      ("heartbeat_all", "finish_unheard", "disconnect")), 7310, 40424, 17),
    NamedScope(_plain(Membership, "membership, two groups", {"Channel": 1, "GroupName": 2, "Info": 3, "Ms": 5},
                      _MEMBERSHIP, ("heartbeat_all", "finish_unheard", "disconnect")), 32346, 177639, 18),
    NamedScope(_plain(Membership, "membership, own objects", {"Channel": 1, "GroupName": 2, "Info": 3, "Ms": 6},
                      _MEMBERSHIP, ("heartbeat_all", "disconnect")), 146505, 779916, 23,
               {"live_member_is_never_forgotten": ("B-11",)}),
    NamedScope(_plain(Membership, "membership, B-10", {"Channel": 1, "GroupName": 2, "Info": 3, "Ms": 6},
                      _MEMBERSHIP, ("heartbeat_each", "disconnect")), 173523, 877314, 21,
               {"list_is_exactly_the_living": ("B-10",), "live_member_is_never_forgotten": ("B-11",)}),
    NamedScope(_plain(Membership, "membership, B-17", {"Channel": 1, "GroupName": 1, "Info": 2, "Ms": 5},
                      _MEMBERSHIP, ("heartbeat_all", "finish_unheard")), 324, 1322, 12,
               {"live_member_is_never_forgotten": ("B-17",), "list_is_exactly_the_living": ("B-17",)}),
    NamedScope(_plain(Subscriptions, "subscription, same",
                      {"Member": 2, "Topic": 2, "Expression": 2, "Version": 2}, _SAME_TOPICS,
                      ("change_expression",)), 11296, 124008, 14),
    NamedScope(_plain(Subscriptions, "subscription, B-1", {"Member": 2, "Topic": 2, "Expression": 1, "Version": 2},
                      _TOPICS, (*_THREADS, "change_expression")), 640, 7200, 10,
               {"pull_finds_its_subscription": ("B-1",), "heartbeats_do_not_remove_others_topics": ("B-1",)}),
    NamedScope(_plain(Subscriptions, "subscription, B-2", {"Member": 2, "Topic": 2, "Expression": 1, "Version": 1},
                      _TOPICS, ("heartbeat", "change_expression", "restamp")), 282, 624, 16,
               {"pull_finds_its_subscription": ("B-2",), "heartbeats_do_not_remove_others_topics": ("B-1",),
                "table_is_one_members_set": ("B-2",)}, ("two_versions_meet",)),
    NamedScope(_plain(Subscriptions, "subscription, B-31", {"Member": 2, "Topic": 2, "Expression": 1, "Version": 1},
                      _ROLLED_OUT, ("heartbeat", "change_expression", "restamp")), 220, 520, 17,
               {"pull_finds_its_subscription": ("B-31",), "heartbeats_do_not_remove_others_topics": ("B-31",)},
               ("two_versions_meet",)),
    NamedScope(_plain(Subscriptions, "subscription, B-33", {"Member": 2, "Topic": 1, "Expression": 1, "Version": 1},
                      _SAME_TOPICS | {"first_text": lambda _m, _t: 0}, ("heartbeat", "change_expression", "restamp"),
                      ("leaves_wait_for_heartbeats",)), 189, 574, 14,
               {"pull_finds_its_subscription": ("B-33",), "heartbeats_do_not_remove_others_topics": ("B-33",)},
               ("two_versions_meet",)),
    NamedScope(_plain(Subscriptions, "subscription, B-3", {"Member": 2, "Topic": 1, "Expression": 2, "Version": 3},
                      _TEXTS, (*_THREADS, "change_expression")), 360, 3312, 7,
               {"pull_is_filtered_by_own_expression": ("B-3", "L3")}),
    NamedScope(_plain(Subscriptions, "subscription, L4", {"Member": 2, "Topic": 1, "Expression": 2, "Version": 3},
                      _SAME_TOPICS, _THREADS), 1440, 30528, 5, {"pull_is_filtered_by_own_expression": ("L4",)}),
    NamedScope(_plain(Versions, "subscription versions", {"Member": 3, "Version": 3}, forbid=_LOOK_AND_PUT),
               396, 3888, 6),
    NamedScope(_plain(Versions, "subscription versions, B-29", {"Member": 2, "Version": 3}, forbid=("take_newer",)),
               351, 1545, 7,
               {"subscription_version_never_goes_back": ("B-29",), "newer_subscription_is_taken": ("B-29",)}),
    NamedScope(_plain(Filters, "filters", {"Member": 2, "Version": 3}, {"compiles": lambda _: True}), 86, 688, 6),
    NamedScope(_plain(Filters, "filters, B-26", {"Member": 2, "Version": 3}, {"compiles": lambda m: m == 0}),
               246, 1968, 8, {"bad_expression_is_refused": ("B-26",)}),
    NamedScope(_lock("order lock", _SHORT, (*_FAST, *_LATE, "restart")), 81150, 564678, 23),
    NamedScope(_lock("order lock, D7", _LEASES, (*_FAST, *_LATE, "restart", "lose_answer", "refuse")),
               70638, 442392, 23,
               {"listeners_do_not_overlap": ("D7",)}),
    NamedScope(_lock("order lock, D8", _SHORT, (*_FAST, *_LATE, "lose_answer", "refuse")), 650996, 4732860, 24,
               {"one_live_believer": ("D8",), "listeners_do_not_overlap": ("D8",)}),
    NamedScope(_lock("order lock, D9", _SHORT, (*_FAST, "restart", "lose_answer", "refuse", "unlock")),
               1147226, 7859612, 34,
               {"one_live_believer": ("D9",), "listeners_do_not_overlap": ("D9",)}),
    NamedScope(_lock("order lock, B-22a", _LEASES, (*_LATE, "restart", "lose_answer", "refuse", "crash", "work",
                                                    "finish")), 28888, 136394, 19,
               {"one_lock_holder": ("B-22a",), "one_live_believer": ("B-22a",)}, ("the_lock_changes_hands",)),
    NamedScope(_plain(Abandoned, "abandoned lock", {"Ms": 6}, {"broker_live": 2, "retry": 1}, ("renew",)), 12, 39, 7),
    NamedScope(_plain(Abandoned, "abandoned lock, U6", {"Ms": 6}, {"broker_live": 2, "retry": 1}), 41, 124, 12,
               {"abandoned_lock_is_freed": ("U6",), "contender_gets_the_lock": ("U6",)}),
    NamedScope(_routes("routes"), 34284, 129072, 11),
    NamedScope(_routes("routes, N-1", "unregister"), 36824, 135620, 11,
               {"live_broker_stays_routed": ("N-1",), "dead_broker_is_dropped": ("N-1",),
                "dead_broker_is_dropped_at_last": ("N-1",)}),
    NamedScope(_routes("routes, N-4", "elapse_without_scan"), 40332, 246456, 11, {"dead_broker_is_dropped": ("N-4",)}),
    NamedScope(_routes("routes, N-5", "start_beside", "expire_another"), 742674, 4757630, 27,
               {"dead_broker_is_dropped": ("N-5",), "live_broker_stays_routed": ("N-5",),
                "dead_broker_is_dropped_at_last": ("N-5",)}),
    NamedScope(_routes("routes, N-6", "register_half"), 64244, 261764, 11,
               {"dead_broker_is_dropped": ("N-6",), "dead_broker_is_dropped_at_last": ("N-6",)}),
    NamedScope(_routes("routes, N-7", "destroy_find", "destroy_remove"), 47512, 186768, 13,
               {"live_broker_stays_routed": ("N-7",)}),
    NamedScope(_routes("routes, N-8", "expire_find", "expire_remove"),
               57100, 253584, 13, {"live_broker_stays_routed": ("N-8",)}),
    NamedScope(_routes("routes, N-15", breaks=("ids_are_unique",)), 36776, 139472, 11,
               {"live_broker_stays_routed": ("N-15",)}),
    NamedScope(_routes("routes, N-27", breaks=("goodbyes_beat_restarts",)), 35380, 135048, 11,
               {"live_broker_stays_routed": ("N-27",)}),
    NamedScope(_plain(TopicRoutes, "topic routes", {"Topic": 3, "Version": 5},
                      forbid=("create_by_admin", "register_as_slave")), 47, 145, 5),
    NamedScope(_plain(TopicRoutes, "topic routes, N-2", {"Topic": 2, "Version": 4}, forbid=("register_as_slave",)),
               24, 76, 3, {"full_registration_installs_all_topics": ("N-2",)}),
    NamedScope(_plain(TopicRoutes, "topic routes, N-3", {"Topic": 2, "Version": 4},
                      forbid=("register_as_slave", "restart_name_server")), 20, 44, 3,
               {"full_registration_installs_all_topics": ("N-3",)}),
    NamedScope(_plain(TopicRoutes, "topic routes, N-16", {"Topic": 2, "Version": 4}, forbid=("create_by_admin",)),
               32, 116, 5, {"full_registration_installs_all_topics": ("N-16",)}),
    NamedScope(_plain(NameServers, "name servers", {"Server": 2, "Ms": 4}, {"period": 1}, ("skip", "time_out")),
               324, 1377, 12),
    NamedScope(_plain(NameServers, "name servers, N-18", {"Server": 2, "Ms": 4}, {"period": 1}, ("time_out",)),
               529, 3318, 12,
               {"every_name_server_learns": ("N-18",)}),
    NamedScope(_plain(NameServers, "name servers, N-21", {"Server": 2, "Ms": 4}, {"period": 1}, ("skip",)),
               529, 2950, 12,
               {"every_name_server_learns": ("N-21",)}),
    NamedScope(_plain(RouteCache, "route cache", {"Route": 2, "Ms": 4}, {"poll": 1}, ("delete",)), 35, 121, 7),
    NamedScope(_plain(RouteCache, "route cache, R-1", {"Route": 2, "Ms": 4}, {"poll": 1}), 76, 292, 10,
               {"route_cache_becomes_true": ("R-1",)}),
    NamedScope(_replicas("replication", slaves=2, messages=2), 31356, 210014, 23),
    NamedScope(_replicas("replication, V11", "lose_sent", "refuse"), 59502, 356448, 22,
               {"slave_log_is_a_prefix": ("V11",), "acknowledged_message_is_on_the_slave": ("V11",)}),
    NamedScope(_replicas("replication, V20", "expire_unsent"), 86601, 523980, 18,
               {"lagging_slave_catches_up": ("V20",)}),
    NamedScope(_replicas("replication, V25", "expire_unsent", "transfer_first"), 113874, 687933, 18,
               {"lagging_slave_catches_up": ("V20",), "copies_keep_their_place": ("V25",)}),
    NamedScope(_replicas("replication, V29", "ask_late", without=("heartbeat",)), 90353, 565444, 18,
               {"lagging_slave_catches_up": ("V29",), "acknowledged_message_is_on_the_slave": ("V29",)}),
    NamedScope(_replicas("replication, V32", "ask_late", "transfer_shifted", "leave"), 203023, 1264630, 25,
               {"slave_log_is_a_prefix": ("V32",), "copies_keep_their_place": ("V32",),
                "lagging_slave_catches_up": ("V29",), "acknowledged_message_is_on_the_slave": ("V29",)}),
    NamedScope(_replicas("replication, V34", "lose_copy"), 233779, 1419098, 28,
               {"lagging_slave_catches_up": ("V20",), "acknowledged_message_is_on_the_slave": ("V34",)}),
    NamedScope(_level("delay level"), 2915, 8046, 18),
    NamedScope(_level("delay level, V5", "forget_due"), 34724, 126299, 23, {"retry_waits_its_delay": ("V5",)}),
    NamedScope(_level("delay level, V19", "deliver_more"), 5717, 16155, 18, {"retry_is_delivered_once": ("V19",)}),
    NamedScope(_store("commit log"), 3966, 10385, 24, stuck=True),
    NamedScope(_store("commit log, V2", "rot"), 16268, 44622, 32, {"acknowledged_survives_crash": ("V2",)}),
    NamedScope(_store("commit log, V3", "keep_zeros", queues=2,
                      without=("kill", "stop", "expire", "flush", "flush_queue", "acknowledge")), 141982, 348538, 54,
               {"unit_names_its_record": ("V3",), "no_record_is_missed": ("V3",),
                "queue_offsets_are_consecutive": ("V3",)}),
    NamedScope(_store("commit log, V4", "recover_more", queues=2,
                      without=("kill", "stop", "expire", "flush", "acknowledge", "flush_queue", "lose_unit",
                               "lose_only_unit")), 88394, 202372, 76,
               {"recovery_is_a_prefix": ("V4",), "unit_names_its_record": ("V4",), "no_record_is_missed": ("V4",),
                "queue_offsets_are_consecutive": ("V4",)}),
    NamedScope(_store("commit log, V6", "flush_in_vain"), 9074, 25272, 26, {"acknowledged_survives_crash": ("V6",)},
               stuck=True),
    NamedScope(_store("commit log, V7", "tear"), 11117, 34930, 26, {"recovery_is_a_prefix": ("V7",)}, stuck=True),
    NamedScope(_store("commit log, V10", breaks=("checkpoint_is_true",)), 21395, 54151, 49,
               {"unit_names_its_record": ("V10",), "no_record_is_missed": ("V10",),
                "queue_offsets_are_consecutive": ("V10",)}, stuck=True),
    NamedScope(_store("commit log, V26", "lose_abort", queues=2, records=3,
                      without=("kill", "stop", "expire", "flush", "acknowledge", "lose_record", "lose_only_unit")),
               5663, 11752, 24,
               {"no_record_is_missed": ("V26",), "queue_offsets_are_consecutive": ("V26",)}),
    NamedScope(_store("commit log, V35", "expire_early", "pass_over", records=3,
                      without=("stop", "flush", "acknowledge", "lose_only_unit", "dispatch_on")), 53013, 167422, 57,
               {"unit_names_its_record": ("V35",), "no_record_is_missed": ("V35",),
                "queue_offsets_are_consecutive": ("V35",), "cleanup_stays_behind_dispatch": ("V35",)}),
    NamedScope(_store("commit log, V36", "flush_newer", "keep_zeros", records=3,
                      without=("stop", "expire", "flush_queue", "lose_unit", "lose_only_unit", "dispatch_on")),
               13026, 33465, 40, {"acknowledged_survives_crash": ("V36",)}, stuck=True),
    NamedScope(_index("index"), 122, 337, 10),
    NamedScope(_index("index, V13", "load_late"), 268, 820, 13, {"key_is_found": ("V13",)}),
    NamedScope(_index("index, V27", "darken_stopped"), 452, 1268, 17, {"key_is_found": ("V27",)}),
    NamedScope(_consumed("process queue", members=2), 1399852, 9600174, 42),
    NamedScope(_consumed("process queue, filter", offsets=4, unwanted=1), 15618, 104374, 27),
    NamedScope(_consumed("process queue, L1", "take_last", members=2,
                         without=("take_first", "take_young", "take_forgotten", "reset", "crash")), 14945, 51794, 31,
               {"nothing_is_skipped": ("L1",)}),
    NamedScope(_consumed("process queue, L2", "take_despite", without=("reset",)), 2723, 10333, 24,
               {"nothing_is_skipped": ("L2",)}),
    NamedScope(_consumed("process queue, L8", "reset_beside_a_pull", "raise_late", without=("drop",)),
               21339, 119670, 27,
               {"nothing_is_skipped": ("L8",), "memory_offset_is_least_unsettled": ("L8",)}),
    NamedScope(_consumed("process queue, L14", breaks=("resets_meet_no_commits",)), 8605, 54325, 27,
               {"nothing_is_skipped": ("L14",), "committed_offset_never_regresses": ("L14",)}),
    NamedScope(_consumed("process queue, late results", "go_on_slowly", "raise_late"), 20874, 116724, 31,
               {"memory_offset_is_least_unsettled": ("X18",), "committed_offset_never_regresses": ("X18",)}),
    NamedScope(_consumed("process queue, X18", "go_on_slowly", "raise_late", breaks=("resets_meet_no_results",)),
               31484, 192629, 31,
               {"nothing_is_skipped": ("X18",), "memory_offset_is_least_unsettled": ("X18",),
                "committed_offset_never_regresses": ("X18",)}),
    NamedScope(_consumed("process queue, X4", members=2, without=("reset", "take_forgotten"),
                         breaks=("hand_overs_wait_for_commits",)), 1334233, 10646452, 43,
               {"committed_offset_never_regresses": ("X4",)}),
    NamedScope(_plain(OrderedQueue, "ordered queue", {"QueueOffset": 5},
                      forbid=("pull_again", "take_stray", "commit_stray")), 514, 2109, 19),
    NamedScope(_plain(OrderedQueue, "ordered queue, X14", {"QueueOffset": 4}), 836, 3280, 20,
               {"ordered_message_waits_for_the_earlier": ("X14",), "ordered_commit_is_what_is_settled": ("X14",)}),
    NamedScope(_transaction("transaction"), 24, 28, 8, stuck=True),
    NamedScope(_transaction("transaction, P12", breaks=_CHECKS), 80, 226, 11,
               {"transaction_is_delivered_once": ("P12",)}, stuck=True),
    NamedScope(_transaction("transaction, T2", "answer_early", without=("commit_late", "commit_checked_late"),
                            breaks=_CHECKS), 142, 414, 11,
               {"half_message_ends_one_way": ("T2",), "committed_message_is_delivered_at_last": ("T2",)}, stuck=True),
    NamedScope(_transaction("transaction, T3", "give_up"), 34, 48, 8,
               {"committed_message_is_delivered_at_last": ("T3",)}, stuck=True),
    NamedScope(_transaction("transaction, T4", "halt"), 48, 69, 9,
               {"committed_message_is_delivered_at_last": ("T4",)}, stuck=True),
    NamedScope(_delivery("delivery"), 7, 6, 3, stuck=True),
    NamedScope(_delivery("delivery, M2", "swallow"), 10, 9, 3, {"send_back_keeps_the_message": ("M2",)}, stuck=True),
    NamedScope(_delivery("delivery, X5", "send_back_twice", "bury_copy", "bury_early"), 45, 128, 5,
               {"attempts_are_bounded": ("X5",), "done_message_comes_no_more": ("X5",),
                "dead_letter_comes_after_all_attempts": ("X5",)}, stuck=True),
    NamedScope(_delivery("delivery, X6", "deliver_again"), 665, 2060, 10,
               {"attempts_are_bounded": ("X6",), "done_message_comes_no_more": ("X6",)}),
    NamedScope(_delivery("delivery, X7", "send_back_at_work"), 10, 13, 3,
               {"done_message_comes_no_more": ("X7",)}, stuck=True),
    NamedScope(_delivery("delivery, X20", "begin_anew"), 58, 57, 5, {"attempts_are_bounded": ("X20",)}, stuck=True),
    NamedScope(_pull("held pull"), 715, 3509, 11),
    NamedScope(_pull("held pull, P8", "refuse"), 1047, 5274, 13, {"held_pull_is_answered_in_time": ("P8",)}),
    NamedScope(_pull("held pull, P13", breaks=("messages_meet_no_look",)), 743, 3693, 11,
               {"arriving_message_wakes_the_pull": ("P13",)}),
    NamedScope(_slave_read("slave read"), 159, 433, 13),
    NamedScope(_slave_read("slave read, S-1", "stay", without=("leave_slave", "wait_at_slave")), 219, 560, 14,
               {"answers_are_not_in_vain": ("S-1",), "suggestion_leads_back_to_the_master": ("S-1",),
                "reader_comes_to_the_end": ("S-1",)}),
    NamedScope(_slave_read("slave read, M3", "master_ends"), 588, 1679, 17,
               {"answers_are_not_in_vain": ("M3",), "suggestion_leads_back_to_the_master": ("M3",),
                "reader_comes_to_the_end": ("M3",)}),
    NamedScope(_plain(PublishList, "publish list", {"Slot": 3, "Broker": 2}, {"route": lambda x: x % 2}), 12, 48, 3),
    NamedScope(_plain(PublishList, "publish list, P3", {"Slot": 3, "Broker": 2}, {"route": lambda x: x % 2},
                      breaks=("some_broker_is_left",)),
               60, 384, 7, {"publish_list_keeps_its_queues": ("P3",)}),
    NamedScope(_plain(Sending, "sending", {"Broker": 2, "Attempts": 4}, forbid=("attempt_again", "store_late")),
               77, 82, 8, stuck=True),
    NamedScope(_plain(Sending, "sending, P6", {"Broker": 2, "Attempts": 4}), 119, 228, 9,
               {"message_is_stored_once": ("P6",)}, stuck=True),
)
