"""What strangers try that may not be theirs: to read what is closed, to take locks, to end transactions.

Who they say they are they make up; brokers believe that, and have to look at what it may do.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from impl.common import headers
from impl.common.byte_buffer import ByteBuffer
from impl.common.data_version import DataVersion
from impl.common.heartbeat_data import CLUSTERING, CONSUME_PASSIVELY, ConsumerData, HeartbeatData, ProducerData
from impl.common.message_const import PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX
from impl.common.message_decoder import decodes
from impl.common.request_code import RequestCode, ResponseCode
from impl.common.topic_config import TopicConfigSerializeWrapper
from impl.decisions.flags import FLAG_SUBSCRIPTION, TRANSACTION_ROLLBACK_TYPE
from impl.decisions.message_queue import MessageQueue
from impl.decisions.names import RMQ_SYS_TRANS_HALF_TOPIC
from impl.decisions.start_offset import ConsumeFromWhere
from impl.decisions.subscription import SUB_ALL, build_subscription_data
from impl.events import SpokenOnce
from impl.ports.remoting import Command
from invariants.rules.inspections import refused
from invariants.rules.permissions import MAY_READ
from stateful_tests.worlds.deeds import (
    OPERATOR,
    TOPIC,
    Done,
    done_later,
    each_of,
    living_brokers,
    masters,
    one_of,
    uncaught,
)
from stateful_tests.worlds.inspections import CLUSTERS, Question, ask_all, coded
from stateful_tests.worlds.operators import ask_for_shared_keys
from stateful_tests.worlds.orders import ORDERED_GROUPS, ORDERED_TOPICS, close_or_open
from stateful_tests.worlds.strangers import to_be_refused
from stateful_tests.worlds.world import World

TRIED_MS = 1_000
"""How long after orders a stranger tries what they are about."""
ATTEMPTS = 8
"""How many messages somebody looks for at a time."""
LOCK_TRIES_MS = ((0, 0), (28_000, 1), (58_000, 2), (62_000, 1), (64_000, 0), (100_000, 2), (126_000, 2))
"""How long after its first request a stranger asks for a lock, and as whom: for what is another's, too."""
SILENT_EVERY_MS, SILENT_TIMES = 20_000, 60
"""How often a broker that registers no more asks for something else, and how many times."""
RECENT, UNITS = 64, 4
"""Among so many of the last messages one is chosen; and so many units of a queue are asked for."""
WRONGS = (("another group", "strangers", 0), ("another place in the queue", None, 1))
"""Of a half message that is to be ended, what is wrong: who ends it, and how far behind its place in the queue."""


PASSERS_BY = "passers-by"
"""A group of which nobody runs a consumer or producer."""


def try_what_is_closed(world: World) -> Done:
    """An operator closes or opens groups and topics that nobody uses, and a stranger pulls each of them as each."""
    done = close_or_open(world)
    for broker in masters(world):
        done_later(world, TRIED_MS, partial(_pull_as_all, world, broker))
    return done


def try_to_read(world: World) -> Done:
    """A stranger pulls some topics, as some groups, at all masters."""
    for broker in masters(world):
        _pull_as_all(world, broker)
    return "masters", "are asked for messages by strangers"


def _pull_as_all(world: World, broker: str) -> None:
    if broker in world.brokers:
        ask_all(world, broker, world.brokers[broker].broker_addr, [
            Question(MAY_READ, f"{group} {topic}", Command(RequestCode.PULL_MESSAGE, headers.PullMessageRequestHeader(
                group, topic, 0, 0, 1, FLAG_SUBSCRIPTION, 0, 0, 0, subscription="*")), coded)
            for group, topic in product(ORDERED_GROUPS, (*ORDERED_TOPICS, TOPIC))])


def take_locks(world: World) -> Done:
    """Strangers who read nothing ask for the lock of one queue, one after another, and none gives it back."""
    broker, queue_id = each_of(world, ("where", masters(world)), ("of which queue", range(4)))
    mq = MessageQueue(TOPIC, world.brokers[broker].config.broker_name, queue_id)
    group = f"trespassers-{world.now_ms}"

    def ask(who: int) -> None:
        body = headers.LockBatchRequestBody(group, f"trespasser-{who}", (mq,))
        if broker in world.brokers:
            world.call(OPERATOR, uncaught(partial(
                world.testers[OPERATOR].invoke_sync, world.brokers[broker].broker_addr,
                Command(RequestCode.LOCK_BATCH_MQ, body=body), 5_000)))

    for later_ms, who in LOCK_TRIES_MS:
        done_later(world, later_ms, partial(ask, who))
    return broker, f"is asked for the lock of queue {queue_id} for 126 s, by three who are nobody"


def end_what_is_not_theirs(world: World) -> Done:
    """A stranger tells a broker to roll a half message back, and names another place or group, and no id."""
    broker, (what, group, behind) = each_of(world, ("where", masters(world)), ("what is wrong", WRONGS))
    halves = [one for one in world.views.log_records(broker) if one.topic == RMQ_SYS_TRANS_HALF_TOPIC]
    half = one_of(world, "which half message", halves[-RECENT:])
    header = headers.EndTransactionRequestHeader(
        group or "P", half.queue_offset + behind, half.commit_log_offset, TRANSACTION_ROLLBACK_TYPE)
    return to_be_refused(world, broker, f"an end of a half message with {what}",
                         Command(RequestCode.END_TRANSACTION, header))


