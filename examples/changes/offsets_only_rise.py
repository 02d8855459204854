"""What a broker answers does not lower the offset that a client has in memory."""

from impl.client.offset_store import RemoteBrokerOffsetStore
from impl.variants.variant import Variant, around


@around(RemoteBrokerOffsetStore, "update_offset")
def rising(original):
    def update_offset(self, mq, offset, *, increase_only):
        del increase_only
        original(self, mq, offset, increase_only=True)

    return update_offset


VARIANT = Variant("offsets-only-rise", "change", "No offset in memory goes down.", replacements=(rising,))
