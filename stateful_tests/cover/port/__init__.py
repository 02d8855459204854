"""Tests of programs that answer for ports."""
