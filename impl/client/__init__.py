"""The tables of one client process."""
