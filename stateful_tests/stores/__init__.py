"""Store directories of brokers, looked at without changing them."""
