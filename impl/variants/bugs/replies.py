"""Planted bugs of replies over messages: what becomes of a reply on its way to who has asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace as copy_of

from impl.client import request_reply
from impl.client.client_errors import SendError
from impl.client.client_remoting_processor import ClientRemotingProcessor
from impl.client.request_reply import _Sent
from impl.client.request_response_future import RequestFutureHolder, RequestResponseFuture
from impl.common.headers import ReplyMessageRequestHeader
from impl.common.message import MessageExt
from impl.common.message_to_send import Message
from impl.decisions.java_errors import JavaError
from impl.variants.variant import around, replace, seeded

_IDEA = "an idea: what a port of a client forgets"
Decode = Callable[[ClientRemotingProcessor, ReplyMessageRequestHeader, bytes], MessageExt]


@around(ClientRemotingProcessor, "_reply")
def _without_its_flag(original: Decode) -> Decode:
    def _reply(self: ClientRemotingProcessor, header: ReplyMessageRequestHeader, body: bytes) -> MessageExt:
        """The flag of the message is taken for that of the system."""
        reply = original(self, header, body)
        reply.flag = header.sys_flag
        return reply

    return _reply


@around(ClientRemotingProcessor, "_reply")
def _as_it_comes(original: Decode) -> Decode:
    def _reply(self: ClientRemotingProcessor, header: ReplyMessageRequestHeader, body: bytes) -> MessageExt:
        """Nobody looks whether the body is compressed."""
        reply = original(self, header, body)
        return copy_of(reply, body=body)

    return _reply


@around(RequestResponseFuture, "wait_response_message")
def _wait_for_less(
    original: Callable[..., Awaitable[MessageExt | None]],
) -> Callable[..., Awaitable[MessageExt | None]]:
    async def wait_response_message(self: RequestResponseFuture, timeout_ms: int) -> MessageExt | None:
        """Half of the time is meant for the way there."""
        return await original(self, timeout_ms // 2)

    return wait_response_message


@replace(RequestResponseFuture, "execute_request_callback")
def _call_it_a_success(self: RequestResponseFuture) -> None:
    """Nobody looks whether a cause is there."""
    if self.request_callback is None:
        return
    if self.send_request_ok:
        self.request_callback.on_success(self.response_msg)
    else:
        self.request_callback.on_exception(self.cause)


@replace(request_reply, "_no_response")
def _say_that_it_was_not_sent(msg: Message, timeout_ms: int, future: RequestResponseFuture) -> JavaError:
    """There is one exception for both."""
    del timeout_ms
    return SendError(f"send request message to <{msg.topic}> fail", cause=future.cause)


@replace(_Sent, "on_exception")
def _hear_of_no_failure(self: _Sent, error: JavaError) -> None:
    """Who waits is not woken."""
    del self, error


@around(RequestFutureHolder, "put")
def _scan_for_the_first_ones(original: Callable[..., None]) -> Callable[..., None]:
    def put(self: RequestFutureHolder, future: RequestResponseFuture) -> None:
        """The scan is over once the last producer of the process has stopped."""
        if vars(self).get("is_over"):
            self.request_future_table.put(future.correlation_id, future)
        else:
            original(self, future)

    return put


@around(RequestFutureHolder, "shutdown")
def _once_and_for_all(original: Callable[..., None]) -> Callable[..., None]:
    def shutdown(self: RequestFutureHolder, producer: object) -> None:
        """The scan ends with the last producer."""
        original(self, producer)
        vars(self)["is_over"] = not self._producers

    return shutdown


BUGS = (
    seeded(f"{_IDEA} (cause == null in RequestResponseFuture#executeRequestCallback)",
           "no-reply-is-success", "A callback is given no reply for a reply when none has come in time.",
           _call_it_a_success),
    seeded(f"{_IDEA} (isSendRequestOk in DefaultMQProducerImpl#waitResponse)",
           "no-reply-is-no-request", "Who waits is told that the request was not sent, whatever became of it.",
           _say_that_it_was_not_sent),
    seeded(f"{_IDEA} (onException in DefaultMQProducerImpl#request)",
           "unsent-requests-are-waited-for", "Who waits for a reply does not hear that the request could not be sent.",
           _hear_of_no_failure),
    seeded(f"{_IDEA} (the time of the attempt for that of the request in DefaultMQProducerImpl#request)",
           "replies-are-waited-for-by-half", "Who asks and waits gives up when half of the time is over.",
           _wait_for_less),
    seeded(f"{_IDEA} (sysFlag for flag in ClientRemotingProcessor#receiveReplyMessage)", "replies-lose-their-flag",
           "A reply has another flag than was sent.", _without_its_flag),
    seeded(f"{_IDEA} (uncompress forgotten in ClientRemotingProcessor#receiveReplyMessage)",
           "long-replies-stay-compressed", "A reply that was compressed is given as it comes.", _as_it_comes),
    seeded("apache/rocketmq #3624", "scan-ends-for-good", "When all producers of a process have stopped, nobody looks "
           "whether the requests of later ones are over.", _scan_for_the_first_ones, _once_and_for_all),
)
