"""Planted bugs of clients whose connections break."""

from __future__ import annotations

from impl.hosts.simulation.channel import Channel
from impl.hosts.simulation.remoting import Remoting
from impl.variants.variant import replace, seeded


@replace(Remoting, "fail_fast")
def _wait_to_the_end(self: Remoting, channel: Channel) -> None:
    """What was asked on the connection ends with its time."""
    del self, channel


BUGS = (
    seeded("an idea: a port that forgets NettyRemotingAbstract#failFast", "broken-calls-wait",
           "What was asked on a connection that has broken ends when its time is over.", _wait_to_the_end),
)
