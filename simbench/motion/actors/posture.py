"""Postures of a person: the comfortable one at work, clavicles that follow the arms, ranges of the joints."""

from math import cos, sin

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import ARM_JOINT_NAMES, HumanModel
from simbench.robot.sides import SIDES

# Relaxed work before the waist, elbows slightly out and down, wrist extended and a little ulnar as people
# hold it for a grip (O'Driscoll et al. 1992). Order of ARM_JOINT_NAMES.
COMFORT = np.radians([30.0, 25.0, 30.0, 75.0, 50.0, -20.0, -10.0])
# Clavicle angles (rad), upper arm horizontal and forward. Elevation of 9 degrees lifts the shoulder by
# 3 cm (Ludewig et al. 2004 measured 11 to 15 at full elevation of the arm). They found no protraction in free
# elevation: 7 degrees, 2.5 cm forward, are our estimate for arms that reach.
CLAVICLE_ELEVATION, CLAVICLE_PROTRACTION = 0.16, 0.12


def couple_clavicles(human: HumanModel, q: Array) -> Array:
    """Set the clavicles to the angles at which they follow the arms: zero at a hanging arm.

    `human`: the person's model; `q` (nq,): configuration. Returns (nq,): A copy with other clavicle angles.
    """
    q = q.copy()
    for side in SIDES:
        q[human.clavicles[side]] = compute_clavicle_angles(human, q[human.arms[side]])[0]
    return q


def compute_clavicle_angles(human: HumanModel, arm: Array) -> tuple[Array, Array]:
    """Compute the clavicle's angles that go with an arm's, and their slopes.

    They follow the upper arm's direction: 1 - cos(abduction) cos(flexion) is how far it is raised,
    cos(abduction) sin(flexion) how far it points forward. `human`: says how much the clavicles follow; `arm`
    (7,): angles of the arm's joints, rad, order of `human_model.ARM_JOINT_NAMES`. Returns `angles` (2,):
    elevation and protraction, rad; `slopes` (2, 2): their derivatives (rows) by flexion and abduction of the
    shoulder (columns).
    """
    flexion, abduction = arm[:2].tolist()
    sin_f, cos_f, sin_a, cos_a = sin(flexion), cos(flexion), sin(abduction), cos(abduction)
    up, forward = human.shoulder_lift * CLAVICLE_ELEVATION, human.shoulder_lift * CLAVICLE_PROTRACTION
    angles = np.array([up * (1.0 - cos_a * cos_f), forward * cos_a * sin_f])
    slopes = np.array(
        [[up * cos_a * sin_f, up * sin_a * cos_f], [forward * cos_a * cos_f, -forward * sin_a * sin_f]]
    )
    return angles, slopes


def check_ranges(human: HumanModel, q: Array) -> None:
    """Check that all configurations are within a person's joint ranges.

    `human`: gives the ranges; `q` (T, nq): configurations over time.
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
