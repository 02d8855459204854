"""Transactional messages: half messages, what ends them, and the check that asks their producers."""
