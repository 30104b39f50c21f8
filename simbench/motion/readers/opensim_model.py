"""The kinematics of an OpenSim model (`.osim`), as versions 3 and 4 write it.

A joint turns and shifts its child's frame against its parent's by functions of coordinates: rotations one
after the other about axes of the turned frame, and the sum of shifts along axes of the parent's frame. The
kinds of joints are such sequences (Seth et al. 2010, Multibody System Dynamics 25).
"""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline, PPoly
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.files.text import parse_finite_number
from simbench.files.xml_document import read_xml
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import transform
from simbench.motion.recordings import compute_world_poses
from simbench.system.limits import require_at_most

# Axes of the joints whose coordinates move them one to one: r turns, t shifts.
AXES = {
    "WeldJoint": "", "PinJoint": "rz", "SliderJoint": "tx", "UniversalJoint": "rx ry",
    "BallJoint": "rx ry rz", "GimbalJoint": "rx ry rz", "PlanarJoint": "rz tx ty",
    "FreeJoint": "rx ry rz tx ty tz",
}  # fmt: skip
FUNCTIONS = (
    *("Constant", "LinearFunction", "PolynomialFunction", "MultiplierFunction"),
    *("SimmSpline", "NaturalCubicSpline", "PiecewiseLinearFunction"),
)
GROUND = "ground"
# Most joints of a model, and largest number in it: lengths are metres, angles radians.
MOST_JOINTS, LARGEST_NUMBER = 500, 1e6
CLOSEST = 1e-9  # Smallest distance of a spline's points; divided by less, differences overflow.

Function = Callable[[Array], Array]  # From coordinates (n, T) to a displacement (T,), rad or m.


class Axis(NamedTuple):
    """An axis about which, or along which, a joint moves."""

    turns: bool
    direction: Array  # (3,): unit vector.
    function: Function
    linear: bool  # Whether the displacement is a linear function.
    coordinates: tuple[str, ...]


class Joint(NamedTuple):
    """A joint between two bodies."""

    bodies: tuple[str, str]  # Parent and child.
    frames: tuple[Array, Array]  # (4, 4): poses of the joint's frames in them.
    axes: tuple[Axis, ...]


class OpensimModel(NamedTuple):
    """Bodies of a model, parents before children, and how they move."""

    names: tuple[str, ...]
    parents: NDArray[np.int64]  # (J,): index of the body that carries each; -1 for the ground.
    joints: tuple[tuple[Joint, bool], ...]  # Joint that carries each body, and whether as its parent.
    defaults: dict[str, float]  # Coordinates, rad or m, by name.
    ranges: dict[str, Array]  # (2,): their least and largest value, where the model says it.
    # Coordinates that follow others: the function, and the names of the others.
    coupled: dict[str, tuple[Function, tuple[str, ...]]]

    def list_angles(self) -> set[str]:
        """List the coordinates that OpenSim writes in degrees: those that turn a joint one to one."""
        axes = [axis for joint, _ in self.joints for axis in joint.axes]
        return {name for axis in axes if axis.turns and axis.linear for name in axis.coordinates}

    def compute_poses(self, coordinates: Mapping[str, Array]) -> tuple[Array, Array]:
        """Compute the poses of the bodies' frames in the ground's, y up.

        `coordinates`: (T,) by name, rad or m; others are coupled, or have their default. Returns positions
        (T, J, 3), m, and rotations (T, J, 3, 3).
        """
        count = len(next(iter(coordinates.values())))
        values = {name: np.full(count, value) for name, value in self.defaults.items()} | dict(coordinates)
        for name, (function, others) in self.coupled.items():
            if name not in coordinates:
                values[name] = function(np.array([values[other] for other in others]))
        local = np.empty((count, len(self.names), 4, 4))
        for k, (joint, as_parent) in enumerate(self.joints):
            turned, shift = Rotation.identity(count), np.zeros((count, 3))
            for axis in joint.axes:
                moved = axis.function(
                    np.array([values[name] for name in axis.coordinates]).reshape(-1, count)
                )
                moved = moved[:, None] * axis.direction
                turned, shift = (
                    (turned * Rotation.from_rotvec(moved), shift) if axis.turns else (turned, shift + moved)
                )
            parent, child = joint.frames
            local[:, k] = parent @ transform(turned.as_matrix(), shift) @ np.linalg.inv(child)
            if as_parent:
                local[:, k] = np.linalg.inv(local[:, k])
        return compute_world_poses(self.parents, local[..., :3, 3], local[..., :3, :3])


