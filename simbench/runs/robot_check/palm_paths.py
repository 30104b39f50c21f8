"""Where a person's palms go, relative to the shoulders, in units of the length of the arm."""

from functools import cache

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import PALM_OFFSET, HumanMotion
from simbench.motion.readers import read_motion

MOTIONS = ("fast_waving", "drawer", "valves", "steering_wheel")
"""Recordings whose palm paths are the reference: one in the air, three on equipment."""
_CELL = 0.15
"""Points that are nearer than this, in lengths of the arm, count as one."""


@cache
def palm_poses(side: str) -> Array:
    """Collect where a person's palm goes in the reference motions.

    `side`: `left` or `right`. Returns (N, 4, 4): poses of the palm in the person's axes (x forward, y left, z
    up), x along the fingers and z out of the back of the hand; the origin is the shoulder, lengths are in
    lengths of the arm from shoulder to palm.
    """
    poses = np.concatenate([_relative(read_motion(f"actor:{name}"), side) for name in MOTIONS])
    cells = np.round(poses[:, :3, 3] / _CELL).astype(int)
    _, first = np.unique(cells, axis=0, return_index=True)
    return poses[np.sort(first)]


def _relative(motion: HumanMotion, side: str) -> Array:
    """Palm of a recording in the axes of the world, from the shoulder, in lengths of the arm (T, 4, 4)."""
    shoulder, elbow, wrist = (motion.joints[f"{side}_{name}"] for name in ("shoulder", "elbow", "wrist"))
    hand = motion.segments[f"{side}_hand"][:, :3, :3]
    segments = (elbow - shoulder, wrist - elbow)
    length = sum(float(np.linalg.norm(each, axis=1).mean()) for each in segments) + np.linalg.norm(
        PALM_OFFSET
    )
    poses = np.tile(np.eye(4), (len(wrist), 1, 1))
    poses[:, :3, :3] = hand
    poses[:, :3, 3] = (wrist + hand @ PALM_OFFSET - shoulder) / length
    return poses
