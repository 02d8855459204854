"""What strangers ask of brokers: requests that no client of RocketMQ sends, and requests to brokers that are too busy.

Requests are written here, so that what a client checks before it sends keeps nothing away from the broker.
"""

from __future__ import annotations

from functools import partial
from typing import cast

from impl.common import headers
from impl.common.byte_buffer import ByteBuffer
from impl.common.message_decoder import decodes
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.flags import FLAG_SUBSCRIPTION, TRANSACTION_ROLLBACK_TYPE
from impl.decisions.names import RMQ_SYS_SCHEDULE_TOPIC, RMQ_SYS_TRANS_HALF_TOPIC, TOPIC_MAX_LENGTH
from impl.decisions.subscription import SQL92, SubscriptionData
from impl.events import InquiryMade, OrderDone, OrderGiven, ThreadsHeld
from impl.hosts.simulation.executor import Pool
from impl.ports.remoting import Command
from invariants.rules.busy_brokers import BUSY
from invariants.rules.permissions import (
    DELETE_DELAYS,
    DELETE_HALVES,
    PULL_BEFORE,
    PULL_BEHIND,
    REFUSAL,
    REFUSED,
    SEND_BEHIND,
    SEND_TO_A_SLAVE,
    SUBSCRIBE_BY_SQL,
)
from invariants.rules.pull_answers import PULL
from stateful_tests.worlds.deeds import (
    GROUP,
    OPERATOR,
    TOPIC,
    Done,
    NothingToDoError,
    done_later,
    each_of,
    living_brokers,
    masters,
    one_of,
    uncaught,
)
from stateful_tests.worlds.inspections import asking, coded
from stateful_tests.worlds.world import World

ILLEGAL_SENDS = (
    ("an illegal character", "a b", 0, 0), ("a name that is too long", "x" * (TOPIC_MAX_LENGTH + 1), 0, 0),
    ("no name", " ", 0, 0), ("the topic of delays", RMQ_SYS_SCHEDULE_TOPIC, 0, 0),
    ("a queue that there is not", TOPIC, 1_000, 0), ("properties that are too long", TOPIC, 0, 33_000),
)
"""Of each what is illegal, the topic, the queue, and how many characters a property has."""
FROM, MOST = ((0, 0), (0, -1), (1, 0), (1, 1), (1, 100), (0, -100)), 4
"""From the begin (0) or the end (1) of a queue, and how far behind it; and how many messages are wanted."""
POOLS = ("send", "send", "pull", "end_transaction")
"""Pools in which nobody waits for ever, by the names that `impl.broker.request_table` has for them."""
HELD_MS = (3_000, 12_000)
PROBES, PROBE_EVERY_MS, PATIENCE_MS = 3, 700, 30_000
"""How often a stranger asks a broker that is busy, how long after one another, and how long it waits."""


def try_what_is_illegal(world: World) -> Done:
    """A stranger sends a broker a message that it must not take."""
    broker, (what, topic, queue_id, length) = each_of(
        world, ("where", masters(world)), ("what is illegal", ILLEGAL_SENDS))
    now_ms = world.simulation.nodes[OPERATOR].now_ms()
    request = _send(topic, queue_id, now_ms, f"note\x01{'n' * length}\x02" if length else None)
    return to_be_refused(world, broker, f"a message with {what}", request)


def to_be_refused(world: World, broker: str, what: str, request: Command) -> Done:
    """A stranger sends a broker what it must not do, and reports it as done where it is answered so."""
    node, client, address = world.simulation.nodes[OPERATOR], world.testers[OPERATOR], world.brokers[broker].broker_addr
    order = OrderGiven(broker, "illegal", what, ())

    async def send() -> None:
        node.trace(order)
        answer = await client.invoke_sync(address, request, 5_000)
        if answer.code == ResponseCode.SUCCESS:
            node.trace(OrderDone(*order))

    world.call(OPERATOR, uncaught(send))
    return broker, f"is sent {what}"


def _send(topic: str, queue_id: int, now_ms: int, properties: str | None = None) -> Command:
    header = headers.SendMessageRequestHeader("P", topic, queue_id, now_ms, properties)
    return Command(RequestCode.SEND_MESSAGE, header, b"of a stranger")


def pull_anywhere(world: World) -> Done:
    """A stranger pulls a queue from anywhere: from its begin or its end, or outside of them."""
    broker, queue_id, (behind_the_end, shift) = each_of(
        world, ("where", masters(world)), ("which queue", range(4)), ("from where", FROM))
    ends = world.views.queue_units(broker).get((TOPIC, queue_id), (0, 0))
    offset = max(0, ends[behind_the_end] + shift)
    inquiry = InquiryMade(broker, PULL, f"{TOPIC} {queue_id} {offset} {MOST}", world.now_ms)
    world.call(OPERATOR, asking(
        world, inquiry, world.brokers[broker].broker_addr, _pull(queue_id, offset), _pulled))
    return broker, f"is asked for queue {queue_id} from {offset} on"


