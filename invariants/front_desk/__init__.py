"""The front desk: the catalogue of everything that is promised, and what all commands do in the same way.

Nothing here imports a judge of another room: `invariants/commands` and the rooms' own `__main__.py` bring them
together.
"""
