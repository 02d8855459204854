"""What tests of the specification language share: random declarations, and readings of them to compare."""
