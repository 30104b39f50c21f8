"""A robot: Pinocchio model, limbs, frames, motors and gains, loaded from `robots/<name>/robot.yaml`."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.robot.collision_geometry import (
    ROUNDING,
    default_base_height,
    find_collision_pairs,
    root_corners,
)
from simbench.robot.description import (
    Coupling,
    Description,
    Drive,
    Hand,
    JointFriction,
    add_mirrored_entries,
    mirror_frame,
    mirror_name,
    read_joint_rows,
    require_known,
    require_used_keys,
)
from simbench.robot.drives import GRAM_SQUARE_CENTIMETRE, Friction, Motors, choose_gains
from simbench.robot.mjcf.kept_conversion import read_extension
from simbench.robot.packages import find_package_of
from simbench.robot.robot_sources import RobotSource, describe_robot, find_robot, find_urdf
from simbench.robot.urdf.elements import INERTIA, add_inertial, add_joint, parse_urdf
from simbench.robot.urdf.source import build_model, read_urdf

__all__ = ["Friction", "Hand", "Motors", "Robot", "load_robot", "placed_robot"]

Vector = NDArray[np.float64]

# Distance of grip joints, open and closed, from their limits, rad or m; not of those with a shorter travel.
GRIP_MARGIN = 0.02
DIGITS = 1e-9  # Distance outside its limits at which a joint of a posture counts as at them, rad or m.
SEATED = "seated"  # The posture in which the thighs lie on a seat.


@dataclass(frozen=True)
class Robot:
    """A robot: its Pinocchio model, the roles of its joints and links, and its motors.

    Parameters
    ----------
    name : str
        Name of the robot.
    model : pinocchio.Model
        Kinematic and dynamic model; `model.armature` is the motors' reflected inertia.
    floating : bool
        Whether the root is free (a free-flyer joint in the model) or fixed to the world.
    joint_names : tuple of str, length n
        Actuated one-degree-of-freedom joints in the model's order.
    groups : mapping of str to tuple of str
        Joint names by limb: left_arm, right_arm, trunk, head, left_leg, right_leg, left_grip, right_grip.
        A single arm is a right one.
    frames : mapping of str to str
        Role to frame name: left_hand, left_wrist, left_elbow, left_shoulder, left_thigh, left_foot,
        the same of the right side, trunk, pelvis, head.
    motors : Motors
        Drives and PD gains of the actuated joints.
    friction : Friction
        Friction of the actuated joints.
    postures : mapping of str to (n,) array
        Named joint positions, rad: `basic` (arms horizontal forward, palms down), `standing`, `seated`.
    soles : mapping of str to (4, 3) array
        Corners of each foot's sole in the foot frame, m, counter-clockwise seen from above.
    urdf : Path
        The URDF file.
    urdf_text : str
        The URDF as Bullet reads it, with meshes by absolute path.
    urdf_notes : tuple of str
        What had to be changed in the URDF or left out, one line each.
    hands : mapping of str to Hand
        For each hand frame role the grip joints, the palm link and the finger links. The fingers are open at
        zero and closed at the farther limit.
    self_collision_pairs : tuple of (link, link)
        The pairs of links that collide with each other in a simulation; no others do. Derived where the
        description lists none.
    source : RobotSource or None
        Where its files are from; None for a robot that was built in memory.
    base_height : float
        Height of the root link above the floor where a scenario does not say it, m; 0 for a floating base.
    couplings : mapping of str to Coupling
        Joints without a motor of their own, and how others move them.
    """

    name: str
    model: pin.Model
    floating: bool
    joint_names: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]
    frames: Mapping[str, str]
    motors: Motors
    friction: Friction
    postures: Mapping[str, Vector]
    soles: Mapping[str, Vector]
    urdf: Path
    urdf_text: str
    urdf_notes: tuple[str, ...]
    hands: Mapping[str, Hand]
    self_collision_pairs: tuple[tuple[str, str], ...]
    source: RobotSource | None = None
    base_height: float = 0.0
    couplings: Mapping[str, Coupling] = field(default_factory=dict)

    @property
    def root_q(self) -> int:
        """Number of coordinates of the root in the configuration, before those of the joints: 7 or 0."""
        return 7 if self.floating else 0

    @property
    def root_v(self) -> int:
        """Number of coordinates of the root in the velocity, before those of the joints: 6 or 0."""
        return 6 if self.floating else 0

    @property
    def feet(self) -> tuple[str, ...]:
        """Roles of the robot's feet: left_foot, right_foot, as far as it has them."""
        return tuple(role for role in ("left_foot", "right_foot") if role in self.frames)

    @property
    def thighs(self) -> tuple[str, ...]:
        """Links of the thighs, which lie on a seat in the posture `seated`."""
        return tuple(self.frames[role] for role in ("left_thigh", "right_thigh") if role in self.frames)


