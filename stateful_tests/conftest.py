"""For all tests."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Hear Ctrl-C: a shell's background job ignores it, and with it everything that its tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
