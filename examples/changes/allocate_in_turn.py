"""The default strategy deals queues out in turn; members with another version of the client would share otherwise."""

from impl.decisions.allocation import AllocateMessageQueueAveragely, AllocateMessageQueueAveragelyByCircle
from impl.variants.variant import Variant, replace


@replace(AllocateMessageQueueAveragely, "allocate")
def in_turn(self, consumer_group, current_cid, mq_all, cid_all):
    return AllocateMessageQueueAveragelyByCircle().allocate(consumer_group, current_cid, mq_all, cid_all)


VARIANT = Variant("allocate-in-turn", "change", "AVG is AVG_BY_CIRCLE.", replacements=(in_turn,))
