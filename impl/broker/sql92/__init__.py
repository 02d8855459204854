"""SQL92 filters: the language of SqlFilter, its parser, and what its expressions make of a message's properties."""
