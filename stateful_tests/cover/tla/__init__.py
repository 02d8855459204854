"""Tests of the export to TLA+."""
