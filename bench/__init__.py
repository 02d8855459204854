"""Benchmarks: ratios in one run, one JSON object a line."""
