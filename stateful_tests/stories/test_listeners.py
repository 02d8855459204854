"""The hazards of listeners that fail, on shipped: what is sent back twice, and what loses its number of attempts."""

from __future__ import annotations

from dataclasses import replace

from impl.common.headers import SendMessageRequestHeader
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.flags import PERM_READ
from impl.events import MessageAppended, MessagesGiven
from impl.ports.remoting import Command
from stateful_tests.stories.scenes import ADDR, BROKER, IN_ORDER, ORDERS, join, stage, works
from stateful_tests.worlds.listeners import LATER, ONE_IN, POISON
from stateful_tests.worlds.world import World

OTHER, KEY, NEXT_KEY, RETRY, DELAYED = "broker-b", "k1", "k2", "%RETRY%G", "SCHEDULE_TOPIC_XXXX"
DEAD_LETTERS = "%DLQ%G"
WHOSE_TURN = "ThreadLocalIndex#incrementAndGet"


def begin_to_fail(world: World, work_ms: int, *brokers: str, most: int = 2) -> None:
    """The listener of a group works for so long on a message of the first broker, and fails with it the first time.

    most -- how often it is tried again.
    """
    world.fates = (LATER,) * ONE_IN
    stage(world, *brokers)
    consumer = join(world, "c1", replace(ORDERS, max_reconsume_times=most, consume_timeout_minutes=1))
    world.run(30_000)  # it knows that every broker has its retry topic
    works(consumer, work_ms)
    send(world, KEY)
    world.run_until(lambda: bool(given(world)), 1_000)
    works(consumer, 0)


def send(world: World, key: str) -> None:
    """The first broker stores a message."""
    header = SendMessageRequestHeader("P", "orders", 0, 1, f"UNIQ_KEY\x01{key}")
    assert world.ask(ADDR, Command(RequestCode.SEND_MESSAGE_V2, header, b"body")).code == ResponseCode.SUCCESS


def given(world: World) -> list[tuple[str, int]]:
    """The topic, and the number of attempts before, of each time that a listener was given the message."""
    return [(event.mq.topic, event.attempts[0]) for _, event in world.events(MessagesGiven)]


def put_off(world: World) -> list[str]:
    """The brokers that have put the message off."""
    return [event.broker for _, event in world.events(MessageAppended) if (event.topic, event.key) == (DELAYED, KEY)]


def test_x5_a_send_back_that_is_not_answered_in_time_is_stored_and_sent_anew() -> None:
    with World() as world:
        begin_to_fail(world, 2_000, BROKER)
        world.run(1_000)
        world.simulation.kernel.pause(world.simulation.nodes[BROKER], 7_000)
        world.run(20_000)
        assert len(put_off(world)) == 2


def test_x5_a_send_back_that_is_not_answered_in_time_makes_a_dead_letter_of_what_has_an_attempt_left() -> None:
    with World() as world:
        begin_to_fail(world, 2_000, BROKER, most=1)
        world.run(1_000)
        world.simulation.kernel.pause(world.simulation.nodes[BROKER], 7_000)
        world.run(40_000)
        assert [event.key for _, event in world.events(MessageAppended) if event.topic == DEAD_LETTERS] == [KEY]
        assert given(world) == [("orders", 0), (RETRY, 1)]


def test_x5_a_send_back_that_is_refused_makes_a_dead_letter_of_what_has_an_attempt_left() -> None:
    with World() as world:
        world.script.draw(WHOSE_TURN, 1)  # the client's own producer begins with the other broker
        begin_to_fail(world, 2_000, BROKER, OTHER, most=1)
        retry_topic = world.brokers[BROKER].topic_config_manager.select_topic_config(RETRY)
        assert retry_topic is not None
        retry_topic.perm = PERM_READ
        world.run(90_000)
        assert [event.key for _, event in world.events(MessageAppended) if event.topic == DEAD_LETTERS] == [KEY]
        assert given(world) == [("orders", 0)]


def test_x7_a_message_that_has_expired_is_sent_back_once_more_when_its_listener_fails() -> None:
    with World() as world:
        begin_to_fail(world, 150_000, BROKER)
        world.run(160_000)
        assert len(put_off(world)) == 2


def test_x20_the_second_send_of_a_retry_has_lost_the_number_of_its_attempts() -> None:
    with World() as world:
        world.script.draw(WHOSE_TURN, 1)  # its first send goes to the broker that has died
        begin_to_fail(world, 2_000, BROKER, OTHER)
        world.simulation.kill(BROKER)
        world.run(15_000)
        assert given(world)[1:] == [(RETRY, 0)]


def test_x26_a_dead_letter_is_given_again_with_its_batch_and_becomes_one_again() -> None:
    with World() as world:
        world.fates = (POISON,) * ONE_IN
        stage(world)
        join(world, "c1", replace(IN_ORDER, max_reconsume_times=1))
        world.run(30_000)  # it knows that the broker has its retry topic
        send(world, KEY)
        world.run_until(lambda: bool(given(world)), 1_000)
        send(world, NEXT_KEY)  # it comes beside the last attempt with the first one
        world.run(5_000)
        sent_back = [event.key for _, event in world.events(MessageAppended) if event.topic == DELAYED]
        assert sent_back == [KEY, KEY, NEXT_KEY]
