"""The log of a run that is still simulated: files of about a second each, which a kill leaves readable."""

from __future__ import annotations

import json
import os
import shutil
import time
import zipfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simbench.errors import RunError
from simbench.files.json_document import parse_json

if TYPE_CHECKING:
    import xarray as xr

    from simbench.sim.recorder import Recorder

_INTERVAL = 1.0
"""Least simulated time in a file, s."""
_LARGEST_SHARE = 0.02
"""Largest share of the computing time that these files may take; where it would be more, they hold more."""
_DESCRIPTION = "description"
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
"""What reading a damaged file raises."""


class LogParts:
    """Writes the samples of a simulation to files while it goes on.

    `folder`: folder for the files; it is made with the first; `make`: builds the log of a copy of some of a
    recorder's samples; `cumulative`: variables that are zero at the first sample of a log and grow from
    there; `watch`: called with the log of each file.
    """

    def __init__(
        self,
        folder: Path,
        make: Callable[[Recorder], xr.Dataset],
        cumulative: Collection[str] = (),
        watch: Callable[[xr.Dataset], None] | None = None,
    ) -> None:
        self._folder, self._make, self._cumulative, self._watch = folder, make, cumulative, watch
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
        _write_part(log, self._folder / f"{self._files:06d}.npz")
        self._files += 1
        self._written = count - 1
        self._next_time = float(recorder.time[count - 1]) + _INTERVAL
        # The first file takes longer, but for what the whole log needs anyway: imports.
        spent = 0.0 if self._files == 1 else time.process_time() - begin
        if self._watch is not None:
            self._watch(log)
        self._next_clock = time.process_time() + spent / _LARGEST_SHARE

    def remove(self) -> None:
        """Remove the files, once the whole log has been written."""
        shutil.rmtree(self._folder, ignore_errors=True)


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


def _write_part(log: xr.Dataset, path: Path) -> None:
    """Write a log uncompressed; the file appears under its name when it is whole."""
    variables = {
        str(name): {"dims": list(values.dims), "attributes": _plain(values.attrs)}
        for name, values in log.variables.items()
    }
    description = {
        "variables": variables,
        "coordinates": list(map(str, log.coords)),
        "attributes": _plain(log.attrs),
    }
    arrays: dict[str, Any] = {name: log[name].values for name in variables}
    arrays |= {name: array.astype(str) for name, array in arrays.items() if array.dtype.kind == "O"}
    arrays[_DESCRIPTION] = np.array(json.dumps(description))
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        np.savez(file, **arrays)
    os.replace(unfinished, path)


def _read_part(path: Path) -> xr.Dataset:
    """Read a file of `_write_part`."""
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


def _plain(attributes: dict[Any, Any]) -> dict[str, Any]:
    """Convert NumPy scalars to Python's, for JSON."""
    return {
        str(name): value.item() if hasattr(value, "item") else value for name, value in attributes.items()
    }
