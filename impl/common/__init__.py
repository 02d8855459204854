"""Values that clients, brokers and name servers exchange; RocketMQ's `common` module."""
