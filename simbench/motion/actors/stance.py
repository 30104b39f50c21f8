"""How an actor stands or sits: upright with arms forward, leaning to reach, swaying."""

import numpy as np
import pinocchio as pin
from scipy.optimize import brentq, least_squares

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import SPINE_JOINTS, HumanModel
from simbench.motion.actors.posture import compute_clavicle_angles
from simbench.motion.actors.timing import draw_sway
from simbench.robot.sides import SIDES

# Largest lean that people accept, rad.
LARGEST_LEAN = np.radians(35.0)
# Two fifths of a lean are at the hips, the rest in the spine; the hips go back by this fraction of stature
# times the sine of the lean, to keep the centre of mass over the feet.
HIPS_SHARE, HIPS_BACK = 0.4, 0.08
# Least distance of the wrists before the middle of the pelvis, as a fraction of the part of the arm's length
# that is used: low equipment would otherwise stand inside the belly.
NEAREST_WRIST = 0.60
# Hips of a person on a chair whose seat is 0.45 m high, m: the hip joint lies above what one sits on.
SEATED_HIP_HEIGHT = 0.54
# Arms stretched forward, palms down, roughly; people do not lock their elbows when asked for it. The upper
# arm's axial turn and the elbow stay as here.
FORWARD = np.array([np.pi / 2, 0.12, np.pi / 6, np.radians(4.0), np.pi / 3, 0.0, 0.0])
# Root mean square sway of the pelvis forward and sideways (m) and of the three spine joints (rad): quiet
# standing moves the body by some millimetres (Winter et al. 1998).
PELVIS_SWAY, SPINE_SWAY = (0.003, 0.002), np.radians([0.3, 0.2, 0.4])


def make_leaning_posture(human: HumanModel, lean: float, seated: bool = False) -> Array:
    """Make a posture at the origin, standing or sitting, arms hanging, trunk leaning forward.

    `human`: the person's model; `lean`: forward lean of the upper trunk, rad; `seated`: whether the person
    sits on a chair. Returns (nq,): configuration.
    """
    q: Array = pin.neutral(human.model)
    hips = HIPS_SHARE * lean
    if seated:
        q[2] = SEATED_HIP_HEIGHT
    else:
        q[0] = -HIPS_BACK * human.actor.height * np.sin(lean)
        q[2] = human.proportions.hip_height * human.actor.height
    q[3:7] = [0.0, np.sin(hips / 2.0), 0.0, np.cos(hips / 2.0)]
    q[human.model.joints[human.model.getJointId("spine_flexion")].idx_q] = lean - hips
    return q


def draw_body_sway(human: HumanModel, time: Array, rng: np.random.Generator, seated: bool = False) -> Array:
    """Draw the sway of a body that stands or sits, to be added to configurations.

    `human`: the person's model; `time` (T,): sample times, s; `rng`: all variation comes from it; `seated`:
    whether the person sits: on a chair the pelvis sways a fifth as much. Returns (T, nq): offsets; zero but
    for the pelvis's horizontal position, m, and the spine, rad.
    """
    offsets = np.zeros((len(time), human.model.nq))
    for index, amplitude in enumerate(PELVIS_SWAY):
        offsets[:, index] = draw_sway(time, (0.2 if seated else 1.0) * amplitude, rng)
    for name, amplitude in zip(SPINE_JOINTS, SPINE_SWAY, strict=True):
        index = human.model.joints[human.model.getJointId(name)].idx_q
        offsets[:, index] = draw_sway(time, float(amplitude), rng)
    return offsets


def find_arms_forward_posture(human: HumanModel, seated: bool = False) -> Array:
    """Find the initial configuration: upright, arms forward, horizontal and parallel, palms down.

    `human`: the person's model; `seated`: whether the person sits on a chair. Returns (nq,).
    """
    data = human.model.createData()
    q = make_leaning_posture(human, 0.0, seated)
    frames = [human.frame(name) for name in ("left_shoulder", "left_wrist", "left_palm")]

    def set_arms(arm: Array) -> None:
        for side in SIDES:
            q[human.arms[side]] = arm
            q[human.clavicles[side]] = compute_clavicle_angles(human, arm)[0]

    def miss(arm: Array) -> Array:
        """Deviations of the left arm from straight ahead, of its palm from down, of axial turn and elbow."""
        set_arms(arm)
        pin.framesForwardKinematics(human.model, data, q)
        shoulder, wrist, palm = (data.oMf[frame] for frame in frames)
        reach = wrist.translation - shoulder.translation
        return np.concatenate([reach[1:], pin.log3(palm.rotation), arm[[2, 3]] - FORWARD[[2, 3]]])

    # Positive senses are anatomical: both arms have the same angles.
    set_arms(least_squares(miss, FORWARD).x)
    return q


def find_lean_to_reach(human: HumanModel, wrists: Array, reach: float, seated: bool = False) -> float:
    """Find the forward lean that brings both shoulders within reach of all positions of their wrists.

    `human`: the person's model; `wrists` (N, 2, 3): positions of the left and the right wrist in the world,
    m; NaN for one that may be anywhere; `reach`: fraction of the arm's length that may be used; `seated`:
    whether the person sits on a chair. Returns lean of the upper trunk, rad; zero when none is needed.
    """
    data = human.model.createData()
    arm = (human.proportions.upper_arm + human.proportions.forearm) * human.actor.height
    frames = [human.frame(f"{side}_shoulder") for side in SIDES]

    def distances(lean: float) -> Array:
        pin.framesForwardKinematics(human.model, data, make_leaning_posture(human, lean, seated))
        shoulders = np.array([data.oMf[frame].translation for frame in frames])
        return np.asarray(np.linalg.norm(wrists - shoulders, axis=2))

    def excess(lean: float) -> float:
        return float(np.nanmax(distances(lean))) - reach * arm

    if excess(0.0) <= 0.0:
        return 0.0
    if excess(LARGEST_LEAN) > 0.0:
        missed = distances(LARGEST_LEAN)
        sample, hand = np.unravel_index(np.nanargmax(missed), missed.shape)
        raise MotionError(
            f"actor {human.actor.name}: the {SIDES[hand]} wrist cannot reach "
            f"{np.round(wrists[sample, hand], 3).tolist()} m with a lean of "
            f"{np.degrees(LARGEST_LEAN):.0f} degrees; bring the equipment nearer or change its height"
        )
    return float(brentq(excess, 0.0, LARGEST_LEAN))


def compute_comfortable_distance(
    human: HumanModel, height: float, lateral: float, reach: float, seated: bool = False
) -> float:
    """Compute how far before the pelvis a person likes to have their wrists.

    Parameters
    ----------
    human : HumanModel
        The person's model.
    height, lateral : float
        Height of the left wrist and its distance from the middle, m, world.
    reach : float
        Distance between shoulder and wrist as a fraction of the straight arm's length.
    seated : bool
        Whether the person sits on a chair.

    Returns
    -------
    float
        Forward distance, m; never so short that the belly is in the way.
    """
    data = human.model.createData()
    pin.framesForwardKinematics(human.model, data, make_leaning_posture(human, 0.0, seated))
    shoulder = data.oMf[human.frame("left_shoulder")].translation
    arm = (human.proportions.upper_arm + human.proportions.forearm) * human.actor.height
    square = (reach * arm) ** 2 - (height - shoulder[2]) ** 2 - (lateral - shoulder[1]) ** 2
    return max(float(shoulder[0] + np.sqrt(max(square, 0.0))), NEAREST_WRIST * reach * arm)
