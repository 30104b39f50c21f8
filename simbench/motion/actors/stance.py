"""How an actor stands: upright with arms forward, leaning to reach, swaying."""

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.optimize import brentq

from simbench.errors import MotionError
from simbench.motion.actors.human_model import FOREARM, HIP_HEIGHT, SPINE_JOINTS, UPPER_ARM, HumanModel
from simbench.motion.actors.posture import couple_clavicles, solve_arms
from simbench.motion.actors.timing import sway
from simbench.motion.anatomy import PALM_OFFSET, SIDES

Array = NDArray[np.float64]

# Share of the arm's length that a person uses before leaning forward for the rest, and the lean they accept.
COMFORTABLE_REACH, LARGEST_LEAN = 0.90, np.radians(35.0)
# Two fifths of a lean are at the hips, the rest in the spine; the hips go back by this share of stature times
# the sine of the lean, to keep the centre of mass over the feet.
HIPS_SHARE, HIPS_BACK = 0.4, 0.08
# People do not lock their elbows when asked to stretch their arms.
STRAIGHT_ELBOW = np.radians(4.0)
# Root mean square sway of the pelvis forward and sideways (m) and of the three spine joints (rad): quiet
# standing moves the body by some millimetres (Winter et al. 1998).
PELVIS_SWAY, SPINE_SWAY = (0.003, 0.002), np.radians([0.3, 0.2, 0.4])


def with_lean(human: HumanModel, lean: float) -> Array:
    """Standing at the origin, arms hanging, trunk leaning forward.

    Parameters
    ----------
    human : HumanModel
    lean : float
        Of the upper trunk, rad.

    Returns
    -------
    (nq,) array
    """
    q: Array = pin.neutral(human.model)
    hips = HIPS_SHARE * lean
    q[0] = -HIPS_BACK * human.actor.height * np.sin(lean)
    q[2] = HIP_HEIGHT * human.actor.height
    q[3:7] = [0.0, np.sin(hips / 2.0), 0.0, np.cos(hips / 2.0)]
    q[human.model.joints[human.model.getJointId("spine_flexion")].idx_q] = lean - hips
    return q


def body_sway(human: HumanModel, time: Array, rng: np.random.Generator) -> Array:
    """Sway while standing, to be added to configurations.

    Parameters
    ----------
    human : HumanModel
    time : (T,) array
        s.
    rng : numpy.random.Generator

    Returns
    -------
    (T, nq) array
        Zero but for the pelvis's horizontal position and the spine.
    """
    offsets = np.zeros((len(time), human.model.nq))
    for index, amplitude in enumerate(PELVIS_SWAY):
        offsets[:, index] = sway(time, amplitude, rng)
    for name, amplitude in zip(SPINE_JOINTS, SPINE_SWAY, strict=True):
        index = human.model.joints[human.model.getJointId(name)].idx_q
        offsets[:, index] = sway(time, float(amplitude), rng)
    return offsets


def arms_forward(human: HumanModel) -> Array:
    """Take the initial configuration: upright, arms forward, horizontal and parallel, palms down.

    Parameters
    ----------
    human : HumanModel

    Returns
    -------
    (nq,) array
    """
    data = human.model.createData()
    q = with_lean(human, 0.0)
    # Abduction makes up for the protracted clavicle, which turns the arm inwards.
    start = np.array([np.pi / 2, 0.12, np.pi / 6, STRAIGHT_ELBOW, np.pi / 3, 0.0, 0.0])
    for side in SIDES:
        q[human.arms[side]] = start
    q = couple_clavicles(human, q)
    pin.framesForwardKinematics(human.model, data, q)
    upper, fore = UPPER_ARM * human.actor.height, FOREARM * human.actor.height
    reach = np.sqrt(upper**2 + fore**2 + 2.0 * upper * fore * np.cos(STRAIGHT_ELBOW))
    palms = {}
    for side in SIDES:
        shoulder = data.oMf[human.frame(f"{side}_shoulder")].translation
        palms[side] = pin.SE3(np.eye(3), shoulder + np.array([reach, 0.0, 0.0]) + PALM_OFFSET)
    return solve_arms(human, data, q, palms, dict.fromkeys(SIDES, start))


def lean_to_reach(human: HumanModel, palm: Array) -> float:
    """Forward lean that brings the shoulders within a comfortable reach of where the hands work.

    Parameters
    ----------
    human : HumanModel
    palm : (3,) array
        Palm centre of the left hand, fingers forward and palm down, m, world.

    Returns
    -------
    float
        rad, zero when no lean is needed.

    Raises
    ------
    MotionError
        More lean would be needed than people accept.
    """
    data = human.model.createData()
    arm = (UPPER_ARM + FOREARM) * human.actor.height

    def excess(lean: float) -> float:
        pin.framesForwardKinematics(human.model, data, with_lean(human, lean))
        shoulder = data.oMf[human.frame("left_shoulder")].translation
        return float(np.linalg.norm(palm - PALM_OFFSET - shoulder)) - COMFORTABLE_REACH * arm

    if excess(0.0) <= 0.0:
        return 0.0
    if excess(LARGEST_LEAN) > 0.0:
        raise MotionError(
            f"actor {human.actor.name}: the palms cannot reach {np.round(palm, 3).tolist()} m with a lean of "
            f"{np.degrees(LARGEST_LEAN):.0f} degrees; bring the equipment nearer or change its height"
        )
    return float(brentq(excess, 0.0, LARGEST_LEAN))
