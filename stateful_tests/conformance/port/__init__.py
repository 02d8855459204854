"""Ports of RocketMQ in any language: a program that answers calls on its standard input, one JSON object a line."""
