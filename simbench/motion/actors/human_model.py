"""A person as a Pinocchio model, richer than the robot's: spine, clavicles, pronation, two-axis wrists."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.motion.anatomy import HANGING_LIMB, PALM_OFFSET
from simbench.motion.human_motion import Actor
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

SPINE_JOINTS = ("spine_flexion", "spine_bend", "spine_twist")
CLAVICLE_JOINTS = ("clavicle_elevation", "clavicle_protraction")
ARM_JOINT_NAMES = (
    "shoulder_flexion",
    "shoulder_abduction",
    "shoulder_internal_rotation",
    "elbow_flexion",
    "forearm_pronation",
    "wrist_flexion",
    "wrist_radial_deviation",
)
# Positive senses are anatomical, so both sides have the same numbers. Axes of the left side in the trunk's
# axes while the arm hangs; the right side mirrors x and z. Ranges in degrees, after the American Academy of
# Orthopaedic Surgeons; pronation includes the few degrees that the wrist itself twists.
ARM_AXES = {
    "clavicle_elevation": ((1.0, 0.0, 0.0), (-10.0, 45.0)),
    "clavicle_protraction": ((0.0, 0.0, -1.0), (-25.0, 30.0)),
    "shoulder_flexion": ((0.0, -1.0, 0.0), (-60.0, 180.0)),
    "shoulder_abduction": ((1.0, 0.0, 0.0), (-45.0, 180.0)),
    "shoulder_internal_rotation": ((0.0, 0.0, -1.0), (-90.0, 90.0)),
    "elbow_flexion": ((0.0, -1.0, 0.0), (0.0, 150.0)),
    "forearm_pronation": ((0.0, 0.0, -1.0), (-90.0, 90.0)),
    "wrist_flexion": ((-1.0, 0.0, 0.0), (-60.0, 60.0)),
    "wrist_radial_deviation": ((0.0, -1.0, 0.0), (-40.0, 25.0)),
}
SPINE_AXES = {
    "spine_flexion": ((0.0, 1.0, 0.0), (-30.0, 75.0)),
    "spine_bend": ((1.0, 0.0, 0.0), (-35.0, 35.0)),
    "spine_twist": ((0.0, 0.0, 1.0), (-45.0, 45.0)),
}


@dataclass(frozen=True)
class HumanModel:
    """The kinematic and inertial model of one actor."""

    # Root `pelvis` (free-flyer, origin midway between the hips), then hinges named as in this module, the
    # arms' with `left_` or `right_` before. At zero the actor is upright heading along x, arms hanging, palms
    # at the thighs. Frames: `pelvis`, `trunk`, `neck`, and for each side `shoulder`, `elbow`, `wrist` (joint
    # centres), `upper_arm`, `forearm`, `hand` (anatomical, at the proximal joint), `palm`.
    model: pin.Model
    actor: Actor  # Name, stature, mass, sex and age of the person.
    proportions: Proportions  # Segment lengths as fractions of stature.
    shoulder_lift: float  # How much the clavicles follow the upper arms, 1 on average.
    # `arms`, `clavicles`: indices of the arm's seven and the clavicle's two joints in q; in v they are one
    # less.
    arms: dict[str, NDArray[np.int64]]
    clavicles: dict[str, NDArray[np.int64]]

    def frame(self, name: str) -> int:
        """Find a frame of the model.

        `name`: one of the names listed above. Returns Pinocchio's id of the frame.
        """
        return int(self.model.getFrameId(name, pin.FrameType.OP_FRAME))


AVERAGE = Proportions()


def build_human_model(
    actor: Actor, proportions: Proportions = AVERAGE, shoulder_lift: float = 1.0
) -> HumanModel:
    """Build a person from stature, mass and proportions.

    `actor`: name, stature, mass, sex and age of the person; `proportions`: segment lengths as fractions of
    stature; `shoulder_lift`: how much the clavicles follow the upper arms, 1 on average. Returns kinematic
    and inertial model of the person.
    """
    height = actor.height
    # Without a mass, that of a body mass index of 22 kg/m².
    mass = actor.mass if actor.mass is not None else 22.0 * height**2
    model = pin.Model()
    model.name = actor.name
    pelvis = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "pelvis")
    model.lowerPositionLimit[:3], model.upperPositionLimit[:3] = -10.0, 10.0
    model.lowerPositionLimit[3:7], model.upperPositionLimit[3:7] = -1.01, 1.01
    _add_frame(model, "pelvis", pelvis, pin.SE3.Identity())
    hip = proportions.hip_height * height
    _add_cylinder(model, pelvis, MASSES["legs"] * mass, 0.10, 0.9 * hip, -0.433 * hip)
    _add_cylinder(model, pelvis, MASSES["pelvis"] * mass, 0.15, 0.09 * height, 0.03 * height)

    # The trunk's levels move with its own length.
    levels = np.interp([*SPINE_LEVELS, NECK_HEIGHT], *_trunk_levels(proportions))
    neck = levels[-1]
    parent, level = pelvis, proportions.hip_height
    for name, at in zip(SPINE_JOINTS, levels[:-1], strict=True):
        axis, limits = SPINE_AXES[name]
        parent = _add_hinge(model, parent, name, axis, limits, _shift(0.0, 0.0, (at - level) * height))
        level = at
    thorax = parent
    _add_cylinder(model, model.getJointId("spine_bend"), MASSES["abdomen"] * mass, 0.14, 0.10 * height, 0.0)
    _add_cylinder(model, thorax, MASSES["thorax"] * mass, 0.15, 0.15 * height, 0.05 * height)
    _add_cylinder(model, thorax, MASSES["head"] * mass, 0.08, 0.14 * height, (0.93 - level) * height)
    _add_frame(model, "trunk", thorax, pin.SE3.Identity())
    _add_frame(model, "neck", thorax, _shift(0.0, 0.0, (neck - level) * height))
    for side in SIDES:
        _add_arm(
            model, side, thorax, height, mass, (proportions.shoulder_height - level) * height, proportions
        )
    return HumanModel(
        model=model,
        actor=actor,
        proportions=proportions,
        shoulder_lift=shoulder_lift,
        arms={side: _indices(model, side, ARM_JOINT_NAMES) for side in SIDES},
        clavicles={side: _indices(model, side, CLAVICLE_JOINTS) for side in SIDES},
    )


def _trunk_levels(proportions: Proportions) -> tuple[list[float], list[float]]:
    """Average levels of hip, shoulder and crown, and this person's; other levels are interpolated between."""
    average = [AVERAGE.hip_height, AVERAGE.shoulder_height, 1.0]
    return average, [proportions.hip_height, proportions.shoulder_height, 1.0]


