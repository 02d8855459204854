"""The crash atlas: every moment at which a store can be killed, and every disk that can be left."""
