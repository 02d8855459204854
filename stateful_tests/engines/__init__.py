"""The engines against each other: random small concepts, and what each judge says of mostly false properties."""
