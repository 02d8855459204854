"""The Z3 reading: obligations of the models, symbolic execution of the decisions."""
