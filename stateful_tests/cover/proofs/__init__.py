"""Fast tests: proofs."""