def _add_cylinder(
    model: pin.Model, joint: int, mass: float, radius: float, length: float, centre: float
) -> None:
    """Add an upright cylinder (kg, m) whose centre is `centre` above the joint."""
    model.appendBodyToJoint(joint, pin.Inertia.FromCylinder(mass, radius, length), _shift(0.0, 0.0, centre))


def _add_arm(
    model: pin.Model,
    side: str,
    thorax: int,
    height: float,
    mass: float,
    shoulder_height: float,
    proportions: Proportions,
) -> None:
    sign = 1.0 if side == "left" else -1.0
    mirror = np.array([sign, 1.0, sign])
    offsets = {
        "clavicle_elevation": (0.0, sign * STERNOCLAVICULAR * height, shoulder_height),
        "shoulder_flexion": (0.0, sign * (proportions.shoulder_half_width - STERNOCLAVICULAR) * height, 0.0),
        "elbow_flexion": (0.0, 0.0, -proportions.upper_arm * height),
        "wrist_flexion": (0.0, 0.0, -proportions.forearm * height),
    }
    parent = thorax
    for name in (*CLAVICLE_JOINTS, *ARM_JOINT_NAMES):
        axis, limits = ARM_AXES[name]
        placement = _shift(*offsets.get(name, (0.0, 0.0, 0.0)))
        parent = _add_hinge(model, parent, f"{side}_{name}", mirror * np.array(axis), limits, placement)
    anatomical = pin.SE3(HANGING_LIMB[side], np.zeros(3))
    for segment, centre, joint, length in (
        ("upper_arm", "shoulder", "shoulder_internal_rotation", proportions.upper_arm * height),
        ("forearm", "elbow", "forearm_pronation", proportions.forearm * height),
        ("hand", "wrist", "wrist_radial_deviation", proportions.hand * height),
    ):
        body = model.getJointId(f"{side}_{joint}")
        _add_frame(model, f"{side}_{segment}", body, anatomical)
        _add_frame(model, f"{side}_{centre}", body, pin.SE3.Identity())
        along, gyration = ARM_CENTRES[segment]
        weight = ARM_MASSES[segment] * mass
        across, axial = weight * (gyration * length) ** 2, weight * (0.12 * length) ** 2
        inertia = pin.Inertia(weight, np.array([0.0, 0.0, -along * length]), np.diag([across, across, axial]))
        model.appendBodyToJoint(body, inertia, pin.SE3.Identity())
    palm = pin.SE3(HANGING_LIMB[side], HANGING_LIMB[side] @ PALM_OFFSET)
    _add_frame(model, f"{side}_palm", model.getJointId(f"{side}_wrist_radial_deviation"), palm)


def _add_hinge(
    model: pin.Model,
    parent: int,
    name: str,
    axis: NDArray[np.float64] | tuple[float, float, float],
    limits: tuple[float, float],
    placement: pin.SE3,
) -> int:
    joint = model.addJoint(parent, pin.JointModelRevoluteUnaligned(np.asarray(axis)), placement, name)
    index = model.joints[joint].idx_q
    model.lowerPositionLimit[index], model.upperPositionLimit[index] = np.radians(limits)
    return int(joint)


def _add_frame(model: pin.Model, name: str, joint: int, placement: pin.SE3) -> None:
    model.addFrame(pin.Frame(name, joint, 0, placement, pin.FrameType.OP_FRAME))


def _shift(x: float, y: float, z: float) -> pin.SE3:
    return pin.SE3(np.eye(3), np.array([x, y, z]))


def _indices(model: pin.Model, side: str, names: tuple[str, ...]) -> NDArray[np.int64]:
    return np.array([model.joints[model.getJointId(f"{side}_{name}")].idx_q for name in names])
