"""The fast path of a broker's lock table looks at owner and time in one step (B-22a)."""

from impl.broker.rebalance_lock_manager import RebalanceLockManager
from impl.variants.change import patch
from impl.variants.variant import Variant


@patch(RebalanceLockManager)
class Changed:
    async def is_locked(self, group, mq, client_id, threads):
        await threads.interleave("isLocked: before the lock")
        group_value = self.mq_lock_table.get(group)
        lock_entry = None if group_value is None else group_value.get(mq)
        if lock_entry is None or not lock_entry.is_locked(client_id, self.now_ms()):
            return False
        lock_entry.last_update_timestamp = self.now_ms()
        return True


VARIANT = Variant("locked-fast-path", "change", "The fast path is one step.", replacements=Changed)
