"""Noise of a robot trajectory: smoothed as far as accelerations demand it, as the verdict does."""

from dataclasses import replace

import numpy as np

from simbench.kinematics.derivatives import SHORTEST_WINDOW, differentiate
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.trajectory.curves import continuous_quaternions
from simbench.robot.robot import Robot

_TOLD = 5e-4
"""RMS of what smoothing changes from which on it is said, m or rad."""


def smooth_noise(robot: Robot, trajectory: JointTrajectory) -> tuple[JointTrajectory, list[str]]:
    """Smooth the samples of a trajectory as far as their noise would shake the robot.

    The polynomials of `differentiate` are used: over the shortest window, of at least five samples and 0.05 s
    and at most 0.3 s, whose accelerations are free of noise. Five samples without noise stay as they are.
    Noise of 2 mrad at 50 Hz, interpolated, is 18 rad/s² in the arms, which moves the ZMP by centimetres.

    Parameters
    ----------
    robot : Robot
        Robot with n joints.
    trajectory : JointTrajectory
        Motion of its joints inside their limits, with a base if the robot's floats.

    Returns
    -------
    trajectory : JointTrajectory
        The smoothed motion, joints inside their limits.
    notes : list of str
        What was changed, one line; none if it is little.
    """
    if len(trajectory.time) < SHORTEST_WINDOW:
        return trajectory, []
    base = np.empty((len(trajectory.time), 0))
    if trajectory.base is not None:
        base = np.hstack([trajectory.base[:, :3], continuous_quaternions(trajectory.base[:, 3:])])
    columns = base.shape[1]
    given = np.hstack([base, trajectory.q])
    found = differentiate(trajectory.time, given, columns)
    smoothed = found.position
    notes = []
    changed = np.sqrt(np.mean((smoothed - given) ** 2, axis=0))
    if changed.max(initial=0.0) > _TOLD:
        period = (trajectory.time[-1] - trajectory.time[0]) / (len(trajectory.time) - 1)
        text = f"joints by {changed[columns:].max(initial=0.0):.4f} rad RMS at most"
        if columns:
            text += f", the base by {changed[:3].max():.4f} m"
        notes.append(f"the samples have noise and are smoothed over {found.window * period:.2f} s: {text}")
    if columns:
        smoothed[:, 3:7] /= np.linalg.norm(smoothed[:, 3:7], axis=1, keepdims=True)
    low, high = (
        limit[robot.root_q :] for limit in (robot.model.lowerPositionLimit, robot.model.upperPositionLimit)
    )
    q = np.clip(smoothed[:, columns:], low, high)
    return replace(trajectory, q=q, base=smoothed[:, :7] if columns else None), notes
