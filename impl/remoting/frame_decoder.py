"""NettyDecoder: a stream of bytes cut into frames, each decoded; what it cannot read ends the connection."""

from __future__ import annotations

from collections.abc import Callable

from impl.decisions.java_errors import JavaError
from impl.remoting.remoting_command import FRAME_MAX_LENGTH, RemotingCommand, decode

_WORD = 4  # bytes of the length word, which does not count itself


class FrameDecoder:
    """`remoting.netty.NettyDecoder`, a LengthFieldBasedFrameDecoder.

    closed -- the decoder has asked for the end of the connection (RemotingUtil#closeChannel): nothing is read any more.
    """

    def __init__(self, next_opaque: Callable[[], int]) -> None:
        """Have read nothing; next_opaque -- as `decode` takes it."""
        self.closed = False
        self._next_opaque, self._waiting = next_opaque, b""

    def feed(self, data: bytes) -> list[RemotingCommand]:
        """The commands that are complete now."""
        self._waiting += data
        found = []
        while not self.closed and len(self._waiting) >= _WORD:
            length = int.from_bytes(self._waiting[:_WORD], "big", signed=True)
            if length < 0 or length + _WORD > FRAME_MAX_LENGTH:
                self.closed = True  # CorruptedFrameException, TooLongFrameException
            elif len(self._waiting) < _WORD + length:
                break
            else:
                frame, self._waiting = self._waiting[_WORD : _WORD + length], self._waiting[_WORD + length :]
                command = self._decoded(frame)
                found += [] if command is None else [command]
        return found

    def _decoded(self, frame: bytes) -> RemotingCommand | None:
        try:
            return decode(frame, self._next_opaque)
        except JavaError:
            self.closed = True
            return None
