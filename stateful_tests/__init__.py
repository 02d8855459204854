"""Worlds, machines, conformance with the real RocketMQ, and every test."""
