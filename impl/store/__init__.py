"""The store of a broker, `org.apache.rocketmq.store`: files of records, queues and keys over the disk of a host."""
