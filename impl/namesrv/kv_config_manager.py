"""KVConfigManager: the only table of a name server that is on its disk."""

from __future__ import annotations

import json

from impl.common.config_manager import file_to_string, persist_unguarded
from impl.events import KVConfigLoaded, KVConfigPut
from impl.hash_map import HashMap
from impl.ports.node import Node
from impl.ports.threads import Lock

NAMESPACE_ORDER_TOPIC_CONFIG = "ORDER_TOPIC_CONFIG"  # NamesrvUtil
KV_CONFIG_PATH = "namesrv/kvConfig.json"


class KVConfigManager:
    """`namesrv.kvconfig.KVConfigManager`.

    A ReentrantReadWriteLock guards the map; persist() takes the READ lock after the write lock has been given back, so
    two threads can be at the file at once (N-24). An emptied namespace stays.

    config_table -- namespace to key to value.
    """

    def __init__(self, node: Node) -> None:
        """Start empty."""
        self.node = node
        self.config_table: HashMap[str, HashMap[str, str | None]] = HashMap()
        self._lock = Lock("KVConfigManager.lock, as its writers see it: held while anybody reads")
        self._readers = 0

    def load(self) -> None:
        """KVConfigManager#load: nobody looks at the backup."""
        text = file_to_string(self.node.disk, KV_CONFIG_PATH)
        for namespace, table in (json.loads(text)["configTable"] if text else {}).items():
            for key, value in table.items():
                self._put(namespace, key, value)
        self.node.trace(KVConfigLoaded(self.node.name, frozenset(
            (namespace, key, value) for namespace, table in self.config_table.entries()
            for key, value in table.entries())))

    async def put_kv_config(self, namespace: str, key: str, value: str | None) -> None:
        """KVConfigManager#putKVConfig."""
        await self.node.lock(self._lock)
        self._put(namespace, key, value)
        self.node.unlock(self._lock)
        await self.node.interleave("putKVConfig: between the write lock and persist")
        await self._persist()
        self.node.trace(KVConfigPut(self.node.name, namespace, key, value))

    def _put(self, namespace: str, key: str, value: str | None) -> None:
        table = self.config_table.get(namespace)
        if table is None:
            table = HashMap()
            self.config_table.put(namespace, table)
        table.put(key, value)

    async def delete_kv_config(self, namespace: str | None, key: str | None) -> None:
        """KVConfigManager#deleteKVConfig."""
        await self.node.lock(self._lock)
        table = None if namespace is None else self.config_table.get(namespace)
        if table is not None and key is not None:  # no entry has null for its key
            table.remove(key)
        self.node.unlock(self._lock)
        await self.node.interleave("deleteKVConfig: between the write lock and persist")
        await self._persist()
        if namespace is not None and key is not None:
            self.node.trace(KVConfigPut(self.node.name, namespace, key, None))

    def get_kv_config(self, namespace: str, key: str) -> str | None:
        """KVConfigManager#getKVConfig, under the read lock."""
        table = self.config_table.get(namespace)
        return None if table is None else table.get(key)

    def get_kv_list_by_namespace(self, namespace: str) -> dict[str, str | None] | None:
        """KVConfigManager#getKVListByNamespace, under the read lock: None if nobody ever put something there."""
        table = self.config_table.get(namespace)
        return None if table is None else dict(table.entries())

    async def _persist(self) -> None:
        """KVConfigManager#persist, under the read lock: the map stands still, and others may write the same file."""
        if not self._readers:
            await self.node.lock(self._lock)  # never waits: a writer is done in one segment
        self._readers += 1
        await persist_unguarded(self.node.disk, KV_CONFIG_PATH, self.text(), self.node)
        self._readers -= 1
        if not self._readers:
            self.node.unlock(self._lock)

    def text(self) -> str:
        """What is in the file."""
        document = {namespace: dict(table.entries()) for namespace, table in self.config_table.entries()}
        return json.dumps({"configTable": document})
