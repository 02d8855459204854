"""The live Java side of conformance: the official RocketMQ 4.9.3, on the Java of a wheel, in a child process.

`process` starts the child and talks to it, `worker` is what runs there. `runtime`, `java_values`, `allocation`,
`user_class` and `small_decisions` are the only modules that touch JPype, and only the child imports them.
"""
