"""The run log: one labelled dataset with units, written as NetCDF."""

import os
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from simbench.errors import RunError
from simbench.runs.log_parts import read_log_parts
from simbench.runs.run_directory import LOG_PARTS
from simbench.sim.signals import Signal
from simbench.storage.whole_file import write_whole

ENCODING = {"zlib": True, "complevel": 4, "shuffle": True}

STROKES: Signal[None] = Signal(
    "strokes", ("stroke", "bound"), "s", "First and last instant of each of the recording's strokes."
)
CONTACT_EVENT_SIGNALS: tuple[Signal[None], ...] = (
    Signal("contact_first", ("contact",), "", "Link of the robot that touches, `robot/link`.", dtype=str),
    Signal("contact_second", ("contact",), "", "What it touches: `floor`, or `body/link`.", dtype=str),
    Signal("contact_start", ("contact",), "s", "Time of the first sample that saw the contact."),
    Signal("contact_end", ("contact",), "s", "Time of the last sample that saw the contact."),
    Signal(
        "contact_peak_force", ("contact",), "N", "Largest sum of the contact's normal forces at a sample."
    ),
)
"""Columns of the table of contacts; an event lasts from its first sample to its last without a break."""
COORDINATE_SIGNALS: tuple[Signal[None], ...] = (
    Signal("time", ("time",), "s", "Time of the samples from the start of the simulation."),
    Signal("joint", ("joint",), "", "Names of the robot's joints, in its model's order.", dtype=str),
    Signal("foot", ("foot",), "", "Feet of the robot, `left` and `right`.", dtype=str),
    Signal("hand", ("hand",), "", "Hands of the robot, `left` and `right`.", dtype=str),
    Signal("xyz", ("xyz",), "", "Axes of a vector.", dtype=str),
    Signal("xy", ("xy",), "", "Axes of a horizontal vector.", dtype=str),
    Signal(
        "pose", ("pose",), "", "Numbers of a pose: position x, y, z and quaternion qx, qy, qz, qw.", dtype=str
    ),
    Signal(
        "axis6", ("axis6",), "", "Numbers of a wrench (force, moment) or twist (linear, angular).", dtype=str
    ),
)
"""Labels of the dimensions that have them."""
ATTRIBUTE_SIGNALS: tuple[Signal[None], ...] = (
    Signal(
        "robot", (), "", "Name of the robot, with which the names of its links begin in contacts.", dtype=str
    ),
    Signal("mass_kg", (), "kg", "Mass of the robot that the plan assumes."),
    Signal("gravity_m_s2", (), "m/s²", "Acceleration of gravity."),
    Signal("settle_s", (), "s", "Time of standing still before anything moves; most metrics begin after it."),
    Signal("motion_start_s", (), "s", "Time at which the recording's first sample is reached."),
    Signal("grips_lost", (), "", "Number of grips that were overloaded and released.", dtype=int),
    Signal("saturated_fraction", (), "", "Fraction of all joints' physics steps whose torque was limited."),
    Signal("hand_links", (), "", "Links of the hands, separated by spaces.", dtype=str),
    Signal("foot_links", (), "", "Links of the feet, separated by spaces.", dtype=str),
    Signal("thigh_links", (), "", "Links of the thighs, separated by spaces.", dtype=str),
    Signal("seat", (), "", "Name of the fixture that the robot sits on; empty if it stands.", dtype=str),
)
"""Attributes of the whole log."""


class Variable(NamedTuple):
    """A variable of a log.

    Parameters
    ----------
    dims : tuple of str
        Dimensions.
    values : array_like
        Values.
    units : str
        SI unit, and the frame where there is one; empty for what has none.
    description : str
        Description, which the file holds beside the unit.
    """

    dims: tuple[str, ...]
    values: Any
    units: str
    description: str = ""

    @property
    def attributes(self) -> dict[str, str]:
        """Attributes of the variable in the file."""
        described = {"description": self.description} if self.description else {}
        return {"units": self.units, **described}


