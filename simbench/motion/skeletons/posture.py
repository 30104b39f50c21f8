"""The reference posture of a skeleton: a pose in which the directions of body and thumbs are known."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.motion.recordings import RecordedPose
from simbench.motion.skeletons.geometry import SkeletonGeometry, angles_between, unit_vectors
from simbench.motion.skeletons.roles import Roles
from simbench.robot.sides import SIDES

# A posture is upright when each leg is within this angle of the trunk's line, degrees; CMU's legs are spread
# by 20 degrees.
LEG_ANGLE = 35.0
# Straight arms and legs, degrees of flexion, in the rest pose; A-poses of game characters bend the elbows.
REST_FLEXION, FRAME_FLEXION = 40.0, 15.0
# Angle between the arm and the trunk's line down, degrees: hanging below the first, T above the second.
HANGING, SPREAD, RAISED = 20.0, 65.0, 115.0
# Arms point to the side: most of the component forward or backward, and difference of the two sides, degrees.
FORWARD_SINE, ASYMMETRY = 0.4, 20.0
# Shoulders and hips are parallel, and square to the trunk, within this angle, degrees.
TWIST = 15.0
# Within this angle, degrees, a direction of a posture is the file's axis next to it.
SNAP_ANGLE = 15.0


class ReferencePosture(NamedTuple):
    """A pose of a skeleton and the body's directions in it."""

    kind: str  # `T-pose`, `A-pose`, `hanging arms`, or empty if no pose of the recording is known.
    where: str  # `hierarchy` for the rest pose, `frame N`, or `the pose before the motion`.
    positions: Array  # (J, 3): positions of the joints in it, in the file's axes and unit.
    rotations: Array  # (J, 3, 3): rotations from the joints' axes to the file's in it.
    axes: Array  # (3, 3): columns: forward, left and up of the body, in the file's axes.


def find_reference_pose(
    skeleton: SkeletonGeometry, roles: Roles, before: RecordedPose | None = None
) -> ReferencePosture:
    """Find a pose in which the body's directions are known.

    The rest pose of the hierarchy is taken if it is one that a person takes: upright, legs down, straight
    arms to the sides or hanging, both alike. Otherwise the frame of the motion is taken that is most like a
    T-pose or an A-pose, with stricter limits. If there is none, the rest pose is returned without a `kind`.
    `roles`: the joints of a person in it; `before`: A pose that the file holds before the motion.
    """
    count = len(skeleton.names)
    rest = skeleton.rest[None]
    kinds, _, axes = judge_poses(rest, roles, REST_FLEXION)
    identity = np.tile(np.eye(3), (count, 1, 1))
    if kinds[0]:
        return ReferencePosture(kinds[0], "hierarchy", skeleton.rest, identity, snap_axes(axes[0], both=True))
    positions, rotations, frames = skeleton.positions, skeleton.rotations, skeleton.frames
    if before is not None:
        positions = np.concatenate([before.positions[None], positions])
        rotations = np.concatenate([before.rotations[None], rotations])
        frames = np.concatenate([[-1], frames])
    kinds, flexion, axes = judge_poses(positions, roles, FRAME_FLEXION)
    spread = [k for k, kind in enumerate(kinds) if kind in ("T-pose", "A-pose")]
    if spread:
        best = min(spread, key=lambda k: (kinds[k] != "T-pose", flexion[k]))
        return ReferencePosture(
            kinds[best],
            f"frame {frames[best]}" if frames[best] >= 0 else "the pose before the motion",
            positions[best],
            rotations[best],
            snap_axes(axes[best], both=False),
        )
    return ReferencePosture("", "hierarchy", skeleton.rest, identity, np.eye(3))


def judge_poses(positions: Array, roles: Roles, most_flexion: float) -> tuple[list[str], Array, Array]:
    """Tell which poses are reference postures.

    `positions` (F, J, 3): poses of the skeleton; `roles`: the joints of a person in it; `most_flexion`: most
    flexion of elbows and knees, degrees. Returns `kinds`: `T-pose`, `A-pose`, `hanging arms` or nothing for
    each pose; `flexion` (F,): largest flexion of the elbows, degrees; `axes` (F, 3, 3): columns: forward,
    left and up of the body.
    """
    count = len(positions)
    axes, good = body_axes(positions, roles)
    flexion = np.zeros(count)
    slopes = []
    sides = [side for side in SIDES if roles.has(f"{side}_shoulder")]
    for side in sides:
        shoulder, elbow, wrist = (
            positions[:, roles.joints[f"{side}_{part}"]] for part in ("shoulder", "elbow", "wrist")
        )
        flexion = np.maximum(flexion, angles_between(elbow - shoulder, wrist - elbow))
        arm = np.einsum("fji,fj->fi", axes, unit_vectors(wrist - shoulder))
        outward = arm[:, 1] if side == "left" else -arm[:, 1]
        slope = angles_between(arm, np.array([0.0, 0.0, -1.0]))
        good &= np.abs(arm[:, 0]) < FORWARD_SINE
        good &= (outward > 0.0) | (slope < HANGING)
        slopes.append(slope)
    good &= flexion < most_flexion
    slope = np.mean(slopes, axis=0)
    if len(slopes) == 2:
        good &= np.abs(slopes[0] - slopes[1]) < ASYMMETRY
    for side in SIDES:
        if not roles.has(f"{side}_hip"):
            continue
        hip, knee, ankle = (positions[:, roles.joints[f"{side}_{part}"]] for part in ("hip", "knee", "ankle"))
        good &= angles_between(ankle - hip, -axes[:, :, 2]) < LEG_ANGLE
        good &= angles_between(knee - hip, ankle - knee) < most_flexion
    names = np.where(slope < HANGING, "hanging arms", np.where(slope < SPREAD, "A-pose", "T-pose"))
    names = np.where(good & (slope < RAISED), names, "")
    return [str(name) for name in names], flexion, axes


