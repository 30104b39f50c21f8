"""Collision shapes of a robot: convex hulls, the pairs of links that can collide, and the lowest points."""

import hashlib
import json
import re
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from simbench.errors import RobotError
from simbench.files.json_document import parse_json
from simbench.files.storage import write_whole
from simbench.kinematics.obstacles import convex_cylinder
from simbench.resources import user_cache_dir
from simbench.robot.native_output import quiet_native_output
from simbench.robot.sides import SIDES

_HALF_PLATE = 5e-4  # Half the thickness of a mesh that is flat, m.
_BUILT: dict[str, pin.GeometryModel] = {}
_MOST_BUILT = 4  # Robots whose shapes are kept in memory, for the next that asks for them, and most of them.


def build_convex_geometry(model: pin.Model, urdf_text: str) -> pin.GeometryModel:
    """Build the collision shapes of a robot; meshes are replaced by their convex hulls, as in the simulation.

    `urdf_text`: its URDF, with meshes by absolute path. Returns shapes without pairs. Raises ValueError,
    RuntimeError if a mesh has no convex hull.
    """
    # Everything that the shapes follow from.
    frames = [(frame.name, frame.parentJoint) for frame in model.frames]
    content = ("hulls", pin.__version__, urdf_text, _mesh_states(urdf_text), frames)
    key = hashlib.sha256(repr(content).encode()).hexdigest()
    # Another thread may change it between two lines.
    if (built := _BUILT.get(key)) is not None:
        return built.copy()
    if len(_BUILT) >= _MOST_BUILT:
        with suppress(KeyError, RuntimeError):
            _BUILT.pop(next(iter(_BUILT)))
    folder = user_cache_dir()
    for path in sorted((folder / "simbench" / "shapes").glob(f"{key}-*.bin")) if folder else ():
        # A file is named by its content: what is damaged is not given to the library, which would not notice.
        with suppress(OSError, ValueError, RuntimeError):
            if hashlib.sha256(path.read_bytes()).hexdigest() == path.stem.rpartition("-")[2]:
                kept = pin.GeometryModel()
                kept.loadFromBinary(str(path))
                _BUILT[key] = kept
                return kept.copy()

    # Read them, and replace meshes by their hulls, which takes seconds.
    with quiet_native_output():
        geometry = pin.buildGeomFromUrdfString(model, urdf_text, pin.GeometryType.COLLISION)
        for shape in geometry.geometryObjects:
            if hasattr(shape.geometry, "buildConvexRepresentation"):
                # Coal looks for the farthest point from neighbour to neighbour. In a hollow, and on a flat
                # side with a point within it, that ends too early for some directions: distances would be too
                # large by up to half a millimetre, as the last digit of a posture decides.
                shape.geometry = _convex_mesh(shape.geometry)
            elif isinstance(shape.geometry, pin.coal.Cylinder):
                shape.geometry = convex_cylinder(shape.geometry.radius, 2.0 * shape.geometry.halfLength)
    # A folder that cannot be written costs time, not the run.
    with suppress(OSError, RuntimeError):
        if folder is not None and any(hasattr(each.geometry, "points") for each in geometry.geometryObjects):
            (folder / "simbench" / "shapes").mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder / "simbench") as scratch:
                written = Path(scratch) / "shapes.bin"
                geometry.saveToBinary(str(written))
                digest = hashlib.sha256(written.read_bytes()).hexdigest()
                written.replace(folder / "simbench" / "shapes" / f"{key}-{digest}.bin")
    _BUILT[key] = geometry
    return geometry.copy()


