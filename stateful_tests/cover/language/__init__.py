"""Fast tests: language."""
