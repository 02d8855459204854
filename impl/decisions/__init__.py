"""Every decision that is arithmetic or a table, as a pure function of plain values."""
