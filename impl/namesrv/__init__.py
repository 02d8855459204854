"""The tables of one name server."""
