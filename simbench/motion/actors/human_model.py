"""A person as a Pinocchio model, richer than the robot's, and how it stands or sits, leans and sways."""

from dataclasses import dataclass
from math import cos, sin
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.optimize import brentq, least_squares

from simbench.errors import MotionError
from simbench.files.yaml_document import read_yaml
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HANGING_LIMB, PALM_OFFSET, Actor
from simbench.robot.sides import SIDES

# Not in that figure: levels of L5/S1, T12/L1 and mid thorax, base of the neck, sternoclavicular joint (from
# the midline). Estimates that only distribute the trunk's motion.
SPINE_LEVELS = (0.580, 0.650, 0.720)
NECK_HEIGHT, STERNOCLAVICULAR = 0.850, 0.012


@dataclass(frozen=True)
class Proportions:
    """Segment lengths and heights as fractions of stature.

    The defaults are Drillis & Contini (1966), in Winter (2009), figure 4.1.
    """

    # `hip_height`, `shoulder_height`: heights of hip and shoulder joints above the floor.
    hip_height: float = 0.530
    shoulder_height: float = 0.818
    shoulder_half_width: float = 0.129  # Distance of a shoulder joint from the midline.
    # `upper_arm`, `forearm`, `hand`: lengths from shoulder to elbow, from elbow to wrist, and of the hand.
    upper_arm: float = 0.186
    forearm: float = 0.146
    hand: float = 0.108


# Segment masses as fractions of body mass (Winter 2009, table 4.1); pelvis and both legs are one body here.
MASSES = {"legs": 0.322, "pelvis": 0.142, "abdomen": 0.139, "thorax": 0.216, "head": 0.081}
ARM_MASSES = {"upper_arm": 0.028, "forearm": 0.016, "hand": 0.006}
# Centre of mass from the proximal joint and radius of gyration, fractions of segment length (the same table).
ARM_CENTRES = {"upper_arm": (0.436, 0.322), "forearm": (0.430, 0.303), "hand": (0.506, 0.297)}

# Axis and range, degrees, of each joint.
_AXES = read_yaml(Path(__file__).with_suffix(".yaml"), MotionError).value
SPINE_AXES, ARM_AXES = _AXES["spine"], _AXES["clavicle"] | _AXES["arm"]
SPINE_JOINTS, CLAVICLE_JOINTS = tuple(SPINE_AXES), tuple(_AXES["clavicle"])
ARM_JOINT_NAMES = tuple(_AXES["arm"])


AVERAGE = Proportions()


