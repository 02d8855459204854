"""RocketMQ 4.9.3 as shipped: decisions, data structures, servers, client."""
