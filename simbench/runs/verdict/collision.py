"""Check on self-collision."""

import numpy as np

from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.collision.interference import find_interference
from simbench.robot.robot import Robot
from simbench.runs.verdict.judging import moment_at, not_applicable
from simbench.runs.verdict.outcome import Check, Outcome
from simbench.runs.verdict.thresholds import COLLISION

_NAME = "self-collision"


def check_collision(robot: Robot, trajectory: JointTrajectory) -> Check:
    """Check whether links of a robot come into each other.

    `trajectory`: motion of all its joints. Returns the deepest penetration of two links' convex hulls, and
    the first that is too deep.
    """
    if not robot.self_collision_pairs:
        return not_applicable(_NAME, "the robot has no pairs of links that can collide")
    time = trajectory.time
    found = find_interference(robot, trajectory)
    series = np.zeros(len(time))
    for each in found:
        inside = (time >= each.start) & (time <= each.end)
        series[inside] = np.maximum(series[inside], -each.distance)
    if not found:
        return Check(_NAME, "pass", 0.0, COLLISION.value, "m", series=series)
    deepest = min(found, key=lambda each: each.distance)
    deep = [each for each in found if -each.distance > COLLISION.value]
    first = None
    if deep:
        start = min(deep, key=lambda each: each.start)
        # The first sample that is not before the start.
        first = moment_at(time, min(int(np.searchsorted(time, start.start)), len(time) - 1))
        pair = f"{start.first} and {start.second}"
    else:
        pair = f"{deepest.first} and {deepest.second}"
    worst = moment_at(time, int(np.abs(time - deepest.time).argmin()))
    outcome: Outcome = "fail" if deep else "pass"
    return Check(_NAME, outcome, -deepest.distance, COLLISION.value, "m", worst, first, pair, series=series)
