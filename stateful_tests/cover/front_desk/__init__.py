"""Fast tests: front desk."""
