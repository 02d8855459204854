"""Planted bugs of whom brokers tell of changes in groups, and of members that are not told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from impl.broker.client_manage_processor import ClientManageProcessor
from impl.broker.consumer_ids_change_listener import DefaultConsumerIdsChangeListener
from impl.broker.consumer_manager import ConsumerManager
from impl.client.rebalance_service import RebalanceService
from impl.common.heartbeat_data import ConsumerData
from impl.ports.remoting import Channel
from impl.ports.threads import Interleave
from impl.variants.variant import around, replace, seeded

_bug = partial(seeded, "an idea: a port whose notifications nobody has ever switched off")
_LONG_MS = 120_000


@replace(DefaultConsumerIdsChangeListener, "change")
async def _tell_everybody(
    self: DefaultConsumerIdsChangeListener, group: str, channels: Sequence[Channel], threads: Interleave,
) -> None:
    """The switch of the broker is not looked at."""
    del threads
    for channel in channels:
        await self.notify_consumer_ids_changed(channel, group)


@around(ConsumerManager, "register_consumer")
def _tell_every_group(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def register_consumer(
        self: ConsumerManager, client_channel_info: Any, consumer_data: ConsumerData, *, notify: bool,
        threads: Interleave,
    ) -> bool:
        """The switch of the group is not looked at."""
        del notify
        return await original(self, client_channel_info, consumer_data, notify=True, threads=threads)

    return register_consumer


@around(ClientManageProcessor, "_prepare_group")
def _one_silences_all(original: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def _prepare_group(self: ClientManageProcessor, data: ConsumerData) -> bool:
        """One group that is not to be told is enough."""
        groups = self.subscription_group_manager.subscription_group_table.entries()
        return await original(self, data) and all(one.notify_consumer_ids_changed_enable for _, one in groups)

    return _prepare_group


@replace(RebalanceService, "run")
async def _wait_longer(self: RebalanceService) -> None:
    """Brokers tell of all changes: the timer is for the worst."""
    while not self.stopped:
        await self.node.wait(self.signal, _LONG_MS)
        await self.do_rebalance()


BUGS = (
    _bug("silent-brokers-tell", "A broker that is to tell nobody of changes does.", _tell_everybody),
    _bug("silent-groups-are-told", "Members of a group are told who comes whether or not they are to be.",
         _tell_every_group),
    _bug("one-silent-group-is-all", "A broker that does not tell one group tells none who comes.", _one_silences_all),
    _bug("members-wait-to-be-told", "A member that is not told rebalances every two minutes.", _wait_longer),
)
