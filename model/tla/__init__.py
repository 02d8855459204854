"""Concepts and scopes as TLA+ modules and TLC configurations, for people who read TLA+ and for a second opinion.

A concept becomes a module with constants: one definition for each action and each property, under its own name. A scope
becomes a module that extends it, with the rigid functions, and a configuration. What TLC counts there are the states
and transitions of the explorer.
"""
