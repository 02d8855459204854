"""The tables of one broker process."""
