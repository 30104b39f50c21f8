"""Joints of the equipment in a log, moved by the robot and by the actor."""

from dataclasses import dataclass

import xarray as xr

from simbench.kinematics.arrays import Array


@dataclass(frozen=True)
class FixtureCoordinate:
    """Position of one joint of the equipment over time.

    Parameters
    ----------
    name : str
        Name of the fixture and its joint.
    unit : str
        `m` or `rad`.
    robot : (T,) array
        Position to which the robot moved it.
    actor : (T,) array
        Position to which the actor moved it.
    """

    name: str
    unit: str
    robot: Array
    actor: Array


def fixture_coordinates(log: xr.Dataset) -> list[FixtureCoordinate]:
    """Find the joints of the equipment in a log: the variables with a counterpart `<name>_actor`.

    Parameters
    ----------
    log : xarray.Dataset
        Log from `open_run`.

    Returns
    -------
    list of FixtureCoordinate
        Empty without equipment.
    """
    names = [str(name).removesuffix("_actor") for name in log if str(name).endswith("_actor")]
    return [
        FixtureCoordinate(name, log[name].attrs["units"], log[name].values, log[f"{name}_actor"].values)
        for name in names
        if name in log and log[name].dims == log[f"{name}_actor"].dims == ("time",)
    ]
