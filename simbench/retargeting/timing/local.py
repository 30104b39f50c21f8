"""Time that is stretched only where limits bind: the path is kept, and so is its tempo elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline
from scipy.ndimage import maximum_filter1d

from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import SHORTEST_WINDOW, differentiate
from simbench.kinematics.time_optimal import (
    PathConstraints,
    constant_rate,
    constraint_use,
    fastest_rate,
    reduce_rate,
    smooth_rate,
)

_NODE_DISTANCE = 0.01
"""Largest distance of the nodes, s of the recording: people's arms move below 5 Hz."""
_FINE = 4
"""Points between two nodes at which speeds are examined."""
_SMOOTHING = 0.1
"""Half width of the kernel that rounds the time law, s of the recording: what it lets through is below
5 Hz, as what balance answers."""
_STRETCHED = 1.01
"""Stretch from which on time counts as stretched."""
_CORNER_ROUNDS = 6
"""Times that a tempo is slowed for accelerations: each reduces what is too much by its own factor."""
MOST_STRETCH = 20.0
"""Greatest local stretch that is believed: beyond it the limits leave no smooth way through, and all of the
motion is slowed by one factor."""
UNIFORM_INSTEAD = "stretched by one factor: no local tempo keeps the limits"
"""What is said then."""
_ROUNDING = 1e-12
"""Distance of ṡ² from 1 below which the recorded tempo is kept exactly."""


@dataclass(frozen=True)
class PathLimits:
    """How fast a path may be followed: bounds of ṡ² and s̈ at evenly spaced nodes.

    Parameters
    ----------
    start : float
        Recorded time of the first node, s.
    step : float
        Distance of the N nodes, s of the recording.
    ceiling : (N,) array
        Upper bound of ṡ²: the squares of the speed limits, at most 1.
    fastest : (N,) int array
        Joint whose speed is nearest its limit at each node.
    constraints : PathConstraints
        What else bounds ṡ² and s̈, m rows.
    names : tuple of str
        Names of the joints' speeds, then of the m rows: what binds.
    """

    start: float
    step: float
    ceiling: Array
    fastest: NDArray[np.int64]
    constraints: PathConstraints
    names: tuple[str, ...]

    @property
    def nodes(self) -> Array:
        """Recorded time of the nodes, s, (N,)."""
        return np.asarray(self.start + self.step * np.arange(len(self.ceiling)))


@dataclass(frozen=True)
class TempoMap:
    """The robot's time over the recording's.

    Parameters
    ----------
    recorded : (N,) array
        Evenly spaced times of the recording, s.
    robot : (N,) array
        The robot's time at these, s, from 0 on.
    square : (N,) array
        ṡ², the squared rate at which the recording's time passes in the robot's, at most 1.
    """

    recorded: Array
    robot: Array
    square: Array

    def __call__(self, time: Array) -> Array:
        """Map times of the recording to the robot's.

        Parameters
        ----------
        time : (T,) array
            Times of the recording, s.

        Returns
        -------
        (T,) array
            The robot's, s; the same if nothing is stretched.
        """
        if (self.square == 1.0).all():
            return time
        return np.asarray(self.recorded[0] + np.interp(time, self.recorded, self.robot))


def kinematic_limits(
    time: Array, joints: Array, speed: Array, acceleration: Array, names: Sequence[str]
) -> PathLimits:
    """Bound the rate of a path by the speed and acceleration limits of its joints.

    |q′ ṡ| ≤ v between the nodes too, on the cubic spline through the samples; |q″ ṡ² + q′ s̈| ≤ a at the
    nodes, with smoothed derivatives.

    Parameters
    ----------
    time : (T,) array
        Recorded time of the samples, s.
    joints : (T, n) array
        Joint positions, rad.
    speed : (n,) array
        Speed limits, rad/s.
    acceleration : (n,) array
        Acceleration limits, rad/s²; infinite where there is none.
    names : sequence of str
        Names of the joints.

    Returns
    -------
    PathLimits
        Bounds at nodes at most 10 ms apart.
    """
    count = max(1, int(np.ceil((time[1] - time[0]) / _NODE_DISTANCE - 1e-6))) * (len(time) - 1)
    step = float((time[-1] - time[0]) / count)
    spline = make_interp_spline(time, joints, k=min(3, len(time) - 1))
    fine = np.linspace(time[0], time[-1], _FINE * count + 1)
    ratio = np.abs(spline.derivative()(fine)) / speed
    # At a node the greatest up to its neighbours.
    greatest = maximum_filter1d(ratio, 2 * _FINE + 1, axis=0, mode="nearest")[::_FINE]
    fastest = greatest.argmax(axis=1)
    ceiling = 1.0 / np.maximum(1.0, greatest.max(axis=1)) ** 2
    limited = np.flatnonzero(np.isfinite(acceleration))
    none = np.empty((count + 1, 0))
    constraints, kinds = PathConstraints(none, none), [f"speed of {name}" for name in names]
    if len(limited) and len(time) >= SHORTEST_WINDOW:
        found = differentiate(time, joints[:, limited])
        nodes = fine[::_FINE]
        a, b = (
            _interpolate(time, values / acceleration[limited], nodes)
            for values in (found.velocity, found.acceleration)
        )
        constraints = PathConstraints(np.hstack([a, -a]), np.hstack([b, -b]))
        kinds += 2 * [f"acceleration of {names[column]}" for column in limited.tolist()]
    return PathLimits(float(time[0]), step, ceiling, fastest, constraints, tuple(kinds))


