"""The simulation host: one process of ours plays every process of RocketMQ, the network, the clocks and the threads."""
