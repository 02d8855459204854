"""The request table of a broker: which method serves a request code, and in which pool.

It stands for BrokerController#registerProcessor. A new server behaviour is a method of a processor and a row here. A
new processor is given the tables that it works on. Which codes share a pool decides which requests can meet or overtake
each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from impl.broker.admin_broker_processor import AdminBrokerProcessor
from impl.broker.broker2client import Broker2Client
from impl.broker.client_manage_processor import ClientManageProcessor
from impl.broker.consumer_manage_processor import ConsumerManageProcessor
from impl.broker.data_plane import DataPlane
from impl.broker.registration import Registration
from impl.broker.tables import BrokerTables
from impl.common.request_code import RequestCode, ResponseCode
from impl.ports.remoting import Command, Connection, Handler, RemotingServer


class PoolSize(NamedTuple):
    """A pool: threads, and how many requests may wait (None: any number)."""

    threads: int
    queue: int | None


def pool_sizes(cores: int) -> dict[str, PoolSize]:
    """BrokerController#initialize: the pools that the rows name."""
    return {
        "heartbeat": PoolSize(min(32, cores), 50_000),
        "client_manage": PoolSize(32, 1_000_000),
        "consumer_manage": PoolSize(32, None),
        "admin": PoolSize(16, None),
        "send": PoolSize(min(4, cores), 10_000),
        "pull": PoolSize(16 + 2 * cores, 100_000),
        "reply": PoolSize(16 + 2 * cores, 10_000),
        "query": PoolSize(8 + cores, 20_000),
        "end_transaction": PoolSize(max(8 + 2 * cores, 4 * min(4, cores)), 100_000),
    }


class Row(NamedTuple):
    """What serves a request, and the name of the pool in which it does."""

    handler: Handler
    pool: str


def request_table(
    tables: BrokerTables, remoting_server: RemotingServer, registration: Registration, data_plane: DataPlane,
) -> dict[RequestCode, Row]:
    """The processors of one broker, by request code."""
    client = ClientManageProcessor(
        tables.node, tables.consumer_manager, tables.producer_manager, tables.subscription_group_manager,
        tables.topic_config_manager, registration, enable_property_filter=tables.config.enable_property_filter,
    )
    consumer = ConsumerManageProcessor(
        tables.node, tables.consumer_manager, tables.consumer_offset_manager, tables.message_store,
    )
    return {
        RequestCode.HEART_BEAT: Row(client.heart_beat, "heartbeat"),
        RequestCode.UNREGISTER_CLIENT: Row(client.unregister_client, "client_manage"),
        RequestCode.CHECK_CLIENT_CONFIG: Row(client.check_client_config, "client_manage"),
        RequestCode.GET_CONSUMER_LIST_BY_GROUP: Row(consumer.get_consumer_list_by_group, "consumer_manage"),
        RequestCode.UPDATE_CONSUMER_OFFSET: Row(consumer.update_consumer_offset, "consumer_manage"),
        RequestCode.QUERY_CONSUMER_OFFSET: Row(consumer.query_consumer_offset, "consumer_manage"),
        **_admin_rows(tables, remoting_server, registration),
        **_message_rows(data_plane),
    }


