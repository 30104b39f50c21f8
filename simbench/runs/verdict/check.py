"""Whether a robot's motion is physically possible."""

import numpy as np

from simbench.motion.trajectory import JointTrajectory
from simbench.robot.robot import Robot
from simbench.runs.verdict.balance import check_balance
from simbench.runs.verdict.collision import check_collision
from simbench.runs.verdict.dynamics import compute_forces
from simbench.runs.verdict.feet import check_feet
from simbench.runs.verdict.joints import check_joints
from simbench.runs.verdict.motion_state import MotionState, examine_motion
from simbench.runs.verdict.outcome import Verdict

_FLOOR_NOTE = 0.005
"""Height of resting soles above or below the floor from which it is said, m."""


def check_trajectory(
    robot: Robot,
    trajectory: JointTrajectory,
    *,
    floor: float = 0.0,
    source: str = "",
) -> Verdict:
    """Check whether a robot's motion is physically possible, by its kinematics and its inverse dynamics.

    Positions, jumps, speeds, torques, feet, self-collision and balance are checked in every sample. The
    motion is not simulated; `simbench verdict` does that too.

    Parameters
    ----------
    robot : Robot
        The robot.
    trajectory : JointTrajectory
        Motion of all the robot's joints in their order, with the base of a floating robot; at least ten
        samples.
    floor : float
        Height of the floor in the trajectory's world, m.
    source : str
        Where the motion is from, for the verdict.

    Returns
    -------
    Verdict
        The checks, with the first moment at which each fails.

    Raises
    ------
    MotionError
        If the motion is too short, is of other joints, or a floating robot's base is missing.
    """
    state = examine_motion(robot, trajectory, floor)
    forces = compute_forces(state)
    checks = [
        *check_joints(state, forces),
        *check_feet(state, forces),
        check_collision(robot, trajectory),
        *check_balance(state, forces),
    ]
    duration = float(trajectory.time[-1] - trajectory.time[0])
    return Verdict(
        robot.name,
        source,
        duration,
        len(trajectory.time),
        tuple(checks),
        tuple(_notes(state)),
        time=trajectory.time,
    )


def _notes(state: MotionState) -> list[str]:
    """List what was found out about the motion."""
    notes = []
    feet = state.feet
    if feet.roles:
        lowest = feet.corners[..., 2].reshape(len(state.time), -1).min(axis=1)
        resting = float(np.median(lowest))
        if abs(resting) > _FLOOR_NOTE:
            side = "above" if resting > 0.0 else "below"
            notes.append(
                f"the lowest sole is {100 * abs(resting):.1f} cm {side} the floor for half of the time; "
                f"declare --floor {resting:.3f} if the floor is there"
            )
    return notes
