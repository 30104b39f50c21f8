"""A person's skeleton as a recording shows it: segment lengths, shoulders, how far the girdle follows."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import (
    AVERAGE,
    STERNOCLAVICULAR,
    HumanModel,
    Proportions,
    build_human_model,
)
from simbench.motion.actors.posture import CLAVICLE_ELEVATION, CLAVICLE_PROTRACTION
from simbench.motion.human_motion import HumanMotion
from simbench.robot.sides import SIDES

TRUNK = ("pelvis", "trunk")
"""Segments without which the spine's and the shoulder girdle's part of a motion cannot be told."""
# A trunk, hips to shoulders, that differs from the average one by more than this part is none: whatever the
# source calls pelvis is elsewhere.
_TRUNK_SPREAD = 0.15
LIFTS = 0.0, 2.0
"""How much a shoulder girdle may follow, as part of the average."""
# A recording in which the upper arms turn less than this (range of how far they are raised or point forward)
# does not show how the shoulder girdle follows; an average person's does.
_LEAST_TURN = 0.3


@dataclass(frozen=True)
class Shoulders:
    """Where the clavicles hang on the thorax and how they follow the upper arms.

    Parameters
    ----------
    place : (3,) array
        Of the point midway between the sternoclavicular joints in the trunk's frame, m.
    clavicle : float
        From there to the shoulder, m.
    lift : float
        As `shoulder_lift` of `build_human_model`.
    """

    place: Array
    clavicle: float
    lift: float


def shows_trunk(motion: HumanMotion) -> bool:
    """Whether a recording has what `fit_human` needs: both arms, pelvis and trunk, the initial pose's too."""
    held = (motion.segments, motion.initial.segments)
    both = all(f"{side}_wrist" in motion.joints for side in SIDES)
    return both and all(name in kept for kept in held for name in TRUNK)


def fit_human(motion: HumanMotion) -> HumanModel:
    """Build the person who was recorded: stature and mass as told, lengths and shoulders as recorded.

    Parameters
    ----------
    motion : HumanMotion
        Holds pelvis and trunk.

    Returns
    -------
    HumanModel

    Raises
    ------
    MotionError
        The person's stature is not known.
    """
    if motion.actor is None:
        raise MotionError(f"{motion.source}: the person's stature is needed for the masses of the body")
    height = motion.actor.height
    upper, fore = (_length(motion, *ends) for ends in (("shoulder", "elbow"), ("elbow", "wrist")))
    shoulders = fit_shoulders(motion, STERNOCLAVICULAR * height)
    usual = AVERAGE.shoulder_height - AVERAGE.hip_height
    trunk = _trunk(motion, shoulders, usual * height) / height
    # The hips' height and the levels of the spine only share out the trunk's motion.
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
    """Fit what the shoulders do on the thorax: they go up and forward as the upper arms do.

    Least squares of both shoulders' places in the thorax's axes over the whole recording.

    Parameters
    ----------
    motion : HumanMotion
    middle : float
        Of the sternoclavicular joints from the midline, m.

    Returns
    -------
    Shoulders
    """
    trunk = motion.segments["trunk"]
    places, arms = [], []
    for side in SIDES:
        mirror = np.array([1.0, 1.0 if side == "left" else -1.0, 1.0])
        shoulder, elbow = (motion.joints[f"{side}_{name}"] for name in ("shoulder", "elbow"))
        places.append(mirror * _seen_from(trunk, shoulder - trunk[:, :3, 3]))
        along = elbow - shoulder
        arms.append(mirror * _seen_from(trunk, along / np.linalg.norm(along, axis=1, keepdims=True)))
    place, arm = np.concatenate(places), np.concatenate(arms)
    forward, up = arm[:, 0], 1.0 + arm[:, 2]
    turns = max(float(np.ptp(forward)), float(np.ptp(up))) > _LEAST_TURN

    def miss(values: Array) -> Array:
        ahead, above, clavicle, lift = values
        raised, swung = lift * CLAVICLE_ELEVATION * up, lift * CLAVICLE_PROTRACTION * forward
        x = ahead + clavicle * np.sin(swung)
        y = middle + clavicle * np.cos(swung) * np.cos(raised)
        z = above + clavicle * np.cos(swung) * np.sin(raised)
        return np.asarray((np.stack([x, y, z], axis=1) - place).ravel())

    x, y, z = place.mean(axis=0)
    if turns:
        fitted = least_squares(miss, [x, z, y - middle, 1.0], bounds=_bounds(LIFTS)).x
    else:
        fitted = np.append(
            least_squares(lambda values: miss(np.append(values, 1.0)), [x, z, y - middle]).x, 1.0
        )
    return Shoulders(np.array([fitted[0], 0.0, fitted[1]]), float(fitted[2]), float(fitted[3]))


def _bounds(lifts: tuple[float, float]) -> tuple[list[float], list[float]]:
    free = [np.inf] * 3
    return [*(-bound for bound in free), lifts[0]], [*free, lifts[1]]


def _trunk(motion: HumanMotion, shoulders: Shoulders, usual: float) -> float:
    """How far the sternoclavicular joints are from the hips in the initial pose, m; as usual if unknown."""
    if "pelvis" not in motion.initial.joints:
        return usual
    trunk = motion.initial.segments["trunk"]
    middle = trunk[:3, :3] @ shoulders.place + trunk[:3, 3]
    found = float(np.linalg.norm(middle - motion.initial.joints["pelvis"]))
    return found if abs(found / usual - 1.0) < _TRUNK_SPREAD else usual


def _length(motion: HumanMotion, near: str, far: str) -> float:
    """Mean length of a limb over the recording, both sides, m."""
    limbs = [motion.joints[f"{side}_{far}"] - motion.joints[f"{side}_{near}"] for side in SIDES]
    return float(np.mean(np.linalg.norm(limbs, axis=2)))


def _seen_from(frames: Array, vectors: Array) -> Array:
    return np.asarray(Rotation.from_matrix(frames[:, :3, :3]).inv().apply(vectors))
