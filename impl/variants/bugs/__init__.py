"""Planted bugs: historic ones of RocketMQ and its ports, and seeded ones of the kinds that occur."""
