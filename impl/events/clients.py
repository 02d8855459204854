"""What a client process reports of its timers and of the name servers that it asks."""

from __future__ import annotations

from typing import NamedTuple


class TimerJobBegan(NamedTuple):
    """MQClientInstance#startScheduledTask: a periodic job of the client begins; period_ms -- how often it is due.

    job -- the method of MQClientInstance that it runs.
    """

    client_id: str
    job: str
    period_ms: int


class TimerJobEnded(NamedTuple):
    """MQClientInstance#startScheduledTask: the job has returned."""

    client_id: str
    job: str


class NameServerChosen(NamedTuple):
    """NettyRemotingClient#getAndCreateNameserverChannel: namesrvAddrChoosed.

    listed -- namesrvAddrList at that time. client -- which of the clients of its process it is, counted from 1.
    """

    addr: str
    listed: frozenset[str]
    client: int = 0


class NameServersReplaced(NamedTuple):
    """NettyRemotingClient#updateNameServerAddressList: the list is another one than before; listed -- the new one."""

    listed: frozenset[str]
