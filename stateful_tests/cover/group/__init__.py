"""Fast tests: group."""
