"""Recordings of the real RocketMQ 4.9.3, replayed against the implementation; live runs beside it."""
