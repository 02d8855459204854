"""Requests over messages: a producer that waits for a reply, and the reply of who has consumed the request."""

from __future__ import annotations

from impl.client.client_errors import ClientErrorCode, RequestTimeoutError, SendError
from impl.client.default_mq_producer import DefaultMQProducer
from impl.client.request_response_future import RequestCallback, RequestFutureHolder, RequestResponseFuture
from impl.client.send_kernel import Way
from impl.client.send_result import CommunicationMode, SendResult
from impl.common.message import MessageExt
from impl.common.message_const import (
    PROPERTY_CLUSTER,
    PROPERTY_CORRELATION_ID,
    PROPERTY_MESSAGE_REPLY_TO_CLIENT,
    PROPERTY_MESSAGE_TTL,
    PROPERTY_MESSAGE_TYPE,
    PROPERTY_WAIT_STORE_MSG_OK,
    REPLY_MESSAGE_FLAG,
)
from impl.common.message_to_send import Message
from impl.decisions.java_errors import JavaError
from impl.decisions.names import get_reply_topic


async def request(producer: DefaultMQProducer, msg: Message, timeout_ms: int) -> MessageExt:
    """DefaultMQProducer#request(Message, long): the reply; timeout_ms -- of sending and waiting together.

    Raises RequestTimeoutError if none comes, MQClientError if the request could not be sent.
    """
    node, impl = producer.node, producer.impl
    begin_ms = node.now_ms()
    future = await _prepare_request(producer, msg, timeout_ms, None)
    cost_ms = node.now_ms() - begin_ms
    table = impl.instance.manager.request_futures.request_future_table
    try:
        way = Way(CommunicationMode.ASYNC, _Sent(future))
        await impl.send_default_impl(msg, way, timeout_ms - cost_ms)
        response = await future.wait_response_message(timeout_ms - cost_ms)
    except JavaError:
        table.remove(future.correlation_id)
        raise
    table.remove(future.correlation_id)
    if response is None:
        raise _no_response(msg, timeout_ms, future)
    return response


async def request_async(
    producer: DefaultMQProducer, msg: Message, callback: RequestCallback, timeout_ms: int,
) -> None:
    """DefaultMQProducer#request(Message, RequestCallback, long); raises what a send does."""
    begin_ms = producer.node.now_ms()
    future = await _prepare_request(producer, msg, timeout_ms, callback)
    futures = producer.impl.instance.manager.request_futures
    way = Way(CommunicationMode.ASYNC, _SentOrFailed(futures, future))
    await producer.impl.send_default_impl(msg, way, timeout_ms - (producer.node.now_ms() - begin_ms))


async def _prepare_request(
    producer: DefaultMQProducer, msg: Message, timeout_ms: int, callback: RequestCallback | None,
) -> RequestResponseFuture:
    """DefaultMQProducerImpl#prepareSendRequest: the broker is to know this client before the reply comes."""
    instance = producer.impl.instance
    msg.topic = producer.with_namespace(msg.topic)
    correlation_id = instance.manager.create_correlation_id()
    msg.put_property(PROPERTY_CORRELATION_ID, correlation_id)
    msg.put_property(PROPERTY_MESSAGE_REPLY_TO_CLIENT, instance.client_id)
    msg.put_property(PROPERTY_MESSAGE_TTL, str(timeout_ms))
    if not instance.routes.topic_route_table.contains_key(msg.topic):
        await producer.impl.try_to_find_topic_publish_info(msg.topic)
        await instance.send_heartbeat_to_all_broker_with_lock()
    future = RequestResponseFuture(producer.node, correlation_id, timeout_ms, callback)
    instance.manager.request_futures.put(future)
    return future


class _Sent:
    """The callback of a request for whose reply a thread waits."""

    def __init__(self, future: RequestResponseFuture) -> None:
        self.future = future

    def on_success(self, _: SendResult) -> None:
        """The request is stored."""
        self.future.send_request_ok = True

    def on_exception(self, error: JavaError) -> None:
        """Nobody waits any longer."""
        self.future.send_request_ok = False
        self.future.put_response_message(None)
        self.future.cause = error


class _SentOrFailed(_Sent):
    """The callback of a request whose reply comes by a callback."""

    def __init__(self, futures: RequestFutureHolder, future: RequestResponseFuture) -> None:
        super().__init__(future)
        self.futures = futures

    def on_exception(self, error: JavaError) -> None:
        """DefaultMQProducerImpl#requestFail."""
        self.future.cause = error
        if self.futures.request_future_table.remove(self.future.correlation_id) is not None:
            super().on_exception(error)
            self.future.execute_request_callback()


def _no_response(msg: Message, timeout_ms: int, future: RequestResponseFuture) -> JavaError:
    """DefaultMQProducerImpl#waitResponse, without a response."""
    if future.send_request_ok:
        return RequestTimeoutError(
            f"send request message to <{msg.topic}> OK, but wait reply message timeout, {timeout_ms} ms.")
    return SendError(f"send request message to <{msg.topic}> fail", cause=future.cause)


def create_reply_message(request: MessageExt | None, body: bytes) -> Message:
    """MessageUtil#createReplyMessage: to be sent by any producer of the same cluster; raises MQClientError."""
    cluster = None if request is None else request.get_property(PROPERTY_CLUSTER)
    if request is None or cluster is None:
        what = "cannot be null." if request is None else f"error, property[{PROPERTY_CLUSTER}] is null."
        raise SendError(f"create reply message fail, requestMessage {what}",
                        ClientErrorCode.CREATE_REPLY_MESSAGE_EXCEPTION)
    reply = Message(get_reply_topic(cluster), body)
    reply.clear_property(PROPERTY_WAIT_STORE_MSG_OK)  # Java makes this one without it
    reply.put_property(PROPERTY_MESSAGE_TYPE, REPLY_MESSAGE_FLAG)
    for name in (PROPERTY_CORRELATION_ID, PROPERTY_MESSAGE_REPLY_TO_CLIENT, PROPERTY_MESSAGE_TTL):
        value = request.get_property(name)
        if value is not None:  # Java keeps a null, which is left out of the text
            reply.put_property(name, value)
    return reply
