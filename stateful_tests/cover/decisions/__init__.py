"""Fast tests: decisions."""
