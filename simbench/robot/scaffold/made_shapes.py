"""Convex collision shapes from the visual shapes of bodies that have none to collide with."""

import copy
import functools
import hashlib
import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, KDTree, QhullError

from simbench.errors import RobotError
from simbench.files.json_document import parse_json
from simbench.files.storage import write_whole
from simbench.resources import user_cache_dir
from simbench.robot.urdf.elements import UrdfLink, UrdfTree, parse_numbers
from simbench.robot.urdf.mesh_files import BALL, check_mesh, load_triangles, shape_points

Array = NDArray[np.float64]

MOST_CORNERS = 64  # Corners of a piece.
_MOST_PIECES = 8
# Distance by which a hull may exceed its mesh before it is cut, as a part of the mesh's diagonal, and part of
# the hull's volume that the two pieces must have at most.
_EXCESS, _SAVED = 0.05, 0.95
_CUTS = (0.35, 0.5, 0.65)  # Where a mesh is cut, as parts of its extent along each axis.
_MESH_SAMPLES, _HULL_SAMPLES = 100_000, 2000  # Points on the surfaces between which distances are measured.
# Distance by which what is seen of a link reaches beyond the collision shapes of its body before it gets its
# own, m: covers and sensors reach less far.
_BEYOND = 0.04
_RULES = 1  # Raised when another version would make other pieces.


class MadeShape(NamedTuple):
    """Collision shapes that were made for a link from one of its visual shapes."""

    link: str
    pieces: int
    excess: float  # Distance by which they exceed the visual shape at most, m.
    shortfall: float  # Distance by which reduced hulls stay inside the whole ones at most, m.


class MeshPieces(NamedTuple):
    """Convex pieces around a mesh, in its unit and axes."""

    files: tuple[Path, ...]
    excess: float  # Distance by which they exceed the mesh at most, in its unit.
    shortfall: float  # Distance by which reduced hulls stay inside the whole ones at most, in its unit.


def add_missing_shapes(text: str, model: pin.Model) -> tuple[str, list[MadeShape]]:
    """Add collision shapes to the links of a robot whose bodies have none there, from their visual shapes.

    That are all links of a body without collision shapes, and of others those without any that reach beyond
    them, as a hand beyond a wrist; not of what stands on the floor. Boxes, spheres, cylinders and capsules
    are taken as they are, meshes as convex pieces. `text`: its URDF, with meshes by absolute path; `model`:
    its model. Returns the URDF, and what was made. Without a cache folder nothing is made of meshes.
    """
    robot = ET.fromstring(text)
    links = robot.findall("link")
    body = {
        link.get("name", ""): model.frames[
            model.getFrameId(link.get("name", ""), pin.FrameType.BODY)
        ].parentJoint
        for link in links
    }
    covered = {link.get("name", "") for link in links if link.find("collision") is not None}
    covered |= {
        link for link, reach in _reaches_beyond(UrdfTree(robot).links, model, body) if reach < _BEYOND
    }
    made = []
    for link in links:
        name = link.get("name", "")
        for visual in link.findall("visual") if name not in covered else ():
            mesh = visual.find("geometry/mesh")
            pieces = MeshPieces((), 0.0, 0.0) if mesh is None else mesh_pieces(Path(mesh.get("filename", "")))
            scale = 1.0 if mesh is None else max(map(abs, parse_numbers(mesh.get("scale", "1"))))
            files = [""] if mesh is None else [*map(str, pieces.files)]
            for file in files:
                shape = ET.SubElement(link, "collision")
                shape.extend(copy.deepcopy(part) for part in visual if part.tag in ("origin", "geometry"))
                used = shape.find("geometry/mesh")
                if used is not None:
                    used.set("filename", file)
            if files:
                made.append(MadeShape(name, len(files), scale * pieces.excess, scale * pieces.shortfall))
    ET.indent(robot)
    return ET.tostring(robot, encoding="unicode"), made


def _reaches_beyond(
    links: Sequence[UrdfLink], model: pin.Model, body: Mapping[str, int]
) -> Iterator[tuple[str, float]]:
    """Measure how far links reach beyond the collision shapes of their bodies, m.

    `body`: body of each link. Yields the links of bodies that have collision shapes; of what stands on the
    floor, with nothing beyond.
    """
    data, known = model.createData(), dict[int, Array]()
    pin.forwardKinematics(
        model, data, np.clip(pin.neutral(model), model.lowerPositionLimit, model.upperPositionLimit)
    )
    outlines: dict[str, Array] = {}
    for link in links:
        pose = model.frames[model.getFrameId(link.name, pin.FrameType.BODY)].placement
        for shape in link.shapes:
            points = shape_points(shape, Path())
            if points is None:
                continue
            points = points @ pose.rotation.T + pose.translation
            if shape.role == "collision":
                known[body[link.name]] = np.vstack([known.get(body[link.name], points), points])
            else:
                outlines[link.name] = np.vstack([outlines.get(link.name, points), points])
    lowest = {
        joint: float((points @ data.oMi[joint].rotation[2] + data.oMi[joint].translation[2]).min())
        for joint, points in known.items()
    }
    floor = min(lowest.values(), default=0.0) + _BEYOND
    for name, points in outlines.items():
        own = known.get(body[name])
        if own is not None:
            # How far the hull of one exceeds that of the other.
            beyond = max(float((points @ way).max() - (own @ way).max()) for way in BALL)
            yield name, beyond if lowest[body[name]] > floor else 0.0


