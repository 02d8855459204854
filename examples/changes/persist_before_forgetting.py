"""An offset that is about to be forgotten is committed first."""

from impl.client.offset_store import RemoteBrokerOffsetStore
from impl.variants.change import patch
from impl.variants.variant import Variant


@patch(RemoteBrokerOffsetStore)
class Changed:
    async def persist_all(self, mqs, threads):
        for mq, offset in self.offset_table.traverse():
            await self._commit(mq, offset)
            if mqs and mq not in mqs:
                await threads.interleave("persistAll: before an offset is forgotten")
                self.offset_table.remove(mq)


VARIANT = Variant("persist-before-forgetting", "change", "Nothing is forgotten unsent.", replacements=Changed)
