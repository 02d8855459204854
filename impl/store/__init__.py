"""The store of a broker, `org.apache.rocketmq.store`: what messages become on its disk."""
