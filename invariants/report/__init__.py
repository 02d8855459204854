"""The report: one self-contained HTML page, and tables for the terminal, made of verdict rows and evidence."""
