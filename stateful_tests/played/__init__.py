"""Traces of the models, done with the implementation step by step: it has then what the model has."""
