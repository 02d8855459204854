"""What name servers and brokers have again when they start, and what slaves copy."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from impl import events
from impl.decisions.names import MASTER_ID
from impl.decisions.route_queues import QueueData
from invariants.rules import deadlines
from invariants.rules.excuse import Excuse
from invariants.rules.match import Match
from invariants.rules.orders import KEY_VALUE
from invariants.rules.rule import Kept, Promise, Rule, Told, on
from invariants.views import Views


class key_values_survive(Rule):
    """A name server that ends without losing power has its key values again when it starts."""

    shipped = "violated: N-24 two threads write one file"
    cite = "KVConfigManager#persist, #load"
    about = "at namespace key"

    excuses = (
        Excuse("there was no room on its disk for the file when the key was put",
               when=lambda rule, told: rule.had_no_room(told.about[0], told.since_ms)),
        Excuse("it ended before the thread that put the key had to have written the file, and told nobody that it has",
               when=lambda rule, told: rule.was_put_at_last(*told.about, told.since_ms)),
    )

    # With the time at which they were put.
    values = Kept("at namespace key", survives="kill", begins=(events.KVConfigPut,),
                  value=lambda ms, event: (event.value, ms))

    def had_no_room(self, at: str, put_ms: int) -> bool:
        """Whether the disk was full when the file was to be written."""
        return self.facts.had_no_room(at, put_ms - deadlines.in_file(self.bounds), put_ms)

    def was_put_at_last(self, at: str, namespace: str, key: str, put_ms: int) -> bool:
        """Whether the process ended so soon that the file need not have been written, and no operator was answered."""
        ended = self.past.last(events.ProcessKilled, at=at)
        done = self.past.last(events.OrderDone, server=at, kind=KEY_VALUE, name=f"{namespace} {key}")
        return (ended is not None and put_ms <= ended.ms <= put_ms + deadlines.in_file(self.bounds)
                and (done is None or done.ms < put_ms))

    @on(events.KVConfigLoaded)
    def loaded(self, _: int, at: str, event: events.KVConfigLoaded) -> Iterator[Told]:
        found = {(at, namespace, key): value for namespace, key, value in event.values}
        for key, (value, put_ms) in [one for one in self.values.items() if one[0][0] == at]:
            del self.values[key]
            if found.get(key) != value:
                yield self.told(f"{at} starts with {found.get(key, 'nothing')} for {key[2]}, not with {value}", *key,
                                since_ms=put_ms)


class topic_survives_its_broker(Rule):
    """A broker whose process ends has its topics again when it starts, also those that it has copied as a slave.

    It speaks of topics that were in the table for so long that they are in the file.
    """

    cite = "TopicConfigManager#persist, SlaveSynchronize#syncTopicConfig, ConfigManager#load"
    about = "at topic made_ms"
    excuses = (
        Excuse("its process stood still shortly before it ended, and may not have written the file",
               by=Match(events.ProcessPaused, of="at"), lasts=deadlines.in_file),
        Excuse("there was no room on its disk for the file when the topic was made, or changed",
               when=lambda rule, told: rule.had_no_room(*told.about)),
    )

    # Its queues to read and to write, and since when it has them; and brokers that have started: before that a broker
    # enters what its file has.
    topics = Kept("at topic", ends=(events.TopicConfigDeleted,), survives="kill")
    running = Kept("at", begins=(events.BrokerStarted,))

    def had_no_room(self, at: str, _topic: str, made_ms: int) -> bool:
        """Whether the disk was full when the file was to be written that has the topic."""
        return self.facts.had_no_room(at, made_ms, made_ms + deadlines.in_file(self.bounds))

    @on(events.TopicConfigUpdated)
    def updated(self, ms: int, at: str, event: events.TopicConfigUpdated) -> None:
        data = self.views.topics(at).get(event.topic)
        if data is not None and (at,) in self.running:
            self.topics[at, event.topic] = _queues(data), ms

    @on(events.BrokerStarted)
    def started(self, ms: int, at: str, event: events.BrokerStarted) -> Iterator[Told]:
        killed_ms, found = self.facts.broker_killed_ms.get((at,), -inf), self.views.topics(at)
        written_ms = killed_ms - deadlines.in_file(self.bounds)
        for key, (queues, since_ms) in [one for one in self.topics.items() if one[0][0] == at]:
            now = found.get(key[1])
            if (now is None or _queues(now) != queues) and since_ms < written_ms:
                what = "without" if now is None else "with other queues of"
                yield self.told(f"{at} starts {what} {key[1]}", *key, since_ms, since_ms=int(killed_ms))
            if now is None:
                del self.topics[key]
            else:
                self.topics[key] = _queues(now), -inf
        for topic, data in found.items():
            if topic != event.broker_name:  # it makes that topic anew at each start, and writes no file for it
                self.topics.setdefault((at, topic), (_queues(data), ms))


def _queues(data: QueueData) -> tuple[int, int]:
    return data.read_queue_nums, data.write_queue_nums


class slave_follows_its_master(Promise):
    """After the last fault a slave has the topics, groups and offsets of its master, and its file the delay offsets.

    What the master has changed since the slave's last copy may be missing.
    """

    cite = "SlaveSynchronize#syncAll, #syncDelayOffset"
    about = "at broker_name"
    within_ms = deadlines.slaves_copied

    # What each master had lately, with its time.
    masters = Kept("broker_name", survives="all")

    def wrong(self) -> Iterator[Told]:
        """See Promise."""
        brokers = self.views.brokers()
        slaves = [broker for broker in brokers if broker.broker_id != MASTER_ID]
        for master in (broker for broker in brokers if slaves and broker.broker_id == MASTER_ID):
            lately = self.masters.setdefault((master.broker_name,), [])
            delays = self.views.noted_delay_offsets(master.machine)
            lately.append((master.now_ms, _copied(self.views, master.machine, delays)))
            while len(lately) > 1 and lately[1][0] < master.now_ms - deadlines.COPIED_MS:
                del lately[0]
            for slave in (slave for slave in slaves if slave.broker_name == master.broker_name):
                for what in self._other(slave.machine, [table for _, table in lately]):
                    yield self.told(f"{slave.broker_addr} has another {' '.join(what)} than its master",
                                    slave.machine, slave.broker_name)

    def _other(self, slave: str, lately: list[dict[Any, Any]]) -> Iterator[tuple[str, ...]]:
        """What a slave has otherwise than its master had it lately; it may have more offsets."""
        mine, now = _copied(self.views, slave, self.views.saved_delay_offsets(slave)), lately[-1]
        for what in sorted({*mine, *now}):
            if what[0] == OFFSET:
                if what in now and not _within(mine.get(what, {}), [table.get(what, {}) for table in lately]):
                    yield what
            elif all(mine.get(what) != table.get(what) for table in lately):
                yield what


OFFSET = "offset"


def _within(mine: dict[int, int], lately: list[dict[int, int]]) -> bool:
    """Whether each offset is one that the master may have had in between: offsets change more often than one looks."""
    for queue_id in sorted({*mine, *lately[-1]}):
        had = [table.get(queue_id) for table in lately]
        known = [offset for offset in had if offset is not None]
        own = mine.get(queue_id)
        if own is None:
            if None not in had:
                return False
        elif known and not min(known) <= own <= max(known):
            return False
    return True


def _copied(views: Views, broker: str, delays: dict[int, int]) -> dict[Any, Any]:
    """What a slave copies: topics and groups, with the versions of their tables, and offsets by group and topic.

    delays -- how far each delay level is.
    """
    found: dict[Any, Any] = {("topic", topic): data for topic, data in views.topics(broker).items()}
    found["topics",] = views.topic_version(broker)
    groups = {one: views.group_config(broker, one) for one in views.subscription_groups(broker)}
    found["groups",] = views.subscription_group_version(broker), groups
    for group, topic in views.groups_with_offsets(broker):
        offsets = views.committed(broker, group)
        found[OFFSET, group, topic] = {key[1]: offset for key, offset in offsets.items() if key[0] == topic}
    found[OFFSET, "of each", "delay level"] = delays
    return found
