"""Verification of Apache RocketMQ, of its ports, and of changes of one's own.

The command is `rocketproof`. The rooms of the project (`model`, `invariants`, `impl` and so on) lie below this package
where it is installed, so that it puts one name into site-packages.
"""
