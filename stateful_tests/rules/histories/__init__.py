"""Written histories, one file per concept of `invariants.rules`."""
