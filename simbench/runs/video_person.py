"""The recorded person as a figure beside the robot."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import gaussian_filter1d

from simbench.errors import RunError
from simbench.kinematics.arrays import Array
from simbench.motion.trajectory import JointTrajectory, sample_trajectory
from simbench.retargeting.body_errors import robot_points
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.runs.log_schema import has_person, require_person
from simbench.sim.rendering.scene_view import Figure

if TYPE_CHECKING:
    import xarray as xr

_ARM, _LEG = ("shoulder", "elbow", "wrist"), ("hip", "knee", "ankle", "toe")
_CHAINS: tuple[tuple[str, ...], ...] = (
    ("mid_hip", "pelvis", "mid_shoulder", "neck", "head"),
    ("left_shoulder", "right_shoulder"),
    ("left_hip", "right_hip"),
    *(tuple(f"{side}_{joint}" for joint in chain) for side in SIDES for chain in (_ARM, _LEG)),
)
_BALL, _BAR = 0.042, 0.03  # Radius of a joint and of a limb, m.
_RADII = {
    **{"head": 0.1, "toe": 0.03, "wrist": 0.045, "pelvis": 0.06, "neck": 0.045},
    **{"mid_hip": _BAR, "mid_shoulder": _BAR, "floor": 0.012},
}
# Radius of the stand of a person without recorded legs, and height of the ankles of one with legs, m.
_STAND, _ANKLE_HEIGHT = 0.012, 0.08
_OVER_FLOOR = 0.03  # Least height of an ankle or a toe above the floor, m.
# Standard deviation of the Gaussian that smooths the way along which a person stays beside the robot, s.
_BESIDE_S = 0.5
_HEAD = 0.36  # Distance of a head that was not recorded from the neck, as a fraction of the trunk's length.


def place_person(folder: Path, robot: Robot, log: xr.Dataset, times: Array, shift: Array) -> Figure:
    """Place the person whom a robot follows beside it.

    The person is as large as recorded, faces as the robot does, and at each moment has the posture that the
    robot is to have. They stay beside the robot: its way, smoothed, replaces theirs, so that the feet of a
    person who walks farther than the robot slide. Of a person without recorded legs, a stand carries the
    pelvis; a head that was not recorded is drawn in the direction of the trunk. `folder`: run directory, for
    messages; `log`: log of the run; `times` (F,): times of the frames in the time of the run, s; `shift`
    (3,): displacement of the person's pelvis from the robot's base in the world, m. Returns the person in
    each frame.
    """
    if not has_person(log):
        raise RunError(
            f"{folder}: --with-person: no recorded person in its log; allowed: runs in which a robot with "
            "two arms follows a recording or an actor (motion.source); run older ones again"
        )
    require_person(log, folder)
    names = [str(name) for name in log["body_point"].values]
    points = log["person_point"].values
    known = np.isfinite(points).all(axis=(0, 2))
    body = {name: points[:, column] for column, name in enumerate(names) if known[column]}
    # The person turns as the robot is turned, and is put beside it on the floor.
    heading, clock = _find_heading(robot, log), log["recording_robot_time"].values
    sine, cosine = np.sin(heading), np.cos(heading)
    turn = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    turned = {name: path @ turn.T for name, path in body.items()}
    middle = turned["pelvis"] if "pelvis" in turned else np.mean(list(turned.values()), axis=0)
    displacement = np.tile(shift, (len(clock), 1))
    step = float(np.median(np.diff(clock))) if len(clock) > 1 else 0.0
    for axis in range(2):
        way = np.interp(clock, log["time"].values, log["base_pose"].values[:, axis]) - middle[:, axis]
        displacement[:, axis] += (
            gaussian_filter1d(way, _BESIDE_S / step, mode="nearest") if step > 0.0 else way
        )
    feet = [path[:, 2].min() for name, path in turned.items() if name.endswith(("ankle", "toe"))]
    if feet:
        # A recording's floor may be anywhere.
        displacement[:, 2] += max(0.0, _OVER_FLOOR - min(feet)) - max(0.0, min(feet) - _ANKLE_HEIGHT)
    placed = {name: path + displacement for name, path in turned.items()}
    sampled = {
        name: np.stack([np.interp(times, clock, axis) for axis in path.T], axis=1)
        for name, path in placed.items()
    }
    return _connect(sampled)


def _find_heading(robot: Robot, log: xr.Dataset) -> float:
    """Find by how much the world of the robot is turned against the recording's about z, rad.

    The log holds points of the robot that are turned back by it.
    """
    turned = log["robot_point"].values
    executed = np.isfinite(turned).any(axis=(1, 2))
    clock = log["recording_robot_time"].values[executed]
    if not len(clock):
        return 0.0
    base = log["base_pose"].values if robot.floating else None
    motion = JointTrajectory(log["time"].values, log["joint_position"].values, robot.joint_names, base)
    world = robot_points(robot, sample_trajectory(motion, clock[:1]))
    names = [str(name) for name in log["body_point"].values]
    pairs = [
        (world[name][0, :2], turned[executed][0, names.index(name), :2]) for name in names if name in world
    ]
    if len(pairs) < 2:
        return 0.0
    there, here = (np.array(each) - np.mean(each, axis=0) for each in zip(*pairs, strict=True))
    across = (here[:, 0] * there[:, 1] - here[:, 1] * there[:, 0]).sum()
    return float(np.arctan2(across, (here * there).sum()))


def _connect(points: dict[str, Array]) -> Figure:
    """Connect the points of a body."""
    known = dict(points)
    for joint in ("hip", "shoulder"):
        pair = [points[f"{side}_{joint}"] for side in SIDES if f"{side}_{joint}" in points]
        if len(pair) == len(SIDES):
            known[f"mid_{joint}"] = 0.5 * (pair[0] + pair[1])
    if "head" not in known and {"neck", "pelvis"} <= known.keys():
        known["head"] = known["neck"] + _HEAD * (known["neck"] - known["pelvis"])
    if "pelvis" in known and not any(name.endswith("_ankle") for name in known):
        known["floor"] = known["pelvis"] * [1.0, 1.0, 0.0]
    names = list(known)
    bars: dict[tuple[int, int], float] = {}
    for chain in _CHAINS:
        found = [names.index(name) for name in chain if name in known]
        bars |= dict.fromkeys(pairwise(found), _BAR)
    if "floor" in known:
        bars[names.index("pelvis"), names.index("floor")] = _STAND
    radii = [_RADII.get(name, _RADII.get(name.partition("_")[2], _BALL)) for name in names]
    return Figure(np.stack(list(known.values()), axis=1), tuple(bars), (*radii, *bars.values()))
