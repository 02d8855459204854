"""An entry of the lock table knows how often it has changed hands: a field of a class with slots, and a property."""

from impl.broker.rebalance_lock_manager import LockEntry, RebalanceLockManager
from impl.variants.change import field, new, patch
from impl.variants.variant import Variant, around


@patch(LockEntry)
class Entry:
    owners = field(factory=list)

    @new
    @property
    def epoch(self):
        return len(self.owners)

    @new
    def taken_by(self, client_id):
        if not self.epoch or self.owners[-1] != client_id:
            self.owners.append(client_id)
        return self.epoch


@around(RebalanceLockManager, "_grant")
def counting(original):
    def _grant(self, group_value, mq, client_id):
        granted = original(self, group_value, mq, client_id)
        if granted:
            group_value.get(mq).taken_by(client_id)
        return granted

    return _grant


VARIANT = Variant("lock-epoch", "change", "A lock counts its owners.", replacements=(*Entry, counting))