def load_robot(name_or_path: str | Path) -> Robot:
    """Load a robot by its name, from a `robot.yaml`, or from a URDF, xacro or MJCF.

    Parameters
    ----------
    name_or_path : str or Path
        A name such as `romeo`, or the path of a `robot.yaml`, of the folder that contains one, or of a URDF,
        xacro or MJCF, as `simbench.robot.robot_sources.find_robot` describes. Of one of these alone the
        description is guessed (`simbench.robot.scaffold`).

    Returns
    -------
    Robot
        The robot.

    Raises
    ------
    RobotError
        If there is no such robot, or its description is malformed or does not fit its URDF.
    """
    file, description = describe_robot(find_robot(name_or_path))
    where = str(file.path)
    urdf = find_urdf(description.urdf, file.path.parent, f"{where}: urdf")
    floating = description.base == "floating"
    # A URDF that is built from the description contains the massless frames; to another one they are added.
    added = {} if description.root is not None else description.fixed_frames
    mirror = description.mirror
    named_links = {
        *description.frames.values(),
        *(link for hand in description.hands.values() for link in (hand.palm, *hand.fingers)),
        *(link for pair in description.self_collision or () for group in pair for link in group),
        *(frame.parent for frame in description.fixed_frames.values()),
    }

    text, notes = read_urdf(
        urdf,
        floating=floating,
        frames=add_mirrored_entries(added, mirror, lambda frame: mirror_frame(frame, mirror)),
        fixed_joints=description.fixed_joints,
        kept_links=named_links,
        where=where,
        xacro=description.xacro,
        coupled=add_mirrored_entries(description.coupled_joints, mirror),
    )
    mjcf = read_extension(parse_urdf(urdf, description.xacro))
    model = build_model(text, urdf, floating=floating)
    joint_names = tuple(name for name in model.names if name not in ("universe", "root_joint"))
    # Drives and friction that the description does not give are those of an MJCF.
    motor_rows = description.motors or {
        name: Drive.model_validate(row) for name, row in mjcf.motors.items() if name in joint_names
    }
    friction_rows = description.friction or {
        name: JointFriction.model_validate(row) for name, row in mjcf.friction.items() if name in joint_names
    }
    motors = read_joint_rows(motor_rows, mirror, joint_names, f"{where}: motors")
    drives = [motors.get(name, Drive(rotor=0.0)) for name in joint_names]
    inertias = [
        drive.reflected_inertia
        if drive.rotor is None
        else drive.reduction**2 * drive.rotor * GRAM_SQUARE_CENTIMETRE
        for drive in drives
    ]
    reflected = np.array(inertias, dtype=np.float64)
    model.armature[model.nv - len(joint_names) :] = reflected

    bodies = [frame.name for frame in model.frames if frame.type == pin.FrameType.BODY]
    for group, names in description.groups.items():
        require_known(names, joint_names, "joint", f"{where}: groups.{group}")
    for role, frame in description.frames.items():
        require_known([frame], bodies, "frame", f"{where}: frames.{role}")
    roles = list(description.frames)
    require_known(description.soles, roles, "frame role", f"{where}: soles")
    require_known(description.hands, roles, "frame role", f"{where}: hands")
    for role, hand in description.hands.items():
        require_known(hand.joints, joint_names, "joint", f"{where}: hands.{role}")
        require_known([hand.palm, *hand.fingers], bodies, "link", f"{where}: hands.{role}")

    index = [model.joints[model.getJointId(name)].idx_q for name in joint_names]
    couplings = _couple_joints(description, model, joint_names, where)
    limits = model.lowerPositionLimit[index], model.upperPositionLimit[index]
    postures = _read_postures(description, couplings, joint_names, limits, where)
    lacking = [role for role in ("left_thigh", "right_thigh") if role not in description.frames]
    if SEATED in postures and lacking:
        raise RobotError(f"{where}: postures.{SEATED}: needs frames.{lacking[0]}")

    root = pin.neutral(model)[: model.nq - len(joint_names)]
    named = {name: np.concatenate([root, posture]) for name, posture in postures.items()}
    if description.self_collision is not None:
        pairs = tuple((a, b) for first, second in description.self_collision for a in first for b in second)
    else:
        held = [frozenset((hand.palm, *hand.fingers)) for hand in description.hands.values()]
        configurations = [*named.values()]
        pairs = find_collision_pairs(model, text, configurations, held, f"{where}: self_collision")
    require_known([link for pair in pairs for link in pair], bodies, "link", f"{where}: self_collision")

    if description.gains == "auto":
        # In the standing posture, else in the first posture.
        order = [named[name] for name in sorted(named, key=lambda name: name != "standing")]
        feet = [model.getFrameId(link) for role, link in description.frames.items() if role.endswith("_foot")]
        grips = [model.getJointId(joint) for hand in description.hands.values() for joint in hand.joints]
        order = order or [pin.neutral(model)]
        stiffness, damping = choose_gains(model, order, feet, grips, description.bandwidth)
        # Both sides have the same; the configurations that the rule looks at are not symmetric.
        mirrored = [mirror_name(name, mirror) for name in joint_names]
        sides = [(left, joint_names.index(name)) for left, name in enumerate(mirrored) if name in joint_names]
        for gains in (stiffness, damping):
            for left, right in sides:
                gains[left] = gains[right] = min(gains[left], gains[right])
    else:
        rows = read_joint_rows(description.gains, mirror, joint_names, f"{where}: gains")
        stiffness, damping = np.array([rows[name] for name in joint_names]).reshape(-1, 2).T
    for name, coupling in couplings.items():
        # One motor drives both: it has the stiffness that two would have, unless its own is given.
        one, other = joint_names.index(coupling.joint), joint_names.index(name)
        for gains in (stiffness, damping):
            if description.gains == "auto":
                gains[one] += coupling.multiplier**2 * gains[other]
            gains[other] = 0.0
    require_used_keys(description, where)

    base_height = 0.0
    if not floating and description.base_height_m is not None:
        base_height = description.base_height_m
    elif not floating:
        base_height = default_base_height(model, text, description.frames, description.groups)

    friction = add_mirrored_entries(friction_rows, mirror)
    require_known(friction, joint_names, "joint", f"{where}: friction")
    entries = [friction.get(name, JointFriction()) for name in joint_names]
    return Robot(
        name=description.name,
        model=model,
        floating=floating,
        joint_names=joint_names,
        groups=description.groups,
        frames=description.frames,
        motors=Motors(
            reflected_inertia=reflected,
            stiffness=stiffness,
            damping=damping,
            torque_limit=np.array(model.effortLimit[model.nv - len(joint_names) :]),
            reduction=np.array([drive.reduction for drive in drives], dtype=np.float64),
        ),
        friction=Friction(
            coulomb=np.array([entry.coulomb for entry in entries]),
            viscous=np.array([entry.viscous for entry in entries]),
            breakaway=np.array([entry.breakaway for entry in entries]),
        ),
        postures=postures,
        soles={
            role: np.array([(sole.x[i], sole.y[j], 0.0) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))])
            for role, sole in description.soles.items()
        },
        urdf=urdf,
        urdf_text=text,
        urdf_notes=notes,
        hands=description.hands,
        self_collision_pairs=pairs,
        source=RobotSource(file.origin, file.package, file.path, urdf, find_package_of(urdf), file.guessed),
        base_height=base_height,
        couplings=couplings,
    )


