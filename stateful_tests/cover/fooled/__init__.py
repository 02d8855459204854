"""Concepts that are made to fool the judges: one file for each idea, and what they must say of it."""
