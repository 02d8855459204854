"""Pictures of a cause: of a run what a finding depends on, in RocketMQ's words, small enough for one look."""
