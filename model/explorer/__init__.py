"""The state explorer: exhaustive search of a concept in a scope, with exact counts and shortest traces."""

from model.explorer.graph import graph
from model.explorer.induction import trace_to
from model.explorer.search import Exploration, Progress, Search, Tuning, explore

__all__ = ["Exploration", "Progress", "Search", "Tuning", "explore", "graph", "trace_to"]
