"""Rules are tested with written histories, and with what is generated from their declarations."""
