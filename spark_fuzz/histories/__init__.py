"""Histories of any size: files, a generator, and the checks of `invariants.histories` on Spark."""
