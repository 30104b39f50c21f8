"""Poses of all rigid bodies of a robot and its equipment over time."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.sim.fixtures.mechanism import Mechanism, part_poses


def link_poses(robot: Robot, base: Array, joints: Array, links: Sequence[str]) -> Array:
    """Compute the forward kinematics of a robot's links.

    `base` (F, 7): pose of the root link in the world: position, m, and quaternion x, y, z, w; `joints` (F,
    n): joint positions in the order of `robot.joint_names`, rad; `links`: names of the links. Returns (F, L,
    4, 4): pose of each link in the world.
    """
    model, data = robot.model, robot.model.createData()
    configuration = pin.neutral(model)
    frames = [model.getFrameId(name, pin.FrameType.BODY) for name in links]
    poses = np.empty((len(base), len(links), 4, 4))
    for sample, row in enumerate(joints):
        configuration[robot.root_q :] = row
        pin.framesForwardKinematics(model, data, configuration)
        # Relative to the root, which is at the model's origin.
        placements = data.oMf
        for column, frame in enumerate(frames):
            poses[sample, column] = placements[frame].homogeneous
    return np.asarray(homogeneous_poses(base)[:, None] @ poses)


def mechanism_poses(mechanism: Mechanism, positions: Array, stand: Array | None) -> Array:
    """Compute the poses of the parts of a mechanism, and of its furniture.

    `mechanism`: the equipment; `positions` (F, J): joint positions, m or rad; `stand` (F, 7) or None: pose in
    the world of the frame of a mechanism that stands freely: position, m, and quaternion x, y, z, w; None for
    one that is fixed to the world. Returns (F, P, 4, 4): poses in the world of `mechanism.furniture`, then of
    `mechanism.parts`, whose shapes are given in the mechanism's frame with all joints at 0.
    """
    parts = [part_poses(mechanism, part.name, positions) for part in mechanism.parts]
    if stand is not None:
        moved = homogeneous_poses(stand) @ mechanism.pose.inverse().homogeneous
        parts = [moved @ poses for poses in parts]
    still = np.tile(mechanism.pose.homogeneous, (len(positions), 1, 1))
    return np.stack([*[still] * len(mechanism.furniture), *parts], axis=1)


def homogeneous_poses(poses: Array) -> Array:
    """Convert poses to homogeneous transformations.

    `poses` (F, 7): position, m, and unit quaternion x, y, z, w. Returns (F, 4, 4).
    """
    x, y, z, w = poses[:, 3:].T
    matrices = np.zeros((len(poses), 4, 4))
    matrices[:, 3, 3] = 1.0
    matrices[:, :3, 3] = poses[:, :3]
    rows = [
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    ]
    matrices[:, :3, :3] = np.moveaxis(np.array(rows), -1, 0)
    return matrices
