"""Frames: what goes over a connection as bytes, in both header serialisations, and what it is decoded to."""
