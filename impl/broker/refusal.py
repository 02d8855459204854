"""Refusal: a processor's check has failed, and the request is answered with a code and a remark."""

from __future__ import annotations

from impl.common.request_code import ResponseCode
from impl.ports.remoting import Command


class Refusal(Exception):  # noqa: N818  # an answer, and no error
    """Raised by a check, caught by the processor. response -- the answer."""

    def __init__(self, code: ResponseCode, remark: str | None) -> None:
        """Answer with this."""
        super().__init__(remark)
        self.response = Command(code, remark=remark)
