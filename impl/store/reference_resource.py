"""ReferenceResource: what stays usable until its last reader is done."""

from __future__ import annotations

from collections.abc import Callable

_FORCED = -1000  # ReferenceResource#shutdown: far below what any reader can bring back


class ReferenceResource:
    """`store.ReferenceResource`.

    ref_count -- one for itself and one for each reader. available -- shutdown was not asked for. cleanup_over -- it is
    cleaned up. now_ms -- the wall clock.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        """Be available, without readers."""
        self.now_ms = now_ms
        self.ref_count = 1
        self.available = True
        self.cleanup_over = False
        self._first_shutdown_ms = 0

    def hold(self) -> bool:
        """ReferenceResource#hold: read from now on; False once it is shut down."""
        if not self.available or self.ref_count <= 0:
            return False
        self.ref_count += 1
        return True

    def release(self) -> None:
        """ReferenceResource#release: one reader less; the last one cleans up."""
        self.ref_count -= 1
        if self.ref_count <= 0:
            self.cleanup_over = self.cleanup()

    def shutdown(self, interval_forcibly_ms: int) -> None:
        """ReferenceResource#shutdown: give no more to read.

        A second call that comes interval_forcibly_ms after the first or later cleans up under the eyes of the readers.
        """
        if self.available:
            self.available = False
            self._first_shutdown_ms = self.now_ms()
            self.release()
        elif self.ref_count > 0 and self.now_ms() - self._first_shutdown_ms >= interval_forcibly_ms:
            self.ref_count = _FORCED - self.ref_count
            self.release()

    def is_cleanup_over(self) -> bool:
        """ReferenceResource#isCleanupOver."""
        return self.ref_count <= 0 and self.cleanup_over

    def cleanup(self) -> bool:
        """ReferenceResource#cleanup; whether it is done."""
        raise NotImplementedError
