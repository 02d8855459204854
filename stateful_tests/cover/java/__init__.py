"""Fast tests: java."""
