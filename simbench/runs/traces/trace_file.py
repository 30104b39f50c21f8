"""File of a trace, `<scenario>.trace.nc`: NetCDF with a checksum, small enough to be committed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simbench.errors import BaselineError
from simbench.files.json_document import parse_json
from simbench.files.netcdf_file import encode_dataset, load_dataset, probe_file, reading
from simbench.files.seal import SealState, inspect_seal, seal
from simbench.files.storage import write_whole
from simbench.kinematics.arrays import Array
from simbench.runs.traces.measurement import measure_trace
from simbench.runs.traces.signals import TOLERANCES, Channel, Samples
from simbench.runs.traces.trace import Trace

if TYPE_CHECKING:
    import xarray as xr

LARGEST_FILE = 60_000
"""Largest size of a trace's file, bytes."""
RATES = (25.0, 20.0, 16.0, 12.5, 10.0, 8.0, 6.25, 5.0, 4.0, 2.5, 2.0, 1.0, 0.5)
"""Rates that are tried in turn until the file is small enough, 1/s."""
STEPS_PER_TOLERANCE = 10.0
"""Values are rounded to this fraction of the absolute tolerance."""
_UNDEFINED = -(2**31)
"""Stored value of a sample that is not defined."""
_CODES_PER_OCTAVE = 8.0
_UNIT_CODE = 128
_INFINITE = 255
"""The envelope is stored as a logarithm: code 128 is the absolute tolerance, 0 none, 255 infinite."""
_COMPRESSION = 9
"""Level of gzip."""
_DIMENSIONS = {
    "time": ("time",),
    "value": ("channel", "time"),
    "envelope": ("channel", "time"),
    "step": ("channel",),
}


def trace_path(baseline: Path) -> Path:
    """Return where the trace of a baseline is.

    `baseline`: file of the baseline, `<scenario>.json`. Returns `<scenario>.trace.nc` beside it.
    """
    return baseline.with_name(f"{baseline.name.removesuffix('.json')}.trace.nc")


def encode_trace(trace: Trace) -> bytes:
    """Write a trace as the bytes of its file. Returns netCDF with a checksum at its end."""
    import xarray as xr

    step = np.array([TOLERANCES[channel.unit].absolute for channel in trace.channels]) / STEPS_PER_TOLERANCE
    defined = np.isfinite(trace.values)
    limit = 2.0**31 - 1.0
    rounded = np.clip(np.rint(np.where(defined, trace.values, 0.0) / step), -limit, limit)
    values = np.where(defined, rounded, _UNDEFINED).astype(np.int32)
    dataset = xr.Dataset(
        {
            "value": (("channel", "time"), values.T, {"description": "Samples in steps of their channel."}),
            "envelope": (
                ("channel", "time"),
                _encode_envelope(trace.envelope, STEPS_PER_TOLERANCE * step).T,
                {
                    "description": "Greatest deviation of the perturbed runs: 10 step 2^((code - 128) / 8); "
                    "0 where it does not exceed the usual tolerance, 255 where nothing is expected."
                },
            ),
            "step": (("channel",), step, {"description": "Step of the channel, in its unit."}),
        },
        coords={"time": ("time", trace.time, {"units": "s"})},
        attrs={
            "channels": json.dumps(trace.channels, ensure_ascii=False),
            "lags_s": json.dumps(dict(trace.lags)),
            "log_rate_hz": trace.log_rate,
        },
    )
    return seal(encode_dataset(dataset, _COMPRESSION))


def fit_trace(runs: Sequence[Samples]) -> tuple[Trace, bytes]:
    """Measure a trace at the greatest rate at which its file is small enough.

    `runs`: channels of the scenario, then of its perturbed repetitions.
    """
    for rate in RATES:
        trace = measure_trace(runs, rate)
        content = encode_trace(trace)
        if len(content) <= LARGEST_FILE:
            return trace, content
    raise BaselineError(
        f"a trace of {runs[0].time[-1]:.0f} s with {len(runs[0].channels)} channels takes more than "
        f"{LARGEST_FILE // 1000} kB even at {RATES[-1]:g} samples a second; allowed: a shorter scenario"
    )


