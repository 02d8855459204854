"""What records of the log say of themselves, beside what was sent."""

from __future__ import annotations

from collections.abc import Iterator

from impl import events
from invariants.rules.rule import Rule, Told, after
from invariants.rules.sending import REPLIES

_CLUSTER = "CLUSTER"  # MessageConst.PROPERTY_CLUSTER


class record_says_its_cluster(Rule):
    """What a client has sent says in the log in which cluster it is: who replies to a request asks for that."""

    cite = "SendMessageProcessor#asyncSendMessage, #asyncSendBatchMessage: PROPERTY_CLUSTER, MessageUtil"
    about = "at key"

    @after(events.MessageAppended)
    def appended(self, _: int, at: str, event: events.MessageAppended) -> Iterator[Told]:
        is_sent = event.key is not None and not event.topic.endswith(REPLIES)
        written = self.views.written(at, event.commit_log_offset, event.size) if is_sent else None
        says = "" if written is None else dict(written.properties).get(_CLUSTER)
        if written is not None and says != self.views.cluster(at):
            yield self.told(f"{at} writes {event.key} into {event.topic}, of the cluster {says}", at, event.key)