def body_axes(positions: Array, roles: Roles) -> tuple[Array, NDArray[np.bool_]]:
    """Compute forward, left and up of the body from shoulders and hips.

    `positions` (F, J, 3): poses of the skeleton; `roles`: the joints of a person in it. Returns `axes` (F, 3,
    3): columns: forward, left and up; `square` (F,) bool: whether shoulders and hips are parallel and square
    to the trunk, so that the axes mean something.
    """
    lines = [
        positions[:, roles.joints[f"left_{part}"]] - positions[:, roles.joints[f"right_{part}"]]
        for part in ("shoulder", "hip")
        if roles.has(f"left_{part}", f"right_{part}")
    ]
    above, below = roles.both("shoulder"), roles.both("hip")
    start = (
        positions[:, below].mean(axis=1)
        if len(below) == 2
        else positions[:, roles.joints.get("pelvis", roles.joints["chest"])]
    )
    end = (
        positions[:, above].mean(axis=1)
        if len(above) == 2
        else positions[:, roles.joints.get("neck", roles.joints["chest"])]
    )
    up = unit_vectors(end - start)
    if not lines:
        return np.tile(np.eye(3), (len(positions), 1, 1)), np.zeros(len(positions), dtype=bool)
    square: NDArray[np.bool_] = np.all(
        [np.abs(angles_between(line, up) - 90.0) < TWIST for line in lines], axis=0
    )
    if len(lines) == 2:
        square &= angles_between(lines[0], lines[1]) < TWIST
    left = np.sum([unit_vectors(line) for line in lines], axis=0)
    left = unit_vectors(left - (left * up).sum(axis=1, keepdims=True) * up)
    square &= np.linalg.norm(left, axis=1) > 0.5
    return np.stack([np.cross(left, up), left, up], axis=2), square


def snap_axes(axes: Array, both: bool) -> Array:
    """Turn the body's directions in an upright posture onto the file's axes that are next to them.

    `axes` (3, 3): columns: forward, left and up; `both`: whether the left axis is turned as well; else only
    the one that points up. Returns (3, 3): the columns, at right angles.
    """
    up, left = snap(axes[:, 2]), axes[:, 1]
    left = unit_vectors(left - (left @ up) * up)
    if both:
        left = snap(left)
        left = unit_vectors(left - (left @ up) * up)
    return np.stack([np.cross(left, up), left, up], axis=1)


def snap(direction: Array) -> Array:
    """Replace a direction by the axis next to it, if that is close.

    `direction` (3,): unit vector. Returns (3,): the axis within `SNAP_ANGLE`, else the direction itself.
    """
    k = int(np.abs(direction).argmax())
    axis = np.zeros(3)
    axis[k] = np.sign(direction[k])
    return axis if angles_between(axis, direction) < SNAP_ANGLE else direction


def facing_agreement(skeleton: SkeletonGeometry, roles: Roles) -> tuple[float, str]:
    """Compare the body's forward direction, from its left and up, with that of the feet and knees.

    `roles`: the joints of a person in it. Returns `agreement`: mean cosine between both, from -1 to 1;
    negative if left and right are swapped or the axes mirrored, and about zero if nothing tells; `evidence`:
    `toes`, `knees`, `elbows` or nothing.
    """
    axes, _ = body_axes(skeleton.positions, roles)
    forward = axes[:, :, 0]
    cosines = []
    for side in SIDES:
        if roles.has(f"{side}_toe", f"{side}_ankle"):
            track = skeleton.positions[:, [roles.joints[f"{side}_{part}"] for part in ("ankle", "toe")]]
            cosines.append((unit_vectors(track[:, 1] - track[:, 0]) * forward).sum(axis=1))
    if cosines and abs(np.mean(cosines)) > 0.2:
        return float(np.mean(cosines)), "toes"
    for parts, sign, evidence in (
        (("hip", "knee", "ankle"), 1.0, "knees"),
        (("shoulder", "elbow", "wrist"), -1.0, "elbows"),
    ):
        cosines, weights = [], []
        for side in SIDES:
            if roles.has(*(f"{side}_{part}" for part in parts)):
                a, b, c = (skeleton.positions[:, roles.joints[f"{side}_{part}"]] for part in parts)
                bend = b - (a + c) / 2.0
                cosines.append(sign * (unit_vectors(bend) * forward).sum(axis=1))
                weights.append(np.sin(np.radians(angles_between(b - a, c - b))) ** 2)
        if cosines and np.sum(weights) > 0.01 * np.size(weights):
            agreement = float(np.average(np.concatenate(cosines), weights=np.concatenate(weights)))
            if abs(agreement) > 0.2:
                return agreement, evidence
    return 0.0, ""
