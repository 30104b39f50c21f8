"""The run log: one labelled dataset with units, written as NetCDF."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from simbench.errors import RunError

ENCODING = {"zlib": True, "complevel": 4, "shuffle": True}

Variable = tuple[tuple[str, ...], Any, str]
"""Dimensions, values, units."""


def build_dataset(
    variables: Mapping[str, Variable],
    coordinates: Mapping[str, Any],
    attributes: Mapping[str, Any],
) -> xr.Dataset:
    """Combine arrays in a dataset whose variables all have `units`.

    Parameters
    ----------
    variables : mapping of str to (dims, values, units)
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
    data = {name: (dims, values, {"units": units}) for name, (dims, values, units) in variables.items()}
    labels = {
        name: (name, np.asarray(values), {"units": "s"} if name == "time" else {})
        for name, values in coordinates.items()
    }
    return xr.Dataset(data, coords=labels, attrs=dict(attributes))


def contact_variables(events: Sequence[Any]) -> dict[str, Variable]:
    """Write contact events as columns over the dimension `contact`.

    Parameters
    ----------
    events : sequence of ContactEvent
        Events with `first`, `second`, `start`, `end` and `peak_force`.

    Returns
    -------
    dict of str to (dims, values, units)
        Variables for `build_dataset`.
    """
    return {
        "contact_first": (("contact",), np.array([event.first for event in events], dtype=str), ""),
        "contact_second": (("contact",), np.array([event.second for event in events], dtype=str), ""),
        "contact_start": (("contact",), np.array([event.start for event in events], dtype=float), "s"),
        "contact_end": (("contact",), np.array([event.end for event in events], dtype=float), "s"),
        "contact_peak_force": (
            ("contact",),
            np.array([event.peak_force for event in events], dtype=float),
            "N",
        ),
    }


def write_log(dataset: xr.Dataset, path: Path) -> None:
    """Write a log compressed as NetCDF, first under a temporary name.

    Parameters
    ----------
    dataset : xarray.Dataset
        The log.
    path : Path
        File to write.
    """
    partial = path.with_name(path.name + ".part")
    numeric = {name: ENCODING for name, data in dataset.data_vars.items() if data.dtype.kind in "fiub"}
    dataset.to_netcdf(partial, engine="h5netcdf", encoding=numeric)
    os.replace(partial, path)


def open_run(folder: str | Path) -> xr.Dataset:
    """Open the log of a run directory, complete or interrupted.

    Parameters
    ----------
    folder : str or Path
        Run directory.

    Returns
    -------
    xarray.Dataset
        The log, with `units` on every variable.

    Raises
    ------
    RunError
        If there is no log, or it is damaged.
    """
    path = Path(folder) / "log.nc"
    if not path.is_file():
        interrupted = Path(f"{os.path.abspath(folder)}.incomplete")
        hint = f"; its interrupted run is {folder}.incomplete" if interrupted.is_dir() else ""
        raise RunError(f"{folder}: is not a run directory with a log.nc{hint}")
    try:
        with xr.open_dataset(path, engine="h5netcdf") as dataset:
            return dataset.load()
    except OSError as error:
        raise RunError(f"{path}: cannot be read: {error}") from error