def write_trace(path: Path, content: bytes) -> None:
    """Write the file of a trace, whole or not at all.

    `path`: file to write; its folder is made; `content`: bytes from `fit_trace`.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise BaselineError(f"{path}: cannot write the trace: {error.strerror}") from None


def read_trace(path: Path) -> Trace | None:
    """Read a trace. `path`: its file. Returns the trace; None if there is no such file."""
    if not path.exists():
        return None
    with reading(path, BaselineError):
        state = inspect_seal(path)
        if state is SealState.BROKEN:
            raise BaselineError(f"{path}: damaged: its bytes do not give the checksum at its end")
        # The HDF5 library hangs and crashes on some damaged files: others are tried in their own process.
        if state is SealState.ABSENT and (reason := probe_file(path)):
            raise BaselineError(f"{path}: cannot be read: {reason}")
        return _decode(load_dataset(path), path)


def _decode(dataset: xr.Dataset, path: Path) -> Trace:
    """Make a trace of what its file holds."""
    for name, dims in _DIMENSIONS.items():
        if (
            name not in dataset.variables
            or dataset[name].dims != dims
            or dataset[name].dtype.kind not in "iuf"
        ):
            raise BaselineError(
                f"{path}: needs numbers {name} over {', '.join(dims)}; --update writes it anew"
            )
    channels = _read_channels(dataset.attrs.get("channels"), path)
    time, step = dataset["time"].values, dataset["step"].values
    if len(channels) != dataset.sizes["channel"]:
        raise BaselineError(f"{path}: has {len(channels)} names of {dataset.sizes['channel']} channels")
    if not len(time) or not np.isfinite(time).all() or (np.diff(time) <= 0.0).any():
        raise BaselineError(f"{path}: time must be finite and increase from sample to sample")
    if not (np.isfinite(step) & (step > 0.0)).all():
        raise BaselineError(f"{path}: steps must be greater than 0")
    stored = dataset["value"].values.T
    lags = parse_json(str(dataset.attrs.get("lags_s", "{}")), f"{path}: lags_s", BaselineError)
    log_rate = float(dataset.attrs.get("log_rate_hz", 0.0))
    if not (
        isinstance(lags, dict) and all(isinstance(lag, float) for lag in lags.values()) and log_rate > 0.0
    ):
        raise BaselineError(f"{path}: lags_s and log_rate_hz must be numbers; --update writes them anew")
    return Trace(
        time,
        channels,
        np.where(stored == _UNDEFINED, np.nan, stored * step),
        _decode_envelope(dataset["envelope"].values.T, STEPS_PER_TOLERANCE * step),
        lags,
        log_rate,
    )


def _read_channels(text: Any, path: Path) -> tuple[Channel, ...]:
    """Read the names of the channels."""
    entries = parse_json(text, f"{path}: channels", BaselineError) if isinstance(text, str) else None
    if not isinstance(entries, list) or not all(
        isinstance(entry, list) and len(entry) == 3 and all(isinstance(part, str) for part in entry)
        for entry in entries
    ):
        raise BaselineError(f"{path}: channels must be signal, label and unit of each channel")
    channels = tuple(Channel(*entry) for entry in entries)
    for channel in channels:
        if channel.unit not in TOLERANCES:
            allowed = ", ".join(TOLERANCES)
            raise BaselineError(f"{path}: {channel.name} is in {channel.unit!r}; allowed: {allowed}")
    return channels


def _encode_envelope(envelope: Array, unit: Array) -> Array:
    """Write deviations as codes, rounded up."""
    with np.errstate(divide="ignore"):
        code = np.ceil(_UNIT_CODE + _CODES_PER_OCTAVE * np.log2(envelope / unit))
    finite = np.clip(np.nan_to_num(code, posinf=0.0, neginf=0.0), 1, _INFINITE - 1)
    return np.where(np.isinf(envelope), _INFINITE, np.where(envelope == 0.0, 0, finite)).astype(np.uint8)


def _decode_envelope(code: Array, unit: Array) -> Array:
    """Read deviations from their codes."""
    exponent = (code.astype(float) - _UNIT_CODE) / _CODES_PER_OCTAVE
    return np.where(code == _INFINITE, np.inf, np.where(code == 0, 0.0, unit * 2.0**exponent))
