"""Fast tests of remoting: headers, bodies, frames."""
