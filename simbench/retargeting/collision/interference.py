"""Interference over a whole trajectory: which links come too near each other or an obstacle, and when."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RetargetError
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.collision.clearance import add_self_pairs, convex_shapes, link_of
from simbench.retargeting.collision.obstacles import (
    Obstacle,
    add_obstacles,
    place_obstacles,
    require_obstacles,
)
from simbench.retargeting.collision.pair_distances import (
    PairWorkspace,
    pair_distance,
    pair_workspace,
    place_shapes,
    sphere_gaps,
)
from simbench.robot.robot import Robot

_RESOLUTION = 1e-3
"""How much deeper than found an interference between two looked-at instants can be, m."""


@dataclass(frozen=True)
class Interference:
    """Two things that are nearer than allowed without a break.

    Parameters
    ----------
    first, second : str
        A link, and a link or an obstacle.
    start, end : float
        First and last instant found nearer than the margin, s.
    distance : float
        The least in that time, m; negative: the depth of penetration.
    time : float
        When it is least, s.
    """

    first: str
    second: str
    start: float
    end: float
    distance: float
    time: float


def find_interference(
    robot: Robot, trajectory: JointTrajectory, obstacles: Sequence[Obstacle] = (), margin: float = 0.0
) -> tuple[Interference, ...]:
    """Find where a robot comes nearer than a margin to itself or to obstacles.

    Looked at are the pairs of links that can collide (`robot.self_collision_pairs`), and every link with
    every obstacle but those that may touch it. Between two samples the joints go straight and the root and
    the obstacles along screws. There a pair of distances d₀, d₁ whose shapes travel by s toward each other
    at most comes no nearer than (d₀ + d₁ − s) / 2; where that is less than the margin, instants between the
    samples are looked at until it can be off by 1 mm at most. So no interference is overlooked that is
    deeper than 1 mm, nor found that is none.

    Parameters
    ----------
    robot : Robot
        One that is fixed stands where its model says (`placed_robot`).
    trajectory : JointTrajectory
        Of all the robot's joints. Without a base a free root is at the world's origin.
    obstacles : sequence of Obstacle
    margin : float
        m.

    Returns
    -------
    tuple of Interference
        By start; one for each pair and each time without a break.

    Raises
    ------
    RetargetError
        If the trajectory is not of the robot's joints, or an obstacle does not fit.
    """
    if trajectory.joint_names != robot.joint_names:
        raise RetargetError(
            f"{robot.name}: the trajectory is not of all its joints in their order: it has "
            f"{len(trajectory.joint_names)}, the robot {len(robot.joint_names)}"
        )
    links = [frame.name for frame in robot.model.frames if frame.type == pin.FrameType.BODY]
    require_obstacles(robot.name, links, obstacles, len(trajectory.time))
    geometry = convex_shapes(robot)
    add_self_pairs(robot, geometry)
    names = [link_of(shape.name) for shape in geometry.geometryObjects]
    placed = add_obstacles(geometry, obstacles)
    for index, obstacle in zip(placed, obstacles, strict=True):
        for link in range(len(names)):
            if names[link] not in obstacle.touching:
                geometry.addCollisionPair(pin.CollisionPair(link, index))
    names += [obstacle.name for obstacle in obstacles]
    if len(geometry.collisionPairs) == 0:
        return ()
    workspace = pair_workspace(robot.model, geometry)
    scene = _Scene(workspace, _configurations(robot, trajectory), tuple(obstacles), tuple(placed))

    samples = np.arange(len(trajectory.time), dtype=np.float64)
    gaps, travel = _gaps_and_travel(scene, samples)
    before, after = np.pad(travel, ((1, 0), (0, 0))), np.pad(travel, ((0, 1), (0, 0)))
    distance = _distances(scene, samples, gaps, gaps < margin + np.maximum(before, after))
    doubtful = 0.5 * (distance[:-1] + distance[1:] - travel) < margin
    pieces = np.ceil(np.where(doubtful, travel, 0.0).max(axis=1) / (2.0 * _RESOLUTION)).clip(1.0).astype(int)
    finer = np.concatenate(
        [
            *(start + np.arange(count) / count for start, count in zip(samples[:-1], pieces, strict=True)),
            samples[-1:],
        ]
    )
    looked = np.zeros((len(finer), distance.shape[1]), dtype=bool)
    whole = finer.astype(int)
    looked[:-1] = doubtful[whole[:-1]]
    looked[finer == whole] |= distance < margin
    gaps, _ = _gaps_and_travel(scene, finer)
    distance = _distances(scene, finer, gaps, looked & (gaps < margin))
    near = looked & (distance < margin)
    time = np.interp(finer, samples, trajectory.time)
    found = [
        record
        for pair, columns in _named_pairs(workspace, names).items()
        for record in _records(pair, time, np.where(near, distance, np.inf)[:, columns].min(axis=1))
    ]
    return tuple(sorted(found, key=lambda record: (record.start, record.first, record.second)))


def describe_interference(interference: Interference) -> str:
    """Say in a line what is too near what, when and by how much."""
    length = f"{1000 * abs(interference.distance):.0f} mm {'deep' if interference.distance < 0 else 'apart'}"
    return (
        f"{interference.first} and {interference.second} from {interference.start:.2f} to "
        f"{interference.end:.2f} s, {length} at {interference.time:.2f} s"
    )


@dataclass(frozen=True)
class _Scene:
    """Robot and obstacles with where they are at the samples."""

    workspace: PairWorkspace
    q: NDArray[np.float64]
    obstacles: tuple[Obstacle, ...]
    placed: tuple[int, ...]

    def place(self, sample: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Put everything where it is at a sample or between two: as `place_shapes`."""
        place_obstacles(self.workspace.geometry, self.placed, self.obstacles, sample)
        before = int(sample)
        q = self.q[before]
        if sample > before:
            q = pin.interpolate(self.workspace.model, q, self.q[before + 1], sample - before)
        return place_shapes(self.workspace, q)


