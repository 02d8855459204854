"""Maps from what the implementation reports to what the models do."""
