"""What processes and stores of workloads are: names, configurations, and what was stored before."""

from __future__ import annotations

from dataclasses import replace

from impl.client.lite_pull_consumer_config import LitePullConsumerConfig
from impl.client.producer_config import ProducerConfig
from impl.client.push_consumer_config import PushConsumerConfig
from impl.common.heartbeat_data import BROADCASTING
from impl.common.message_const import PROPERTY_KEYS
from impl.common.message_selector import by_sql
from impl.decisions.allocation import AllocateMessageQueueByMachineRoom
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import get_retry_topic
from impl.decisions.start_offset import ConsumeFromWhere
from impl.hosts.simulation.clock import EPOCH_MS
from invariants.rules.answers import ROLLBACK
from stateful_tests.worlds.deeds import BROKERS, GROUP, OTHER_TOPIC, PAST_MS, TOPIC
from stateful_tests.worlds.listeners import EXCEPTION, LATER, NULL, POISON
from stateful_tests.worlds.machines import STORE
from stateful_tests.worlds.orders import ORDERED_TOPICS
from stateful_tests.worlds.past import Past
from stateful_tests.worlds.producers import (
    ASYNC,
    ILLEGAL,
    IN_TRANSACTION,
    KEYS,
    LONGEST,
    ONEWAY,
    SELECTED,
    SELECTED_ASYNC,
    SELECTED_ONEWAY,
    SYNC,
    TAGS,
    TO,
    TO_ASYNC,
    TO_ONEWAY,
    TOGETHER_ASYNC,
    TOGETHER_TO,
    Sending,
)
from stateful_tests.worlds.pullers import Pulling

CONSUMERS, SPARE = ("consumer1", "consumer2", "consumer3"), ("consumer4", "consumer5")
OTHER_GROUP = "H"
PRODUCER = "producer1"
ROOMS = ("east", "west")
CHECK_EVERY_MS = 10_000
"""How often brokers look for half messages that have not ended: in 4.9.3 once a minute."""
TRANSACTION_MS = 2_000
"""How long local transactions take."""
COMMITTED = 34
"""What the group has read of each queue before; another group has read four more."""
PAST = Past(((TOPIC, 4, 1), (OTHER_TOPIC, 2, 1), (get_retry_topic(GROUP), 1, 8)),
            tuple(zip(PAST_MS, (24, 8, 8), strict=True)))
"""What is in each queue: 24 messages of some days ago, 8 of an hour ago, and 8 that are new; of retries an eighth."""
INSPECTED = PAST._replace(queues=(*PAST.queues, *((topic, 2, 4) for topic in ORDERED_TOPICS)))
OLD = replace(
    STORE, mapped_file_size_commit_log=8 * 1024, configured_file_size_consume_queue=400, max_message_size=4 * 1024,
    total_physical_memory_bytes=40 * 1024)
"""Their store: its files are so small that some have nothing but old messages, and memory has the new ones only."""
HOUR_OF_BEGIN = f"{EPOCH_MS // 3_600_000 % 24:02}"
"""The hour at which worlds begin, in UTC; they have half an hour of it before them."""
ALIKE, UNEVEN, FIVE = ((4, 4), (4, 4)), ((4, 4), (3, 2)), ((3, 3), (2, 2))
"""How many queues of a topic each master has, to read and to write."""
DEEP_PAST = Past(((TOPIC, 1, 1), (OTHER_TOPIC, 2, 1), (get_retry_topic(GROUP), 1, 8)),
                 tuple(zip(PAST_MS[1:], (60, 60), strict=True)), long=(TOPIC,))
"""Queues from which a pull may want more than it is given; messages of one topic are long."""
DEEP = replace(STORE, mapped_file_size_commit_log=256 * 1024, configured_file_size_consume_queue=2_000,
               max_message_size=128 * 1024, total_physical_memory_bytes=2 * 1024 * 1024)
"""Their store: memory has the newer half."""
MANY = 64
"""How many messages a pull wants that wants more than it is given."""
SELDOM, RARELY, SILENT = (16, 12_000), (10, 45_000), (100, 3_600_000)
"""Of a producer that rests: after so many sends it sends nothing for so long (ms)."""
LARGE_BYTES, COMPRESSED_BYTES = 768 * 1024, 8 * 1024
"""How much follows what cannot be compressed of a message that is large, and of one that is long enough for it."""
COLLIDE, BELOW_ZERO = ("Aa", "BB", "blue"), ("yellow", "silver", "polygenelubricants")
"""Tags, of which two have one hash code, and keys whose hash codes are below 0: the last one has Integer.MIN_VALUE."""
FAILS = (POISON, POISON, EXCEPTION, EXCEPTION, LATER, LATER, NULL, NULL)
"""What becomes of so many messages, of as many as are drawn from."""
HOLDS = ROLLBACK, ROLLBACK, ROLLBACK, EXCEPTION, LATER, NULL
"""The same of a group that commits itself."""

ANYHOW = Sending(
    TOPIC, (SYNC, TO, ASYNC, SELECTED, TO_ASYNC, TOGETHER_TO, ONEWAY, SELECTED_ASYNC, TO_ONEWAY, SELECTED_ONEWAY,
            ILLEGAL, IN_TRANSACTION), namespace="shop", config=LONGEST,
    known=(MessageQueue(TOPIC, BROKERS[0], 1), MessageQueue(TOPIC, BROKERS[1], 3)), properties=(("colour", "red"),))
