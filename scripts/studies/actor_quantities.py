"""Quantities of a performance to compare with measurements on people: speeds, joints, skin against bone."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import ARM_JOINT_NAMES, SPINE_JOINTS
from simbench.motion.actors.people import ActorPerformance
from simbench.motion.actors.virtual_mocap import MARKER_POSITIONS, compute_frame_poses
from simbench.motion.human_motion import HANGING_LIMB
from simbench.robot.sides import SIDES


@dataclass(frozen=True)
class Range:
    """Values of a quantity that were measured on people."""

    low: float  # `low`, `high`: least and greatest value, in the unit.
    high: float
    unit: str  # Unit of both.
    source: str  # Author, year, journal, and what was measured.


_GATES = "Gates et al. 2016, Am J Occup Ther 70(1), doi 10.5014/ajot.2016.015487: eight daily activities"
_SARDELLI = "Sardelli et al. 2011, J Bone Joint Surg Am 93:471, doi 10.2106/JBJS.I.01633: functional tasks"
_RYU = "Ryu et al. 1991, J Hand Surg Am 16:409, doi 10.1016/0363-5023(91)90006-w: all daily tasks"
_TABLE = "goniometric norms of adults, table A.1 of Norkin & White (the book from memory): "
_DRINKING = (
    "de los Reyes-Guzmán et al. 2010, J NeuroEng Rehabil 7:41, table 2: medians of 0.63 to 0.72 in 8 people "
    "who drank from a glass; here 0.69, whose quartiles are 0.23 apart, three standard deviations to either "
    "side; 0.4 for moving a mug (Freire et al. 2024, J Mot Behav, doi 10.1080/00222895.2024.2324903)"
)
_ULNA = (
    "cluster on the upper arm against one on the proximal ulna, slopes 0.64 ± 0.10, 0.74 ± 0.05, 0.73 ± 0.04"
    " (PubMed 40222145; authors and year not seen)"
)
_HAMMING = (
    "Hamming et al. 2012, J Biomech 45:1161, PMC3327809: a cuff against bone pins, 5 degrees in elevation to "
    "nearly 30 at the ends of axial rotation"
)
_WARNER = (
    "Warner & Heller 2025, J Biomech, doi 10.1016/j.jbiomech.2025.112893: the range of axial rotation "
    "underestimated by twelve markers on the arm; 25.9 by the distal ones"
)
_CLUSTERS = "clusters reduce the range by 14.9 to 43.2 % (Proc IMechE H 2019, doi 10.1177/0954411919872400)"
_MCHUGH = (
    "McHugh et al. 2021, J Biomech 120:110362: skin against bone in doorknob pronation, bias -4.9 degrees, "
    "95 % limits of agreement 17.9 degrees apart"
)
_PINS = (
    "largest marker-to-bone residuals 14.7 to 24.2 mm at the shank (Andersen et al. 2012, J Biomech, bone "
    "pins), taken as the arm's upper bound; the arm's own, 1 to 20 mm, from memory"
)

USUAL: Mapping[str, Range] = {
    "elbow flexion": Range(0.0, 142.0, "°", f"0 {_GATES}; 142 ± 3 {_SARDELLI}"),
    "humeral plane": Range(-65.0, 105.0, "°", _GATES),
    "humeral elevation": Range(0.0, 108.0, "°", _GATES),
    "humeral rotation": Range(-55.0, 79.0, "°", _GATES),
    "forearm pronation": Range(-77.0, 65.0, "°", f"supination 77 ± 13, pronation 65 ± 8: {_SARDELLI}"),
    "wrist flexion": Range(-60.0, 54.0, "°", _RYU),
    "wrist radial deviation": Range(-40.0, 17.0, "°", _RYU),
    "trunk flexion": Range(-30.0, 59.0, "°", f"{_GATES}; backward the norm of the spine"),
    "trunk bend": Range(-23.0, 23.0, "°", _GATES),
    "trunk twist": Range(-32.0, 32.0, "°", _GATES),
    "upper arm skin lag": Range(0.26, 0.36, "1", _ULNA),
    "upper arm skin rotation": Range(0.0, 30.0, "°", _HAMMING),
}
"""What the mean over many participants should be within, as these sources give means over theirs."""

LIMITS: Mapping[str, Range] = {
    "hand speed, transition": Range(0.18, 1.20, "m/s", _DRINKING),
    "hand speed, work": Range(0.18, 1.20, "m/s", _DRINKING),
    "elbow flexion": Range(0.0, 150.0, "°", f"{_TABLE}AAOS"),
    # Norms are of an arm raised to the horizontal; below, the trunk and adduction itself are the limits.
    "horizontal adduction": Range(-65.0, 130.0, "°", f"{_GATES}; 130: Kurz, norms of joints"),
    "shoulder abduction": Range(
        -45.0, 180.0, "°", "AAOS, from memory: adduction across the front of the body"
    ),
    "humeral elevation": Range(0.0, 180.0, "°", f"{_TABLE}AAOS"),
    "shoulder internal rotation": Range(-108.0, 94.0, "°", f"{_TABLE}Macedo & Magee, women of 18 to 59"),
    "forearm pronation": Range(-96.0, 92.0, "°", f"{_TABLE}Macedo & Magee, women of 18 to 59; AAOS 80"),
    "wrist flexion": Range(-86.0, 93.0, "°", f"{_TABLE}Macedo & Magee"),
    "wrist radial deviation": Range(-41.0, 25.0, "°", f"{_TABLE}Macedo & Magee; Greene & Wolf"),
    "spine flexion": Range(-30.0, 75.0, "°", "Kurz, norms of the lumbar spine"),
    "spine bend": Range(-35.0, 35.0, "°", "Kurz, norms of the lumbar spine"),
    "spine twist": Range(-45.0, 45.0, "°", "AAOS, from memory"),
    "upper arm skin lag": Range(0.16, 0.56, "1", f"{_ULNA}; two standard deviations"),
    "upper arm skin rotation": Range(0.0, 48.7, "°", _WARNER),
    "forearm skin lag": Range(
        0.05, 0.432, "1", f"{_MCHUGH}, of 90 degrees (the 90 from memory); {_CLUSTERS}"
    ),
    "forearm skin rotation": Range(0.0, 13.9, "°", _MCHUGH),
    "upper arm skin shift": Range(0.5, 24.2, "mm", _PINS),
    "forearm skin shift": Range(0.5, 24.2, "mm", _PINS),
    "hand skin shift": Range(0.5, 24.2, "mm", _PINS),
}
"""What each single participant should be within: anatomy, or the spread between people."""

_GESTURES = Range(0.3, 2.5, "m/s", "peak speeds of the hand in signing, from memory")
FREE_LIMITS: Mapping[str, Range] = {
    **LIMITS,
    "hand speed, transition": _GESTURES,
    "hand speed, work": _GESTURES,
}
"""The same for motions without equipment, which are faster."""

_DOWN = "the handle has the palms face down, more than a keyboard does"
_AHEAD = "the hands are as far apart as the shoulders, the forearms parallel"
_RIGID = "the hands turn with what they hold without regrasping"
BEYOND_USUAL: Mapping[str, Mapping[str, str]] = {
    "valves": {"wrist radial deviation": _RIGID, "humeral rotation": _AHEAD},
    "drawer": {"forearm pronation": _DOWN},
    "canoe_paddles": {"forearm pronation": _DOWN, "humeral rotation": _AHEAD},
    "steering_wheel": {"wrist radial deviation": _RIGID, "humeral rotation": _RIGID, "humeral plane": _RIGID},
    "pump": {"forearm pronation": _DOWN, "humeral rotation": _AHEAD},
    "knife": {"forearm pronation": _DOWN},
    "grater": {"forearm pronation": _DOWN},
    "hand_drill": {"forearm pronation": _DOWN},
}
"""Task to quantities in which its equipment asks for more than daily life does: anatomy is their range."""


Extents = dict[str, tuple[float, float]]
"""Quantity to its least and greatest value in one performance, in the unit of its range."""

# Below this elevation, degrees, its plane and with it the axial rotation are ill defined.
LEAST_ELEVATION = 30.0
# From this elevation on, degrees, the plane is what norms of horizontal adduction are about.
HORIZONTAL = 60.0
# A bone that rotates less than this says nothing about the fraction by which its skin lags, degrees.
LEAST_ROTATION = 10.0
# Skin follows movements, which are slower than this; measurement noise is mostly faster. Hz.
NOISE_CUT = 6.0


def measure(performance: ActorPerformance) -> tuple[Extents, Extents]:
    """Measure all quantities of a performance.

    `performance`: the recording and its ground truth. Returns `usual`: keys of `USUAL`; joints while the
    hands are at work. A quantity that cannot be measured is left out; `limits`: keys of `LIMITS`; joints in
    the whole recording.
    """
    names = [f"{side}_{segment}" for side in SIDES for segment in MARKER_POSITIONS]
    bones = compute_frame_poses(performance.human, performance.q, [*names, "trunk"])
    same = measure_hand_speeds(performance)
    # Where the segments' frames are computed from single markers, none of them is a cluster on the skin.
    if not performance.motion.markers:
        same |= measure_skin_motion(performance, bones)
    begin, end = performance.phases["pmp"]
    work = measure_joint_extents(performance, bones, slice(begin, end + 1))
    throughout = measure_joint_extents(performance, bones, slice(None))
    return (
        {name: (same | work)[name] for name in USUAL if name in same | work},
        {name: (same | throughout)[name] for name in LIMITS if name in same | throughout},
    )


def measure_hand_speeds(performance: ActorPerformance) -> Extents:
    """Measure the peak speeds of the faster palm.

    `performance`: the recording and its ground truth. Returns peak speed, twice, m/s: while moving to the
    equipment, and at work.
    """
    speed = np.maximum(*(compute_speed(performance.motion.time, performance.palms[side]) for side in SIDES))
    peaks = {}
    for name, phase in (("transition", "tgp"), ("work", "pmp")):
        first, last = performance.phases[phase]
        peak = float(speed[first : last + 1].max())
        peaks[f"hand speed, {name}"] = (peak, peak)
    return peaks


def compute_speed(time: Array, frames: Array) -> Array:
    """Compute the speed of the origin of a moving frame.

    `time` (T,): sample times, s; `frames` (T, 4, 4): poses in the world, m. Returns (T,): speed, m/s.
    """
    return np.linalg.norm(np.gradient(frames[:, :3, 3], time, axis=0), axis=1)


def measure_joint_extents(
    performance: ActorPerformance, bones: Mapping[str, Array], samples: slice
) -> Extents:
    """Measure the least and greatest joint angles over both arms.

    `performance`: the recording and its ground truth; `bones` mapping of str to (T, 4, 4) array: world frames
    of the upper arms and the trunk. Returns degrees. Positive is flexion, internal rotation, pronation,
    radial deviation; the trunk's angles are against upright and facing forward, the spine's against the
    pelvis. The plane and the rotation of the humerus are taken where it is raised, and left out where it
    never is.
    """
    human, q = performance.human, np.degrees(performance.q[samples])
    values: dict[str, list[Array]] = {}
    for side in SIDES:
        for name, index in zip(ARM_JOINT_NAMES, human.arms[side], strict=True):
            values.setdefault(name.replace("_", " "), []).append(q[:, index])
        trunk, upper_arm = bones["trunk"][samples], bones[f"{side}_upper_arm"][samples]
        plane, elevation, rotation = compute_humerus_angles(trunk[:, :3, :3], upper_arm[:, :3, :3], side)
        values.setdefault("humeral elevation", []).append(elevation)
        raised = elevation > LEAST_ELEVATION
        values.setdefault("humeral plane", []).append(plane[raised])
        values.setdefault("horizontal adduction", []).append(plane[elevation > HORIZONTAL])
        values.setdefault("humeral rotation", []).append(rotation[raised])
    for name in SPINE_JOINTS:
        index = human.model.joints[human.model.getJointId(name)].idx_q
        values[name.replace("_", " ")] = [q[:, index]]
    trunk_angles = Rotation.from_matrix(bones["trunk"][samples, :3, :3]).as_euler("YXZ", degrees=True)
    values |= {
        f"trunk {name}": [angle]
        for name, angle in zip(("flexion", "bend", "twist"), trunk_angles.T, strict=True)
    }
    joined = {name: np.concatenate(parts) for name, parts in values.items()}
    return {name: (float(v.min()), float(v.max())) for name, v in joined.items() if v.size}


def compute_humerus_angles(trunk: Array, upper_arm: Array, side: str) -> tuple[Array, Array, Array]:
    """Compute the angles of the humerus against the trunk, as the ISB recommends (Wu et al. 2005).

    `trunk`, `upper_arm` (T, 3, 3): rotations of the anatomical frames in the world; `side`: arm whose humerus
    is described. Returns `plane` (T,): degrees from raising the arm sideways (0) to forward (90) and on
    across the body; `elevation` (T,): degrees between the upper arm and the trunk's downward axis; `rotation`
    (T,): degrees, internal positive, zero for an arm abducted with the elbow's axis in the frontal plane.
    """
    relative = trunk.transpose(0, 2, 1) @ upper_arm @ HANGING_LIMB[side].T
    if side == "left":
        mirror = np.diag([1.0, -1.0, 1.0])
        relative = mirror @ relative @ mirror
    elevation = np.degrees(np.arccos(np.clip(relative[:, 2, 2], -1.0, 1.0)))
    # The sequence z-x-z, whose second turn, the elevation, is negative for the right arm.
    plane = np.degrees(np.arctan2(-relative[:, 0, 2], relative[:, 1, 2]))
    # Cut open where no arm gets: behind the opposite shoulder.
    plane = (plane + 135.0) % 360.0 - 135.0
    return plane, elevation, np.degrees(np.arctan2(-relative[:, 2, 0], -relative[:, 2, 1]))


def measure_skin_motion(performance: ActorPerformance, bones: Mapping[str, Array]) -> Extents:
    """Measure how the recorded marker frames move against the bones, noise filtered out.

    `performance`: the recording and its ground truth; `bones` mapping of str to (T, 4, 4) array: world frames
    of the arms' bones. Returns for both arms: `... skin shift`, greatest distance from the mean position in
    the bone, mm; `... skin rotation`, greatest rotation about the bone's axis, degrees; `... skin lag`, that
    rotation as a fraction of the bone's own (left out where the bone hardly rotates).
    """
    # Its import takes half a second of CPU time.
    from scipy.signal import butter, sosfiltfilt

    rate = performance.motion.rate
    low_pass = butter(2, NOISE_CUT, fs=rate, output="sos")
    values: dict[str, list[float]] = {}
    for side in SIDES:
        arm = dict(
            zip(ARM_JOINT_NAMES, np.degrees(performance.q[:, performance.human.arms[side]]).T, strict=True)
        )
        for segment, joint in (
            ("upper_arm", "shoulder_internal_rotation"),
            ("forearm", "forearm_pronation"),
            ("hand", None),
        ):
            bone = bones[f"{side}_{segment}"]
            relative = np.linalg.inv(bone) @ performance.motion.segments[f"{side}_{segment}"]
            position = sosfiltfilt(low_pass, relative[:, :3, 3], axis=0)
            shift = 1000.0 * np.linalg.norm(position - position.mean(axis=0), axis=1)
            name = segment.replace("_", " ")
            values.setdefault(f"{name} skin shift", []).append(float(shift.max()))
            if joint is None:
                continue
            # Internal rotation and pronation turn the left limb about its x axis, the right one against it.
            sign = 1.0 if side == "left" else -1.0
            angle = sign * np.degrees(Rotation.from_matrix(relative[:, :3, :3]).as_rotvec()[:, 0])
            angle = sosfiltfilt(low_pass, angle)
            values.setdefault(f"{name} skin rotation", []).append(float(np.abs(angle).max()))
            if np.ptp(arm[joint]) > LEAST_ROTATION:
                values.setdefault(f"{name} skin lag", []).append(-float(np.polyfit(arm[joint], angle, 1)[0]))
    return {name: (min(found), max(found)) for name, found in values.items()}
