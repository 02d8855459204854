"""Histories: what clients observed, as plain operations, and the promises that are judged on them."""
