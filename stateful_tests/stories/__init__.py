"""Directed scenarios: one known hazard of RocketMQ 4.9.3 each, told as a story and judged by what the tables say."""
