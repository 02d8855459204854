"""Recorded traffic: each frame through our codec, each recorded request to our servers, and the answers compared."""
