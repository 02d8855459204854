"""What the crash atlas and its demonstrations know of a hazard."""

from __future__ import annotations

from stateful_tests.crash.demonstrations import DEMONSTRATIONS
from stateful_tests.crash.promises import PROPERTIES
from stateful_tests.crash.workloads import WORKLOADS


def broken_by(hazard: str) -> dict[str, str]:
    """The properties that it breaks, with their sentences."""
    names = {name for workload in WORKLOADS.values() for broken in workload.expected.values()
             for name, hazards in broken.items() if hazard in hazards}
    names |= {one.property for one in DEMONSTRATIONS.values() if one.name == hazard}
    return {name: sentence for name, sentence in PROPERTIES.items() if name in names}


def commands(hazard: str) -> list[str]:
    """The commands that show it: the first workload of the atlas that meets it, and the real store."""
    met = next((workload.name for workload in WORKLOADS.values() for broken in workload.expected.values()
                for hazards in broken.values() if hazard in hazards), None)
    return [*([f"rocketproof crash --workload {met}"] if met else []),
            *([f"rocketproof demonstrate {hazard}"] if hazard in DEMONSTRATIONS else [])]
