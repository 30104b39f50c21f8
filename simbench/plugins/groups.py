"""What can be extended: groups of entry points, and what a plug-in of each has to be."""

from collections.abc import Mapping
from typing import NamedTuple


class Group(NamedTuple):
    """Plug-ins of one kind."""

    thing: str  # What a plug-in is, with its article.
    key: str  # Key of a scenario that names it.
    method: str  # Method of a section (a class with keys) that makes it; empty where there is no section.
    # Arguments of that method, and of a function that a plug-in may be instead; empty where it is a path.
    arguments: tuple[str, ...]


GROUPS: Mapping[str, Group] = {
    "fixtures": Group("a fixture", "fixtures.N.type", "mechanism", ()),
    "control_laws": Group("a control law", "control.law", "control_law", ("robot", "timestep")),
    "policies": Group("a policy", "control.policy.callable", "", ("robot",)),
    "balance_controllers": Group(
        "a balance controller", "balance.controller", "balancer", ("robot", "plan", "timestep")
    ),
    "retargeters": Group("a retargeter", "retarget.method", "retarget", ("robot", "motion")),
    "readers": Group("a reader", "motion.source", "", ("path", "options")),
    "marker_maps": Group("a marker map", "motion.marker_map", "", ()),
    "robots": Group("a robot", "robot.name", "", ()),
    "metrics": Group("a metric", "metrics.NAME", "measure", ("log",)),
    "criteria": Group("a criterion", "--criterion", "", ("body", "state")),
}
"""Name of each group, `simbench.NAME` among entry points, to what its plug-ins are."""


def group_of_entry_points(name: str) -> str:
    """Name a group as packages write it. `name`: A key of `GROUPS`."""
    return f"simbench.{name}"
