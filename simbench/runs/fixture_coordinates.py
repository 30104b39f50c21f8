"""Joints of the equipment in a log, moved by the robot and by the actor."""

from dataclasses import dataclass

import xarray as xr

from simbench.kinematics.arrays import Array


@dataclass(frozen=True)
class FixtureCoordinate:
    """Position of one joint of the equipment over time."""

    name: str
    unit: str  # `m` or `rad`.
    robot: Array  # (T,): position to which the robot moved it.
    actor: Array  # (T,): position to which the actor moved it.


def fixture_coordinates(log: xr.Dataset) -> list[FixtureCoordinate]:
    """Find the joints of the equipment in a log: the variables with a counterpart `<name>_actor`.

    `log`: log from `open_run`. Returns empty without equipment.
    """
    names = [str(name).removesuffix("_actor") for name in log if str(name).endswith("_actor")]
    return [
        FixtureCoordinate(name, log[name].attrs["units"], log[name].values, log[f"{name}_actor"].values)
        for name in names
        if name in log and log[name].dims == log[f"{name}_actor"].dims == ("time",)
    ]
