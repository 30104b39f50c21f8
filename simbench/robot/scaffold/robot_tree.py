"""A robot as the guesses see it: bodies, joints, masses and points of its shapes, in one configuration."""

import copy
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import Literal

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from simbench.errors import RobotError
from simbench.robot.mjcf.kept_conversion import read_extension
from simbench.robot.scaffold.made_shapes import MadeShape, add_missing_shapes
from simbench.robot.urdf.elements import UrdfTree, find_couplings, parse_urdf
from simbench.robot.urdf.mesh_files import shape_points
from simbench.robot.urdf.source import build_model, fix_massless_joints, move_root, read_urdf, turn_root

Array = NDArray[np.float64]
Confidence = Literal["high", "medium", "low"]

UNLIMITED = 20.0  # A position limit beyond this, rad, stands for none.


@dataclass(frozen=True)
class Guess:
    """One guess about a robot."""

    key: str  # Key of `robot.yaml` that it is about.
    value: str  # What was written there, in short; `none` where nothing could be said.
    reason: str  # Evidence for it, or what is missing.
    confidence: Confidence  # `high`, `medium` or `low`.


class RobotTree:
    """Bodies of a robot, each of which is moved by one joint; body 0 is fixed to the root link.

    It is read from a URDF, xacro or MJCF at `path`; `root` is another link that is made its root, and
    `rotation` (3, 3) or None a rotation by which the frame of the root link is turned; `xacro` are arguments
    of a xacro file; with `make_shapes` the bodies without collision shapes get those of `add_missing_shapes`,
    which `made` lists. The robot is in the configuration `rest` (n,), its zero configuration moved into the
    limits, rad or m; joint j has coordinate j - 1, and the root link is fixed to the world.
    """

    def __init__(
        self,
        path: Path,
        rotation: Array | None = None,
        root: str = "",
        xacro: Mapping[str, str] | None = None,
        make_shapes: bool = False,
    ) -> None:
        self.path = path
        written = parse_urdf(path, xacro)
        couplings = find_couplings(UrdfTree(written))
        text, self.notes = read_urdf(path, floating=False, xacro=xacro, coupled=couplings)
        self.mjcf = read_extension(written)
        # The URDF as Pinocchio reads it, with meshes by absolute path.
        if root:
            # Joints by which the robot moved in the world carry nothing now.
            text = fix_massless_joints(ET.fromstring(move_root(text, root)), path)[0]
        self.text = text if rotation is None else turn_root(text, rotation)
        self.made: list[MadeShape] = []
        if make_shapes:
            self.text, self.made = add_missing_shapes(self.text, build_model(self.text, path))
        self.urdf = UrdfTree(ET.fromstring(self.text))
        self.model = model = build_model(self.text, path)
        # Joints that others move, by name: which one, multiplier, and offset, rad or m.
        self.couplings = {
            name: coupling for name, coupling in couplings.items() if {name, coupling[0]} <= {*model.names}
        }
        # Joints that no limb can move by itself: they stay as the posture has them.
        self.shared: frozenset[int] = frozenset()
        self._data = model.createData()
        if model.njoints < 2:
            raise RobotError(f"{path}: no joint moves; a robot needs at least one")
        self.rest = np.clip(np.zeros(model.nq), model.lowerPositionLimit, model.upperPositionLimit)
        self.poses = tuple(self.configured(self.rest))  # Pose of each body in the root link's frame.
        self.children: list[list[int]] = [[] for _ in range(model.njoints)]
        for joint in range(1, model.njoints):
            self.children[model.parents[joint]].append(joint)
        self.mass = np.array([inertia.mass for inertia in model.inertias])  # (n + 1,): of each body, kg.
        # Names of the links of each body, and by name.
        self.links: list[list[str]] = [[] for _ in range(model.njoints)]
        self.link = {link.name: link for link in self.urdf.links}
        # Corners (N, 3) of the convex hull of each visual shape of each body in its frame, m, of links
        # without a collision shape.
        self.outlines: list[list[Array]] = [[] for _ in range(model.njoints)]
        solids: list[list[Array]] = [[] for _ in range(model.njoints)]
        for link in self.urdf.links:
            frame = model.frames[model.getFrameId(link.name, pin.FrameType.BODY)]
            body, placement = int(frame.parentJoint), frame.placement
            self.links[body].append(link.name)
            solid = any(shape.role == "collision" for shape in link.shapes)
            for shape in link.shapes:
                if shape.role == "visual" and solid:
                    continue
                points = shape_points(shape, path.parent)
                if points is not None:
                    try:
                        corners = points[np.sort(ConvexHull(points).vertices)]
                    except QhullError:
                        # They lie in one plane.
                        corners = np.unique(points, axis=0)
                    target = solids if solid else self.outlines
                    target[body].append(corners @ placement.rotation.T + placement.translation)
        self.collides = [bool(own) for own in solids]  # Whether each body has a collision shape.
        # The same of each collision shape, or of the visual shapes of a body without any.
        self.shapes = [own or other for own, other in zip(solids, self.outlines, strict=True)]

    def find_shared(self, limbs: Sequence[Sequence[int]]) -> frozenset[int]:
        """Find the joints of limbs that share a motor with another one of a limb, and those that others move.

        `limbs`: joints of each limb.
        """
        names = self.model.names
        inside = {names[joint] for limb in limbs for joint in limb}
        moved = {name: leader for name, (leader, *_) in self.couplings.items() if name in inside}
        shared = {*moved, *(leader for leader in moved.values() if leader in inside)}
        return frozenset(joint for limb in limbs for joint in limb if names[joint] in shared)

    def skeleton(self) -> "RobotTree":
        """Return the same robot without shapes."""
        bare = copy.copy(self)
        for key in ("points", "places", "size"):
            vars(bare).pop(key, None)
        bare.shapes = [[] for _ in self.shapes]
        return bare

    @cached_property
    def points(self) -> tuple[Array, ...]:
        """Corners (N, 3) of all shapes of each body in its frame, m."""
        return tuple(np.vstack([np.empty((0, 3)), *shapes]) for shapes in self.shapes)

    @cached_property
    def places(self) -> tuple[Array, ...]:
        """The points (N, 3) of each body in its frame, m, and the origins of its links with mass or shape."""
        found = []
        for body, links in enumerate(self.links):
            known = [link for link in links if self.link[link].mass > 0.0 or self.link[link].shapes]
            origins = [self.placement(link).translation for link in known]
            found.append(np.vstack([self.points[body], np.reshape(origins, (-1, 3))]))
        return tuple(found)

    @cached_property
    def size(self) -> float:
        """Diagonal of the box around the robot in the configuration `rest`, m."""
        return float(np.linalg.norm(np.ptp(self.placed_points(range(len(self.poses))), axis=0)))

    def placed_points(self, bodies: Sequence[int]) -> Array:
        """Collect the points of bodies and the origins of their links in the configuration `rest`.

        Links without mass and shape, as a root link on the floor, are no part of a body, unless there is
        nothing else. Returns (N, 3): points in the root link's frame, m.
        """
        placed = [
            self.places[body] @ self.poses[body].rotation.T + self.poses[body].translation for body in bodies
        ]
        found = np.vstack([np.empty((0, 3)), *placed])
        return found if len(found) else np.array([self.poses[body].translation for body in bodies])

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
        pin.forwardKinematics(self.model, self._data, q)
        return [pose.copy() for pose in self._data.oMi]

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

    def distance(self, a: int, b: int) -> float:
        """Compute the distance between the origins of two joints, m."""
        return float(np.linalg.norm(self.poses[b].translation - self.poses[a].translation))

    def placement(self, link: str) -> pin.SE3:
        """Find the pose of a link in the frame of its body."""
        return self.model.frames[self.model.getFrameId(link, pin.FrameType.BODY)].placement

    def joint_link(self, joint: int) -> str:
        """Choose the link whose origin is that of the joint: its child link."""
        return next(each.child for each in self.urdf.joints if each.name == self.model.names[joint])

    def free_name(self, name: str) -> str:
        """Choose a name for a new link on a fixed joint: the given one, with a number if the URDF has it."""
        taken = {*self.link, *(joint.name for joint in self.urdf.joints)}
        names = chain((name,), (f"{name}_{number}" for number in count(2)))
        return next(each for each in names if not {each, f"{each}_joint"} & taken)
