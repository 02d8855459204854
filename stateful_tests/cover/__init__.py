"""Fast tests: what each file covers is in its name."""
