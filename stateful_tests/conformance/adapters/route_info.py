"""Recordings of the tables of a name server."""

from __future__ import annotations

from typing import Any

from impl.common.data_version import DataVersion
from impl.common.topic_config import TopicConfig, TopicConfigSerializeWrapper
from impl.decisions.route_queues import QueueData
from impl.namesrv.route_info_manager import BrokerLiveInfo, BrokerRegistration, RouteInfoManager
from impl.ports.threads import UNINTERRUPTED, run_now
from stateful_tests.conformance.adapters.sequence import (
    T0,
    Channels,
    ControlledClock,
    NamedChannel,
    Operations,
    replay_steps,
)
from stateful_tests.conformance.replay import Adapter, Row


class _Routes(ControlledClock):
    """One name server."""

    def __init__(self) -> None:
        super().__init__()
        self.channels = Channels()
        self.routes = routes = RouteInfoManager(self.now_ms)
        self.operations: Operations = {
            "register": self._register,
            "unregister": lambda step: routes.unregister_broker(
                step["cluster"], step["addr"], step["name"], step["id"],
            ),
            "pickup": self._pickup,
            "tick": self.tick,
            "scan": lambda _: run_now(routes.scan_not_active_broker(UNINTERRUPTED)),
            "destroy": self._destroy,
            "wipe": lambda step: routes.wipe_write_perm_of_broker_by_lock(step["name"]),
            "addPerm": lambda step: routes.add_write_perm_of_broker_by_lock(step["name"]),
            "deleteTopic": lambda step: routes.delete_topic(step["topic"]),
            "changed": lambda step: routes.is_broker_topic_config_changed(step["addr"], DataVersion(*step["dv"])),
            "version": self._version,
            "touch": lambda step: routes.update_broker_info_update_timestamp(step["addr"]),
            "topics": lambda _: sorted(routes.get_all_topic_list()),
            "topicsByCluster": lambda step: sorted(routes.get_topics_by_cluster(step["cluster"])),
            "unitTopics": lambda _: sorted(routes.get_unit_topics()),
            "unitSubTopics": lambda _: sorted(routes.get_has_unit_sub_topic_list()),
            "unitSubNotUnitTopics": lambda _: sorted(routes.get_has_unit_sub_un_unit_topic_list()),
        }

    def _register(self, step: Row) -> dict[str, str | None]:
        topics = step["topics"]
        table = None if topics is None else {
            topic: TopicConfig(topic, read, write, perm, topic_sys_flag=sys_flag)
            for topic, (read, write, perm, sys_flag) in topics.items()
        }
        wrapper = TopicConfigSerializeWrapper(table, DataVersion(*step["dv"]))
        result = self.routes.register_broker(BrokerRegistration(
            cluster_name=step["cluster"],
            broker_addr=step["addr"],
            broker_name=step["name"],
            broker_id=step["id"],
            ha_server_addr=step["ha"],
            topic_config_wrapper=wrapper if step.get("wrapper", True) else None,
            filter_server_list=step["filters"],
            channel=self.channels.named(step["ch"]),
        ))
        return {"ha": result.ha_server_addr, "master": result.master_addr}

    def _pickup(self, step: Row) -> dict[str, Any] | None:
        route = self.routes.pickup_topic_route_data(step["topic"])
        if route is None:
            return None
        answer = route.encoded()
        return {
            "orderTopicConf": answer.order_topic_conf,
            "queues": [_queue_fields(data) for data in answer.queue_datas],
            "brokers": {
                data.broker_name: {"cluster": data.cluster, "addrs": _by_text_id(dict(data.broker_addrs))}
                for data in answer.broker_datas
            },
            "filters": route.filter_server_table,
        }

    def _destroy(self, step: Row) -> None:
        channel = None if step["ch"] is None else self.channels.named(step["ch"])
        run_now(self.routes.on_channel_destroy(step["addr"], channel, UNINTERRUPTED))

    def _version(self, step: Row) -> list[int] | None:
        found = self.routes.query_broker_topic_config(step["addr"])
        return None if found is None else [found.timestamp, found.counter]

    def observed(self, step: Row) -> dict[str, Any]:
        seen: dict[str, Any] = {"s": self._state()}
        if step["op"] == "scan":
            seen["closed"] = list(self.channels.closed)
        return seen

    def _state(self) -> dict[str, Any]:
        routes = self.routes
        return {
            "TQ": {
                topic: [_queue_fields(data) for data in datas] for topic, datas in routes.topic_queue_table.entries()
            },
            "BA": {
                name: {"cluster": data.cluster, "addrs": _by_text_id(dict(data.broker_addrs.entries()))}
                for name, data in routes.broker_addr_table.entries()
            },
            "CA": {cluster: sorted(names.key_set()) for cluster, names in routes.cluster_addr_table.entries()},
            "BL": {addr: _live_fields(info) for addr, info in routes.broker_live_table.entries()},
            "FS": dict(routes.filter_server_table.entries()),
        }


def _queue_fields(data: QueueData) -> list[Any]:
    return [data.broker_name, data.read_queue_nums, data.write_queue_nums, data.perm, data.topic_sys_flag]


def _by_text_id(addrs: dict[int, str]) -> dict[str, str]:
    return {str(broker_id): addr for broker_id, addr in addrs.items()}


def _live_fields(info: BrokerLiveInfo) -> list[Any]:
    version = info.data_version
    channel = info.channel.name if isinstance(info.channel, NamedChannel) else None
    return [info.last_update_timestamp - T0, [version.timestamp, version.counter], channel, info.ha_server_addr]


def _route_sequence(row: Row) -> str | None:
    return replay_steps(row, _Routes())


ADAPTERS: dict[str, Adapter] = {"route-sequences": _route_sequence, "route-sequences-aliased": _route_sequence}
