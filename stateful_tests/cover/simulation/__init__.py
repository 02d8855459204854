"""Fast tests: simulation."""
