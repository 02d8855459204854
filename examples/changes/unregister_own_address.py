"""UNREGISTER_BROKER frees the id of a broker only if the address has it (N-1)."""

from impl.namesrv.route_info_manager import RouteInfoManager
from impl.variants.variant import Variant, around


@around(RouteInfoManager, "unregister_broker")
def own_address(original):
    def unregister_broker(self, cluster_name, broker_addr, broker_name, broker_id):
        broker_data = self.broker_addr_table.get(broker_name)
        if broker_data is not None and broker_data.broker_addrs.get(broker_id) not in {None, broker_addr}:
            self.broker_live_table.remove(broker_addr)
            self.filter_server_table.remove(broker_addr)
            return
        original(self, cluster_name, broker_addr, broker_name, broker_id)

    return unregister_broker


VARIANT = Variant("unregister-own-address", "repair", "An id is freed by the address that has it.",
                  hazards=("N-1",), replacements=(own_address,))
