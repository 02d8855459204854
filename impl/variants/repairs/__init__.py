"""Repairs: what makes a hazard go away, each as small as it can be."""