TENANTS = tuple(Sending(TOPIC, namespace=name, rests=SELDOM) for name in ("shop", "depot"))
PATIENT = ProducerConfig("P", send_msg_timeout_ms=20_000, retry_another_broker_when_not_store_ok=True)
TWO_KEYS = ((PROPERTY_KEYS, " ".join(KEYS[:2])),)
"""Properties of messages that are about both."""
PARCELS = Sending("parcels", (SYNC, ASYNC, TOGETHER_ASYNC), queue_nums=2,
                  config=ProducerConfig("P", default_topic_queue_nums=2))
ONE = PushConsumerConfig(GROUP, {TOPIC: "*"})
ORDERLY = replace(ONE, orderly=True)
BOTH_TOPICS = replace(ONE, subscription={TOPIC: "*", OTHER_TOPIC: "*"})
OTHER = PushConsumerConfig(OTHER_GROUP, {OTHER_TOPIC: "*"})
TO_ALL = replace(ONE, message_model=BROADCASTING, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
TO_ALL_IN_ORDER = replace(TO_ALL, orderly=True)
FROM_FIRST = replace(ONE, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
BY_TIME = replace(ONE, consumer_group=OTHER_GROUP, consume_from_where=ConsumeFromWhere.CONSUME_FROM_TIMESTAMP)
BY_SET_TIME = replace(BY_TIME, consumer_group="T", consume_timestamp="20220216074500", pull_interval_ms=200)
RETRIED = replace(FROM_FIRST, max_reconsume_times=2, consume_timeout_minutes=1)
IN_ORDER = replace(FROM_FIRST, orderly=True)
RETRIED_IN_ORDER = replace(RETRIED, orderly=True, max_reconsume_times=3)
TAGGED = replace(FROM_FIRST, subscription={TOPIC: f"{TAGS[0]} || {TAGS[1]}"})
TAGGED_ANEW = replace(FROM_FIRST, subscription={TOPIC: f"{TAGS[1]} || {TAGS[2]}"})
COLLIDING = replace(FROM_FIRST, subscription={TOPIC: f"{COLLIDE[0]} || {COLLIDE[2]}"})
COLLIDING_TOO = replace(FROM_FIRST, consumer_group=OTHER_GROUP, subscription={TOPIC: COLLIDE[1]})
FROM_THE_END = replace(RETRIED, consume_from_where=ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET)
WITH_INVOICES = replace(FROM_FIRST, subscription={TOPIC: "*", OTHER_TOPIC: "*"})
POLLING = Pulling(LitePullConsumerConfig(GROUP, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET), TOPIC)
POLLING_TAGS = replace(POLLING, tags=f"{TAGS[0]} || {TAGS[1]}")
ASSIGNING = replace(POLLING, config=replace(POLLING.config, consumer_group=OTHER_GROUP, auto_commit=False))
FEW_PULLS = replace(ASSIGNING, config=replace(ASSIGNING.config, pull_thread_nums=2))
CLOSE_TOGETHER = replace(FROM_FIRST, consume_concurrently_max_span=5)
FEW_OF_A_TOPIC = replace(FROM_FIRST, consumer_group=OTHER_GROUP, pull_threshold_for_topic=20)
FEW_MIB = replace(FROM_FIRST, subscription={OTHER_TOPIC: "*"}, pull_threshold_size_for_queue_mib=1)
FEW_MIB_OF_A_TOPIC = replace(FEW_MIB, consumer_group=OTHER_GROUP, pull_threshold_size_for_queue_mib=100,
                             pull_threshold_size_for_topic_mib=4)
FEW_TO_POLL = Pulling(LitePullConsumerConfig(
    "L", consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, pull_batch_size=4, pull_threshold_for_all=32,
    pull_threshold_for_queue=6), TOPIC, share=(2, 0), work_ms=2_000)
SLOWLY = replace(FEW_TO_POLL, work_ms=4_000)
BY_SQL = by_sql(
    f"(TAGS IN ('{TAGS[0]}', 'grey') AND weight BETWEEN 3 AND 4 AND weight BETWEEN 2.5 AND 3 AND weight >= 3 "
    "AND weight <= 3 AND weight > -4 AND weight < 3.5 AND NOT (weight <> 3) AND size IS NULL AND weight IS NOT NULL) "
    "OR (weight = 3 AND weight > 3) OR weight < 3 OR weight >= 3.5 OR weight BETWEEN 4 AND 5 OR size IS NOT NULL "
    "OR size = 1 OR size <> 1 OR NOT (size = 1) OR size NOT IN ('1', '2') OR size > 0 OR size BETWEEN 0 AND 9 "
    f"OR (TAGS NOT IN ('{TAGS[1]}', '{TAGS[2]}', '{TAGS[0]}')) OR TAGS = 'grey' OR FALSE")
"""It selects what has the first tag, by each operator once where it is true, and once where it is not, or unknown."""
SELECTING = replace(FROM_FIRST, consumer_group=OTHER_GROUP, subscription={TOPIC: BY_SQL})
IN_ONE_ROOM = replace(ONE, strategy=AllocateMessageQueueByMachineRoom(frozenset(ROOMS[1:])))
"""Members of GROUP with this strategy read at the second broker only."""
