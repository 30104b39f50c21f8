"""The run log: one labelled dataset with units, written as NetCDF, and in parts while a run is simulated."""

from __future__ import annotations

import json
import os
import time
import zipfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simbench.errors import RunError
from simbench.files.json_document import parse_json
from simbench.files.netcdf_file import (
    SealState,
    encode_dataset,
    inspect_seal,
    load_dataset,
    probe_file,
    reading,
)
from simbench.files.storage import write_whole
from simbench.runs.log_schema import (
    CONTACT_EVENT_SIGNALS,
    check_log,
    fixture_coordinates,
    has_person,
    require_drawable,
    require_entries,
    require_person,
)
from simbench.runs.run_directory import LOG_PARTS
from simbench.sim.state import Signal

if TYPE_CHECKING:
    import xarray as xr

    from simbench.sim.recorder import Recorder

_COMPRESSION = 4  # Level of gzip.
_INTERVAL = 1.0  # Least simulated time in a file, s.
# Largest share of the computing time that these files may take; where it would be more, they hold more.
_LARGEST_SHARE = 0.02
_DESCRIPTION = "description"
# What reading a damaged file raises.
_DAMAGE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    MemoryError,
    RecursionError,
    NotImplementedError,
    zipfile.BadZipFile,
    RunError,
)
# Variables over time that are drawn of every run.
_STATE = ("joint_position", "joint_reference", "torque_motor", "torque_requested", "base_pose")
_PLANNED = ("cog_desired", "zmp_desired")  # Variables over time that are drawn if the robot was balanced.
FOLDER = "plots"  # Folder of the plots in the run directory.


# A variable of a log as xarray takes it: dimensions, values, and the attributes `units`, SI, with the frame
# where there is one, empty for what has none, and `description`.
Variable = tuple[tuple[str, ...], Any, dict[str, str]]


def label(signals: Sequence[Signal[Any]], values: Mapping[str, Any], *sampled: str) -> dict[str, Variable]:
    """Make variables of arrays from the declarations of what they are.

    `signals`: declarations of at least all quantities in `values`; `values`: arrays by name; `*sampled`:
    dimensions before those of a sample, such as `time`. Returns variables in the order of `values`.
    """
    declared = {signal.name: signal for signal in signals}
    return {
        name: (
            (*sampled, *declared[name].dims),
            array,
            {"units": declared[name].unit, "description": declared[name].description},
        )
        for name, array in values.items()
    }


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
    write_whole(path, encode_dataset(dataset, _COMPRESSION))


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


class LogParts:
    """Writes the samples of a simulation to files while it goes on.

    `folder`: folder for the files; it is made with the first; `make`: builds the log of a copy of some of a
    recorder's samples; `cumulative`: variables that are zero at the first sample of a log and grow from
    there; `watchers`: called with the log of each file.
    """

    def __init__(
        self,
        folder: Path,
        make: Callable[[Recorder], xr.Dataset],
        cumulative: Collection[str] = (),
        watchers: Sequence[Callable[[xr.Dataset], None]] = (),
    ) -> None:
        self._folder, self._make, self._cumulative, self._watchers = folder, make, cumulative, watchers
        self._written = self._files = 0
        self._totals = dict.fromkeys(cumulative, 0.0)
        self._next_time, self._next_clock = _INTERVAL, 0.0
        import xarray as xr

        # At its first dataset xarray looks for the arrays of other libraries: not while robots are simulated.
        xr.Dataset({"time": ("time", np.zeros(1))})

    def write_if_due(self, recorder: Recorder) -> None:
        """Write the samples since the last file, if a second has been simulated since then.

        `recorder`: recorder of the simulation. Raises OSError if the file cannot be written.
        """
        count = recorder.count
        if count < 2 or recorder.time[count - 1] < self._next_time:
            return
        begin = time.process_time()
        if begin < self._next_clock:
            return
        # The derivative at a sample needs the ones before and after it: the last sample is left to the next
        # file, which is made from one sample more than it holds.
        before = min(self._written, 1)
        log = self._make(recorder.copy_from(self._written - before)).isel(time=slice(before, -1))
        for name in self._cumulative:
            log[name].values += self._totals[name]
            self._totals[name] = float(log[name].values[-1])
        self._folder.mkdir(exist_ok=True)
        variables = {
            str(name): {"dims": list(values.dims), "attributes": values.attrs}
            for name, values in log.variables.items()
        }
        description = {
            "variables": variables,
            "coordinates": list(map(str, log.coords)),
            "attributes": log.attrs,
        }
        arrays: dict[str, Any] = {name: log[name].values for name in variables}
        arrays |= {name: array.astype(str) for name, array in arrays.items() if array.dtype.kind == "O"}
        # NumPy's scalars become Python's.
        arrays[_DESCRIPTION] = np.array(json.dumps(description, default=lambda value: value.item()))
        # Uncompressed; the file appears under its name when it is whole.
        unfinished = self._folder / f"{self._files:06d}.part"
        with unfinished.open("wb") as file:
            np.savez(file, **arrays)
        os.replace(unfinished, unfinished.with_suffix(".npz"))
        self._files += 1
        self._written = count - 1
        self._next_time = float(recorder.time[count - 1]) + _INTERVAL
        # The first file takes longer, but for what the whole log needs anyway: imports.
        spent = 0.0 if self._files == 1 else time.process_time() - begin
        for watch in self._watchers:
            watch(log)
        self._next_clock = time.process_time() + spent / _LARGEST_SHARE