def look_for_a_message(world: World) -> Done:
    """Somebody asks for messages by their places in the log, and by keys, and when the first of a queue was stored."""
    broker = one_of(world, "where", living_brokers(world))
    records = [one.commit_log_offset for one in world.views.log_records(broker)]
    offsets = [one_of(world, "which message", records[-RECENT:]) for _ in range(ATTEMPTS)]
    queue_id = one_of(world, "of which queue", range(4))
    questions = [Question("message", str(offset), Command(
        RequestCode.VIEW_MESSAGE_BY_ID, headers.ViewMessageRequestHeader(offset)), _shown) for offset in offsets]
    questions.append(Question("earliest message", f"{TOPIC} {queue_id}", Command(
        RequestCode.GET_EARLIEST_MSG_STORETIME, headers.QueueOffsetRequestHeader(TOPIC, queue_id)), _earliest))
    first = world.views.queue_units(broker).get((TOPIC, queue_id), (0, 0))[0]
    header = headers.QueryConsumeQueueRequestHeader(TOPIC, queue_id, first, UNITS)
    questions.append(Question("units", f"{TOPIC} {queue_id} {first} {UNITS}", Command(
        RequestCode.QUERY_CONSUME_QUEUE, header), _units))
    ask_all(world, broker, world.brokers[broker].broker_addr, questions)
    ask_for_shared_keys(world, broker)
    return broker, f"is asked for the messages at {', '.join(map(str, offsets))}, and for the first one of {queue_id}"


def fall_silent(world: World) -> Done:
    """A broker without topics registers once at a name server, and then asks on the same connection for routes.

    One at a time: a broker has its own connection.
    """
    namesrv = one_of(world, "which name server", [name for name in world.namesrvs if not any(
        addr.startswith(f"{OPERATOR}:") for addr in world.views.registered(name))])
    name = f"silent-{world.now_ms}"
    header = headers.RegisterBrokerRequestHeader(name, f"{OPERATOR}:{world.now_ms}", CLUSTERS[0], 0)
    body = headers.RegisterBrokerBody(TopicConfigSerializeWrapper({}, DataVersion(world.now_ms)), [])
    client, node = world.testers[OPERATOR], world.simulation.nodes[OPERATOR]

    async def register_once() -> None:
        await client.invoke_sync(f"{namesrv}:9876", Command(RequestCode.REGISTER_BROKER, header, body), 5_000)
        for _ in range(SILENT_TIMES):
            await node.sleep(SILENT_EVERY_MS)
            request = Command(RequestCode.GET_ROUTEINFO_BY_TOPIC, headers.TopicRequestHeader(TOPIC))
            await uncaught(partial(client.invoke_sync, f"{namesrv}:9876", request, 5_000))()

    world.call(OPERATOR, uncaught(register_once))
    return namesrv, f"is told of {name}, which says nothing more"


def speak_once(world: World) -> Done:
    """Somebody speaks to a broker as a producer or a member, and then asks on the same connection for something else.

    One at a time: a broker has its own connection.
    """
    broker, consumes = each_of(world, ("which broker", [name for name in living_brokers(world) if not any(
        connection.startswith(f"{OPERATOR}:") for connection in _clients(world, name))]), ("as what", (False, True)))
    client, node, address = world.testers[OPERATOR], world.simulation.nodes[OPERATOR], world.brokers[broker].broker_addr
    heartbeat = HeartbeatData(f"passer-by-{world.now_ms}", *(
        ([], [_member(node.now_ms())]) if consumes else ([ProducerData(PASSERS_BY)], [])))
    question = Command(RequestCode.GET_MAX_OFFSET, headers.QueueOffsetRequestHeader(TOPIC, 0))

    async def speak() -> None:
        node.trace(SpokenOnce(broker, PASSERS_BY, heartbeat.client_id))
        await client.invoke_sync(address, Command(RequestCode.HEART_BEAT, body=heartbeat), 5_000)
        for _ in range(SILENT_TIMES):
            await node.sleep(SILENT_EVERY_MS)
            await uncaught(partial(client.invoke_sync, address, question, 5_000))()

    world.call(OPERATOR, uncaught(speak))
    return broker, f"hears of {heartbeat.client_id}, who says no more that it is there"


def _member(version_ms: int) -> ConsumerData:
    subscribed = replace(build_subscription_data(TOPIC, SUB_ALL), sub_version=version_ms)
    return ConsumerData(PASSERS_BY, CONSUME_PASSIVELY, CLUSTERING, ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
                        [subscribed])


def _clients(world: World, broker: str) -> set[str]:
    """The connections of all clients that a broker lists."""
    views = world.views
    return {*(connection for _, connection in views.producers(broker)),
            *(connection for group in views.groups(broker) for connection in views.members(broker, group))}


def _shown(answer: Command) -> tuple[Any, ...]:
    """Of a message where it is, and its key."""
    found = decodes(ByteBuffer(answer.body or b"")) if answer.code == ResponseCode.SUCCESS else ()
    return tuple((one.commit_log_offset, one.get_property(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX)) for one in found)


def _units(answer: Command) -> tuple[Any, ...]:
    """Of units of a queue both its ends, and the offsets in the log."""
    if answer.code != ResponseCode.SUCCESS or answer.body is None:
        return () if answer.code == ResponseCode.SUCCESS else refused(int(answer.code))
    body = answer.body
    return body.min_queue_index, body.max_queue_index, tuple(one.physic_offset for one in body.queue_data)


def _earliest(answer: Command) -> tuple[Any, ...]:
    return (answer.header.timestamp,) if answer.code == ResponseCode.SUCCESS else ()
