"""Fast tests: tables."""
