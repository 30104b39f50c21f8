"""A robot: Pinocchio model, limbs, frames, motors and gains, loaded from `robots/<name>/robot.yaml`."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.resources import resource_dir
from simbench.robot.description import Description, Hand, read_description
from simbench.robot.mirror import both_sides

GRAM_SQUARE_CENTIMETRE = 1e-7  # kg·m²

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Motors:
    """Drive and PD data of the actuated joints, arrays in the order of `Robot.joint_names`.

    Parameters
    ----------
    reflected_inertia : (n,) array
        Reduction squared times rotor inertia, kg·m².
    stiffness, damping : (n,) array
        PD gains, N·m/rad and N·m·s/rad.
    torque_limit : (n,) array
        N·m.
    """

    reflected_inertia: Vector
    stiffness: Vector
    damping: Vector
    torque_limit: Vector


@dataclass(frozen=True)
class Robot:
    """A robot model with the roles simbench needs.

    Parameters
    ----------
    name : str
    model : pinocchio.Model
        Free-flyer root for a legged robot; `model.armature` holds the motors' reflected inertia.
    joint_names : tuple of str, length n
        Actuated one-degree-of-freedom joints in the model's order.
    groups : mapping of str to tuple of str
        Joint names by limb: left_arm, right_arm, trunk, head, left_leg, right_leg, left_grip, right_grip.
    frames : mapping of str to str
        Role to frame name: left_hand, left_wrist, left_elbow, left_shoulder, left_foot, right_..., trunk,
        pelvis, head.
    motors : Motors
    postures : mapping of str to (n,) array
        Named joint positions, rad: `basic` (arms horizontal forward, palms down), `standing`.
    soles : mapping of str to (4, 3) array
        Corners of each foot's sole in the foot frame, m, counter-clockwise seen from above.
    urdf : Path
    hands : mapping of str to Hand
        For each hand frame role the grip joint, the palm link and the finger link.
    self_collision_pairs : tuple of (link, link)
        The pairs of links that a simulator should let collide with each other; no others.
    """

    name: str
    model: pin.Model
    joint_names: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]
    frames: Mapping[str, str]
    motors: Motors
    postures: Mapping[str, Vector]
    soles: Mapping[str, Vector]
    urdf: Path
    hands: Mapping[str, Hand]
    self_collision_pairs: tuple[tuple[str, str], ...]


def load_robot(name_or_path: str | Path) -> Robot:
    """Load a robot by name from the robots that ship with simbench, or from a `robot.yaml`.

    Parameters
    ----------
    name_or_path : str or Path
        A name such as `romeo`, or the path of a `robot.yaml` or of the folder that holds one.

    Returns
    -------
    Robot

    Raises
    ------
    RobotError
        If there is no such robot, or its description is malformed or does not fit its URDF.
    """
    source = _find(name_or_path)
    description = read_description(source)
    urdf = source.parent / description.urdf
    model = _read_model(urdf)
    where = str(source)
    joint_names = tuple(name for name in model.names if name not in ("universe", "root_joint"))
    motors = _motors(description, model, joint_names, where)
    for name, inertia in zip(joint_names, motors.reflected_inertia, strict=True):
        model.armature[model.joints[model.getJointId(name)].idx_v] = inertia

    bodies = {frame.name for frame in model.frames if frame.type == pin.FrameType.BODY}
    for group, names in description.groups.items():
        _require(names, joint_names, "joint", f"{where}: groups.{group}")
    for role, frame in description.frames.items():
        _require([frame], bodies, "frame", f"{where}: frames.{role}")
    _require(description.soles, description.frames, "frame role", f"{where}: soles")
    _require(description.hands, description.frames, "frame role", f"{where}: hands")
    for role, hand in description.hands.items():
        _require([hand.joint], joint_names, "joint", f"{where}: hands.{role}")
        _require([hand.palm, hand.fingers], bodies, "link", f"{where}: hands.{role}")
    pairs = tuple((a, b) for first, second in description.self_collision for a in first for b in second)
    _require([link for pair in pairs for link in pair], bodies, "link", f"{where}: self_collision")

    return Robot(
        name=description.name,
        model=model,
        joint_names=joint_names,
        groups=description.groups,
        frames=description.frames,
        motors=motors,
        postures={
            posture: _posture(values, model, joint_names, f"{where}: postures.{posture}")
            for posture, values in description.postures.items()
        },
        soles={
            role: np.array([(sole.x[i], sole.y[j], 0.0) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))])
            for role, sole in description.soles.items()
        },
        urdf=urdf,
        hands=description.hands,
        self_collision_pairs=pairs,
    )


def _find(name_or_path: str | Path) -> Path:
    path = Path(name_or_path)
    if path.suffix in (".yaml", ".yml"):
        return path
    # A name means the robot that ships, whatever lies in the current directory.
    robots = resource_dir("robots")
    source = robots / path.name / "robot.yaml"
    if len(path.parts) == 1 and source.is_file():
        return source
    if (path / "robot.yaml").is_file():
        return path / "robot.yaml"
    known = ", ".join(sorted(folder.parent.name for folder in robots.glob("*/robot.yaml")))
    raise RobotError(f"unknown robot `{name_or_path}`; known: {known}; or give the path of a robot.yaml")


def _read_model(urdf: Path) -> pin.Model:
    if not urdf.is_file():
        raise RobotError(f"{urdf}: no such file; scripts/build_robots.py writes it")
    try:
        return pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
    except (ValueError, RuntimeError) as error:
        raise RobotError(f"{urdf}: not a URDF that Pinocchio can read: {error}") from error


def _require(names: Iterable[str], allowed: Collection[str], kind: str, where: str) -> None:
    for name in names:
        if name not in allowed:
            raise RobotError(f"{where}: unknown {kind} `{name}`; allowed: {', '.join(sorted(allowed))}")


def _motors(description: Description, model: pin.Model, joint_names: tuple[str, ...], where: str) -> Motors:
    motors = both_sides(description.motors, description.mirror)
    gains = both_sides(description.gains, description.mirror)
    for key, table in (("motors", motors), ("gains", gains)):
        _require(table, joint_names, "joint", f"{where}: {key}")
        missing = [name for name in joint_names if name not in table]
        if missing:
            raise RobotError(
                f"{where}: {key}: no row for {', '.join(missing)}; every joint of the URDF needs one"
            )
    drives = np.array([motors[name] for name in joint_names])
    tuning = np.array([gains[name] for name in joint_names])
    return Motors(
        reflected_inertia=drives[:, 0] ** 2 * drives[:, 1] * GRAM_SQUARE_CENTIMETRE,
        stiffness=tuning[:, 0],
        damping=tuning[:, 1],
        torque_limit=np.array(
            [model.effortLimit[model.joints[model.getJointId(n)].idx_v] for n in joint_names]
        ),
    )


def _posture(
    values: Mapping[str, float], model: pin.Model, joint_names: tuple[str, ...], where: str
) -> Vector:
    _require(values, joint_names, "joint", where)
    posture = np.array([values.get(name, 0.0) for name in joint_names])
    index = [model.joints[model.getJointId(name)].idx_q for name in joint_names]
    lower, upper = model.lowerPositionLimit[index], model.upperPositionLimit[index]
    for name, value, low, high in zip(joint_names, posture, lower, upper, strict=True):
        if not low <= value <= high:
            raise RobotError(
                f"{where}.{name}: {value} rad is outside the joint's limits {low:.4f}..{high:.4f}"
            )
    return posture
