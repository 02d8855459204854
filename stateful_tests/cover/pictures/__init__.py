"""Tests of the pictures of a cause."""
