"""What is promised of a consumer group: one owner per queue, and soon after every change."""

from __future__ import annotations

from model.consumer_group import (
    Broker,
    Convergence,
    Group,
    Member,
    Queue,
    Running,
    Sharing,
    learn,
    lists_follow_in_time,
    rebalances_run_in_time,
    run,
    stale,
    takes,
)
from model.language import Bool, Rank, Set, count, every, exists, forall, helps, ranking, setof
from model.language.mutations import drop_assignment, drop_guard
from model.language.properties import always, leads_to, lemma, lemma_given, never, premise, sometimes


@premise
def distinct_ids(s: Sharing) -> Bool:
    """No two processes have the same client id."""
    return forall(s.leader[m] == m for m in every(Member))


@premise
def same_subscriptions(s: Sharing) -> Bool:
    """Every member of the group subscribes the topic."""
    return forall(s.subscribes[m] for m in every(Member))


@premise
def strategy_is_total(s: Sharing) -> Bool:
    """The strategy gives every queue to a member of the list, this one or another (allocation_is_total)."""
    return forall(view.has(m).implies(s.share[view, m, q] | exists(view.has(x) & s.share[view, x, q]
                                                                   for x in every(Member)))
                  for view, m, q in every(Set[Member], Member, Queue))


@premise
def strategy_is_exclusive(s: Sharing) -> Bool:
    """The strategy gives no queue to two members of one list (allocation_is_exclusive)."""
    return forall((s.share[view, a, q] & s.share[view, b, q]).implies(a == b)
                  for view, a, b, q in every(Set[Member], Member, Member, Queue))


def settled(s: Group) -> Bool:
    """As brokers and members see it: the lists are exactly the living, and are answered and applied since they are.

    Every broker lists exactly the living; every living subscriber has asked some broker since any list changed, was
    answered, and a rebalance by that answer has ended.
    """
    return (exists(s.up[m] for m in every(Member))
            & forall(s.listed[b, m].iff(s.up[m]) for b, m in every(Broker, Member))
            & forall((s.up[m] & s.subscribes[m]).implies(s.rebalanced[m]) for m in every(Member)))


@lemma
def only_the_living_hold(s: Group) -> Bool:
    """What does not run holds nothing and waits for no list."""
    return forall((~s.up[m]).implies(~s.fetched[m] & ~s.holds[m, q]) for m, q in every(Member, Queue))


@lemma
def only_subscribers_hold(s: Group) -> Bool:
    """A member that does not subscribe the topic never rebalances it."""
    return forall((~s.subscribes[m]).implies(~s.fetched[m] & ~s.holds[m, q]) for m, q in every(Member, Queue))


@lemma
def what_was_heard_is_still_listed(s: Group) -> Bool:
    """While no list changes, an answer is what some broker lists."""
    return forall(s.heard[m].implies(exists(forall(s.answer[m].has(x).iff(s.listed[b, x]) for x in every(Member))
                                            for b in every(Broker))) for m in every(Member))


@lemma
def the_rebalanced_hold_their_share(s: Group) -> Bool:
    """Who has rebalanced since holds what the list that was answered last gives it."""
    return forall(s.rebalanced[m].implies(s.heard[m] & s.holds[m, q].iff(takes(s, m, s.answer[m], q)))
                  for m, q in every(Member, Queue))


@always(shipped="violated: D1 join",
        promised_by="the documentation of clustering consumption: one queue, one consumer of the group")
def one_owner_per_queue(s: Group) -> Bool:
    """At every instant a queue is held by at most one member of the group."""
    return forall((s.holds[a, q] & s.holds[b, q]).implies(a == b) for a, b, q in every(Member, Member, Queue))


@always(shipped="violated: D6 two processes with one client id, A-4 overlapping lists",
        given=(distinct_ids, strategy_is_exclusive),
        broken_by=(drop_assignment("crash", "holds"), drop_assignment("heartbeat", "rebalanced")))
def one_owner_when_settled(s: Group) -> Bool:
    """Once all lists are exactly the living, and every subscriber has applied one since, no queue has two owners."""
    return settled(s).implies(
        forall((s.holds[a, q] & s.holds[b, q]).implies(a == b) for a, b, q in every(Member, Member, Queue)))


@always(shipped="violated: U3 two processes with one client id, U4 unequal subscriptions, L13 unlisted room",
        given=(distinct_ids, same_subscriptions, strategy_is_total),
        broken_by=(drop_assignment("forget", "rebalanced"), drop_assignment("crash", "rebalanced")))
def every_queue_owned_when_settled(s: Group) -> Bool:
    """Once all lists are exactly the living, and every subscriber has applied one since, every queue has an owner."""
    return settled(s).implies(forall(exists(s.up[m] & s.holds[m, q] for m in every(Member)) for q in every(Queue)))


@sometimes
def two_members_share(s: Group) -> Bool:
    """A settled group in which two members hold queues."""
    return settled(s) & exists(~(a == b) & s.holds[a, q] & s.holds[b, r]
                               for a, b, q, r in every(Member, Member, Queue, Queue))