def pieces_folder() -> Path | None:
    """Choose the folder of the user's cache in which pieces are kept; None if there is none."""
    cache = user_cache_dir()
    return None if cache is None else cache / "simbench" / "pieces"


@functools.lru_cache(maxsize=1024)
def mesh_pieces(path: Path) -> MeshPieces:
    """Make convex pieces of a mesh, or find those in the cache; none of a mesh that is flat or unreadable."""
    folder, check = pieces_folder(), check_mesh(path)
    if folder is None or check.error:
        return MeshPieces((), 0.0, 0.0)
    digest = hashlib.sha256(f"{_RULES} {path.suffix}".encode() + path.read_bytes()).hexdigest()[:32]
    record = folder / f"{digest}.json"
    if not record.is_file():
        # Its import takes a third of a second.
        import trimesh

        corners = load_triangles(check.file)
        mesh = trimesh.Trimesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))
        try:
            pieces = split_convex(mesh)
        except QhullError:
            pieces = []
        folder.mkdir(parents=True, exist_ok=True)
        for number, (points, *_) in enumerate(pieces):
            hull = trimesh.convex.convex_hull(points)
            write_whole(folder / f"{digest}-{number}.stl", trimesh.exchange.stl.export_stl(hull))
        excess = max((each[1] for each in pieces), default=0.0)
        shortfall = max((each[2] for each in pieces), default=0.0)
        write_whole(record, json.dumps([len(pieces), excess, shortfall]))
    count, excess, shortfall = parse_json(record.read_text(encoding="utf-8"), str(record), RobotError)
    return MeshPieces(tuple(folder / f"{digest}-{number}.stl" for number in range(count)), excess, shortfall)


def split_convex(mesh: Any) -> list[tuple[Array, float, float]]:
    """Cover a mesh with convex pieces: its hull, cut in two while it exceeds the mesh too far.

    A piece is cut along the axis and at the place where the hulls of the two parts have the least volume
    together. `mesh`: a mesh of trimesh. Returns of each piece the corners (N, 3), N ≤ 64, the distance by
    which its hull exceeds the mesh at most, and that by which the corners' hull stays inside it. Raises
    QhullError if the mesh is flat.
    """
    import trimesh

    size = float(np.linalg.norm(np.ptp(mesh.vertices, axis=0)))
    near = KDTree(trimesh.sample.sample_surface(mesh, _MESH_SAMPLES, seed=0)[0])

    def measure(part: Any, cuts: tuple[tuple[int, float], ...]) -> tuple[float, Any, Any, Any]:
        """Find the hull of a part and how far it exceeds the mesh, but where it was cut: inside the body."""
        hull = trimesh.convex.convex_hull(part.vertices)
        points = trimesh.sample.sample_surface(hull, _HULL_SAMPLES, seed=0)[0]
        for axis, position in cuts:
            points = points[np.abs(points[:, axis] - position) > 1e-3 * size]
        return float(near.query(points)[0].max(initial=0.0)), hull, part, cuts

    waiting = [measure(mesh, ())]
    done: list[tuple[Array, float, float]] = []
    while waiting:
        worst = max(range(len(waiting)), key=lambda each: waiting[each][0])
        excess, hull, part, cuts = waiting.pop(worst)
        if excess > _EXCESS * size and len(done) + len(waiting) + 2 <= _MOST_PIECES:
            low, extent = part.vertices.min(axis=0), np.ptp(part.vertices, axis=0)
            found = []
            for axis, fraction in product(range(3), _CUTS):
                position = float(low[axis] + fraction * extent[axis])
                normal, origin = np.eye(3)[axis], position * np.eye(3)[axis]
                halves = [part.slice_plane(origin, sign * normal) for sign in (1.0, -1.0)]
                # One of the halves may be flat, or nothing.
                with suppress(QhullError, ValueError):
                    volume = sum(ConvexHull(half.vertices).volume for half in halves)
                    found.append((volume, axis, position, halves))
            best = min(found, key=lambda each: each[:3], default=None)
            if best is not None and best[0] < _SAVED * hull.volume:
                waiting += [measure(half, (*cuts, best[1:3])) for half in best[3]]
                continue
        corners, shortfall = _reduce_corners(np.asarray(hull.vertices))
        done.append((corners, excess, shortfall))
    return done


def _reduce_corners(points: Array) -> tuple[Array, float]:
    """Choose corners of a convex hull: those along the axes, then the one that is farthest outside, in turn.

    `points` (N, 3): all corners. Returns at most 64 of them, and the distance of the farthest of the others
    from the hull of the chosen ones.
    """
    size = float(np.ptp(points, axis=0).max())
    directions = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)], float)
    chosen = [*dict.fromkeys((points @ directions.T).argmax(axis=0).tolist())]
    hull = ConvexHull(points[chosen], incremental=True)
    while True:
        outside = (points @ hull.equations[:, :3].T + hull.equations[:, 3]).max(axis=1)
        farthest = int(outside.argmax())
        if outside[farthest] < 1e-3 * size or len(chosen) >= MOST_CORNERS:
            break
        chosen.append(farthest)
        hull.add_points(points[farthest : farthest + 1])
    hull.close()
    return points[chosen], max(float(outside[farthest]), 0.0)
