"""The project as its users have it: a wheel in a virtual environment, beside packages of theirs."""
