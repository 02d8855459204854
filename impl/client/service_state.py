"""ServiceState: what has become of a client, a producer or a consumer."""

from __future__ import annotations

CREATE_JUST, RUNNING, SHUTDOWN_ALREADY, START_FAILED = "CREATE_JUST", "RUNNING", "SHUTDOWN_ALREADY", "START_FAILED"
"""`common.ServiceState`: not started, started, shut down, and a start that has failed or is not over."""