def _pulled(answer: Command) -> tuple[int, ...] | None:
    if answer.header is None:
        return None
    _, going_on, begin, end = answer.header
    return int(answer.code), going_on, begin, end, len(decodes(ByteBuffer(answer.body or b"")))


def _pull(queue_id: int, offset: int) -> Command:
    """It waits for nothing, commits nothing, and says itself what it subscribes."""
    return Command(RequestCode.PULL_MESSAGE, headers.PullMessageRequestHeader(
        GROUP, TOPIC, queue_id, offset, MOST, FLAG_SUBSCRIPTION, 0, 0, 0, subscription="*"))


def go_too_far(world: World) -> Done:
    """A stranger asks a broker for what it must refuse: of a queue that is not there, of a system topic, of a slave."""
    what = one_of(world, "what is too much", [*REFUSED])
    broker = one_of(world, "where", [one for one in living_brokers(world)
                                     if (one in masters(world)) is not (what == SEND_TO_A_SLAVE)])
    config = world.brokers[broker].topic_config_manager.select_topic_config(TOPIC)
    request = _too_much(what, 4 if config is None else max(config.read_queue_nums, config.write_queue_nums),
                        world.simulation.nodes[OPERATOR].now_ms())
    inquiry = InquiryMade(broker, REFUSAL, what, world.now_ms)
    world.call(OPERATOR, asking(world, inquiry, world.brokers[broker].broker_addr, request, coded))
    return broker, f"is asked for {what}"


def _too_much(what: str, queues: int, now_ms: int) -> Command:
    """The request; queues -- how many the topic has."""
    return {
        SEND_BEHIND: _send(TOPIC, queues, now_ms), SEND_TO_A_SLAVE: _send(TOPIC, 0, now_ms),
        PULL_BEHIND: _pull(queues, 0), PULL_BEFORE: _pull(-1, 0),
        SUBSCRIBE_BY_SQL: Command(RequestCode.CHECK_CLIENT_CONFIG, body=headers.CheckClientRequestBody(
            "stranger@1", GROUP, SubscriptionData(TOPIC, "weight > 1", expression_type=SQL92))),
        DELETE_DELAYS: _deletion(RMQ_SYS_SCHEDULE_TOPIC), DELETE_HALVES: _deletion(RMQ_SYS_TRANS_HALF_TOPIC),
    }[what]


def _deletion(topic: str) -> Command:
    return Command(RequestCode.DELETE_TOPIC_IN_BROKER, headers.TopicRequestHeader(topic))


def keep_busy(world: World) -> Done:
    """All threads of a pool of a broker are busy for so long; strangers ask it meanwhile for what is done there.

    What they ask changes nothing: a message that is illegal, a pull that waits for nothing, an end of no transaction.
    """
    broker, pool, held_ms = each_of(
        world, ("where", living_brokers(world)), ("in which pool", POOLS), ("how long", HELD_MS))
    node, threads = world.simulation.nodes[broker], cast("Pool", world.brokers[broker].pools[pool])
    if threads.free < threads.threads:
        raise NothingToDoError
    world.calm = False
    for _ in range(threads.threads):
        threads.execute(partial(node.sleep, held_ms))
    node.trace(ThreadsHeld(broker, pool, held_ms))
    for number in range(PROBES):
        done_later(world, number * PROBE_EVERY_MS, partial(_probe, world, broker, pool))
    return broker, f"has no free thread in its pool {pool} for {held_ms} ms"


def _probe(world: World, broker: str, pool: str) -> None:
    if broker in world.brokers:
        inquiry = InquiryMade(broker, BUSY, pool, world.now_ms)
        request = _request(pool, world.simulation.nodes[OPERATOR].now_ms())
        world.call(OPERATOR, asking(world, inquiry, world.brokers[broker].broker_addr, request,
                                    coded, PATIENCE_MS))


def _request(pool: str, now_ms: int) -> Command:
    """A request that is done in a pool, and changes nothing."""
    if pool == "send":
        return _send("a b", 0, now_ms)
    if pool == "pull":
        return _pull(0, 0)
    ended = headers.EndTransactionRequestHeader("P", 0, 0, TRANSACTION_ROLLBACK_TYPE, msg_id="of a stranger")
    return Command(RequestCode.END_TRANSACTION, ended)
