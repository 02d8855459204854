"""Fast tests: the crash atlas."""
