"""Measurement of a trace from perturbed runs, and its file, `<scenario>.trace.nc`.

The file is netCDF with a checksum, small enough to be committed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import maximum_filter1d

from simbench.errors import BaselineError
from simbench.files.json_document import parse_json
from simbench.files.netcdf_file import (
    SealState,
    encode_dataset,
    inspect_seal,
    load_dataset,
    probe_file,
    reading,
)
from simbench.files.storage import make_folder, write_whole
from simbench.kinematics.arrays import Array
from simbench.runs.metric_catalogue import SPREADS
from simbench.runs.traces.trace_comparison import estimate_lags
from simbench.runs.traces.trace_signals import TOLERANCES, Channel, Samples, Trace, usual_tolerances

if TYPE_CHECKING:
    import xarray as xr

# Time around a sample whose definition rounding decides, such as the ZMP at a touch-down, within which
# nothing is expected of the channel, s.
UNDEFINED_MARGIN = 0.1
WIDE = 10.0  # Usual tolerances from which an allowed deviation hides a fault.
MOST_HIDDEN = 0.5  # Part of a trace's samples in which faults may be hidden; beyond it, it tests little.
_WINDOW = 0.2  # Time before and after a sample over which the envelope takes the greatest deviation, s.
_DECAY = 0.5  # Time constant with which the envelope fades after a peak, s.
LARGEST_FILE = 60_000  # Largest size of a trace's file, bytes.
# Rates that are tried in turn until the file is small enough, 1/s.
RATES = (25.0, 20.0, 16.0, 12.5, 10.0, 8.0, 6.25, 5.0, 4.0, 2.5, 2.0, 1.0, 0.5)
STEPS_PER_TOLERANCE = 10.0  # Values are rounded to this fraction of the absolute tolerance.
_UNDEFINED = -(2**31)  # Stored value of a sample that is not defined.
_CODES_PER_OCTAVE = 8.0
_UNIT_CODE = 128
# The envelope is stored as a logarithm: code 128 is the absolute tolerance, 0 none, 255 infinite.
_INFINITE = 255
_COMPRESSION = 9  # Level of gzip.
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


def measure_trace(runs: Sequence[Samples], rate: float) -> Trace:
    """Make a trace from a run and from repetitions whose inputs differ by rounding.

    `runs`: channels of the scenario, then of its repetitions; all have the same channels and rate; `rate`:
    greatest rate of the trace, 1/s: it takes every n-th sample of the log. Returns samples of the first run,
    with the envelope of the others around it.
    """
    first, *others = runs
    log_rate = (len(first.time) - 1) / (first.time[-1] - first.time[0]) if len(first.time) > 1 else rate
    stride = max(1, int(np.ceil(log_rate / rate - 1e-6)))
    envelope = _measure_envelope(first, others, float(log_rate))
    usual = usual_tolerances(first.channels, first.values)
    # What does not exceed the usual tolerance need not be kept.
    envelope[SPREADS * envelope <= usual] = 0.0
    kept = slice(None, None, stride)
    sums = None if first.sums is None else first.sums[kept]
    trace = Trace(
        first.time[kept], first.channels, first.values[kept], envelope[kept], {}, float(log_rate), sums
    )
    measured = [estimate_lags(trace, other) for other in others]
    lags = {
        signal: max((abs(lags[signal].lag) for lags in measured if signal in lags), default=0.0)
        for signal in trace.signals
    }
    return replace(trace, lags=lags)


def _measure_envelope(first: Samples, others: Sequence[Samples], log_rate: float) -> Array:
    """Compute a maximum of the deviations, (T, C), over all samples of the log near each and, fading, before.

    Where a motion has become chaotic it mostly stays so, and then the maximum stays, too. Where a robot comes
    to rest after a first contact that rounding decides, deviations fade within a second, and so must the
    envelope: a maximum from the start would hide every later change.
    """
    count = len(first.time)
    greatest = np.zeros_like(first.values)
    undecided = np.zeros(first.values.shape, dtype=bool)
    for other in others:
        shared = min(count, len(other.time))
        mine, theirs = first.values[:shared], other.values[:shared]
        undecided[:shared] |= np.isfinite(mine) != np.isfinite(theirs)
        undecided[shared:] = True
        deviation = np.abs(mine - theirs)
        greatest[:shared] = np.fmax(greatest[:shared], np.nan_to_num(deviation, nan=0.0))
    window = 2 * max(1, round(_WINDOW * log_rate)) + 1
    envelope = maximum_filter1d(greatest, window, axis=0, mode="nearest")
    remains = np.exp(-1.0 / (_DECAY * log_rate))
    for row in range(1, count):
        np.maximum(envelope[row], remains * envelope[row - 1], out=envelope[row])
    margin = max(1, round(UNDEFINED_MARGIN * log_rate))
    near = maximum_filter1d(undecided.astype(np.uint8), 2 * margin + 1, axis=0, mode="nearest")
    envelope[near > 0] = np.inf
    return envelope


def envelope_width(trace: Trace) -> float:
    """Compute in which part of a trace, 0 to 1, rounding hides what faults change.

    A fault of a per cent makes a signal deviate by some usual tolerances. Returns the part of all samples of
    all channels whose allowed deviation is more than `WIDE` usual ones.
    """
    wide = trace.tolerance > WIDE * usual_tolerances(trace.channels, trace.values)
    return float(wide[np.isfinite(trace.values)].mean())


def encode_trace(trace: Trace) -> bytes:
    """Write a trace as the bytes of its file. Returns netCDF with a checksum at its end."""
    import xarray as xr

    step = np.array([TOLERANCES[channel.unit].absolute for channel in trace.channels]) / STEPS_PER_TOLERANCE
    defined = np.isfinite(trace.values)
    limit = 2.0**31 - 1.0
    rounded = np.clip(np.rint(np.where(defined, trace.values, 0.0) / step), -limit, limit)
    values = np.where(defined, rounded, _UNDEFINED).astype(np.int32)
    # Deviations are written as codes, rounded up.
    with np.errstate(divide="ignore"):
        octaves = np.log2(trace.envelope / (STEPS_PER_TOLERANCE * step))
        code = np.ceil(_UNIT_CODE + _CODES_PER_OCTAVE * octaves)
    code = np.clip(np.nan_to_num(code, posinf=0.0, neginf=0.0), 1, _INFINITE - 1)
    code = np.where(trace.envelope == 0.0, 0, code)
    code = np.where(np.isinf(trace.envelope), _INFINITE, code).astype(np.uint8)
    dataset = xr.Dataset(
        {
            "value": (("channel", "time"), values.T, {"description": "Samples in steps of their channel."}),
            "envelope": (
                ("channel", "time"),
                code.T,
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
    if trace.sums is not None:
        described = "Weighted sums of the planned and of the measured joint positions, with all digits."
        dataset["sums"] = (("time", "part"), trace.sums, {"description": described})
    return encode_dataset(dataset, _COMPRESSION)


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
        make_folder(path.parent)
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
    text = dataset.attrs.get("channels")
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
    code = dataset["envelope"].values.T
    deviations = STEPS_PER_TOLERANCE * step * 2.0 ** ((code.astype(float) - _UNIT_CODE) / _CODES_PER_OCTAVE)
    envelope = np.where(code == _INFINITE, np.inf, np.where(code == 0, 0.0, deviations))
    values = np.where(stored == _UNDEFINED, np.nan, stored * step)
    sums = None
    if "sums" in dataset.variables:
        sums = dataset["sums"].values
        if sums.dtype.kind != "f" or sums.shape != (len(time), 2) or not np.isfinite(sums).all():
            raise BaselineError(f"{path}: sums must be two finite numbers for each time")
    return Trace(time, channels, values, envelope, lags, log_rate, sums)
