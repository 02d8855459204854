"""Tests of the project as its users have it."""
