"""Moments of a run that show what happens in it, chosen from its log."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from simbench.runs.metrics import FELL_HEIGHT

PICTURES = 4
"""Number of pictures in a strip."""
APART = 0.62
"""Least distance between the figures in the picture of a robot that goes somewhere, m."""
GOES = 0.5
"""Distance of the root from where it began, m, from which a robot goes somewhere."""
BEFORE_STROKE = 1.5
"""Time of the first picture before the hands hold the equipment, s."""
LEANS = 0.03
"""Inclination of the root, rad, beyond the largest while it stood, from which a robot topples."""
BEFORE_FALL = 1.0
"""Time of the first picture before a robot topples, s."""

Times = list[float]


def goes_somewhere(log: xr.Dataset) -> bool:
    """Whether the robot walks off the place where it began, rather than falling on it."""
    away = np.linalg.norm(log["base_pose"].values[:, :2] - log["base_pose"].values[0, :2], axis=1)
    return not fell(log) and bool(away.max() > GOES)


def fell(log: xr.Dataset) -> bool:
    """Whether the root dropped as low as the metric `fell` asks for."""
    height = log["base_pose"].values[:, 2]
    return bool((height < FELL_HEIGHT * height[0]).any())


def choose_moments(log: xr.Dataset, equipped: bool) -> Times:
    """Choose the moments of a strip: a fall, the last push, steps, the first stroke, or the widest gestures.

    Parameters
    ----------
    log : xarray.Dataset
        Log of the run.
    equipped : bool
        Whether the robot uses equipment.

    Returns
    -------
    list of float
        Times in the run, s, in order.
    """
    if fell(log):
        return _fall_moments(log)
    if np.any(log["push_wrench"].values):
        return _push_moments(log)
    swings = _swing_middles(log)
    if goes_somewhere(log):
        return _path_moments(log, [*swings, float(log["time"].values[-1])])
    if equipped and log.sizes["stroke"]:
        start, end = log["strokes"].values[0]
        during = log["time"].values[(log["time"].values >= start) & (log["time"].values <= end)]
        return [max(0.0, start - BEFORE_STROKE), *_most_different(log, during, PICTURES - 1)]
    return _most_different(log, _in_strokes(log, swings or log["time"].values), PICTURES)


def _in_strokes(log: xr.Dataset, times: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Those of the given times at which a motion repeats; all, if it does not or they are too few."""
    times = np.asarray(times)
    if not log.sizes["stroke"]:
        return times
    strokes = log["strokes"].values
    kept = times[(times >= strokes.min()) & (times <= strokes.max())]
    return kept if len(kept) >= PICTURES else times


def _fall_moments(log: xr.Dataset) -> Times:
    """Before the fall, and at three times from its beginning to its end."""
    time, pose = log["time"].values, log["base_pose"].values
    x, y = pose[:, 3], pose[:, 4]
    tilt = 2.0 * np.arcsin(np.clip(np.hypot(x, y), 0.0, 1.0))
    upright = tilt < tilt[time <= log.attrs["motion_start_s"]].max() + LEANS
    begins = float(time[np.flatnonzero(upright)[-1]])
    return [max(0.0, begins - BEFORE_FALL), *np.linspace(begins, time[-1], PICTURES - 1).tolist()]


def _push_moments(log: xr.Dataset) -> Times:
    """While the last push acts, halfway to the largest displacement of the COG, then, and at the end."""
    time, pushed = log["time"].values, np.any(log["push_wrench"].values, axis=1)
    starts = np.flatnonzero(np.diff(pushed.astype(int), prepend=0) > 0)
    after = slice(starts[-1], None)
    acts = float(time[after][pushed[after]].mean())
    way = np.linalg.norm(log["cog"].values[after, :2] - log["cog"].values[starts[-1], :2], axis=1)
    widest = int(way.argmax())
    halfway = int(np.flatnonzero(way >= 0.5 * way[widest])[0])
    return [acts, float(time[after][halfway]), float(time[after][widest]), float(time[-1])]


def _path_moments(log: xr.Dataset, times: Times) -> Times:
    """The last of the given times, and backwards from it each at which the robot is apart from all chosen."""
    places = log["base_pose"].sel(time=times, method="nearest").values[:, :2]
    chosen = [len(times) - 1]
    for index in range(len(times) - 2, -1, -1):
        if np.linalg.norm(places[chosen] - places[index], axis=1).min() >= APART:
            chosen.append(index)
    return [times[index] for index in reversed(chosen)]


def _swing_middles(log: xr.Dataset) -> Times:
    """Times in the middle of each planned swing of a foot, in order."""
    if "contact_planned" not in log:
        return []
    time, middles = log["time"].values, []
    for planned in log["contact_planned"].values.T.astype(int):
        lifts, lands = np.flatnonzero(np.diff(planned) < 0), np.flatnonzero(np.diff(planned) > 0)
        middles += [float(time[(lift + land) // 2]) for lift, land in zip(lifts, lands, strict=False)]
    return sorted(middles)


def _most_different(log: xr.Dataset, times: Sequence[float] | NDArray[np.float64], count: int) -> Times:
    """Choose times at which the palms are far apart from one picture to another (farthest-point sampling)."""
    samples = np.searchsorted(log["time"].values, np.asarray(times) - 1e-9)
    palms = log["palm_position"].values[samples].reshape(len(samples), -1)
    chosen = [int(np.linalg.norm(palms - palms.mean(axis=0), axis=1).argmax())]
    while len(chosen) < count:
        distances = np.linalg.norm(palms[:, None] - palms[None, chosen], axis=2).min(axis=1)
        chosen.append(int(distances.argmax()))
    return sorted(float(times[index]) for index in chosen)