def read_log_parts(folder: Path) -> xr.Dataset | None:
    """Read what a simulation has logged so far.

    Returns the log, up to the first file that is damaged, as the last may be after a power cut; None if there
    are no files.
    """
    import xarray as xr

    paths = sorted(folder.glob("*.npz"))
    parts: list[xr.Dataset] = []
    for path in paths:
        try:
            parts.append(_read_part(path))
        except _DAMAGE as error:
            if not parts:
                raise RunError(f"{path}: cannot be read: {error}") from None
            break
    if not parts:
        return None
    sampled = [name for name, values in parts[0].variables.items() if values.dims[:1] == ("time",)]
    try:
        along = xr.concat([part[sampled] for part in parts], "time", combine_attrs="override")
        # What has no samples, such as the contacts and the extremes, is complete in the last file.
        return parts[-1].drop_vars(sampled).merge(along, combine_attrs="override")[list(parts[0].variables)]
    except (ValueError, LookupError) as error:
        raise RunError(f"{folder}: its files do not belong together: {error}") from None


def _read_part(path: Path) -> xr.Dataset:
    """Read a file of `LogParts`."""
    import xarray as xr

    size = path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        # What is compressed, or claims to be larger than the file, is none of ours and could fill the memory.
        if any(
            each.compress_type != zipfile.ZIP_STORED or each.file_size > size for each in archive.filelist
        ):
            raise ValueError("not a part of a log")
    with np.load(path, allow_pickle=False) as arrays:
        text = arrays[_DESCRIPTION].item()
        description = parse_json(text, str(path), RunError, non_finite="kept")
        variables = {
            name: (tuple(each["dims"]), arrays[name], each["attributes"])
            for name, each in description["variables"].items()
        }
    coordinates = {name: variables.pop(name) for name in description["coordinates"]}
    return xr.Dataset(variables, coords=coordinates, attrs=description["attributes"])


def open_plotted_run(folder: Path) -> xr.Dataset:
    """Open the log of a run whose plots can be drawn. `folder`: run directory."""
    log = open_run(folder)
    if log.sizes["time"] < 2:
        raise RunError(f"{folder}: interrupted before there was anything to draw")
    require_entries(log, ("joint", "foot", "hand"), ("robot", "settle_s"), folder)
    equipment = [each for name, *_ in fixture_coordinates(log) for each in (name, f"{name}_actor")]
    sampled = [*_STATE, *equipment]
    balance: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    if log.sizes["foot"]:
        sampled.append("foot_wrench")
        attributes = ("mass_kg", "gravity_m_s2")
    if equipment and log.sizes["hand"]:
        sampled.append("grip_wrench")
        require_entries(log, ("hand_contact", "strokes"), (), folder)
    if "zmp" in log:
        sampled.append("cog")
        balance = ("zmp", "support_polygon", *(name for name in _PLANNED if name in log))
    require_entries(log, (*sampled, *balance, "torque_limit"), attributes, folder)
    require_drawable(log, sampled, folder, may_be_missing=balance)
    if has_person(log):
        require_person(log, folder)
    return log