def _convex_mesh(mesh: Any) -> Any:
    """Build the convex hull of a mesh: of a plate between both its faces, 1 mm apart.

    Where a corner has more neighbours than the library counts, 255, as in a fine disc, corners are moved to a
    grid of a hundredth of the mesh's size, then of three. Raises ValueError if there is none.
    """
    points = mesh.vertices()
    normal = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2][2]
    size = max(float(np.ptp(points, axis=0).max()), 1e-6)
    thinned = [np.unique(step * np.round(points / step), axis=0) for step in (0.01 * size, 0.03 * size)]
    plates = [
        np.vstack([each - _HALF_PLATE * normal, each + _HALF_PLATE * normal]) for each in (points, *thinned)
    ]
    for corners in (points, *thinned, *plates):
        with suppress(QhullError, RuntimeError):
            ConvexHull(corners)  # Raises where there is no hull; Coal would end the process.
            hull = pin.coal.BVHModelOBBRSS()
            hull.beginModel(0, len(corners))
            hull.addVertices(np.array(corners))
            hull.endModel()
            hull.buildConvexHull(True, "Qt")
            return hull.convex
    raise ValueError("its points lie on a line, or are one")


def _mesh_states(urdf_text: str) -> list[tuple[str, int, int]]:
    """List the mesh files of a URDF with size and time of change, for keys of what follows from them."""
    states = []
    for name in sorted(set(re.findall(r'filename="([^"]+)"', urdf_text))):
        with suppress(OSError):
            status = Path(name).stat()
            states.append((name, status.st_size, status.st_mtime_ns))
    return states


def set_collision_pairs(geometry: pin.GeometryModel, pairs: Iterable[tuple[int, int]]) -> None:
    """Replace the pairs of a geometry model.

    `geometry`: shapes; changed; `pairs`: indices of the shapes of each pair.
    """
    geometry.removeAllCollisionPairs()
    for first, second in pairs:
        geometry.addCollisionPair(pin.CollisionPair(first, second))


def count_near(
    model: pin.Model, geometry: pin.GeometryModel, configurations: NDArray[np.float64], margin: float
) -> NDArray[np.int64]:
    """Count the configurations in which the shapes of each pair are near each other.

    `model`: model of the robot; `geometry`: shapes and P pairs; `configurations` (N, nq): configurations, rad
    or m; `margin`: distance that counts as near, m. Returns (P,) of int.
    """
    counts = np.zeros(len(geometry.collisionPairs), dtype=np.int64)
    if not len(counts):
        return counts
    data, placed = model.createData(), geometry.createData()
    for request in placed.collisionRequests:
        request.security_margin = margin
    for q in configurations:
        if pin.computeCollisions(model, data, geometry, placed, q, False):
            counts += [result.isCollision() for result in placed.collisionResults]
    return counts


Vector = NDArray[np.float64]
Pairs = tuple[tuple[str, str], ...]

# Numbers of configurations in which all pairs, and those not yet seen near each other, are examined.
_FIRST, _ALL = 20, 2000
_NEAR = 0.03  # Distance from which two links count as near each other, m.
# Fraction of the first configurations from which two links count as always near: hulls that overlap.
_ALWAYS = 0.5
_LARGEST_RANGE = np.pi  # Range from which joints without limits are drawn, rad or m.


_RULE = 1  # Number of the rule; a change of it makes kept pairs obsolete.


def find_collision_pairs(
    model: pin.Model, urdf_text: str, postures: Sequence[Vector], hands: Sequence[frozenset[str]], where: str
) -> Pairs:
    """Find the pairs of links that can collide, kept from the last time or derived.

    They are kept in the user's cache folder by the content that they follow from: with large meshes they take
    a second or two. Returns names of links, each pair once. Raises RobotError if a collision mesh has no
    convex hull.
    """
    folder = user_cache_dir()
    if folder is None:
        return derive_collision_pairs(model, urdf_text, postures, hands, where)
    # Everything that the pairs follow from.
    content = (
        *(_RULE, pin.__version__, np.__version__, urdf_text, _mesh_states(urdf_text)),
        *([posture.tolist() for posture in postures], [sorted(hand) for hand in hands]),
    )
    key = hashlib.sha256(repr(content).encode()).hexdigest()
    path = folder / "simbench" / "collision_pairs" / f"{key}.json"
    with suppress(OSError, ValueError, TypeError, RobotError):
        kept = parse_json(path.read_text(encoding="utf-8"), str(path), RobotError)
        return tuple((str(first), str(second)) for first, second in kept)
    pairs = derive_collision_pairs(model, urdf_text, postures, hands, where)
    # A folder that cannot be written costs time, not the run.
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(pairs))
    return pairs