def _configurations(robot: Robot, trajectory: JointTrajectory) -> NDArray[np.float64]:
    """Coordinates of the whole model at each sample (T, nq)."""
    root = pin.neutral(robot.model)[: robot.root_q]
    base = np.tile(root, (len(trajectory.time), 1))
    if robot.floating and trajectory.base is not None:
        base = trajectory.base
    return np.hstack([base, trajectory.q])


def _gaps_and_travel(
    scene: _Scene, samples: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distances of the bounding spheres (S, K), m, and how far a pair's points go to the next (S - 1, K)."""
    workspace = scene.workspace
    middles = np.empty((len(samples), len(workspace.radii), 3))
    rotations = np.empty((*middles.shape, 3))
    for number, sample in enumerate(samples):
        middles[number], rotations[number] = scene.place(float(sample))
    # No point of the sphere is farther from the axis of the turn than its radius: a chord of ‖ΔR‖ r at most.
    turn = np.linalg.norm(np.diff(rotations, axis=0), axis=(2, 3)) / np.sqrt(2.0)
    travel = np.linalg.norm(np.diff(middles, axis=0), axis=2) + turn * workspace.radii
    return sphere_gaps(workspace, middles), travel[:, workspace.first] + travel[:, workspace.second]


def _distances(
    scene: _Scene, samples: NDArray[np.float64], gaps: NDArray[np.float64], exact: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Distances (S, K), m, where they are to be exact; else what they are at least."""
    distance = gaps.copy()
    for number in np.flatnonzero(exact.any(axis=1)).tolist():
        scene.place(float(samples[number]))
        for pair in np.flatnonzero(exact[number]).tolist():
            distance[number, pair] = pair_distance(scene.workspace, pair)
    return distance


def _named_pairs(workspace: PairWorkspace, names: Sequence[str]) -> dict[tuple[str, str], list[int]]:
    """Pairs of shapes by the names of what they belong to."""
    pairs: dict[tuple[str, str], list[int]] = {}
    for pair, (first, second) in enumerate(zip(workspace.first, workspace.second, strict=True)):
        pairs.setdefault((names[first], names[second]), []).append(pair)
    return pairs


def _records(
    pair: tuple[str, str], time: NDArray[np.float64], distance: NDArray[np.float64]
) -> list[Interference]:
    """Make a record of every run of instants with a finite distance."""
    near = np.flatnonzero(np.isfinite(distance))
    runs = np.split(near, np.flatnonzero(np.diff(near) > 1) + 1)
    records = []
    for run in runs:
        if len(run):
            worst = run[np.argmin(distance[run])]
            start, end = time[run[[0, -1]]].tolist()
            records.append(Interference(*pair, start, end, float(distance[worst]), float(time[worst])))
    return records
