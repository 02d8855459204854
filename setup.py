"""What pyproject.toml cannot say: the rooms are packages below `rocketproof`, wherever their folders are."""

from setuptools import find_namespace_packages, setup

ROOMS = ("model", "invariants", "impl", "stateful_tests", "proofs", "spark_fuzz")
BELOW = "rocketproof.rooms"

rooms = find_namespace_packages(include=[pattern for room in ROOMS for pattern in (room, f"{room}.*")])
setup(packages=["rocketproof", *(f"{BELOW}.{room}" for room in rooms)], package_dir={BELOW: "."})
