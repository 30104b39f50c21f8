"""The run log: one labelled dataset with units, written as NetCDF."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simbench.errors import RunError
from simbench.files.netcdf_file import encode_dataset, load_dataset, probe_file, reading
from simbench.files.seal import SealState, inspect_seal, seal
from simbench.files.storage import write_whole
from simbench.runs.log_parts import read_log_parts
from simbench.runs.log_schema import check_log
from simbench.runs.log_signals import CONTACT_EVENT_SIGNALS, COORDINATE_SIGNALS
from simbench.runs.run_directory import LOG_PARTS
from simbench.sim.signals import Signal

if TYPE_CHECKING:
    import xarray as xr

_COMPRESSION = 4
"""Level of gzip."""


class Variable(NamedTuple):
    """A variable of a log."""

    dims: tuple[str, ...]  # Dimensions.
    values: Any
    units: str  # SI unit, and the frame where there is one; empty for what has none.
    description: str = ""  # Description, which the file holds beside the unit.

    @property
    def attributes(self) -> dict[str, str]:
        """Attributes of the variable in the file."""
        described = {"description": self.description} if self.description else {}
        return {"units": self.units, **described}


def label(signals: Sequence[Signal[Any]], values: Mapping[str, Any], *sampled: str) -> dict[str, Variable]:
    """Make variables of arrays from the declarations of what they are.

    `signals`: declarations of at least all quantities in `values`; `values`: arrays by name; `*sampled`:
    dimensions before those of a sample, such as `time`. Returns variables in the order of `values`.
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

    `variables`: variables by name; `coordinates`: labels of each dimension that has them; `attributes`:
    attributes of the whole run.
    """
    import xarray as xr

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
    """Add variables to a log. `variables`: variables by name."""
    return log.assign({name: (each.dims, each.values, each.attributes) for name, each in variables.items()})


def contact_variables(events: Sequence[Any]) -> dict[str, Variable]:
    """Write contact events as columns over the dimension `contact`.

    `events`: events with `first`, `second`, `start`, `end` and `peak_force`. Returns variables for
    `build_dataset`.
    """
    columns = {
        signal.name: np.array(
            [getattr(event, signal.name.removeprefix("contact_")) for event in events], dtype=signal.dtype
        )
        for signal in CONTACT_EVENT_SIGNALS
    }
    return label(CONTACT_EVENT_SIGNALS, columns)


def write_log(dataset: xr.Dataset, path: Path) -> None:
    """Write a log compressed as NetCDF with a checksum at its end, whole or not at all.

    Parameters
    ----------
    dataset : xarray.Dataset
        The log.
    path : Path
        File to write.
    """
    write_whole(path, seal(encode_dataset(dataset, _COMPRESSION)))


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
        If there is no log, its bytes have changed since it was written, it is damaged, or it does not have
        the form of a log.
    """
    path = Path(folder) / "log.nc"
    if not path.is_file():
        parts = read_log_parts(Path(folder) / LOG_PARTS)
        if parts is not None:
            return parts
        interrupted = Path(f"{os.path.abspath(folder)}.incomplete")
        hint = f"; its interrupted run is {folder}.incomplete" if interrupted.is_dir() else ""
        raise RunError(f"{folder}: is not a run directory with a log.nc{hint}")
    with reading(path, RunError):
        state = inspect_seal(path)
        if state is SealState.BROKEN:
            size = path.stat().st_size
            raise RunError(f"{path}: damaged: its {size} bytes do not give the checksum at its end")
        # The HDF5 library hangs and crashes on some damaged files: others are tried in their own process.
        if state is SealState.ABSENT and (reason := probe_file(path)):
            raise RunError(f"{path}: cannot be read: {reason}")
        return check_log(load_dataset(path), path)
