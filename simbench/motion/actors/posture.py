"""Postures of a person whose hands are given: arms near a comfort posture, clavicles that follow them."""

from collections.abc import Mapping
from math import cos, sin

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.motion.actors.human_model import ARM_JOINT_NAMES, HumanModel
from simbench.motion.anatomy import SIDES

Array = NDArray[np.float64]

# Relaxed work before the waist, elbows slightly out and down, wrist extended and a little ulnar as people
# hold it for a grip (O'Driscoll et al. 1992). Order of ARM_JOINT_NAMES.
COMFORT = np.radians([30.0, 25.0, 30.0, 75.0, 50.0, -20.0, -10.0])
# Reluctance to leave it, largest where the range is small: pronation and the wrist.
WEIGHT = np.array([1.0, 1.5, 0.6, 0.5, 2.0, 1.5, 3.0])
# Clavicle angles (rad), upper arm horizontal and forward. Elevation of 9 degrees lifts the shoulder by
# 3 cm (Ludewig et al. 2004 measured 11 to 15 at full elevation of the arm). They found no protraction in free
# elevation: 7 degrees, 2.5 cm forward, are our estimate for arms that reach.
CLAVICLE_ELEVATION, CLAVICLE_PROTRACTION = 0.16, 0.12
DAMPING = 1e-4
TOLERANCE = 1e-7
LARGEST_STEP = 0.3


def couple_clavicles(human: HumanModel, q: Array) -> Array:
    """`q` (nq,) with its clavicles where its own arms put them; nothing at a hanging arm."""
    q = q.copy()
    for side in SIDES:
        q[human.clavicles[side]] = clavicle_angles(human, q[human.arms[side]])[0]
    return q


def clavicle_angles(human: HumanModel, arm: Array) -> tuple[Array, Array]:
    """Elevation and protraction (2,) that go with arm angles (7,), and their slopes (2, 2) by the first two.

    They follow the upper arm's direction: 1 - cos(abduction) cos(flexion) is how far it is raised,
    cos(abduction) sin(flexion) how far it points forward.
    """
    flexion, abduction = arm[:2].tolist()
    sin_f, cos_f, sin_a, cos_a = sin(flexion), cos(flexion), sin(abduction), cos(abduction)
    up, forward = human.shoulder_lift * CLAVICLE_ELEVATION, human.shoulder_lift * CLAVICLE_PROTRACTION
    angles = np.array([up * (1.0 - cos_a * cos_f), forward * cos_a * sin_f])
    slopes = np.array(
        [[up * cos_a * sin_f, up * sin_a * cos_f], [forward * cos_a * cos_f, -forward * sin_a * sin_f]]
    )
    return angles, slopes


def solve_arms(
    human: HumanModel,
    data: pin.Data,
    q: Array,
    palms: Mapping[str, pin.SE3],
    reference: Mapping[str, Array],
) -> Array:
    """Find the posture with both palms at given poses that is nearest to a reference.

    Gauss-Newton with damped least squares for the palms, and the weighted distance to the reference minimised
    in their null space; the clavicles follow the humerus.

    Parameters
    ----------
    human : HumanModel
    data : pinocchio.Data
    q : (nq,) array
        Start, elbows bent (a straight one may bend backward); pelvis and spine are kept.
    palms : mapping of side to pinocchio.SE3
        Palm poses in the world.
    reference : mapping of side to (7,) array
        Arm joints, rad, order of `ARM_JOINT_NAMES`.

    Returns
    -------
    (nq,) array

    Raises
    ------
    MotionError
        A palm is out of reach.
    """
    q = couple_clavicles(human, q)
    inverse_weight = 1.0 / WEIGHT
    frames = {side: human.frame(f"{side}_palm") for side in SIDES}
    for _ in range(100):
        pin.computeJointJacobians(human.model, data, q)
        change = 0.0
        missed = {}
        for side, frame in frames.items():
            index = human.arms[side]
            error = pin.log6(pin.updateFramePlacement(human.model, data, frame).actInv(palms[side])).vector
            missed[side] = error[:3]
            columns = pin.getFrameJacobian(human.model, data, frame, pin.ReferenceFrame.LOCAL)
            jacobian = columns[:, index - 1]
            jacobian[:, :2] += columns[:, human.clavicles[side] - 1] @ clavicle_angles(human, q[index])[1]
            weighted = inverse_weight[:, None] * jacobian.T
            gram = jacobian @ weighted + DAMPING**2 * np.eye(6)
            wish = reference[side] - q[index]
            step = wish + weighted @ np.linalg.solve(gram, error - jacobian @ wish)
            q[index] += step * min(1.0, LARGEST_STEP / np.abs(step).max())
            change = max(change, np.abs(step).max(), np.abs(error).max())
        q = couple_clavicles(human, q)
        if change < TOLERANCE:
            return q
    side = max(SIDES, key=lambda side: float(np.linalg.norm(missed[side])))
    place = np.round(palms[side].translation, 3).tolist()
    raise MotionError(
        f"actor {human.actor.name}: the {side} palm cannot reach {place} m; bring the equipment nearer or "
        "change its height"
    )


def check_ranges(human: HumanModel, q: Array) -> None:
    """Check that all configurations are within a person's joint ranges.

    Parameters
    ----------
    human : HumanModel
    q : (T, nq) array

    Raises
    ------
    MotionError
        A joint beyond its range, by name.
    """
    model = human.model
    for side in SIDES:
        for name, index in zip(ARM_JOINT_NAMES, human.arms[side], strict=True):
            low, high = model.lowerPositionLimit[index], model.upperPositionLimit[index]
            worst = q[np.argmax(np.maximum(low - q[:, index], q[:, index] - high)), index]
            if not low - 1e-9 <= worst <= high + 1e-9:
                raise MotionError(
                    f"actor {human.actor.name}: the task needs {np.degrees(worst):.0f} degrees of "
                    f"{side}_{name}; a person has {np.degrees(low):.0f} to {np.degrees(high):.0f}: change "
                    "the equipment's distance, height or separation"
                )
