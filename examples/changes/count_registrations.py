"""A name server counts the registrations of an address: a field of a class with slots, a method, and what calls it."""

from impl.namesrv.route_info_manager import BrokerLiveInfo, RouteInfoManager
from impl.variants.change import field, new, patch
from impl.variants.variant import Variant, around


@patch(BrokerLiveInfo)
class Counted:
    registrations = field(0)


@patch(RouteInfoManager)
class Asked:
    @new
    def registrations_of(self, broker_addr):
        live_info = self.broker_live_table.get(broker_addr)
        return 0 if live_info is None else live_info.registrations


@around(RouteInfoManager, "register_broker")
def counting(original):
    def register_broker(self, registration):
        before = self.registrations_of(registration.broker_addr)
        result = original(self, registration)
        live_info = self.broker_live_table.get(registration.broker_addr)
        if live_info is not None:
            live_info.registrations = before + 1
        return result

    return register_broker


VARIANT = Variant("count-registrations", "change", "Registrations are counted.",
                  replacements=(*Counted, *Asked, counting))
