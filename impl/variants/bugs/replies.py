"""Planted bugs of replies over messages: what becomes of a reply on its way to who has asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace as copy_of

from impl.client.client_remoting_processor import ClientRemotingProcessor
from impl.client.request_response_future import RequestResponseFuture
from impl.common.headers import ReplyMessageRequestHeader
from impl.common.message import MessageExt
from impl.variants.variant import around, seeded

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


BUGS = (
    seeded(f"{_IDEA} (the time of the attempt for that of the request in DefaultMQProducerImpl#request)",
           "replies-are-waited-for-by-half", "Who asks and waits gives up when half of the time is over.",
           _wait_for_less),
    seeded(f"{_IDEA} (sysFlag for flag in ClientRemotingProcessor#receiveReplyMessage)", "replies-lose-their-flag",
           "A reply has another flag than was sent.", _without_its_flag),
    seeded(f"{_IDEA} (uncompress forgotten in ClientRemotingProcessor#receiveReplyMessage)",
           "long-replies-stay-compressed", "A reply that was compressed is given as it comes.", _as_it_comes),
)
