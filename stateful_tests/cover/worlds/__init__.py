"""Fast tests: worlds."""
