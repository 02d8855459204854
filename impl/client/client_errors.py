"""What a producer throws besides the exceptions of remoting: errors with a response code, and ClientErrorCode."""

from __future__ import annotations

from enum import IntEnum

from impl.client.offset_store import MQBrokerError
from impl.decisions.java_errors import JavaError, JavaException, MQClientError
from impl.ports.remoting import RemotingConnectError, RemotingTimeoutError

NO_RESPONSE_CODE = -1


class ClientErrorCode(IntEnum):
    """`client.common.ClientErrorCode`."""

    CONNECT_BROKER_EXCEPTION = 10001
    ACCESS_BROKER_TIMEOUT = 10002
    BROKER_NOT_EXIST_EXCEPTION = 10003
    NO_NAME_SERVER_EXCEPTION = 10004
    NOT_FOUND_TOPIC_EXCEPTION = 10005
    REQUEST_TIMEOUT_EXCEPTION = 10006
    CREATE_REPLY_MESSAGE_EXCEPTION = 10007


class SendError(MQClientError):
    """MQClientException of a producer.

    response_code -- of a broker, or a ClientErrorCode; -1: none. cause -- of the last attempt, or None.
    """

    def __init__(
        self, message: str, response_code: int = NO_RESPONSE_CODE, cause: JavaError | None = None,
    ) -> None:
        """Keep all three."""
        super().__init__(message)
        self.response_code, self.cause = int(response_code), cause


class RequestTimeoutError(JavaException):
    """RequestTimeoutException: a request was sent, and its reply does not come."""

    java_class = "org.apache.rocketmq.client.exception.RequestTimeoutException"

    def __init__(self, message: str) -> None:
        """Say so, with the one code that there is for it."""
        super().__init__(message)
        self.response_code = int(ClientErrorCode.REQUEST_TIMEOUT_EXCEPTION)


def response_code_of(error: JavaError | None) -> int:
    """The response code of the exception that a send ends with: that of a broker, or a ClientErrorCode; -1: none.

    error -- of the last attempt.
    """
    if isinstance(error, MQBrokerError | SendError):
        return int(error.response_code)
    if isinstance(error, RemotingConnectError):
        return ClientErrorCode.CONNECT_BROKER_EXCEPTION
    if isinstance(error, RemotingTimeoutError):
        return ClientErrorCode.ACCESS_BROKER_TIMEOUT
    if isinstance(error, MQClientError):
        return ClientErrorCode.BROKER_NOT_EXIST_EXCEPTION
    return NO_RESPONSE_CODE
