"""Assignment of the joint columns of a file to the joints of a robot."""

import difflib
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.files.text import is_plain_name, read_text
from simbench.files.yaml_document import parse_yaml
from simbench.kinematics.tree import first_joint, kinematic_tree
from simbench.robot.robot import Robot

_ENDINGS = ("_joint", "_dof", "_pos", "_position", "_rad", "_deg", "_q", "_angle")
_BEGINNINGS = ("joint_", "dof_", "q_", "pos_")


def match_joint_names(names: Sequence[str], robot: Robot, where: str) -> tuple[int, ...]:
    """Find the robot's joint of each named column of a file.

    Upper and lower case and endings such as `_joint` and `_dof` do not distinguish names. `where`: the file,
    for messages. Returns index of each column's joint in `robot.joint_names`.
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


def body_joints(robot: Robot) -> tuple[str, ...]:
    """List the joints of a robot without those of its hands, in the robot's order.

    Returns names of the joints.
    """
    hands = {joint for hand in robot.hands.values() for joint in hand.joints}
    hands |= {joint for side in ("left", "right") for joint in robot.groups.get(f"{side}_grip", ())}
    return tuple(name for name in robot.joint_names if name not in hands)


def usual_orders(robot: Robot, count: int) -> Mapping[str, tuple[str, ...]]:
    """List the orders in which programs write so many joints of a robot.

    `count`: number of joints: all, or those of the body. Returns names of the joints by a description of the
    order, the most usual first; only orders that differ.
    """
    chosen = next((set(each) for each in (robot.joint_names, body_joints(robot)) if len(each) == count), None)
    if chosen is None:
        return {}
    written = [joint.get("name", "") for joint in ET.fromstring(robot.urdf_text).findall("joint")]
    children = _children(robot, written)
    orders = {
        "the robot's own": list(robot.joint_names),
        "limb by limb, as in MuJoCo": _depth_first(children, ""),
        "level by level, as in Isaac Lab": _breadth_first(children),
        "as the URDF lists them": [name for name in written if name in robot.joint_names],
    }
    found: dict[str, tuple[str, ...]] = {}
    for description, names in orders.items():
        order = tuple(name for name in names if name in chosen)
        if len(order) == count and order not in found.values():
            found[description] = order
    return found


def _children(robot: Robot, written: Sequence[str]) -> Mapping[str, list[str]]:
    """Joints that hang on each joint, in the order of the URDF; an empty name is that of the root link."""
    model = robot.model
    place = {name: index for index, name in enumerate(written)}
    children: dict[str, list[str]] = {name: [] for name in ("", *robot.joint_names)}
    for joint in range(first_joint(model), model.njoints):
        parent = model.names[model.parents[joint]]
        children[parent if parent in children else ""].append(model.names[joint])
    return {
        parent: sorted(joints, key=lambda joint: place.get(joint, len(place)))
        for parent, joints in children.items()
    }


def _depth_first(children: Mapping[str, list[str]], parent: str) -> list[str]:
    """Joints below a joint, each followed by those below it."""
    return [name for joint in children[parent] for name in (joint, *_depth_first(children, joint))]


def _breadth_first(children: Mapping[str, list[str]]) -> list[str]:
    """Joints by their distance from the root, those of one parent together."""
    names: list[str] = []
    level = [""]
    while level:
        level = [joint for parent in level for joint in children[parent]]
        names += level
    return names


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


def sliding_joints(robot: Robot) -> NDArray[np.bool_]:
    """Return which joints are prismatic, in the order of `robot.joint_names`.

    `robot`: robot with n joints. Returns (n,) bool: true for a prismatic joint.
    """
    return kinematic_tree(robot.model).sliding


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
