"""Poses, velocities and external forces of links, which robots and fixtures have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from simbench.kinematics.arrays import Array
from simbench.sim.engine import BodyHandle, LinkHandle
from simbench.sim.mujoco.scene import MujocoScene
from simbench.sim.vectors import Motion, Vector


@dataclass(frozen=True)
class MujocoBody:
    """A body in one of MuJoCo's worlds."""

    scene: MujocoScene
    handle: BodyHandle  # Number of the body in its world.
    links: Mapping[str, LinkHandle]  # Link name to MuJoCo's index.

    def link_motions(self, links: Sequence[LinkHandle]) -> list[Motion]:
        """Compute the poses and velocities of links for the present joint positions.

        Returns one for each link, in world axes.
        """
        data = self.scene.locate_links()
        return [_motion(data, self.scene.model, link) for link in links]

    def apply_force(self, link: LinkHandle, force: Vector, point: Vector) -> None:
        """Apply a force to a link during the next step.

        `link`: link that the force acts on; `force` (3,): force, world axes, N; `point` (3,): point of
        application, world frame, m.
        """
        self.apply_wrench(link, force, (0.0, 0.0, 0.0), point)

    def apply_wrench(self, link: LinkHandle, force: Vector, torque: Vector, point: Vector) -> None:
        """Apply a force and a torque to a link during the next step.

        `link`: link that the wrench acts on; `force`, `torque` (3,): force (N) and torque (N·m), world axes;
        `point` (3,): point of application of the force, world frame, m.
        """
        apply_at(self.scene, link, force, torque, point)


def apply_at(scene: MujocoScene, link: int, force: Vector, torque: Vector, point: Vector) -> None:
    """Add a force and a torque to those of the next step; MuJoCo takes them about the link's centre of mass.

    `scene`: world of the link; `link`: MuJoCo's index of the link; `force`, `torque` (3,): force (N) and
    torque (N·m), world axes; `point` (3,): point of application of the force, world frame, m.
    """
    data = scene.locate_links()
    (cx, cy, cz), (fx, fy, fz), (tx, ty, tz) = data.xipos[link].tolist(), force, torque
    x, y, z = point[0] - cx, point[1] - cy, point[2] - cz
    data.xfrc_applied[link] += (fx, fy, fz, tx + y * fz - z * fy, ty + z * fx - x * fz, tz + x * fy - y * fx)


def _motion(data: mujoco.MjData, model: mujoco.MjModel, link: int) -> Motion:
    """Pose and velocity of a link; MuJoCo has the velocity at the centre of mass of the whole tree."""
    wx, wy, wz, vx, vy, vz = data.cvel[link].tolist()
    com = data.xipos[link].tolist()
    (cx, cy, cz), (rx, ry, rz) = com, data.subtree_com[model.body_rootid[link]].tolist()
    x, y, z = cx - rx, cy - ry, cz - rz
    w, *vector = data.xquat[link].tolist()
    linear = (vx + wy * z - wz * y, vy + wz * x - wx * z, vz + wx * y - wy * x)
    return tuple(com), tuple(data.xpos[link].tolist()), (*vector, w), linear, (wx, wy, wz)


def free_pose(qpos: Array) -> Array:
    """Convert the position coordinates of a free joint to a pose.

    `qpos` (7,): MuJoCo's coordinates: x, y, z (m), quaternion w, x, y, z. Returns (7,): position x, y, z (m)
    and quaternion x, y, z, w.
    """
    return np.concatenate([qpos[:3], qpos[4:7], qpos[3:4]])


def free_coordinates(pose: Array) -> Array:
    """Convert a pose to the position coordinates of a free joint.

    `pose` (7,): position x, y, z (m) and quaternion x, y, z, w. Returns (7,): MuJoCo's coordinates: x, y, z
    (m), quaternion w, x, y, z.
    """
    return np.concatenate([pose[:3], pose[6:7], pose[3:6]])
