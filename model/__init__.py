"""What RocketMQ does: the specification language, one file per protocol concept, the state explorer."""