def derive_collision_pairs(
    model: pin.Model, urdf_text: str, postures: Sequence[Vector], hands: Sequence[frozenset[str]], where: str
) -> Pairs:
    """Derive the pairs of links that can collide from random configurations within the joint limits.

    Left out are links that no joint or one joint alone moves against each other, links of one hand, links
    that touch in a named posture or nearly always, and links that never come nearer than 30 mm. Meshes count
    as their convex hulls, as in the simulation. The configurations are the same for the same robot.
    `urdf_text`: its URDF, with meshes by absolute path; `postures` sequence of (nq,) array: configurations in
    which links touch by design, if at all; `where`: file and key, for messages. Returns names of links, each
    pair once. Raises RobotError if a collision mesh has no convex hull.
    """
    try:
        geometry = build_convex_geometry(model, urdf_text)
    except (ValueError, RuntimeError) as error:
        raise RobotError(
            f"{where}: cannot be derived, because a collision mesh has no convex hull: "
            f"{' '.join(str(error).split())[:200]}; list the pairs, or [] for none"
        ) from error
    shapes = geometry.geometryObjects
    links = [shape.name.rpartition("_")[0] for shape in shapes]
    bodies = [shape.parentJoint for shape in shapes]
    pairs = [
        (a, b)
        for a, b in combinations(range(len(shapes)), 2)
        # More than one joint moves the two against each other.
        if bodies[a] != bodies[b]
        and model.parents[bodies[a]] != bodies[b]
        and model.parents[bodies[b]] != bodies[a]
        and not any(links[a] in hand and links[b] in hand for hand in hands)
    ]
    touching = set(_near(model, geometry, pairs, postures, 0.0))
    pairs = [pair for pair in pairs if pair not in touching]
    configurations = random_configurations(model, _ALL)
    counts = _near(model, geometry, pairs, configurations[:_FIRST], _NEAR)
    always = {pair for pair in counts if counts[pair] >= _ALWAYS * _FIRST}
    found = set(counts) - always
    unseen = [pair for pair in pairs if pair not in counts]
    for begin in range(_FIRST, _ALL, _FIRST):
        more = _near(model, geometry, unseen, configurations[begin : begin + _FIRST], _NEAR)
        found |= set(more)
        unseen = [pair for pair in unseen if pair not in more]
    off = {frozenset((links[a], links[b])) for a, b in touching | always}
    named = dict.fromkeys((links[a], links[b]) for a, b in sorted(found))
    return tuple(pair for pair in named if frozenset(pair) not in off)


def random_configurations(model: pin.Model, count: int) -> Vector:
    """Draw configurations (`count`, nq) within the joint limits, with the root at rest; always the same."""
    lower = np.maximum(model.lowerPositionLimit, -_LARGEST_RANGE)
    upper = np.maximum(lower, np.minimum(model.upperPositionLimit, _LARGEST_RANGE))
    drawn = np.random.default_rng(0).uniform(lower, upper, (count, model.nq))
    root = 7 if model.njoints > 1 and model.joints[1].nv == 6 else 0
    drawn[:, :root] = pin.neutral(model)[:root]
    return np.array([pin.normalize(model, each) for each in drawn])


def _near(
    model: pin.Model,
    geometry: pin.GeometryModel,
    pairs: Sequence[tuple[int, int]],
    configurations: Sequence[Vector] | Vector,
    margin: float,
) -> dict[tuple[int, int], int]:
    """Count the configurations in which pairs of shapes are within `margin`, m; others are left out."""
    set_collision_pairs(geometry, pairs)
    counts = count_near(model, geometry, np.asarray(configurations), margin)
    return {pair: int(count) for pair, count in zip(pairs, counts, strict=True) if count}


