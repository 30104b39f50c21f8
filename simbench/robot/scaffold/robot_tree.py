"""A robot as the guesses see it: bodies, joints, masses and points of its shapes, in one configuration."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from simbench.errors import RobotError
from simbench.robot.urdf.elements import UrdfLink, UrdfTree, read_elements
from simbench.robot.urdf.mesh_files import shape_points
from simbench.robot.urdf.source import build_model, read_urdf, turn_root

Confidence = Literal["high", "medium", "low"]


@dataclass(frozen=True)
class Guess:
    """One guess about a robot."""

    key: str  # Key of `robot.yaml` that it is about.
    value: str  # What was written there, in short; `none` where nothing could be said.
    reason: str  # Evidence for it, or what is missing.
    confidence: Confidence  # `high`, `medium` or `low`.


Array = NDArray[np.float64]

UNLIMITED = 20.0
"""A position limit beyond this, rad, stands for none."""


@dataclass(frozen=True)
class RobotTree:
    """Bodies of a robot, each of which is moved by one joint; body 0 is fixed to the root link."""

    path: Path  # The URDF.
    urdf: UrdfTree  # Its links and joints as they are written.
    text: str  # The URDF as Pinocchio reads it, with meshes by absolute path.
    notes: tuple[str, ...]  # What the reader of the URDF changed or left out.
    model: pin.Model  # Kinematic model with the root link fixed to the world; joint j has coordinate j - 1.
    rest: Array  # (n,): zero configuration, moved into the limits, rad or m.
    poses: tuple[pin.SE3, ...]  # Pose of each body in the root link's frame in the configuration `rest`.
    children: tuple[tuple[int, ...], ...]
    links: tuple[tuple[str, ...], ...]  # Names of the links of each body.
    # Tuple of tuple of (N, 3) array: corners of the convex hull of each collision shape of each body in its
    # frame, m; of its visual shapes where it has no collision shape.
    shapes: tuple[tuple[Array, ...], ...]
    # Tuple of tuple of (N, 3) array: corners of the convex hull of each visual shape of each body in its
    # frame, m, of links without a collision shape.
    outlines: tuple[tuple[Array, ...], ...]
    collides: tuple[bool, ...]  # Whether each body has a collision shape.
    mass: Array  # (n + 1,): mass of each body, kg.

    @cached_property
    def points(self) -> tuple[Array, ...]:
        """Corners (N, 3) of all shapes of each body in its frame, m."""
        return tuple(np.vstack([np.empty((0, 3)), *shapes]) for shapes in self.shapes)

    @cached_property
    def size(self) -> float:
        """Diagonal of the box around the robot in the configuration `rest`, m."""
        return float(np.linalg.norm(np.ptp(self.placed_points(range(len(self.poses))), axis=0)))

    def placed_points(self, bodies: Sequence[int]) -> Array:
        """Collect the points of bodies and the origins of their joints in the configuration `rest`.

        Returns (N, 3): points in the root link's frame, m.
        """
        origins = [self.poses[body].translation[None] for body in bodies]
        shapes = [
            self.points[body] @ self.poses[body].rotation.T + self.poses[body].translation
            for body in bodies
            if len(self.points[body])
        ]
        return np.vstack([*origins, *shapes])

    def subtree(self, body: int) -> list[int]:
        """List the bodies that move with a body. Returns these bodies, itself included."""
        return [int(each) for each in self.model.subtrees[body]]

    def limits(self, joint: int) -> tuple[float, float]:
        """Read the position limits of a joint.

        Returns `lower`, `upper`: limits, rad or m; ±π where there are none.
        """
        lower = float(self.model.lowerPositionLimit[joint - 1])
        upper = float(self.model.upperPositionLimit[joint - 1])
        return (max(lower, -np.pi) if lower < -UNLIMITED else lower), (
            min(upper, np.pi) if upper > UNLIMITED else upper
        )

    def configured(self, q: Array) -> list[pin.SE3]:
        """Compute the poses of all bodies in a configuration.

        `q` (n,): positions of all joints, rad or m. Returns poses in the root link's frame.
        """
        data = self.model.createData()
        pin.forwardKinematics(self.model, data, q)
        return [pose.copy() for pose in data.oMi]

    def axis(self, joint: int) -> Array:
        """Compute the direction of a joint's axis in the configuration `rest`.

        Returns (3,): unit vector in the root link's frame.
        """
        data = self.model.joints[joint].createData()
        self.model.joints[joint].calc(data, np.zeros(self.model.nq), np.zeros(self.model.nv))
        motion = np.asarray(data.S).ravel()
        local = motion[3:] if self.is_rotation(joint) else motion[:3]
        return self.poses[joint].rotation @ local

    def is_rotation(self, joint: int) -> bool:
        """Tell whether a joint turns. Returns true if it turns, False if it slides."""
        return "P" not in self.model.joints[joint].shortname().removeprefix("JointModel")[:1]


def read_tree(path: Path, rotation: Array | None = None) -> RobotTree:
    """Read a URDF for the guesses.

    `rotation` (3, 3) or None: rotation by which the frame of the root link is turned. Returns its bodies.
    """
    source = read_urdf(path, floating=False)
    text = source.text if rotation is None else turn_root(source.text, rotation)
    urdf = read_elements(ET.fromstring(text))
    model = build_model(text, path)
    if model.njoints < 2:
        raise RobotError(f"{path}: no joint moves; a robot needs at least one")
    rest = np.clip(np.zeros(model.nq), model.lowerPositionLimit, model.upperPositionLimit)
    data = model.createData()
    pin.forwardKinematics(model, data, rest)
    children: list[list[int]] = [[] for _ in range(model.njoints)]
    for joint in range(1, model.njoints):
        children[model.parents[joint]].append(joint)
    points, outlines, collides, names = _shapes(model, urdf, path)
    return RobotTree(
        path=path,
        urdf=urdf,
        text=text,
        notes=source.notes,
        model=model,
        rest=rest,
        poses=tuple(pose.copy() for pose in data.oMi),
        children=tuple(map(tuple, children)),
        links=tuple(map(tuple, names)),
        shapes=tuple(map(tuple, points)),
        outlines=tuple(map(tuple, outlines)),
        collides=tuple(collides),
        mass=np.array([inertia.mass for inertia in model.inertias]),
    )


def link_placement(tree: RobotTree, link: str) -> pin.SE3:
    """Find the pose of a link in the frame of its body. `link`: name of a link."""
    return tree.model.frames[tree.model.getFrameId(link, pin.FrameType.BODY)].placement


def _shapes(
    model: pin.Model, urdf: UrdfTree, path: Path
) -> tuple[list[list[Array]], list[list[Array]], list[bool], list[list[str]]]:
    """List corners of the shapes, presence of collision shapes, and names of the links, by body."""
    points: list[list[Array]] = [[] for _ in range(model.njoints)]
    spare: list[list[Array]] = [[] for _ in range(model.njoints)]
    names: list[list[str]] = [[] for _ in range(model.njoints)]
    for link in urdf.links:
        frame = model.frames[model.getFrameId(link.name, pin.FrameType.BODY)]
        body, placement = int(frame.parentJoint), frame.placement
        names[body].append(link.name)
        for role, target in (("collision", points), ("visual", spare)):
            if role == "visual" and any(shape.role == "collision" for shape in link.shapes):
                continue
            target[body] += [
                found @ placement.rotation.T + placement.translation
                for found in _link_points(link, role, path.parent)
            ]
    merged = [own or other for own, other in zip(points, spare, strict=True)]
    return merged, spare, [bool(own) for own in points], names


def _link_points(link: UrdfLink, role: str, folder: Path) -> list[Array]:
    """Corners of the convex hulls of a link's shapes in the link's frame, m."""
    found = [shape_points(shape, folder) for shape in link.shapes if shape.role == role]
    return [hull_corners(each) for each in found if each is not None]


def hull_corners(points: Array) -> Array:
    """Reduce points to the corners of their convex hull.

    `points` (N, 3): points, m. Returns (M, 3): the corners; all points if they lie in one plane.
    """
    try:
        return points[np.sort(ConvexHull(points).vertices)]
    except QhullError:
        return np.unique(points, axis=0)
