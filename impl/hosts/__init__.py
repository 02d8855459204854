"""Where the implementation runs: under simulation, or on real sockets and files."""