def with_constraints(
    limits: PathLimits, time: Array, rows: PathConstraints, names: Sequence[str]
) -> PathLimits:
    """Add constraints to the limits of a path.

    Parameters
    ----------
    limits : PathLimits
        Limits so far, at N nodes.
    time : (S,) array
        Recorded times at which the constraints are known, s, increasing.
    rows : PathConstraints
        Constraints at these times, m rows; linear in between.
    names : sequence of str
        What each of the m rows is, such as `torque of r_knee`.

    Returns
    -------
    PathLimits
        Limits with the rows added.
    """
    nodes = limits.nodes
    a, b = (
        np.hstack([old, _interpolate(time, new, nodes)])
        for old, new in zip(limits.constraints, rows, strict=True)
    )
    return PathLimits(
        limits.start,
        limits.step,
        limits.ceiling,
        limits.fastest,
        PathConstraints(a, b),
        (*limits.names, *names),
    )


def fit_tempo(limits: PathLimits) -> TempoMap:
    """Find the tempo that takes the least time inside limits, never faster than recorded, without corners.

    The time-optimal ṡ² (`fastest_rate`), smoothed from below over ±0.1 s of the recording, so that jerk is
    bounded; then reduced where the smoothed one breaks a constraint (`reduce_rate`). It takes no longer than
    one factor for all of the motion under the same limits (`uniform_tempo`).

    Parameters
    ----------
    limits : PathLimits
        Limits at N nodes.

    Returns
    -------
    TempoMap
        The robot's time at the nodes.
    """
    square = fastest_rate(limits.step, limits.ceiling, limits.constraints)
    return _reduced(limits, smooth_rate(square, _half_width(limits)))


def uniform_tempo(limits: PathLimits) -> TempoMap:
    """Find the tempo that slows all of a motion by one factor until the same limits hold.

    Parameters
    ----------
    limits : PathLimits
        Limits at N nodes.

    Returns
    -------
    TempoMap
        The robot's time at the nodes.
    """
    rate = constant_rate(limits.ceiling, limits.constraints)
    return _timed(limits, np.full_like(limits.ceiling, rate))


def slow_where_needed(limits: PathLimits, tempo: TempoMap) -> TempoMap:
    """Slow a tempo further where it breaks limits.

    Parameters
    ----------
    limits : PathLimits
        Limits at N nodes.
    tempo : TempoMap
        Tempo at the same nodes.

    Returns
    -------
    TempoMap
        The same where the limits hold.
    """
    return _reduced(limits, tempo.square)


def slow_for_accelerations(
    limits: PathLimits, tempo: TempoMap, time: Array, joints: Array, acceleration: Array
) -> TempoMap:
    """Slow a tempo further where accelerations in the robot's time are beyond their limits.

    The windows in which a path is differentiated are of the recording's time. Where it is stretched, and the
    path has a corner, the robot's time resolves the corner better. What is left after some rounds slows all
    of it, unless a constant tempo takes less time.

    Parameters
    ----------
    limits : PathLimits
        Limits at N nodes.
    tempo : TempoMap
        Tempo at the same nodes.
    time : (T,) array
        Recorded time of the samples, s.
    joints : (T, n) array
        Joint positions, rad.
    acceleration : (n,) array
        Acceleration limits, rad/s²; infinite where there is none.

    Returns
    -------
    TempoMap
        The same where the limits hold.
    """
    limited = np.isfinite(acceleration)
    if not limited.any() or len(time) < SHORTEST_WINDOW:
        return tempo

    def need(tempo: TempoMap) -> Array:
        found = differentiate(tempo(time), joints[:, limited]).acceleration
        return np.asarray((np.abs(found) / acceleration[limited]).max(axis=1))

    constant = min(float(tempo.square.min()), constant_rate(limits.ceiling, limits.constraints))
    for _ in range(_CORNER_ROUNDS):
        use = need(tempo)
        if use.max() <= 1.0:
            return tempo
        dip = smooth_rate(1.0 / np.maximum(1.0, np.interp(limits.nodes, time, use)), _half_width(limits))
        tempo = _reduced(limits, tempo.square * dip)
    uniform = _timed(limits, np.full_like(tempo.square, constant))
    ways = [_timed(limits, each.square / max(1.0, float(need(each).max()))) for each in (tempo, uniform)]
    return min(ways, key=lambda each: float(each.robot[-1]))


