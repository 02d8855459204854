"""The import rule, the style and the documentation."""