def _read_postures(
    description: Description,
    couplings: Mapping[str, Coupling],
    joint_names: Sequence[str],
    limits: tuple[Vector, Vector],
    where: str,
) -> dict[str, Vector]:
    """Read the named postures: positions of all n joints, rad or m, within the limits."""
    postures: dict[str, Vector] = {}
    of_hands = {name for hand in description.hands.values() for name in hand.joints}
    for posture, values in description.postures.items():
        require_known(values, joint_names, "joint", f"{where}: postures.{posture}")
        for name in couplings.keys() & values.keys():
            leader = couplings[name].joint
            raise RobotError(f"{where}: postures.{posture}.{name}: moves with {leader}; give that one alone")
        postures[posture] = np.array([values.get(name, 0.0) for name in joint_names])
        for name, value, low, high in zip(joint_names, postures[posture], *limits, strict=True):
            # Limits such as π/3 have more digits than files.
            if not low - DIGITS <= value <= high + DIGITS:
                raise RobotError(
                    f"{where}: postures.{posture}.{name}: {value} rad is outside the joint's limits "
                    f"{low:.4f}..{high:.4f}"
                )
            postures[posture][joint_names.index(name)] = np.clip(value, low, high)
            # A motor that holds a finger on its stop shares the load with it in a way that rounding decides.
            if name in of_hands and high - low > 2.0 * GRIP_MARGIN:
                inside = np.clip(value, low + GRIP_MARGIN, high - GRIP_MARGIN)
                postures[posture][joint_names.index(name)] = inside
        follow_couplings(joint_names, couplings, postures[posture])
    return postures


