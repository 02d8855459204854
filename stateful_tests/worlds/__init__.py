"""Worlds: a subject, a workload, a fault profile and a tape make one run record; free of pytest and Hypothesis."""