_ARM = ("shoulder", "elbow", "wrist", "hand")
# Height of the shoulder over the length of the arm from which a robot has a stand of its own.
_OWN_STAND = 0.5
# Height of the shoulder on a pedestal over the length of the arm: that of PUMA 560 on its own column,
# 0.672 m to 0.93 m. The arm then reaches from near the floor to above its shoulder.
_SHOULDER_HEIGHT = 0.72
# The same of two arms, which hang beside the pedestal as a person's do: that of Baxter on its pedestal.
_TWO_SHOULDERS_HEIGHT = 1.15
ROUNDING = 0.01  # Heights are rounded to this, m; a gap that is smaller is none.


def default_base_height(
    model: pin.Model, urdf_text: str, frames: Mapping[str, str], groups: Mapping[str, Sequence[str]]
) -> float:
    """Choose the height of the root link of a robot with a fixed base above the floor.

    The lowest part that no arm moves is on the floor at least. A robot whose shoulders are then lower than
    half the length of its arms is one that is mounted on something: it stands on a pedestal. `model`: model
    of the robot, its root link at the world's origin; `urdf_text`: its URDF, with meshes by absolute path;
    `frames`: frame of each role; `groups`: joints of each part of the body. Returns height, m.
    """
    data, neutral = model.createData(), pin.neutral(model)
    pin.framesForwardKinematics(model, data, neutral)
    arms = {name for side in SIDES for name in groups.get(f"{side}_arm", ())}
    moved = [
        any(model.names[joint] in arms for joint in model.supports[body]) for body in range(model.njoints)
    ]
    height = max(0.0, -float(root_corners(model, urdf_text, moved)[:, 2].min(initial=0.0)))
    lengths, shoulders = [], []
    for side in SIDES:
        roles = [f"{side}_{part}" for part in _ARM]
        if all(role in frames for role in roles):
            places = [data.oMf[model.getFrameId(frames[role])].translation for role in roles]
            lengths.append(float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum()))
            shoulders.append(float(places[0][2]))
    if lengths:
        length, shoulder = float(np.mean(lengths)), float(np.mean(shoulders))
        if shoulder + height < _OWN_STAND * length:
            part = _SHOULDER_HEIGHT if len(lengths) == 1 else _TWO_SHOULDERS_HEIGHT
            height = part * length - shoulder
    return round(height / ROUNDING) * ROUNDING if height >= ROUNDING else 0.0


def root_corners(model: pin.Model, urdf_text: str, moved: Collection[bool] = ()) -> NDArray[np.float64]:
    """List the corners of the shapes of a robot that no joint moves, or of other ones, at zero positions.

    `model`: model of the robot, its root link at the world's origin; `urdf_text`: its URDF, with meshes by
    absolute path; `moved`: whether each body of the model is left out; by default all but that of the root
    link. Returns (N, 3): corners of convex hulls and bounding boxes in the frame of the root link, m.
    """
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    left_out = list(moved) or [body > 0 for body in range(model.njoints)]
    # Collision shapes, meshes as convex hulls, and visual shapes of links that have none.
    urdf = ET.fromstring(urdf_text)
    for link in urdf.findall("link"):
        if link.find("collision") is not None:
            for shape in link.findall("visual"):
                link.remove(shape)
    bare = ET.tostring(urdf, encoding="unicode")
    with quiet_native_output():
        visual = pin.buildGeomFromUrdfString(model, bare, pin.GeometryType.VISUAL)
    corners = [np.empty((0, 3))]
    for shape in (*build_convex_geometry(model, urdf_text).geometryObjects, *visual.geometryObjects):
        if left_out[shape.parentJoint]:
            continue
        form: Any = shape.geometry
        if hasattr(form, "points"):
            points = np.array([*form.points()]).reshape(-1, 3)
        else:
            form.computeLocalAABB()
            box = form.aabb_local
            points = np.array([*product(*zip(box.min_.tolist(), box.max_.tolist(), strict=True))])
        pose = data.oMi[shape.parentJoint] * shape.placement
        corners.append(points @ pose.rotation.T + pose.translation)
    return np.vstack(corners)