def _couple_joints(
    description: Description, model: pin.Model, joint_names: Sequence[str], where: str
) -> dict[str, Coupling]:
    """Read which joints others move, and keep these, in `model`, where those keep their limits."""
    mirror = description.mirror
    couplings = add_mirrored_entries(
        description.coupled_joints,
        mirror,
        lambda each: each.model_copy(update={"joint": mirror_name(each.joint, mirror)}),
    )
    lower, upper, speed = model.lowerPositionLimit, model.upperPositionLimit, model.velocityLimit
    for name, coupling in couplings.items():
        key = f"{where}: coupled_joints.{name}"
        require_known([name, coupling.joint], joint_names, "joint", key)
        if coupling.joint in couplings or coupling.multiplier == 0.0:
            raise RobotError(f"{key}: allowed: a joint that has a motor, and a multiplier other than 0")
        for group, names in description.groups.items():
            if name in names and not group.endswith("_grip"):
                raise RobotError(
                    f"{where}: groups.{group}: {name} moves with {coupling.joint}; allowed: joints that move "
                    "by themselves; one that is left out stays as the posture has it"
                )
        one, other = (model.joints[model.getJointId(each)] for each in (coupling.joint, name))
        ends = sorted(
            (limit[other.idx_q] - coupling.offset) / coupling.multiplier for limit in (lower, upper)
        )
        lower[one.idx_q], upper[one.idx_q] = max(lower[one.idx_q], ends[0]), min(upper[one.idx_q], ends[1])
        if lower[one.idx_q] > upper[one.idx_q]:
            raise RobotError(f"{key}: no position of {coupling.joint} is within the limits of both")
        speed[one.idx_v] = min(speed[one.idx_v], speed[other.idx_v] / abs(coupling.multiplier))
    model.lowerPositionLimit, model.upperPositionLimit, model.velocityLimit = lower, upper, speed
    return couplings


