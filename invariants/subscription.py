"""What is promised of a group's subscriptions at a broker: members do not overwrite each other."""

from __future__ import annotations

from model.language import Bool, every, exists, forall
from model.language.mutations import drop_assignment, drop_condition, drop_guard
from model.language.properties import always, lemma, lemma_given, never, premise, sometimes, step
from model.subscription import (
    Filters,
    Intent,
    Member,
    Phase,
    Subscriptions,
    Topic,
    Versions,
    leaves_wait_for_heartbeats,
)

whole_heartbeats = never("begin", "add_topic", "turn", "remove_topic", "done", name="whole_heartbeats",
                         because="A heartbeat is handled as one step.")
one_look_and_put = never("look_up", "put_newer", "put_if_absent", name="one_look_and_put",
                         because="A heartbeat looks a topic up and puts it in one step.")
expressions_stay = never("change_expression", name="expressions_stay",
                         because="No member changes its expression at run time.")


@premise
def same_topics(s: Subscriptions) -> Bool:
    """Every member of the group subscribes the same topics."""
    return forall(s.wants[a, t].iff(s.wants[b, t]) for a, b, t in every(Member, Member, Topic))


@premise
def same_expressions(s: Subscriptions) -> Bool:
    """Members that subscribe the same topic start with the same expression."""
    return forall((s.wants[a, t] & s.wants[b, t]).implies(s.first_text[a, t] == s.first_text[b, t])
                  for a, b, t in every(Member, Member, Topic))


@lemma
def threads_keep_their_plan(s: Subscriptions) -> Bool:
    """A thread adds what its member wants and removes what it does not want."""
    return forall(((s.phase[m] == Phase.ADDING) & s.todo[m, t]).implies(s.wants[m, t])
                  & ((s.phase[m] == Phase.REMOVING) & s.todo[m, t]).implies(~s.wants[m, t])
                  & (s.phase[m] == Phase.IDLE).implies(~s.todo[m, t]) for m, t in every(Member, Topic))


@lemma_given(leaves_wait_for_heartbeats)
def whose_heartbeat_is_handled_is_listed(s: Subscriptions) -> Bool:
    """Who was answered, or is about to be, is registered."""
    return forall((s.answered[m] | ~(s.phase[m] == Phase.IDLE)).implies(s.listed[m]) for m in every(Member))


@lemma_given(same_topics, leaves_wait_for_heartbeats, excludes=("remove_topic",))
def everybody_adds_the_same(s: Subscriptions) -> Bool:
    """Under equal subscriptions the table has what everybody wants and only grows, until the group ends."""
    return forall(
        ((s.answered[m] & s.wants[m, t]).implies(s.subscribed[t]))
        & (((s.phase[m] == Phase.ADDING) & s.wants[m, t] & ~s.todo[m, t]).implies(s.subscribed[t]))
        & (((s.phase[m] == Phase.REMOVING) & s.wants[m, t]).implies(s.subscribed[t]))
        & s.subscribed[t].implies(s.wants[m, t]) & (s.phase[m] == Phase.REMOVING).implies(~s.todo[m, t])
        for m, t in every(Member, Topic))


@lemma_given(same_expressions, expressions_stay)
def the_table_has_everybodys_expression(s: Subscriptions) -> Bool:
    """Under equal expressions whatever the table holds is everybody's."""
    return (forall(s.text[m, t] == s.first_text[m, t] for m, t in every(Member, Topic))
            & forall((s.subscribed[t] & s.wants[m, t]).implies(s.expression[t] == s.first_text[m, t])
                     for m, t in every(Member, Topic)))


@lemma
def a_heartbeat_leaves_its_mark(s: Subscriptions) -> Bool:
    """Right after a whole heartbeat the table is the sender's."""
    return forall(s.last.holds(m).implies(
        s.listed[m] & s.answered[m] & s.subscribed[t].iff(s.wants[m, t])
        & s.wants[m, t].implies(s.stamp[m, t] <= s.version[t])) for m, t in every(Member, Topic))


@always(shipped="violated: B-1 different topics in one group, B-2 concurrent heartbeats empty the table, "
                "B-31 an overtaken heartbeat brings the old topics, B-33 a goodbye beside a heartbeat",
        given=(same_topics, leaves_wait_for_heartbeats), excludes=("remove_topic",),
        broken_by=(drop_assignment("add_topic", "subscribed"),),
        promised_by="the documentation: subscribers of a group receive what they subscribe")
def pull_finds_its_subscription(s: Subscriptions) -> Bool:
    """A registered member never gets SUBSCRIPTION_NOT_EXIST for its topic."""
    return forall((s.answered[m] & s.wants[m, t]).implies(s.subscribed[t]) for m, t in every(Member, Topic))


@step(shipped="violated: B-1 different topics in one group, B-31 an overtaken heartbeat brings the old topics, "
              "B-33 a goodbye beside a heartbeat",
      given=(same_topics, leaves_wait_for_heartbeats), excludes=("remove_topic",),
      broken_by=(drop_guard("remove_topic", 1),))
def heartbeats_do_not_remove_others_topics(before: Subscriptions, after: Subscriptions) -> Bool:
    """No step removes a topic that a registered member subscribes, unless that member itself goes."""
    return forall((before.answered[m] & after.answered[m] & before.wants[m, t] & before.subscribed[t])
                  .implies(after.subscribed[t]) for m, t in every(Member, Topic))


