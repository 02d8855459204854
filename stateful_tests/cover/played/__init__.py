"""Traces of the models, done with the implementation."""
