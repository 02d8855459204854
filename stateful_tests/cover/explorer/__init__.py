"""Fast tests: explorer."""
