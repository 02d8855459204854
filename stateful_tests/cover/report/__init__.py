"""Fast tests: report."""
