"""Newton's method for legs and pelvis of many frames at once: feet in place, COG over its target."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.task_matrix import BodyMasses, body_masses
from simbench.kinematics.tree import KinematicTree, frame_on_body, kinematic_tree, make_path_poses, place_path


class SingularLegError(Exception):
    """A leg cannot move its foot in every direction. `frame`: first frame in which that is so."""

    def __init__(self, frame: int) -> None:
        super().__init__(frame)
        self.frame = frame


@dataclass(frozen=True)
class LegModel:
    """Kinematics and masses of a robot on two legs of six joints each."""

    tree: KinematicTree  # All n joints of the robot.
    masses: BodyMasses
    legs: tuple[NDArray[np.int64], ...]  # Tuple of two (6,) int arrays.
    # Tuple of (int, (3, 3) array, (3,) array): body that carries each foot's frame, and the frame's rotation
    # and position on it, m.
    feet: tuple[tuple[int, Array, Array], ...]
    carried: NDArray[np.bool_]  # (n, n + 1) bool: whether a joint carries a body.


def make_leg_model(model: pin.Model, legs: tuple[NDArray[np.int64], ...], feet: list[int]) -> LegModel:
    """Take the kinematics and masses of a robot on two legs out of its model.

    `model`: model with a free-flyer root; `legs` tuple of two (6,) int arrays: joints of each leg, among
    those after the root; `feet`: ids of the feet's frames. Returns for `newton_step`.
    """
    tree = kinematic_tree(model)
    carried = np.zeros((len(tree.parent), len(tree.parent) + 1), dtype=bool)
    for joint in reversed(range(len(tree.parent))):
        carried[joint, joint + 1] = True
        if tree.parent[joint] > 0:
            carried[tree.parent[joint] - 1] |= carried[joint]
    return LegModel(
        tree, body_masses(model), legs, tuple(frame_on_body(model, foot) for foot in feet), carried
    )


def newton_step(model: LegModel, q: Array, soles: list[pin.SE3], targets: Array) -> tuple[Array, Array]:
    """Take one Newton step of every frame in `q`; return the errors of feet and COG before it.

    `model`: robot on two legs; `q` (T, 7 + n): configurations: root position (m), quaternion x y z w, joints
    (rad); horizontal position and legs are changed in place; `soles`: poses of the feet in the world frame;
    `targets` (T, 2): targets of the COG in the world frame, m. Returns `feet` (T,): largest pose error of a
    foot, m or rad; `cog` (T,): distance of the COG from its target, m.
    """
    tree, masses = model.tree, model.masses
    rotation, position = make_path_poses(tree, len(q))
    place_path(tree, q, rotation, position)
    moments = masses.mass[:, None] * (position + (rotation @ masses.centre[:, :, None])[..., 0])
    missing = targets - moments.sum(axis=1)[:, :2] / masses.mass.sum()
    # Of the legs: the step that mends the feet (last column), and those that a metre of the pelvis undoes.
    right = np.zeros((len(q), 6, 3))
    right[:, [0, 1], [0, 1]] = 1.0
    steps, feet, slope, sway = [], np.zeros(len(q)), np.tile(np.eye(2), (len(q), 1, 1)), missing
    for leg, (body, frame, centre), sole in zip(model.legs, model.feet, soles, strict=True):
        foot = position[:, body] + rotation[:, body] @ centre
        right[:, :3, 2] = sole.translation - foot
        right[:, 3:, 2] = _rotation_vectors(sole.rotation @ (rotation[:, body] @ frame).transpose(0, 2, 1))
        feet = np.maximum(feet, np.abs(right[:, :, 2]).max(axis=1))
        jacobian, cog_jacobian = _leg_jacobians(model, leg, foot, rotation, position, moments)
        try:
            solved = np.linalg.solve(jacobian, right)
        except np.linalg.LinAlgError:
            raise SingularLegError(int(np.linalg.matrix_rank(jacobian).argmin())) from None
        along = cog_jacobian @ solved
        slope, sway = slope - along[:, :, :2], sway - along[:, :, 2]
        steps.append(solved)
    moved = np.linalg.solve(slope, sway[:, :, None])
    q[:, :2] += moved[:, :, 0]
    for leg, solved in zip(model.legs, steps, strict=True):
        q[:, 7 + leg] += solved[:, :, 2] - (solved[:, :, :2] @ moved)[:, :, 0]
    return feet, np.linalg.norm(missing, axis=1)


def _leg_jacobians(
    model: LegModel, leg: NDArray[np.int64], foot: Array, rotation: Array, position: Array, moments: Array
) -> tuple[Array, Array]:
    """Jacobians of a foot at its position (T, 6, 6) and of the COG (T, 2, 6) of a leg, world axes."""
    origins, sliding = position[:, leg + 1], model.tree.sliding[leg, None]
    axes = (rotation[:, leg + 1] @ model.tree.axis[leg, :, None])[..., 0]
    carried, mass = model.carried[leg].astype(float), model.masses.mass
    weight = (carried @ mass)[:, None]
    moved = (
        np.where(sliding, weight * axes, np.cross(axes, carried @ moments - weight * origins)) / mass.sum()
    )
    linear = np.where(sliding, axes, np.cross(axes, foot[:, None] - origins))
    jacobian = np.concatenate([linear, np.where(sliding, 0.0, axes)], axis=2)
    return np.ascontiguousarray(jacobian.transpose(0, 2, 1)), moved[:, :, :2].transpose(0, 2, 1)


def _rotation_vectors(rotations: Array) -> Array:
    """Rotation vectors (T, 3), rad, of rotations (T, 3, 3)."""
    twice_sine = rotations[:, [2, 0, 1], [1, 2, 0]] - rotations[:, [1, 2, 0], [2, 0, 1]]
    length = np.linalg.norm(twice_sine, axis=1)
    angle = np.arctan2(length, np.trace(rotations, axis1=1, axis2=2) - 1.0)
    return np.where(length > 1e-12, angle / np.maximum(length, 1e-12), 0.5)[:, None] * twice_sine
