"""What the feet of a trajectory do that planned feet do not: slide, sink, and leave the floor together."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.retargeting.trajectory.steps import PlannedSteps, TrajectoryTask
from simbench.robot.sides import SIDES

_SLIDING, _SINKING = 0.02, 0.01
"""Slide of a foot on the floor, and depth of a sole below it, from which on they are told, m."""
_FLOATING = 0.01
"""Height of a sole that stands from which on it is told, m."""
_FLAT = 0.1
"""Tilt of a sole up to which it counts as flat, rad."""


def describe_feet(setting: TrajectoryTask, steps: PlannedSteps) -> tuple[list[str], list[str]]:
    """Say what the feet of a trajectory do.

    Parameters
    ----------
    setting : TrajectoryTask
        The trajectory.
    steps : PlannedSteps
        Its contacts and the planned feet.

    Returns
    -------
    notes, doubts : list of str
        What was found, and what the robot cannot do as the file has it, one line each.
    """
    notes, doubts = [], []
    time = setting.trajectory.time
    grid = np.linspace(0.0, setting.duration, len(steps.contact))
    flight = ~steps.contact.any(axis=1)
    if flight.any():
        doubts.append(
            f"both feet are off the floor for {flight.mean() * time[-1]:.2f} s, first at "
            f"{grid[flight.argmax()]:.2f} s: the robot is not planned to jump, and cannot follow that"
        )
    height = np.where(steps.contact, steps.soles.clearance, 0.0)
    if height.max(initial=0.0) > _FLOATING:
        row, foot = divmod(int(height.argmax()), 2)
        doubts.append(
            f"the {SIDES[foot]} foot floats {height.max():.3f} m above the floor in the file at "
            f"{grid[row]:.2f} s; it is planned to stand on it"
        )
    moved = _deviation(steps)
    for foot, side in enumerate(SIDES):
        if moved[:, foot].max(initial=0.0) > _SLIDING:
            row = int(moved[:, foot].argmax())
            doubts.append(
                f"the {side} foot slides up to {moved[row, foot]:.3f} m on the floor in the file, at "
                f"{grid[min(row, len(grid) - 1)]:.2f} s; it is planned to stand still"
            )
    depth = -steps.soles.clearance
    if depth.max() > _SINKING:
        row, foot = divmod(int(depth.argmax()), 2)
        doubts.append(
            f"the {SIDES[foot]} sole is {depth.max():.3f} m below the floor in the file at {grid[row]:.2f} s"
        )
    notes.append(f"contacts of the feet in the file: {steps.feet.steps} steps")
    return notes, doubts


def _deviation(steps: PlannedSteps) -> Array:
    """Horizontal distance (M, 2) of flat feet in contact from where they are planned to stand, m."""
    rows = slice(steps.first, steps.first + len(steps.contact))
    planned = steps.feet.position[rows, :, :2]
    count = len(planned)
    distance = np.linalg.norm(steps.soles.position[:count, :, :2] - planned, axis=2)
    counted = steps.contact[:count] & steps.feet.contact[rows] & (steps.soles.tilt[:count] < _FLAT)
    return np.where(counted, distance, 0.0)


def plan_metrics(
    setting: TrajectoryTask, steps: PlannedSteps, height: float, lowered: float
) -> dict[str, float]:
    """Compute the metrics of the planning.

    Parameters
    ----------
    setting : TrajectoryTask
        The trajectory.
    steps : PlannedSteps
        Its contacts and the planned feet.
    height : float
        What was added to the base's height, m.
    lowered : float
        Distance by which the COG is planned lower than in the trajectory, m.

    Returns
    -------
    dict of str to float
        `trajectory.floor_shift_m`, `trajectory.lowered_m`, `trajectory.foot_slide_m` and
        `trajectory.flight_s`.
    """
    return {
        "trajectory.floor_shift_m": height,
        "trajectory.lowered_m": lowered,
        "trajectory.foot_slide_m": float(_deviation(steps).max(initial=0.0)),
        "trajectory.flight_s": float((~steps.contact.any(axis=1)).mean() * setting.duration),
    }
