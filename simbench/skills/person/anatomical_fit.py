"""A person's skeleton as a recording shows it: segment lengths, shoulders, how far the girdle follows."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import (
    AVERAGE,
    CLAVICLE_ELEVATION,
    CLAVICLE_PROTRACTION,
    STERNOCLAVICULAR,
    HumanModel,
    Proportions,
    build_human_model,
)
from simbench.motion.human_motion import HumanMotion
from simbench.robot.sides import SIDES

TRUNK = ("pelvis", "trunk")
"""Segments without which the motion of spine and shoulder girdle cannot be identified."""
# A trunk, hips to shoulders, whose length differs from the average by more than this fraction is none: what
# the source calls pelvis is elsewhere.
_TRUNK_SPREAD = 0.15
LIFTS = 0.0, 2.0
"""How much a shoulder girdle may follow the arms, as a multiple of the average."""
# A recording in which the upper arms move less than this (range of how far they are raised or point forward)
# does not show how the shoulder girdle follows; it is then taken to follow as an average person's.
_LEAST_MOTION = 0.3


@dataclass(frozen=True)
class Shoulders:
    """Where the clavicles hang on the thorax and how they follow the upper arms."""

    # (3,): position of the point midway between the sternoclavicular joints in the trunk's frame, m.
    position: Array
    clavicle: float  # Length from the sternoclavicular joint to the shoulder, m.
    lift: float  # How much the clavicles follow the upper arms, 1 on average.


def has_trunk(motion: HumanMotion) -> bool:
    """Tell whether a recording has what `fit_human` needs: both arms, pelvis and trunk, also initially.

    Returns whether the wrists are recorded, and the segments `TRUNK` during the motion and in the initial
    pose.
    """
    recorded = (motion.segments, motion.initial.segments)
    both = all(f"{side}_wrist" in motion.joints for side in SIDES)
    return both and all(name in segments for segments in recorded for name in TRUNK)


def fit_human(motion: HumanMotion) -> HumanModel:
    """Build the recorded person: stature and mass as the file says, lengths and shoulders as recorded.

    `motion`: recording with pelvis and trunk. Returns kinematic and inertial model of the person.
    """
    if motion.actor is None:
        raise MotionError(f"{motion.source}: the person's stature is needed for the masses of the body")
    height = motion.actor.height
    upper, fore = (_length(motion, *ends) for ends in (("shoulder", "elbow"), ("elbow", "wrist")))
    shoulders = fit_shoulders(motion, STERNOCLAVICULAR * height)
    usual = AVERAGE.shoulder_height - AVERAGE.hip_height
    trunk = _measure_trunk(motion, shoulders, usual * height) / height
    # The hips' height and the levels of the spine only distribute the trunk's motion.
    return build_human_model(
        motion.actor,
        Proportions(
            hip_height=AVERAGE.hip_height,
            shoulder_height=AVERAGE.hip_height + trunk,
            shoulder_half_width=shoulders.clavicle / height + STERNOCLAVICULAR,
            upper_arm=upper / height,
            forearm=fore / height,
        ),
        shoulders.lift,
    )


def fit_shoulders(motion: HumanMotion, middle: float) -> Shoulders:
    """Fit how the shoulders move on the thorax: they go up and forward as the upper arms do.

    Least squares of both shoulders' positions in the thorax's axes over the whole recording. `motion`:
    recording with the trunk; `middle`: distance of the sternoclavicular joints from the midline, m. Returns
    position and length of the clavicles, and how much they follow the arms.
    """
    trunk = motion.segments["trunk"]
    positions, arms = [], []
    for side in SIDES:
        mirror = np.array([1.0, 1.0 if side == "left" else -1.0, 1.0])
        shoulder, elbow = (motion.joints[f"{side}_{name}"] for name in ("shoulder", "elbow"))
        positions.append(mirror * _express_in(trunk, shoulder - trunk[:, :3, 3]))
        along = elbow - shoulder
        arms.append(mirror * _express_in(trunk, along / np.linalg.norm(along, axis=1, keepdims=True)))
    position, arm = np.concatenate(positions), np.concatenate(arms)
    forward, up = arm[:, 0], 1.0 + arm[:, 2]
    shows_lift = max(float(np.ptp(forward)), float(np.ptp(up))) > _LEAST_MOTION

    def miss(values: Array) -> Array:
        ahead, above, clavicle, lift = values
        raised, swung = lift * CLAVICLE_ELEVATION * up, lift * CLAVICLE_PROTRACTION * forward
        x = ahead + clavicle * np.sin(swung)
        y = middle + clavicle * np.cos(swung) * np.cos(raised)
        z = above + clavicle * np.cos(swung) * np.sin(raised)
        return np.asarray((np.stack([x, y, z], axis=1) - position).ravel())

    x, y, z = position.mean(axis=0)
    if shows_lift:
        fitted = least_squares(miss, [x, z, y - middle, 1.0], bounds=_bounds(LIFTS)).x
    else:
        fitted = np.append(
            least_squares(lambda values: miss(np.append(values, 1.0)), [x, z, y - middle]).x, 1.0
        )
    return Shoulders(np.array([fitted[0], 0.0, fitted[1]]), float(fitted[2]), float(fitted[3]))


def _bounds(lifts: tuple[float, float]) -> tuple[list[float], list[float]]:
    free = [np.inf] * 3
    return [*(-bound for bound in free), lifts[0]], [*free, lifts[1]]


def _measure_trunk(motion: HumanMotion, shoulders: Shoulders, usual: float) -> float:
    """Distance of the sternoclavicular joints from the hips in the initial pose, m; as usual if unknown."""
    if "pelvis" not in motion.initial.joints:
        return usual
    trunk = motion.initial.segments["trunk"]
    middle = trunk[:3, :3] @ shoulders.position + trunk[:3, 3]
    found = float(np.linalg.norm(middle - motion.initial.joints["pelvis"]))
    return found if abs(found / usual - 1.0) < _TRUNK_SPREAD else usual


def _length(motion: HumanMotion, near: str, far: str) -> float:
    """Mean length of a limb over the recording, both sides, m."""
    limbs = [motion.joints[f"{side}_{far}"] - motion.joints[f"{side}_{near}"] for side in SIDES]
    return float(np.mean(np.linalg.norm(limbs, axis=2)))


def _express_in(frames: Array, vectors: Array) -> Array:
    """Express vectors (T, 3) in the axes of frames (T, 4, 4)."""
    return np.asarray(Rotation.from_matrix(frames[:, :3, :3]).inv().apply(vectors))
