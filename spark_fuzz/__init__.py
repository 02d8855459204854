"""Campaigns on Spark: plan, work, ledger."""