def _message_rows(plane: DataPlane) -> dict[RequestCode, Row]:
    """What a broker serves of messages."""
    sends = Row(plane.send_message_processor.send_message, "send")
    replies = Row(plane.reply_message_processor.process_request, "reply")
    examination = plane.examination_processor
    return {
        RequestCode.SEND_MESSAGE: sends,
        RequestCode.SEND_MESSAGE_V2: sends,
        RequestCode.SEND_BATCH_MESSAGE: sends,
        RequestCode.CONSUMER_SEND_MSG_BACK: Row(plane.send_message_back.consumer_send_msg_back, "send"),
        RequestCode.PULL_MESSAGE: Row(plane.pull_message_processor.process_request, "pull"),
        RequestCode.SEND_REPLY_MESSAGE: replies,
        RequestCode.SEND_REPLY_MESSAGE_V2: replies,
        RequestCode.QUERY_MESSAGE: Row(plane.query_message_processor.query_message, "query"),
        RequestCode.VIEW_MESSAGE_BY_ID: Row(plane.query_message_processor.view_message_by_id, "query"),
        RequestCode.END_TRANSACTION: Row(plane.transactions.end_transaction, "end_transaction"),
        RequestCode.GET_EARLIEST_MSG_STORETIME: Row(plane.store_admin_processor.get_earliest_msg_storetime, "admin"),
        RequestCode.QUERY_CONSUME_QUEUE: Row(plane.store_admin_processor.query_consume_queue, "admin"),
        RequestCode.CLEAN_UNUSED_TOPIC: Row(plane.store_admin_processor.clean_unused_topic, "admin"),
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: Row(
            examination.update_and_create_subscription_group, "admin"),
        RequestCode.GET_TOPIC_STATS_INFO: Row(examination.get_topic_stats_info, "admin"),
        RequestCode.GET_CONSUMER_CONNECTION_LIST: Row(examination.get_consumer_connection_list, "admin"),
        RequestCode.GET_PRODUCER_CONNECTION_LIST: Row(examination.get_producer_connection_list, "admin"),
        RequestCode.GET_CONSUME_STATS: Row(examination.get_consume_stats, "admin"),
    }


def _admin_rows(
    tables: BrokerTables, remoting_server: RemotingServer, registration: Registration,
) -> dict[RequestCode, Row]:
    """AdminBrokerProcessor is the default processor in Java; the codes that it knows are rows all the same."""
    broker2client = Broker2Client(
        remoting_server, tables.node, tables.config.broker_name, tables.consumer_manager,
        tables.topic_config_manager, tables.consumer_offset_manager, tables.message_store,
    )
    admin = AdminBrokerProcessor(
        tables.node, tables.rebalance_lock_manager, tables.topic_config_manager, tables.subscription_group_manager,
        tables.consumer_manager, tables.consumer_offset_manager, tables.message_store, registration, broker2client,
    )
    return {
        RequestCode.LOCK_BATCH_MQ: Row(admin.lock_batch_mq, "admin"),
        RequestCode.UNLOCK_BATCH_MQ: Row(admin.unlock_batch_mq, "admin"),
        RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: Row(admin.search_offset_by_timestamp, "admin"),
        RequestCode.GET_MAX_OFFSET: Row(admin.get_max_offset, "admin"),
        RequestCode.GET_MIN_OFFSET: Row(admin.get_min_offset, "admin"),
        RequestCode.UPDATE_AND_CREATE_TOPIC: Row(admin.update_and_create_topic, "admin"),
        RequestCode.DELETE_TOPIC_IN_BROKER: Row(admin.delete_topic, "admin"),
        RequestCode.DELETE_SUBSCRIPTIONGROUP: Row(admin.delete_subscription_group, "admin"),
        RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: Row(admin.reset_offset, "admin"),
        RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: Row(admin.get_consumer_status, "admin"),
        RequestCode.QUERY_CORRECTION_OFFSET: Row(admin.query_correction_offset, "admin"),
        RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: Row(admin.query_topic_consume_by_who, "admin"),
        RequestCode.GET_ALL_TOPIC_CONFIG: Row(admin.get_all_topic_config, "admin"),
        RequestCode.GET_ALL_CONSUMER_OFFSET: Row(admin.get_all_consumer_offset, "admin"),
        RequestCode.GET_ALL_DELAY_OFFSET: Row(admin.get_all_delay_offset, "admin"),
        RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: Row(admin.get_all_subscription_group, "admin"),
    }


def rejects(pool: str, data_plane: DataPlane) -> Callable[[], bool] | None:
    """NettyRequestProcessor#rejectRequest: what says that a request is answered SYSTEM_BUSY before it is queued.

    Only the processor of the send pool ever does.
    """
    return None if pool != "send" else data_plane.send_message_processor.reject_request


def request_not_supported(channel: Connection, request: Command) -> Command:  # noqa: ARG001  # a Handler
    """AdminBrokerProcessor#getUnknownCmdResponse: the answer to every code without a row."""
    remark = f" request type {int(request.code)} not supported"
    return Command(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)
