"""The second opinion of TLC, the model checker of TLA+, on what the explorer counts and judges.

`tools` finds Java and TLC, `run` starts it and reads its messages, `compare` puts a scope to both.
"""