@always(shipped="violated: B-3 the greatest subVersion wins, L3 unequal tags, L4 a clock that is behind",
        given=(same_expressions, expressions_stay), broken_by=(drop_assignment("heartbeat", "expression"),))
def pull_is_filtered_by_own_expression(s: Subscriptions) -> Bool:
    """A pull that the broker accepts is filtered by the puller's own expression."""
    return forall((s.answered[m] & s.wants[m, t] & s.subscribed[t] & (s.stamp[m, t] <= s.version[t]))
                  .implies(s.expression[t] == s.text[m, t]) for m, t in every(Member, Topic))


@step(shipped="holds", broken_by=(drop_assignment("restamp", "last"),))
def heartbeat_is_idempotent(before: Subscriptions, after: Subscriptions) -> Bool:
    """A heartbeat that is repeated at once changes nothing."""
    return forall((before.last.holds(m) & after.last.holds(m)).implies(
        forall(before.listed[x].iff(after.listed[x]) for x in every(Member))
        & forall(before.subscribed[t].iff(after.subscribed[t]) & (before.version[t] == after.version[t])
                 & (before.subscribed[t].implies(before.expression[t] == after.expression[t])) for t in every(Topic)))
        for m in every(Member))


@lemma_given(whole_heartbeats)
def the_table_is_somebodys(s: Subscriptions) -> Bool:
    """With whole heartbeats only, the table is one member's set, or the group has no member."""
    return (forall(s.phase[m] == Phase.IDLE for m in every(Member))
            & (exists(s.listed[x] for x in every(Member))).implies(
                exists(forall(s.subscribed[t].iff(s.wants[m, t]) for t in every(Topic)) for m in every(Member))))


@always(shipped="violated: B-2 concurrent heartbeats empty the table", given=(whole_heartbeats,),
        broken_by=(drop_assignment("heartbeat", "subscribed"),))
def table_is_one_members_set(s: Subscriptions) -> Bool:
    """While no heartbeat is being handled, the table of a group with members is the topic set of one of them."""
    at_rest = forall(s.phase[m] == Phase.IDLE for m in every(Member))
    return (at_rest & exists(s.listed[x] for x in every(Member))).implies(
        exists(forall(s.subscribed[t].iff(s.wants[m, t]) for t in every(Topic)) for m in every(Member)))


@sometimes
def two_versions_meet(s: Subscriptions) -> Bool:
    """Two registered members differ in their subVersion of one topic."""
    return exists(s.answered[a] & s.answered[b] & (s.stamp[a, t] < s.stamp[b, t]) & s.subscribed[t]
                  for a, b, t in every(Member, Member, Topic))


@lemma
def the_handled_have_their_topic(s: Versions) -> Bool:
    """A heartbeat that has passed a topic leaves it in the table."""
    return forall(s.handled[m].implies(s.present) for m in every(Member))


@lemma_given(one_look_and_put)
def nobody_has_looked(s: Versions) -> Bool:
    """No thread stands between its look and its put."""
    return forall(s.intent[m] == Intent.NOTHING for m in every(Member))


@step(shipped="violated: B-29 an overtaken heartbeat puts an older version", given=(one_look_and_put,),
      broken_by=(drop_condition("take_newer", "current"),))
def subscription_version_never_goes_back(before: Versions, after: Versions) -> Bool:
    """While a topic stays in the table, its subVersion does not go down."""
    return (before.present & after.present).implies(before.current <= after.current)


@always(shipped="violated: B-29 a newer version is lost to putIfAbsent", given=(one_look_and_put,),
        broken_by=(drop_assignment("take_newer", "current"), drop_assignment("drop_topic", "handled")))
def newer_subscription_is_taken(s: Versions) -> Bool:
    """Once a heartbeat was handled, its topics have its subVersion or a greater one for as long as they stay."""
    return forall(s.handled[m].implies(s.carries[m] <= s.current) for m in every(Member))


@sometimes
def two_versions_are_handled(s: Versions) -> Bool:
    """Heartbeats of two members with different subVersions were handled."""
    return exists(s.handled[a] & s.handled[b] & (s.carries[a] < s.carries[b]) for a, b in every(Member, Member))


@premise
def all_expressions_compile(s: Filters) -> Bool:
    """No member has an expression that the broker cannot compile."""
    return forall(s.compiles[m] for m in every(Member))


@lemma_given(all_expressions_compile)
def the_filter_follows_the_table(s: Filters) -> Bool:
    """What was answered is compiled and at least as new."""
    return s.present.iff(s.compiled) & forall(s.answered[m].implies(
        s.present & (s.stamp[m] <= s.version) & (s.stamp[m] <= s.compiled_version)) for m in every(Member))


@always(shipped="violated: B-26 filter data out of step", given=(all_expressions_compile,),
        broken_by=(drop_assignment("heartbeat_sql", "compiled_version"), drop_assignment("restamp_sql", "answered")))
def bad_expression_is_refused(s: Filters) -> Bool:
    """A member whose expression compiles never gets FILTER_DATA_NOT_EXIST or NOT_LATEST because of another's."""
    return forall((s.answered[m] & s.compiles[m]).implies(s.compiled & (s.stamp[m] <= s.compiled_version))
                  for m in every(Member))