def follow_couplings(
    joint_names: Sequence[str], couplings: Mapping[str, Coupling], joints: Vector, *, rates: bool = False
) -> None:
    """Let the joints that others move follow them: q = multiplier · q' + offset.

    `joint_names`: the n joints; `couplings`: of each that another moves; `joints` (..., n): overwritten where
    they do: positions, rad or m, or, with `rates`, velocities or accelerations, which have no offset.
    """
    joints[...] = joints @ coupling_matrix(joint_names, couplings).T
    if not rates:
        columns = [joint_names.index(name) for name in couplings]
        joints[..., columns] += [coupling.offset for coupling in couplings.values()]


def coupling_matrix(joint_names: Sequence[str], couplings: Mapping[str, Coupling]) -> Vector:
    """Make the matrix (n, n) by which the joints' velocities follow from those of the joints with motors."""
    matrix = np.eye(len(joint_names))
    for name, coupling in couplings.items():
        row = joint_names.index(name)
        matrix[row, row] = 0.0
        matrix[row, joint_names.index(coupling.joint)] = coupling.multiplier
    return matrix


def placed_robot(robot: Robot, base: Vector) -> Robot:
    """Place the model of a robot on a fixed base in the scene; the model's world becomes the scene's.

    `base` (7,): pose of the root link in the world frame: x, y, z (m), quaternion x, y, z, w. Returns the
    placed robot; a floating robot is returned unchanged.
    """
    if robot.floating:
        return robot
    pose, model = pin.XYZQUATToSE3(base), robot.model.copy()
    for joint in range(1, model.njoints):
        if model.parents[joint] == 0:
            model.jointPlacements[joint] = pose * model.jointPlacements[joint]
    for frame in model.frames:
        if frame.parentJoint == 0 and frame.name != "universe":
            frame.placement = pose * frame.placement
    return replace(robot, model=model)


PEDESTAL = "base_pedestal"  # Link of the pedestal.

_RADII = (0.05, 0.25)  # Least and largest radius of a pedestal, m.
_FLOOR_GAP = 0.001  # Distance of the pedestal from the floor, m, so that they are not in contact.
_COLOR = "0.33 0.34 0.36 1"


def on_pedestal(robot: Robot, height: float) -> Robot:
    """Put a pedestal under a robot with a fixed base, if there is a gap between it and the floor.

    The pedestal is a column, fixed to the root link. Every link that can hit the root link can hit it.
    `height`: height of its root link above the floor, m. Returns the robot with the link `base_pedestal`; as
    it was if it floats or stands on the floor.
    """
    if robot.floating or height <= 0.0 or robot.model.existBodyName(PEDESTAL):
        return robot
    low, high = _root_box(robot.urdf_text)
    length = height + float(low[2])
    if length < ROUNDING:
        return robot
    radius = float(np.clip(0.5 * (high - low)[:2].min(), *_RADII))
    root = robot.model.frames[1].name if robot.model.nframes > 1 else ""
    middle = (0.0, 0.0, float(low[2]) - 0.5 * length)
    urdf = ET.fromstring(robot.urdf_text)
    link = ET.SubElement(urdf, "link", name=PEDESTAL)
    for tag in ("visual", "collision"):
        shape = ET.SubElement(link, tag)
        ET.SubElement(shape, "origin", xyz=_numbers(middle), rpy="0 0 0")
        geometry = ET.SubElement(shape, "geometry")
        column = length - 2.0 * _FLOOR_GAP
        ET.SubElement(geometry, "cylinder", radius=f"{radius:.9g}", length=f"{column:.9g}")
        if tag == "visual":
            material = ET.SubElement(shape, "material", name=PEDESTAL)
            ET.SubElement(material, "color", rgba=_COLOR)
    add_inertial(link, 1.0, middle, (1.0, 1.0, 1.0, 0.0, 0.0, 0.0), _numbers)
    add_joint(urdf, f"{PEDESTAL}_joint", "fixed", root, PEDESTAL, "0 0 0", "0 0 0")
    ET.indent(urdf)
    text = ET.tostring(urdf, encoding="unicode")
    model = build_model(text, robot.urdf)
    model.armature = robot.model.armature.copy()
    fixed = {frame.name for frame in robot.model.frames if frame.parentJoint == 0}
    hitting = dict.fromkeys(
        link
        for pair in robot.self_collision_pairs
        for link, other in (pair, pair[::-1])
        if other in fixed and link not in fixed
    )
    pairs = (*robot.self_collision_pairs, *((link, PEDESTAL) for link in hitting))
    return replace(robot, model=model, urdf_text=text, self_collision_pairs=pairs)