class HumanModel:
    """The kinematic and inertial model of one person, built from stature, mass and proportions."""

    def __init__(self, actor: Actor, proportions: Proportions = AVERAGE, shoulder_lift: float = 1.0) -> None:
        """Build a person.

        `actor`: name, stature, mass, sex and age; `proportions`: segment lengths as fractions of stature;
        `shoulder_lift`: how much the clavicles follow the upper arms, 1 on average.
        """
        height = actor.height
        # Without a mass, that of a body mass index of 22 kg/m².
        mass = actor.mass if actor.mass is not None else 22.0 * height**2
        model = pin.Model()
        model.name = actor.name
        pelvis = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "pelvis")
        model.lowerPositionLimit[:3], model.upperPositionLimit[:3] = -10.0, 10.0
        model.lowerPositionLimit[3:7], model.upperPositionLimit[3:7] = -1.01, 1.01

        # The trunk's levels move with its own length.
        average, own = ([each.hip_height, each.shoulder_height, 1.0] for each in (AVERAGE, proportions))
        levels = np.interp([*SPINE_LEVELS, NECK_HEIGHT], average, own)
        neck = levels[-1]
        # Hinges: name, joint before, axis, range in degrees, place in the axes of the joint before, m.
        hinges, before, level = [], "pelvis", proportions.hip_height
        for name, at in zip(SPINE_JOINTS, levels[:-1], strict=True):
            hinges.append((name, before, *SPINE_AXES[name], np.array([0.0, 0.0, (at - level) * height])))
            before, level = name, at
        for side in SIDES:
            sign = 1.0 if side == "left" else -1.0
            mirror = np.array([sign, 1.0, sign])
            shoulder = proportions.shoulder_half_width - STERNOCLAVICULAR
            # Lateral and vertical place of joints in the axes of those before them, m.
            offsets = {
                "clavicle_elevation": (sign * STERNOCLAVICULAR, proportions.shoulder_height - level),
                "shoulder_flexion": (sign * shoulder, 0.0),
                "elbow_flexion": (0.0, -proportions.upper_arm),
                "wrist_flexion": (0.0, -proportions.forearm),
            }
            before = SPINE_JOINTS[-1]
            for name in (*CLAVICLE_JOINTS, *ARM_JOINT_NAMES):
                (axis, limits), sided = ARM_AXES[name], f"{side}_{name}"
                place = height * np.array([0.0, *offsets.get(name, (0.0, 0.0))])
                hinges.append((sided, before, mirror * np.array(axis), limits, place))
                before = sided
        for name, before, axis, limits, place in hinges:
            hinge = pin.JointModelRevoluteUnaligned(np.asarray(axis))
            joint = model.addJoint(model.getJointId(before), hinge, pin.SE3(np.eye(3), place), name)
            index = model.joints[joint].idx_q
            model.lowerPositionLimit[index], model.upperPositionLimit[index] = np.radians(limits)

        # Upright cylinders: radius, length, and height of the centre above the joint, m.
        hip, frame = proportions.hip_height * height, pin.FrameType.OP_FRAME
        abdomen, thorax = model.getJointId("spine_bend"), model.getJointId(SPINE_JOINTS[-1])
        model.addFrame(pin.Frame("pelvis", pelvis, 0, pin.SE3.Identity(), frame))
        for part, body, radius, length, centre in (
            ("legs", pelvis, 0.10, 0.9 * hip, -0.433 * hip),
            ("pelvis", pelvis, 0.15, 0.09 * height, 0.03 * height),
            ("abdomen", abdomen, 0.14, 0.10 * height, 0.0),
            ("thorax", thorax, 0.15, 0.15 * height, 0.05 * height),
            ("head", thorax, 0.08, 0.14 * height, (0.93 - level) * height),
        ):
            inertia = pin.Inertia.FromCylinder(MASSES[part] * mass, radius, length)
            model.appendBodyToJoint(body, inertia, pin.SE3(np.eye(3), np.array([0.0, 0.0, centre])))
        model.addFrame(pin.Frame("trunk", thorax, 0, pin.SE3.Identity(), frame))
        above = pin.SE3(np.eye(3), np.array([0.0, 0.0, (neck - level) * height]))
        model.addFrame(pin.Frame("neck", thorax, 0, above, frame))
        # Indices of the arm's seven and the clavicle's two joints in q; in v they are one less.
        self.arms: dict[str, NDArray[np.int64]] = {}
        self.clavicles: dict[str, NDArray[np.int64]] = {}
        for side in SIDES:
            joints = [model.getJointId(f"{side}_{name}") for name in (*CLAVICLE_JOINTS, *ARM_JOINT_NAMES)]
            indices = np.array([model.joints[joint].idx_q for joint in joints])
            self.clavicles[side], self.arms[side] = np.split(indices, [len(CLAVICLE_JOINTS)])
            anatomical = pin.SE3(HANGING_LIMB[side], np.zeros(3))
            for segment, joint_centre, joint, length in (
                ("upper_arm", "shoulder", "shoulder_internal_rotation", proportions.upper_arm * height),
                ("forearm", "elbow", "forearm_pronation", proportions.forearm * height),
                ("hand", "wrist", "wrist_radial_deviation", proportions.hand * height),
            ):
                body = model.getJointId(f"{side}_{joint}")
                model.addFrame(pin.Frame(f"{side}_{segment}", body, 0, anatomical, frame))
                model.addFrame(pin.Frame(f"{side}_{joint_centre}", body, 0, pin.SE3.Identity(), frame))
                along, gyration = ARM_CENTRES[segment]
                weight = ARM_MASSES[segment] * mass
                across, axial = weight * (gyration * length) ** 2, weight * (0.12 * length) ** 2
                inertia = pin.Inertia(
                    weight, np.array([0.0, 0.0, -along * length]), np.diag([across, across, axial])
                )
                model.appendBodyToJoint(body, inertia, pin.SE3.Identity())
            palm = pin.SE3(HANGING_LIMB[side], HANGING_LIMB[side] @ PALM_OFFSET)
            # The hand's joint is the last of the arm.
            model.addFrame(pin.Frame(f"{side}_palm", body, 0, palm, frame))
        # Root `pelvis` (free-flyer, origin midway between the hips), then hinges named as in this module, the
        # arms' with `left_` or `right_` before. At zero the actor is upright heading along x, arms hanging,
        # palms at the thighs. Frames: `pelvis`, `trunk`, `neck`, and for each side `shoulder`, `elbow`,
        # `wrist` (joint centres), `upper_arm`, `forearm`, `hand` (anatomical, at the proximal joint), `palm`.
        self.model = model
        named = [each.name for each in model.frames if each.type == frame]
        self.frames = {name: int(model.getFrameId(name, frame)) for name in named}
        self.actor, self.proportions, self.shoulder_lift = actor, proportions, shoulder_lift


