"""Applications that send messages, one after another, and note what they are answered."""

from __future__ import annotations

from collections.abc import Sequence

from impl.common.headers import SendMessageRequestHeader
from impl.common.message_const import PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX
from impl.common.message_id import decode_message_id
from impl.common.message_properties import message_properties2_string
from impl.common.request_code import RequestCode, ResponseCode
from impl.decisions.java_errors import JavaError
from impl.decisions.message_queue import MessageQueue
from impl.events import SendAnswered
from impl.ports.node import Node
from impl.ports.remoting import Command
from invariants.histories.operations import ACKNOWLEDGED, SEND, UNKNOWN
from stateful_tests.worlds.notes import Notes

SEND_EVERY_MS, SEND_TIMEOUT_MS = 500, 3_000
BODY_BYTES = (100, 1_500, 6_000)
"""How long a message may be: a part of a page, and more than one."""
NO_QUEUE_OFFSET = -1


class Producer:
    """A process that sends to all queues of a topic in turn, and notes it; it never sends a message twice.

    sent -- how many it has sent.
    """

    def __init__(self, node: Node, topic: str, queues: int, brokers: Sequence[tuple[str, str]], notes: Notes) -> None:
        """Send nothing yet; queues -- of each broker. brokers -- machine and address of each."""
        self.node, self.topic, self.queues, self.brokers = node, topic, queues, brokers
        self.client = node.remoting_client("Producer")
        self.sent, self._notes = 0, notes

    async def run(self) -> None:
        """Send for as long as the process lives; nobody waits for an answer."""
        self.client.start()
        while True:
            await self.node.sleep(SEND_EVERY_MS)
            number, self.sent = self.sent, self.sent + 1
            self.node.start_thread("sender", self._send(number))

    async def _send(self, number: int) -> None:
        turn, at = divmod(number, len(self.brokers))
        machine, address = self.brokers[at]
        key, queue_id = f"{self.node.name}-{self.node.now_ms():013x}-{number}", turn % self.queues
        length = BODY_BYTES[self.node.random(len(BODY_BYTES), "how long a message is")]
        properties = message_properties2_string([(PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX, key)])
        header = SendMessageRequestHeader("P", self.topic, queue_id, self.node.now_ms(), properties)
        body = (key.encode() * (length // len(key) + 1))[:length]
        request = Command(RequestCode.SEND_MESSAGE_V2, header, body)
        self._notes.note(SEND, self.node.name, key)
        try:
            answer = await self.client.invoke_sync(address, request, SEND_TIMEOUT_MS)
        except JavaError:
            self._notes.note(UNKNOWN, self.node.name, key)
            return
        queue_offset, log_offset = NO_QUEUE_OFFSET, NO_QUEUE_OFFSET
        if answer.header is not None and answer.header.msg_id is not None:
            queue_offset, log_offset = answer.header.queue_offset, decode_message_id(answer.header.msg_id)[1]
        self.node.trace(SendAnswered(
            machine, self.topic, queue_id, queue_offset, log_offset, key, int(answer.code)))
        if answer.code == ResponseCode.SUCCESS:  # other codes do not say that the message is not stored
            self._notes.note(ACKNOWLEDGED, self.node.name, key, mq=MessageQueue(self.topic, machine, queue_id),
                             offset=queue_offset)
        else:
            self._notes.note(UNKNOWN, self.node.name, key)
