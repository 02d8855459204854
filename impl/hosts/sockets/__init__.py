"""A host whose connections are TCP sockets of this machine."""
