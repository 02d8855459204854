"""Variants of RocketMQ 4.9.3: repairs and planted bugs, which replace named functions while they are active."""
