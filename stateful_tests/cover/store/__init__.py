"""Fast tests: the store."""
