"""A broker counts questions about groups that it does not know: an override with `super()`, and a constant."""

from impl.broker.reported_tables import ReportedConsumerManager
from impl.variants.change import field, new, patch
from impl.variants.variant import Variant


@patch(ReportedConsumerManager)
class Changed:
    MOST_UNKNOWN = new(1_000)
    unknown = field(0)

    @new
    def get_consumer_group_info(self, group):
        info = super().get_consumer_group_info(group)
        if info is None:
            self.unknown = min(self.unknown + 1, self.MOST_UNKNOWN)
        return info


VARIANT = Variant("count-unknown-groups", "change", "Questions about unknown groups are counted.", replacements=Changed)