def read_model(path: Path) -> OpensimModel:
    """Read the bodies, joints and couplings of a model."""
    root = read_xml(path, MotionError)
    if root.tag != "OpenSimDocument" or root.find("Model") is None:
        raise MotionError(f"{path}: not an OpenSim model, which begins with OpenSimDocument and Model")
    # Version 3 writes a joint in its child; version 4 in a set, with frames on the bodies.
    written = [
        (joint, body.get("name", "")) for body in root.iter("Body") for joint in body.iterfind("Joint/*")
    ]
    written += [(joint, "") for joint in root.iterfind(".//JointSet/objects/*")]
    require_at_most(len(written), MOST_JOINTS, f"{path}: joints", MotionError)
    frames = {each.get("name", ""): each for each in root.iter("PhysicalOffsetFrame")}
    pending = [_read_joint(joint, child, frames, path) for joint, child in written]
    bodies, parents, joints = [GROUND], [-1], []
    while True:
        ready = next((j for j in pending if len({*j.bodies} & {*bodies}) == 1), None)
        if ready is None:
            break
        pending.remove(ready)
        as_parent = ready.bodies[1] in bodies
        known, new = ready.bodies[::-1] if as_parent else ready.bodies
        parents.append(bodies.index(known) - 1)
        bodies.append(new)
        joints.append((ready, as_parent))
    if not joints:
        raise MotionError(f"{path}: no joint connects a body with {GROUND}")
    defaults, ranges, coupled = {}, {}, {}
    for each in root.iter("Coordinate"):
        name = each.get("name", "")
        (defaults[name],) = _read_numbers(each, "default_value", path, 1, 0.0)
        if _text(each, "range"):
            ranges[name] = _read_numbers(each, "range", path, 2)
    for each in root.iter("CoordinateCouplerConstraint"):
        others = tuple(_text(each, "independent_coordinate_names").split())
        name, function = _text(each, "dependent_coordinate_name"), _find_function(each)
        if function is not None and _text(each, "isEnforced") != "false":
            (scale,) = _read_numbers(each, "scale_factor", path, 1, 1.0)
            coupled[name] = _read_function(function, len(others), path, scale), others
    used = {name for joint, _ in joints for axis in joint.axes for name in axis.coordinates}
    used |= {name for _, others in coupled.values() for name in others}
    if not used <= {*defaults}:
        raise MotionError(f"{path}: coordinate {min(used - {*defaults})[:40]!r} is used and not defined")
    return OpensimModel(tuple(bodies[1:]), np.array(parents[1:]), tuple(joints), defaults, ranges, coupled)


def _read_joint(joint: ET.Element, child: str, frames: Mapping[str, ET.Element], path: Path) -> Joint:
    """Read a joint. `child`: its body in version 3, else empty; `frames`: frames on bodies by name."""
    coordinates = [each.get("name", "") for each in joint.iter("Coordinate")]
    where = f"{path}: joint {joint.get('name', '')[:40]!r}"
    if joint.tag == "CustomJoint":
        axes = []
        for axis in joint.iterfind("SpatialTransform/TransformAxis"):
            names, function = tuple(_text(axis, "coordinates").split()), _find_function(axis)
            if function is None:
                if names:
                    raise MotionError(f"{where}: {axis.get('name')} has none of {', '.join(FUNCTIONS)}")
                continue
            direction = _read_numbers(axis, "axis", where, 3)
            size = float(np.linalg.norm(direction))
            if size < 1e-6:
                raise MotionError(f"{where}: {axis.get('name')} has an axis of length {size:.3g}")
            moved = _read_function(function, len(names), where)
            turns = axis.get("name", "").startswith("rotation")
            axes.append(Axis(turns, direction / size, moved, function.tag == "LinearFunction", names))
    elif joint.tag in AXES and len(AXES[joint.tag].split()) == len(coordinates):
        pairs = zip(AXES[joint.tag].split(), coordinates, strict=True)
        directions = dict(zip("xyz", np.eye(3), strict=True))
        axes = [Axis(k[0] == "r", directions[k[1]], lambda q: q[0], True, (name,)) for k, name in pairs]
    else:
        known = ", ".join(("CustomJoint", *AXES))
        raise MotionError(f"{where} is a {joint.tag} with {len(coordinates)} coordinates; known: {known}")
    if child:
        bodies, reverse = (_text(joint, "parent_body"), child), _text(joint, "reverse") == "true"
        poses = (
            _read_pose(joint, "location_in_parent", "orientation_in_parent", where),
            _read_pose(joint, "location", "orientation", where),
        )
        return Joint(bodies[::-1], poses[::-1], tuple(axes)) if reverse else Joint(bodies, poses, tuple(axes))
    own = {**frames, **{each.get("name", ""): each for each in joint.iter("PhysicalOffsetFrame")}}
    found = []
    for socket in ("socket_parent_frame", "socket_child_frame"):
        name, pose = _text(joint, socket).rpartition("/")[2], np.eye(4)
        for _ in own:
            if name not in own:
                break
            pose = _read_pose(own[name], "translation", "orientation", where) @ pose
            name = _text(own[name], "socket_parent").rpartition("/")[2]
        if not name or name in own:
            raise MotionError(f"{where}: {socket} does not lead to a body")
        found.append((name, pose))
    (parent, parent_pose), (body, child_pose) = found
    return Joint((parent, body), (parent_pose, child_pose), tuple(axes))