def measure_stretch(limits: PathLimits, tempo: TempoMap) -> tuple[dict[str, float], str]:
    """Measure how much and where time is stretched, and what asks for it.

    Parameters
    ----------
    limits : PathLimits
        Limits at the nodes of the tempo.
    tempo : TempoMap
        Tempo inside them.

    Returns
    -------
    metrics : dict of str to float
        `retarget.slow_down_max`, the greatest local stretch, and `retarget.stretched_fraction`, the part of
        the robot's duration in which time is stretched by more than 1 %.
    note : str
        What binds where most of the time is lost; empty if nothing is stretched.
    """
    stretch = 1.0 / np.sqrt(tempo.square)
    stretched = stretch > _STRETCHED
    metrics = {
        "retarget.slow_down_max": float(stretch.max()),
        "retarget.stretched_fraction": float((stretch * stretched).sum() / stretch.sum()),
    }
    if not stretched.any():
        return metrics, ""
    use = constraint_use(limits.step, tempo.square, limits.ceiling, limits.constraints)
    # The recorded tempo is no limit that binds.
    use[limits.ceiling == 1.0, 0] = 0.0
    binding = use.argmax(axis=1)
    offset = len(limits.names) - limits.constraints.a.shape[1]
    which = np.where(binding == 0, limits.fastest, binding - 1 + offset)
    # Beside a limit that binds the tempo changes, without one of its own.
    reach = 2 * _half_width(limits)
    near = sliding_window_view(np.pad(use.max(axis=1), reach, mode="edge"), 2 * reach + 1).argmax(axis=1)
    which = which[np.clip(np.arange(len(which)) + near - reach, 0, len(which) - 1)]
    lost: dict[str, float] = {}
    for row, extra in zip(which[stretched], limits.step * (stretch[stretched] - 1.0), strict=True):
        lost[limits.names[row]] = lost.get(limits.names[row], 0.0) + float(extra)
    total = sum(lost.values())
    most = sorted(lost.items(), key=lambda each: -each[1])[:3]
    parts = ", ".join(f"{name} ({100 * seconds / total:.0f} %)" for name, seconds in most)
    return metrics, f"{total:.2f} s longer than recorded, most for {parts}"


def slowed_by(metrics: Mapping[str, float], factor: float) -> dict[str, float]:
    """Correct metrics of a plan that was made from a recording slowed beforehand.

    Parameters
    ----------
    metrics : mapping of str to float
        Metrics of the plan, `retarget.slow_down` among them.
    factor : float
        Factor by which all of the recording was slowed.

    Returns
    -------
    dict of str to float
        Metrics with the slow-downs against the recording itself.
    """
    keys = [key for key in ("retarget.slow_down", "retarget.slow_down_max") if key in metrics]
    corrected = {**metrics, **{key: factor * metrics[key] for key in keys}}
    if factor > _STRETCHED and "retarget.stretched_fraction" in metrics:
        corrected["retarget.stretched_fraction"] = 1.0
    return corrected


def _interpolate(time: Array, values: Array, at: Array) -> Array:
    """Interpolate columns (T, m) linearly."""
    if len(time) == len(at):
        return values
    return np.asarray(make_interp_spline(time, values, k=1)(at))


def _half_width(limits: PathLimits) -> int:
    """Half width of the kernel, in nodes."""
    return round(_SMOOTHING / limits.step)


def _reduced(limits: PathLimits, square: Array) -> TempoMap:
    """Tempo of a smooth ṡ², reduced where it breaks a constraint."""
    reduced = reduce_rate(limits.step, square, limits.ceiling, limits.constraints, _half_width(limits))
    return _timed(limits, reduced)


def _timed(limits: PathLimits, square: Array) -> TempoMap:
    """Integrate the time of ṡ²."""
    # The mean of ones is 1 but for rounding.
    square = np.where(square > 1.0 - _ROUNDING, 1.0, square)
    stretch = 1.0 / np.sqrt(square)
    passed = 0.5 * limits.step * (stretch[1:] + stretch[:-1])
    return TempoMap(limits.nodes, np.concatenate([[0.0], np.cumsum(passed)]), square)
