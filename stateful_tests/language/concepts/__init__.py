"""Six small concepts: how a declaration looks. Tests trace them, print them and compare every reading on them."""
