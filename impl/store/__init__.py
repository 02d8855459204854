"""The store of a broker: what messages become on its disk."""
