"""Fast tests: conformance."""
