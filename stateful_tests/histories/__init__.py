"""Histories judged a second time: a reference that reads the sentences of the checks, and random small histories."""
