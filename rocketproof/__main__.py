"""`rocketproof`, and `python -m rocketproof`: the front desk of `invariants`, with the rooms on the path."""

from __future__ import annotations

from rocketproof import home


def main() -> None:
    """Entry point."""
    home.enter()
    from invariants.__main__ import main as front_desk

    front_desk()


if __name__ == "__main__":
    main()