# Relaxed work before the waist, elbows slightly out and down, wrist extended and a little ulnar as people
# hold it for a grip (O'Driscoll et al. 1992). Order of ARM_JOINT_NAMES.
COMFORT = np.radians([30.0, 25.0, 30.0, 75.0, 50.0, -20.0, -10.0])
# Clavicle angles (rad), upper arm horizontal and forward. Elevation of 9 degrees lifts the shoulder by
# 3 cm (Ludewig et al. 2004 measured 11 to 15 at full elevation of the arm). They found no protraction in free
# elevation: 7 degrees, 2.5 cm forward, are our estimate for arms that reach.
CLAVICLE_ELEVATION, CLAVICLE_PROTRACTION = 0.16, 0.12


def update_clavicles(human: HumanModel, q: Array) -> None:
    """Set the clavicles of a configuration (nq,) to the angles at which they follow its arms, in place."""
    for side in SIDES:
        q[human.clavicles[side]] = compute_clavicle_angles(human, q[human.arms[side]])[0]


def couple_clavicles(human: HumanModel, q: Array) -> Array:
    """Copy a configuration (nq,) with clavicles that follow the arms: at zero for a hanging arm."""
    q = q.copy()
    update_clavicles(human, q)
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


def draw_sway(time: Array, amplitude: float, rng: np.random.Generator) -> Array:
    """Draw the slow random motion of a body that tries to stand still, a sum of sinusoids.

    `time` (T,): sample times, s; `amplitude`: root mean square over a long time, in the unit of the result;
    `rng`: all variation comes from it. Returns (T,): displacement over time, in the unit of `amplitude`.
    """
    # Quiet standing sways mostly below 0.5 Hz, less the faster (Winter et al. 1998).
    frequency = np.linspace(0.05, 0.5, 10) * rng.uniform(0.9, 1.1, 10)
    weight = 1.0 / (1.0 + (frequency / 0.2) ** 2)
    weight *= amplitude * np.sqrt(2.0 / np.sum(weight**2))
    phase = rng.uniform(0.0, 2.0 * np.pi, 10)
    return np.sin(2.0 * np.pi * frequency * time[:, None] + phase) @ weight


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
    frames = [human.frames[name] for name in ("left_shoulder", "left_wrist", "left_palm")]

    def miss(arm: Array) -> Array:
        """Deviations of the left arm from straight ahead, of its palm from down, of axial turn and elbow.

        Both arms of `q` are then at these angles: positive senses are anatomical.
        """
        for side in SIDES:
            q[human.arms[side]] = arm
        update_clavicles(human, q)
        pin.framesForwardKinematics(human.model, data, q)
        shoulder, wrist, palm = (data.oMf[frame] for frame in frames)
        reach = wrist.translation - shoulder.translation
        return np.concatenate([reach[1:], pin.log3(palm.rotation), arm[[2, 3]] - FORWARD[[2, 3]]])

    miss(least_squares(miss, FORWARD).x)
    return q


def find_lean_to_reach(human: HumanModel, wrists: Array, reach: float, seated: bool = False) -> float:
    """Find the forward lean that brings both shoulders within reach of all positions of their wrists.

    `human`: the person's model; `wrists` (N, 2, 3): positions of the left and the right wrist in the world,
    m; NaN for one that may be anywhere; `reach`: fraction of the arm's length that may be used; `seated`:
    whether the person sits on a chair. Returns lean of the upper trunk, rad; zero when none is needed.
    """
    data = human.model.createData()
    arm = (human.proportions.upper_arm + human.proportions.forearm) * human.actor.height
    frames = [human.frames[f"{side}_shoulder"] for side in SIDES]

    def beyond(lean: float) -> Array:
        """By how much each wrist (N, 2) is out of reach, m."""
        pin.framesForwardKinematics(human.model, data, make_leaning_posture(human, lean, seated))
        shoulders = np.array([data.oMf[frame].translation for frame in frames])
        return np.asarray(np.linalg.norm(wrists - shoulders, axis=2)) - reach * arm

    if np.nanmax(beyond(0.0)) <= 0.0:
        return 0.0
    missed = beyond(LARGEST_LEAN)
    if np.nanmax(missed) > 0.0:
        sample, hand = np.unravel_index(np.nanargmax(missed), missed.shape)
        raise MotionError(
            f"actor {human.actor.name}: the {SIDES[hand]} wrist cannot reach "
            f"{np.round(wrists[sample, hand], 3).tolist()} m with a lean of "
            f"{np.degrees(LARGEST_LEAN):.0f} degrees; bring the equipment nearer or change its height"
        )
    return float(brentq(lambda lean: float(np.nanmax(beyond(lean))), 0.0, LARGEST_LEAN))


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
    shoulder = data.oMf[human.frames["left_shoulder"]].translation
    arm = (human.proportions.upper_arm + human.proportions.forearm) * human.actor.height
    square = (reach * arm) ** 2 - (height - shoulder[2]) ** 2 - (lateral - shoulder[1]) ** 2
    return max(float(shoulder[0] + np.sqrt(max(square, 0.0))), NEAREST_WRIST * reach * arm)
