"""TransientStorePool: how many write buffers are left to lend."""

from __future__ import annotations


class TransientStorePool:
    """`store.TransientStorePool`; a buffer itself is part of the open file (`File.put` and `File.commit`).

    available_buffer_nums -- of `transientStorePoolSize` buffers, each as long as a file of the commit log.
    """

    def __init__(self, pool_size: int) -> None:
        """Have them all."""
        self.available_buffer_nums = pool_size

    def borrow_buffer(self) -> bool:
        """TransientStorePool#borrowBuffer; False: none is left, and the file is mapped instead."""
        if self.available_buffer_nums == 0:
            return False
        self.available_buffer_nums -= 1
        return True

    def return_buffer(self) -> None:
        """TransientStorePool#returnBuffer."""
        self.available_buffer_nums += 1
