"""Fast tests: machines."""
