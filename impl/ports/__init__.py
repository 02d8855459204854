"""What the classes and coroutines of `impl` ask of the host that runs them, one module for each kind of service."""