def label(signals: Sequence[Signal[Any]], values: Mapping[str, Any], *sampled: str) -> dict[str, Variable]:
    """Make variables of arrays from the declarations of what they are.

    Parameters
    ----------
    signals : sequence of Signal
        Declarations of at least all quantities in `values`.
    values : mapping of str to array_like
        Arrays by name.
    *sampled : str
        Dimensions before those of a sample, such as `time`.

    Returns
    -------
    dict of str to Variable
        Variables in the order of `values`.
    """
    declared = {signal.name: signal for signal in signals}
    return {
        name: Variable(
            (*sampled, *declared[name].dims), array, declared[name].unit, declared[name].description
        )
        for name, array in values.items()
    }


def build_dataset(
    variables: Mapping[str, Variable | tuple[tuple[str, ...], Any, str]],
    coordinates: Mapping[str, Any],
    attributes: Mapping[str, Any],
) -> xr.Dataset:
    """Combine arrays in a dataset whose variables all have `units`, and a `description` where it is given.

    Parameters
    ----------
    variables : mapping of str to Variable or (dims, values, units)
        Variables by name.
    coordinates : mapping of str to array_like
        Labels of each dimension that has them.
    attributes : mapping of str to value
        Attributes of the whole run.

    Returns
    -------
    xarray.Dataset
        The dataset.
    """
    data = {}
    for name, given in variables.items():
        variable = Variable(*given)
        data[name] = (variable.dims, variable.values, variable.attributes)
    declared = {signal.name: signal for signal in COORDINATE_SIGNALS}
    labels = {}
    for name, values in coordinates.items():
        signal = declared[name]
        units = {"units": signal.unit} if signal.unit else {}
        labels[name] = (name, np.asarray(values), {**units, "description": signal.description})
    return xr.Dataset(data, coords=labels, attrs=dict(attributes))


def assign_variables(log: xr.Dataset, variables: Mapping[str, Variable]) -> xr.Dataset:
    """Add variables to a log.

    Parameters
    ----------
    log : xarray.Dataset
        The log.
    variables : mapping of str to Variable
        Variables by name.

    Returns
    -------
    xarray.Dataset
        The log with the variables.
    """
    return log.assign({name: (each.dims, each.values, each.attributes) for name, each in variables.items()})


def contact_variables(events: Sequence[Any]) -> dict[str, Variable]:
    """Write contact events as columns over the dimension `contact`.

    Parameters
    ----------
    events : sequence of ContactEvent
        Events with `first`, `second`, `start`, `end` and `peak_force`.

    Returns
    -------
    dict of str to Variable
        Variables for `build_dataset`.
    """
    columns = {
        signal.name: np.array(
            [getattr(event, signal.name.removeprefix("contact_")) for event in events], dtype=signal.dtype
        )
        for signal in CONTACT_EVENT_SIGNALS
    }
    return label(CONTACT_EVENT_SIGNALS, columns)


def write_log(dataset: xr.Dataset, path: Path) -> None:
    """Write a log compressed as NetCDF, whole or not at all.

    Parameters
    ----------
    dataset : xarray.Dataset
        The log.
    path : Path
        File to write.
    """
    numeric = {name: ENCODING for name, data in dataset.data_vars.items() if data.dtype.kind in "fiub"}
    # In memory, because the HDF5 library may abort the process when the disk is full.
    memory = BytesIO()
    dataset.to_netcdf(memory, engine="h5netcdf", encoding=numeric)
    write_whole(path, memory.getvalue())


def open_run(folder: str | Path) -> xr.Dataset:
    """Open the log of a run directory, complete or interrupted.

    Of a run that was killed, or that is still simulated, this is the log as far as it has been written.

    Parameters
    ----------
    folder : str or Path
        Run directory.

    Returns
    -------
    xarray.Dataset
        The log, with `units` on every variable, and with `description` too in logs that have it.

    Raises
    ------
    RunError
        If there is no log, or it is damaged.
    """
    path = Path(folder) / "log.nc"
    if not path.is_file():
        parts = read_log_parts(Path(folder) / LOG_PARTS)
        if parts is not None:
            return parts
        interrupted = Path(f"{os.path.abspath(folder)}.incomplete")
        hint = f"; its interrupted run is {folder}.incomplete" if interrupted.is_dir() else ""
        raise RunError(f"{folder}: is not a run directory with a log.nc{hint}")
    try:
        with xr.open_dataset(path, engine="h5netcdf") as dataset:
            return dataset.load()
    except OSError as error:
        raise RunError(f"{path}: cannot be read: {error}") from error
