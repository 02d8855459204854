"""The store of the real RocketMQ 4.9.3 beside impl/store, live: damaged directories, and programs of puts."""