def _find_function(element: ET.Element) -> ET.Element | None:
    """Find the first function within an element; versions 3 and 4 wrap it differently."""
    return next((each for each in element.iter() if each is not element and each.tag in FUNCTIONS), None)


def _read_function(element: ET.Element, count: int, where: object, scale: float = 1.0) -> Function:
    """Read a function of so many coordinates, times a scale."""
    kind = element.tag
    if kind == "MultiplierFunction":
        inner = _find_function(element)
        if inner is None:
            raise MotionError(f"{where}: a MultiplierFunction without one of {', '.join(FUNCTIONS)}")
        return _read_function(inner, count, where, scale * _read_numbers(element, "scale", where, 1, 1.0)[0])
    if kind == "Constant":
        (constant,) = _read_numbers(element, "value", where, 1, 0.0)
        return lambda q: np.full(q.shape[1], scale * constant)
    if kind == "LinearFunction":
        slopes = _read_numbers(element, "coefficients", where, count + 1)
        return lambda q: scale * (slopes[:-1] @ q + slopes[-1])
    if count != 1:
        raise MotionError(f"{where}: a {kind} of {count} coordinates; it must have one")
    if kind == "PolynomialFunction":
        powers = _read_numbers(element, "coefficients", where)
        return lambda q: scale * np.polyval(powers, q[0])
    x, y = (_read_numbers(element, key, where) for key in "xy")
    if len(x) != len(y) or len(x) < 2 or not (np.diff(x) > CLOSEST).all():
        raise MotionError(
            f"{where}: a {kind} of {len(x)} and {len(y)} numbers; x must increase, y be as many"
        )
    curve = PPoly(np.array([np.diff(y) / np.diff(x), y[:-1]]), x)
    if kind != "PiecewiseLinearFunction" and len(x) > 2:
        # The third derivatives at the ends are those of the cubics through the four outer points; with three
        # points they are zero. The spline is linear in its second derivatives there.
        bases = np.zeros((len(x), 3))
        bases[:, 0] = y
        cubic = CubicSpline(x, bases, bc_type=((2, [0.0, 1.0, 0.0]), (2, [0.0, 0.0, 1.0])))
        third, outer = cubic.c[0][[0, -1]], np.zeros(2)
        if len(x) > 3:
            for k, (u, v) in enumerate(((x[:4], y[:4]), (x[-4:], y[-4:]))):
                outer[k] = np.sum(v / np.prod(u[:, None] - u + np.eye(4), axis=1))
        bent = np.linalg.solve(third[:, 1:], outer - third[:, 0])
        curve = PPoly(cubic.c @ np.array([1.0, *bent]), x)
    slope = curve.derivative()

    def evaluate(q: Array) -> Array:
        # Beyond the ends it goes on straight.
        inside = np.clip(q[0], x[0], x[-1])
        return np.asarray(scale * (curve(inside) + slope(inside) * (q[0] - inside)))

    return evaluate


def _text(element: ET.Element, key: str) -> str:
    """Text of the first child of that name, or whose name has it and an ending, as early versions 4 write."""
    named = (each for each in element if each.tag in (key, f"{key}_connectee_name"))
    found = next(named, None)
    return (found.text or "").strip() if found is not None else ""


def _read_numbers(
    element: ET.Element, key: str, where: object, count: int | None = None, missing: float | None = None
) -> Array:
    """Read the numbers of a child. `missing`: each of `count` numbers where there is no such child."""
    words = _text(element, key).split() or [str(missing)] * (count or 0) * (missing is not None)
    numbers = [parse_finite_number(word) for word in words]
    small = [number for number in numbers if number is not None and abs(number) <= LARGEST_NUMBER]
    if len(small) != len(words) or count not in (None, len(words)) or not words:
        raise MotionError(f"{where}: {key} is {' '.join(words)[:40]!r}; finite numbers are needed there")
    return np.array(small)


def _read_pose(element: ET.Element, location: str, orientation: str, where: object) -> Array:
    """Read the pose (4, 4) of a frame in its body's; angles about x, y and z of the turned frame, rad."""
    turned = Rotation.from_euler("XYZ", _read_numbers(element, orientation, where, 3, 0.0))
    return np.asarray(transform(turned.as_matrix(), _read_numbers(element, location, where, 3, 0.0)))
