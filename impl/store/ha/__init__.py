"""Replication: a master sends the bytes of its log to its slaves, and they report how far they have come."""
