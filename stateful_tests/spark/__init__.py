"""Tests that need the one Spark session; run in a process of their own (`pytest -m spark`)."""
