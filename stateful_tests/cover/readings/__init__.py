"""Fast tests: readings."""
