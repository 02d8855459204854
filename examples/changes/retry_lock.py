"""A client asks a second time for a lock that it was refused: a new parameter of lockBatchMQ, and its caller."""

from impl.client.mq_client_instance import MQClientInstance
from impl.client.rebalance import LOCK_RPC_TIMEOUT_MS, RebalanceImpl
from impl.decisions.java_errors import JavaError
from impl.decisions.names import MASTER_ID
from impl.variants.change import patch
from impl.variants.variant import Variant, around


@around(MQClientInstance, "lock_batch_mq")
def retrying(original):
    async def lock_batch_mq(self, addr, group, mqs, timeout_ms, retries=0):
        locked_mq = await original(self, addr, group, mqs, timeout_ms)
        if retries and len(locked_mq) < len(mqs):
            return await self.lock_batch_mq(addr, group, mqs, timeout_ms, retries - 1)
        return locked_mq

    return lock_batch_mq


@patch(RebalanceImpl)
class Caller:
    async def lock(self, mq):
        found = self.rpc.find_broker_address_in_subscribe(mq.broker_name, MASTER_ID, only_this_broker=True)
        if found is None:
            return False
        try:
            locked_mq = await self.rpc.lock_batch_mq(
                found.broker_addr, self.consumer_group, [mq], LOCK_RPC_TIMEOUT_MS, retries=1)
        except JavaError:
            return False
        self._mark_locked(locked_mq)
        return mq in locked_mq


VARIANT = Variant("retry-lock", "change", "A refused lock is asked for again.", replacements=(retrying, *Caller))