def _numbers(values: Iterable[float]) -> str:
    """Write numbers with nine digits."""
    return " ".join(f"{value:.9g}" for value in values)


@lru_cache(maxsize=8)
def _root_box(urdf_text: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lowest and highest corner (3,) of the shapes that no joint moves, m."""
    model = build_model(urdf_text, "robot on a fixed base")
    corners = root_corners(model, urdf_text)
    return corners.min(axis=0, initial=0.0), corners.max(axis=0, initial=0.0)


_STREAM = 1  # Second part of the seed, which makes these draws independent of those of the virtual actor.


def draw_variation(
    seed: int, robot: Robot, mass_fraction: float, friction_fraction: float
) -> tuple[Robot, float]:
    """Draw the friction of the floor, then the masses of the links by name.

    The mass and the inertia of each link with mass are multiplied by a random factor. Centres of mass stay
    where they are in their links; motors, gains, limits and geometry do not change. A seed gives the same
    directions of change at every fraction: twice the fraction changes everything twice as much. `seed`: seed
    of the random numbers, of which one is drawn for the friction, then one for each link with mass, in the
    order of the links' names; `robot`: the robot to vary; `mass_fraction`, `friction_fraction`: largest
    relative change of the masses and of the friction; 0 ≤ fraction < 1. Returns `robot`: the robot with
    `urdf_text` and `model.inertias` changed consistently, and factors uniform in 1 ± mass_fraction; the same
    object if that is 0; `friction_factor`: factor for the floor's friction, uniform in 1 ± friction_fraction.
    Raises RobotError if a fraction is out of range.
    """
    for what, fraction in (("friction", friction_fraction), ("mass", mass_fraction)):
        if not 0.0 <= fraction < 1.0:
            raise RobotError(f"variation: {what} fraction {fraction:g} must be at least 0 and less than 1")
    rng = np.random.default_rng([seed, _STREAM])
    friction_factor = 1.0 + friction_fraction * rng.uniform(-1.0, 1.0)
    if mass_fraction == 0.0:
        return robot, friction_factor
    root = ET.fromstring(robot.urdf_text)
    for link in sorted(root.findall("link"), key=lambda element: element.get("name", "")):
        mass = link.find("inertial/mass")
        if mass is None or float(mass.get("value", "0")) == 0.0:
            continue
        factor = 1.0 + mass_fraction * rng.uniform(-1.0, 1.0)
        changed = [(mass, "value")]
        changed += [(inertia, entry) for inertia in link.findall("inertial/inertia") for entry in INERTIA]
        for element, attribute in changed:
            element.set(attribute, repr(factor * float(element.get(attribute, "0"))))
    text = ET.tostring(root, encoding="unicode")
    free = (pin.JointModelFreeFlyer(),) if robot.floating else ()
    # Links on fixed joints are merged with the body of the joint before them; only Pinocchio knows with
    # which.
    inertias = pin.buildModelFromXML(text, *free).inertias
    model = robot.model.copy()
    for joint in range(model.njoints):
        model.inertias[joint] = inertias[joint]
    return replace(robot, model=model, urdf_text=text), friction_factor
