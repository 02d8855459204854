"""A host that keeps its files in a folder of this machine."""
