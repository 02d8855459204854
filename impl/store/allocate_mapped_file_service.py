"""AllocateMappedFileService: the thread that makes the next file of the commit log in advance."""

from __future__ import annotations

from collections.abc import Callable

from impl.ports.disk import Disk, DiskError
from impl.store.mapped_file import MappedFile
from impl.store.message_store_config import MessageStoreConfig
from impl.store.transient_store_pool import TransientStorePool

DESTROY_INTERVAL_MS = 1_000  # AllocateMappedFileService#shutdown


class AllocateMappedFileService:
    """`store.AllocateMappedFileService`.

    Java's thread waits for requests; here `mmap_operation` does one, and the host calls it when the thread may run.
    requests -- what is asked for and not made, all of one size and so in the order of the paths.
    """

    def __init__(
        self, disk: Disk, config: MessageStoreConfig, pool: TransientStorePool, now_ms: Callable[[], int],
    ) -> None:
        """Have no requests."""
        self._disk, self._config, self._pool, self._now_ms = disk, config, pool, now_ms
        self.requests: list[str] = []
        self._made: dict[str, MappedFile | None] = {}  # requestTable: path to the file, None until it is made
        self._has_exception = False

    def put_request_and_return_mapped_file(self, path: str, next_path: str) -> MappedFile | None:
        """AllocateMappedFileService#putRequestAndReturnMappedFile: the file at `path`; that at `next_path` comes later.

        None if it cannot be made: for want of a buffer, or because an attempt has failed; Java waits 5 s before it says
        so of the first failure. The request stays.
        """
        left = self._buffers_left()
        if path not in self._made:
            if left <= 0:
                return None
            self._request(path)
            left -= 1
        if next_path not in self._made and left > 0:
            self._request(next_path)
        if self._has_exception:
            return None
        while self._made[path] is None and self.mmap_operation() and not self._has_exception:
            pass
        mapped_file = self._made[path]
        if mapped_file is not None:
            del self._made[path]
        return mapped_file

    def _buffers_left(self) -> int:
        """How many requests are taken at once."""
        if self._config.transient_store_pool_enable and self._config.fast_fail_if_no_buffer_in_store_pool:
            return self._pool.available_buffer_nums - len(self.requests)
        return 2  # Java's own literal

    def _request(self, path: str) -> None:
        self._made[path] = None
        self.requests = sorted([*self.requests, path])

    def mmap_operation(self) -> bool:
        """AllocateMappedFileService#mmapOperation: make the first file that is asked for; False: none is.

        A failure is remembered until a later attempt succeeds, and the request stays.
        """
        if not self.requests:
            return False
        path = self.requests[0]
        pool = self._pool if self._config.transient_store_pool_enable else None
        try:
            self._made[path] = MappedFile(
                self._disk, path, self._config.mapped_file_size_commit_log, self._now_ms, pool)
        except DiskError:
            self._has_exception = True
            return True
        self.requests.pop(0)
        self._has_exception = False
        return True

    def shutdown(self) -> None:
        """AllocateMappedFileService#shutdown: delete what was made and not used."""
        for mapped_file in self._made.values():
            if mapped_file is not None:
                mapped_file.destroy(DESTROY_INTERVAL_MS)
