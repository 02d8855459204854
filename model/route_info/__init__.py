"""Name servers: which brokers a route names (`routes`), which topics it has (`topics`), who else knows it.

The broker tells several name servers (`servers`); clients keep a copy of what one of them answered (`cache`).
"""
