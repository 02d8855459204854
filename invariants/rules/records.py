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
        is_sent, cluster = event.key is not None and not event.topic.endswith(REPLIES), self.views.cluster(at)
        if is_sent and not self.views.says(at, event.commit_log_offset, event.size, _CLUSTER, cluster):
            yield self.told(f"{at} writes {event.key} into {event.topic}, and not that it is in {cluster}", at,
                            event.key)
