"""Joint positions in the order of a robot: those of files, where they put its soles, their use of joints."""

import difflib
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from simbench.errors import MotionError
from simbench.files.text import is_plain_name, read_text
from simbench.files.yaml_document import parse_yaml
from simbench.kinematics.tree import first_joint, frame_poses, kinematic_tree
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.stored_motion import StoredMotion, TrajectoryOptions
from simbench.robot.robot import Robot

Array = NDArray[np.float64]

_ENDINGS = ("_joint", "_dof", "_pos", "_position", "_rad", "_deg", "_q", "_angle")
_BEGINNINGS = ("joint_", "dof_", "q_", "pos_")
# Excess over a joint's limit that retargeters leave, rad or m; more of it speaks against an order.
_BEYOND_LIMIT = 0.1
_FEW = 0.05  # Share of the samples that may be wrong for reasons of their own.
# Departures that each count one in the cost of an order of the joints.
_VIOLATIONS, _SOLE_ANGLE, _LINK_ERROR = 0.005, 0.1, 0.01
_MARGIN = 1.0  # Least difference of the costs of two orders by which one is told from the other.
_SAMPLES = 200  # Samples on which orders are compared.
_UNIT = {"rad": 1.0, "deg": np.pi / 180.0, "m": 1.0, "cm": 0.01, "mm": 0.001}


class FootPoses(NamedTuple):
    """Poses of the feet of a robot in the frame of its base."""

    rotation: Array  # (F, T, 3, 3).
    position: Array  # (F, T, 3): position of each foot frame in the base frame, m.
    corners: Array  # (F, T, 4, 3): corners of each sole in the base frame, m.


def foot_poses(robot: Robot, q: Array) -> FootPoses | None:
    """Compute the poses of the feet in the base frame for every sample.

    `q` (T, n): joint positions in the order of the robot, rad or m. Returns poses; None for a robot with a
    fixed base or without soles.
    """
    feet = [role for role in robot.feet if role in robot.soles]
    if not robot.floating or not feet:
        return None
    still = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (len(q), 1))
    frames = [robot.model.getFrameId(robot.frames[role]) for role in feet]
    poses = np.array(frame_poses(robot.model, frames, np.hstack([still, q])))
    rotation, position = poses[..., :3, :3], poses[..., :3, 3]
    soles = np.array([robot.soles[role] for role in feet])
    corners = np.einsum("ftij,fcj->ftci", rotation, soles) + position[:, :, None]
    return FootPoses(rotation, position, corners)


def resting_posture(robot: Robot) -> NDArray[np.float64]:
    """Return the joint positions of a robot at rest: its standing posture, or zero within the limits.

    `robot`: robot with n joints. Returns (n,): joint positions, rad or m.
    """
    if "standing" in robot.postures:
        return robot.postures["standing"].copy()
    lower, upper = joint_limits(robot)
    return np.clip(np.zeros(len(robot.joint_names)), lower, upper)


