"""Fast tests: refinement."""