@always(shipped="violated: D2 incomplete list after a restart, D4 partition")
def one_owner_while_nobody_joins(s: Running) -> Bool:
    """In a settled group whose members all live on, a queue is held by at most one of them."""
    return forall((s.holds[a, q] & s.holds[b, q]).implies(a == b) for a, b, q in every(Member, Member, Queue))


no_ghosts = never("elapse_beside_a_ghost", name="no_ghosts",
                  because="A member that ended leaves the brokers' list within its deadline.")


def holds(s: Convergence, m: Member, q: Queue) -> Bool:
    """What a member holds follows from the list that it applied last."""
    return s.alive[m] & s.subscribes[m] & takes(s, m, s.view[m], q)


@lemma_given(rebalances_run_in_time)
def runs_are_in_time(s: Convergence) -> Bool:
    """The timer alone makes every living member run once a period."""
    return forall(s.alive[m].implies(s.ran[m] <= s.period) for m in every(Member))


@lemma
def old_views_are_young(s: Convergence) -> Bool:
    """A view that differs from the list is older than the list, or than the member."""
    now = setof(Member, lambda x: s.listed[x])
    return forall((s.alive[m] & ~(s.view[m] == now)).implies((s.steady <= s.ran[m]) | (s.calm <= s.ran[m]))
                  for m in every(Member))


@lemma_given(no_ghosts, lists_follow_in_time)
def the_list_follows(s: Convergence) -> Bool:
    """The list differs from the living for at most the lag; for a period its last change was within it."""
    return stale(s).implies(s.calm <= s.lag) & (s.steady <= s.period).implies(s.calm <= s.lag + s.steady)


@always(shipped="holds", given=(rebalances_run_in_time,),
        broken_by=(drop_assignment("learn", "steady"), drop_guard("elapse", 2)))
def membership_change_reaches_all(s: Convergence) -> Bool:
    """One period after the last change of the list every living member has applied it, by its timer alone."""
    now = setof(Member, lambda x: s.listed[x])
    return ((s.period < s.steady) & (s.period < s.calm)).implies(
        forall(s.alive[m].implies(s.view[m] == now) for m in every(Member)))


@always(shipped="violated: B-10 ghost in the list, D6 two processes with one client id",
        given=(no_ghosts, lists_follow_in_time, rebalances_run_in_time, distinct_ids, same_subscriptions,
               strategy_is_total, strategy_is_exclusive),
        broken_by=(drop_guard("elapse", 0), drop_assignment("end", "calm")))
def ownership_converges(s: Convergence) -> Bool:
    """After the last change, within the lag of the list and one period, every queue has exactly one owner."""
    return ((s.lag + s.period < s.calm) & exists(s.alive[m] for m in every(Member))).implies(
        forall(exists(holds(s, m, q) for m in every(Member)) for q in every(Queue))
        & forall((holds(s, a, q) & holds(s, b, q)).implies(a == b) for a, b, q in every(Member, Member, Queue)))


def behind(s: Convergence, m: Member) -> Bool:
    """A living member has not applied the list as it is."""
    return s.alive[m] & ~(s.view[m] == setof(Member, lambda x: s.listed[x]))


@leads_to(shipped="violated: D6 two processes with one client id", fair=("learn", "run"), until_quiet=("join", "end"),
          given=(distinct_ids, same_subscriptions, strategy_is_total, strategy_is_exclusive),
          broken_by=(drop_assignment("learn", "listed"), drop_assignment("run", "view")))
def ownership_converges_at_last(s: Convergence) -> tuple[Bool, Bool]:
    """Whatever time it takes: when members have ceased to come and go, every queue has exactly one owner, for good."""
    living = exists(s.alive[m] for m in every(Member))
    steady = ~stale(s) & forall(~behind(s, m) for m in every(Member))
    shared = (forall(exists(holds(s, m, q) for m in every(Member)) for q in every(Queue))
              & forall((holds(s, a, q) & holds(s, b, q)).implies(a == b)
                       for a, b, q in every(Member, Member, Queue)))
    return living, ~living | (steady & shared)


@ranking("ownership_converges_at_last")
def lists_then_views(s: Convergence, m: Member) -> Rank:
    """The brokers' list takes note of one member after another; then each living member rebalances once."""
    return Rank(measure=(count(~s.listed[x].iff(s.alive[x]) for x in every(Member)),
                         count(behind(s, x) for x in every(Member))),
                helpers=(helps(~s.listed[m].iff(s.alive[m]), learn, m), helps(~stale(s) & behind(s, m), run, m)))


@sometimes
def a_pair_converges(s: Convergence) -> Bool:
    """Two members are settled for long."""
    return (s.lag + s.period < s.calm) & exists(
        ~(a == b) & holds(s, a, q) & holds(s, b, r) for a, b, q, r in every(Member, Member, Queue, Queue))
