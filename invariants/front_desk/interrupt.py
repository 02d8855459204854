"""Ctrl-C, heard by whoever asks: libraries that swallow a KeyboardInterrupt do not make it unheard."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from invariants.verdict import ExitStatus

TYPER_INTERRUPTED = 130  # Typer's exit status after Ctrl-C
READER_LEFT = 128 + signal.SIGPIPE  # what a shell says of a program that ends because nobody reads on


class Interrupt:
    """Whether Ctrl-C was pressed since `listen`."""

    def __init__(self) -> None:
        """Not pressed yet."""
        self.pressed = self._held = False

    def listen(self) -> None:
        """From now on Ctrl-C raises KeyboardInterrupt and is remembered; where it is ignored, it stays ignored."""
        self.pressed = False
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, self.heard)

    def check(self) -> None:
        """Raise KeyboardInterrupt if it was pressed."""
        if self.pressed:
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """What happens in the block happens as a whole: Ctrl-C waits for its end."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self.check()

    def heard(self, number: int, frame: FrameType | None) -> None:
        """The signal handler."""
        self.pressed = True
        if not self._held:
            signal.default_int_handler(number, frame)


INTERRUPT = Interrupt()


def quiet() -> None:
    """Say nothing of a Ctrl-C that hit a destructor: Python can only report it there, and `check` raises it later.

    Nor of destructors that miss attributes after it: it may have left an object half made.
    """
    before = sys.unraisablehook

    def hook(lost: Any) -> None:
        half_made = INTERRUPT.pressed and issubclass(lost.exc_type, AttributeError)
        if not (half_made or issubclass(lost.exc_type, KeyboardInterrupt)):
            before(lost)

    sys.unraisablehook = hook


def reader_left() -> NoReturn:
    """End as programs do whose reader has left (`| head`): without a word."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still to be written goes nowhere
    raise SystemExit(READER_LEFT)


def start(app: Callable[[], None]) -> None:
    """Run an application of commands; Ctrl-C outside of any work ends it with one line."""
    INTERRUPT.listen()
    quiet()
    try:
        app()
    except SystemExit as ended:
        if ended.code != TYPER_INTERRUPTED:
            raise
        sys.stderr.write("rocketproof: interrupted before anything was judged\n")
        sys.exit(ExitStatus.UNKNOWN)
