"""Fast tests: claims."""