def joint_limits(robot: Robot) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the limits of the joints' positions in the order of `robot.joint_names`.

    `robot`: robot with n joints. Returns `lower`, `upper` (n,): limits, rad or m.
    """
    model = robot.model
    return model.lowerPositionLimit[robot.root_q :].copy(), model.upperPositionLimit[robot.root_q :].copy()


def body_joints(robot: Robot) -> tuple[str, ...]:
    """List the joints of a robot without those of its hands, in the robot's order.

    Returns names of the joints.
    """
    hands = {joint for hand in robot.hands.values() for joint in hand.joints}
    hands |= {joint for side in ("left", "right") for joint in robot.groups.get(f"{side}_grip", ())}
    return tuple(name for name in robot.joint_names if name not in hands)


def read_joint_order(path: str) -> tuple[str, ...]:
    """Read the names of a file's joint columns from a list.

    `path`: text file: one name a line, or a YAML or JSON list.
    """
    if not Path(path).exists():
        raise MotionError(f"{path}: no such file of joint names")
    text = read_text(Path(path), MotionError)
    lines = [line.split("#")[0].strip().rstrip(",") for line in text.splitlines()]
    names: object = [line for line in lines if line]
    if text.lstrip().startswith(("[", "- ")):
        names = parse_yaml(text, path, MotionError).value
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise MotionError(
            f"{path}: not a list of joint names; allowed: one name a line, or a YAML or JSON list"
        )
    if odd := [name for name in names if not is_plain_name(name)]:
        raise MotionError(f"{path}: the name {odd[0][:60]!r} must not have control characters")
    if twice := [name for name in names if names.count(name) > 1]:
        raise MotionError(
            f"{path}: joint {twice[0]} is there twice; every column must have a joint of its own"
        )
    return tuple(names)


def assign_joints(
    stored: StoredMotion, robot: Robot, options: TrajectoryOptions, where: str
) -> tuple[Array, bool, tuple[str, ...], tuple[str, ...]]:
    """Bring the joints into the robot's order and into radians; those that the file lacks stay at rest.

    `stored`: content of the file; `robot`: robot whose motion it is; `options`: what the user declares; its
    joint order overrules the names in the file; `where`: the file, for messages. Returns the joint positions
    (T, n), rad or m; whether the file's angles are in degrees; notes and doubts, one line each.
    """
    names, notes, doubts = stored.joint_names, [*stored.notes], [*stored.doubts]
    count = stored.joints.shape[1]
    if not count:
        raise MotionError(f"{where}: no columns of joints; allowed: one or more")
    if options.joint_order is not None:
        names = read_joint_order(options.joint_order)
        if len(names) != count:
            raise MotionError(
                f"{where}: {count} joints, of which {options.joint_order} names {len(names)}; the numbers "
                "must be the same"
            )
    if names is not None and len(names) != count:
        raise MotionError(
            f"{where}: {count} joints and {len(names)} names of joints; the numbers must be the same"
        )
    if names is not None and all(re.fullmatch(r"\d+", name) for name in names):
        names = None
    # Factor of each column to rad or m.
    units = stored.joint_units or ("",) * count
    factors = np.array([_UNIT.get(unit, 1.0) for unit in units])
    lower, upper = joint_limits(robot)
    are_degrees = False
    if not any(units) and len(stored.joints) and not kinematic_tree(robot.model).sliding.any():
        widest = float(np.abs([lower, upper])[np.isfinite([lower, upper])].max(initial=np.pi))
        # All angles of a motion in degrees together rarely stay within three degrees of zero.
        largest = np.abs(stored.joints).max(axis=1)
        beyond = np.mean(largest > 1.2 * widest + 0.3)
        fits = np.mean(np.radians(largest) > widest + 0.3) < _FEW
        are_degrees = bool(beyond > 1.0 - 10 * _FEW and fits)
    if are_degrees:
        factors = np.full(count, _UNIT["deg"])
        notes.append("angles in degrees, converted: in radians they would be far beyond the joints' limits")
    joints = stored.joints * factors
    if names is None:
        names, note, doubt = _choose_order(stored, joints, robot, where)
        notes.append(note)
        doubts += doubt
    columns = match_joint_names(names, robot, where)
    q = np.tile(resting_posture(robot), (len(joints), 1))
    q[:, columns] = joints
    missing = [name for index, name in enumerate(robot.joint_names) if index not in set(columns)]
    if missing:
        some = ", ".join(missing[:4]) + (f" and {len(missing) - 4} more" if len(missing) > 4 else "")
        notes.append(f"not in the file, held at rest: {some}")
    # A joint may be beyond its limits in many samples.
    excess = np.maximum(lower - q, q - upper)
    share = (excess > _BEYOND_LIMIT).mean(axis=0) if len(q) else np.zeros(q.shape[1])
    worst = int(share.argmax()) if share.size else 0
    if share.size and share[worst] >= _FEW:
        doubts.append(
            f"{robot.joint_names[worst]} is up to {excess[:, worst].max():.2g} beyond its limits, in "
            f"{share[worst]:.0%} of the samples: order, unit or robot may be another"
        )
    return q, are_degrees, tuple(notes), tuple(doubts)


def match_joint_names(names: Sequence[str], robot: Robot, where: str) -> tuple[int, ...]:
    """Find the index in `robot.joint_names` of the joint of each named column of a file.

    Upper and lower case and endings such as `_joint` and `_dof` do not distinguish names.
    """
    exact = {name: index for index, name in enumerate(robot.joint_names)}
    simple: dict[str, int] = {}
    for name, index in exact.items():
        simple.setdefault(_simplify(name), index)
    found: list[int] = []
    for name in names:
        index = exact.get(name, simple.get(_simplify(name), -1))
        if index < 0:
            close = difflib.get_close_matches(_simplify(name), list(simple), n=1, cutoff=0.0)
            nearest = f"; the nearest is {robot.joint_names[simple[close[0]]]}" if close else ""
            raise MotionError(f"{where}: {robot.name} has no joint {name!r}{nearest}")
        if index in found:
            first = names[found.index(index)]
            raise MotionError(
                f"{where}: columns {first!r} and {name!r} are both for joint {robot.joint_names[index]}; "
                "every joint must have one column"
            )
        found.append(index)
    return tuple(found)


def usual_orders(robot: Robot, count: int) -> Mapping[str, tuple[str, ...]]:
    """List the orders in which programs write so many joints of a robot, all or those of the body.

    Returns names of the joints by a description of the order, the most usual first; only orders that differ.
    """
    chosen = next((set(each) for each in (robot.joint_names, body_joints(robot)) if len(each) == count), None)
    if chosen is None:
        return {}
    model = robot.model
    written = [joint.get("name", "") for joint in ET.fromstring(robot.urdf_text).findall("joint")]
    place = {name: index for index, name in enumerate(written)}
    # Joints that hang on each joint, in the order of the URDF; an empty name is that of the root link.
    children: dict[str, list[str]] = {name: [] for name in ("", *robot.joint_names)}
    for joint in range(first_joint(model), model.njoints):
        parent = model.names[model.parents[joint]]
        children[parent if parent in children else ""].append(model.names[joint])
    for joints in children.values():
        joints.sort(key=lambda joint: place.get(joint, len(place)))
    deep: list[str] = []
    stack = children[""][::-1]
    while stack:
        deep.append(stack.pop())
        stack += children[deep[-1]][::-1]
    wide = list(children[""])
    for name in wide:
        # Those that are appended are visited, too.
        wide += children[name]
    orders = {
        "the robot's own": list(robot.joint_names),
        "limb by limb, as in MuJoCo": deep,
        "level by level, as in Isaac Lab": wide,
        "as the URDF lists them": [name for name in written if name in robot.joint_names],
    }
    found: dict[str, tuple[str, ...]] = {}
    for description, names in orders.items():
        order = tuple(name for name in names if name in chosen)
        if len(order) == count and order not in found.values():
            found[description] = order
    return found


def _choose_order(
    stored: StoredMotion, joints: Array, robot: Robot, where: str
) -> tuple[tuple[str, ...], str, list[str]]:
    """Choose an order for joints without names, under which limits, soles and links fit; note, doubts."""
    count = joints.shape[1]
    orders = usual_orders(robot, count)
    if not orders:
        own, body = len(robot.joint_names), len(body_joints(robot))
        without = f", {body} without those of its hands" if body != own else ""
        raise MotionError(
            f"{where}: {count} joints without names; {robot.name} has {own} joints{without}; give the names "
            "of the columns with --joint-order FILE"
        )
    chosen = np.unique(np.linspace(0, len(joints) - 1, _SAMPLES).astype(int))
    lower, upper = joint_limits(robot)
    # Sum of the departures under each order, in units of what right ones show.
    costs = {}
    for description, names in orders.items():
        q = np.tile(resting_posture(robot), (len(chosen), 1))
        q[:, [robot.joint_names.index(name) for name in names]] = joints[chosen]
        beyond = np.maximum(lower - q, q - upper) > _BEYOND_LIMIT
        cost = float(beyond.mean()) / _VIOLATIONS
        feet = foot_poses(robot, q)
        if feet is not None:
            angles = np.arccos(np.clip(feet.rotation[..., 2, 2], -1.0, 1.0))
            cost += float(np.median(angles.min(axis=0))) / _SOLE_ANGLE
        if stored.bodies is not None:
            # Median error of the links' distances from the first link, m, whichever links they are.
            frames = [index for index, frame in enumerate(robot.model.frames) if frame.name != "universe"]
            root = np.zeros((len(q), 7)) if robot.floating else np.zeros((len(q), 0))
            root[:, -1:] = 1.0
            poses = np.array(frame_poses(robot.model, frames, np.hstack([root, q])))
            own = np.linalg.norm(poses[..., :3, 3], axis=-1)
            told = np.linalg.norm(stored.bodies[chosen] - stored.bodies[chosen][:, :1], axis=-1)
            errors = np.abs(own[:, :, None] - told[None]).mean(axis=1)
            cost += float(np.median(errors.min(axis=0))) / _LINK_ERROR
        costs[description] = cost
    usual, least = next(iter(orders)), min(costs.values())
    best = usual if costs[usual] < least + _MARGIN else min(orders, key=lambda order: costs[order])
    rivals = [order for order in orders if order != best and costs[order] < costs[best] + _MARGIN]
    note = f"joints without names: order taken is {best}"
    if not rivals:
        why = ", the only usual one under which limits and soles fit" if len(orders) > 1 else ""
        return orders[best], note + why, []
    doubt = (
        f"the order of the joints is not certain: {best} was taken, but {' and '.join(rivals)} fits as well; "
        "declare it with --joint-order FILE"
    )
    return orders[best], note, [doubt]


def _simplify(name: str) -> str:
    """Reduce a name to what distinguishes joints: lower case, without endings such as `_joint`."""
    text = name.strip().lower().replace(" ", "_").replace("-", "_")
    shorter = True
    while shorter:
        shorter = False
        for ending in _ENDINGS:
            if text.endswith(ending) and len(text) > len(ending):
                text, shorter = text[: -len(ending)], True
        for beginning in _BEGINNINGS:
            if text.startswith(beginning) and len(text) > len(beginning):
                text, shorter = text[len(beginning) :], True
    return text


# Time step at which the speed of the interpolated trajectory is examined, s: a controller's.
_TIMESTEP = 1e-3


@dataclass(frozen=True)
class JointUse:
    """Range and peak speed of one joint in a trajectory, and its limits: rad or m, and per second."""

    name: str
    unit: str
    lowest: float
    highest: float
    lower: float
    upper: float
    speed: float
    speed_limit: float

    @property
    def clearance(self) -> float:
        """Least distance from a limit; negative beyond it."""
        return min(self.lowest - self.lower, self.upper - self.highest)


def joint_uses(robot: Robot, trajectory: JointTrajectory) -> tuple[JointUse, ...]:
    """Measure range and peak speed, that of the cubic spline, of each joint of a trajectory, in its order."""
    time, q = trajectory.time, trajectory.q
    spline = make_interp_spline(time, q, k=min(3, len(time) - 1)).derivative()
    speeds = np.abs(spline(np.arange(time[0], time[-1], _TIMESTEP))).max(axis=0)
    limits, fastest = joint_limits(robot), robot.model.velocityLimit[robot.root_v :]
    columns = np.stack([q.min(axis=0), q.max(axis=0), *limits, speeds, fastest])
    rows = zip(trajectory.joint_names, joint_units(robot), *columns.tolist(), strict=True)
    return tuple(JointUse(*row) for row in rows)


def joint_units(robot: Robot) -> tuple[str, ...]:
    """Find the units of the robot's joint positions: `rad` for a revolute joint, `m` for a prismatic one."""
    return tuple("m" if slides else "rad" for slides in kinematic_tree(robot.model).sliding)
