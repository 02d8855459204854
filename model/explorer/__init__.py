"""The state explorer: exhaustive search of a concept in a scope, with exact counts and shortest traces."""

from model.explorer.exploration import Exploration, Progress
from model.explorer.graph import graph
from model.explorer.induction import trace_to
from model.explorer.search import Search, Tuning, explore
from model.explorer.storage import DiskError

__all__ = ["DiskError", "Exploration", "Progress", "Search", "Tuning", "explore", "graph", "trace_to"]
