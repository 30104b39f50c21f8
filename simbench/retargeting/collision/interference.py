"""Interference over a whole trajectory: links that come too near each other or an obstacle, and when."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.collision.clearance import add_self_pairs, convex_shapes, link_of
from simbench.retargeting.collision.obstacles import (
    MovingObstacles,
    Obstacle,
    add_obstacles,
    find_moving_obstacles,
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
"""Bound on how much deeper than found an interference between two examined instants can be, m."""


@dataclass(frozen=True)
class Interference:
    """Two bodies that are nearer than allowed without a break.

    Parameters
    ----------
    first : str
        A link.
    second : str
        Another link, or an obstacle.
    start : float
        First instant found nearer than the margin, s.
    end : float
        Last instant found nearer than the margin, s.
    distance : float
        Least distance in that time, m; negative: the depth of penetration.
    time : float
        Instant of the least distance, s.
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

    Examined are the pairs of links that can collide (`robot.self_collision_pairs`), and every link with
    every obstacle but those that may touch it. Between two samples the joints move along straight lines and
    the root and the obstacles along screws. There a pair with distances d₀, d₁ whose shapes travel by s
    toward each other at most comes no nearer than (d₀ + d₁ − s) / 2; where that is less than the margin,
    instants between the samples are examined until it can be off by 1 mm at most. So every interference
    deeper than 1 mm is found, and none that does not exist.

    Parameters
    ----------
    robot : Robot
        One with a fixed base stands where its model says (`placed_robot`).
    trajectory : JointTrajectory
        Trajectory of all the robot's joints. Without a base a floating root is at the world's origin.
    obstacles : sequence of Obstacle
        Obstacles at rest, or with a pose at each sample of the trajectory.
    margin : float
        Distance below which two bodies interfere, m.

    Returns
    -------
    tuple of Interference
        Sorted by start; one for each pair and each time without a break.

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
    scene, names = _make_scene(robot, trajectory, obstacles)
    if len(scene.workspace.first) == 0:
        return ()
    instants, distance = _examine(scene, len(trajectory.time), margin)
    time = np.interp(instants, np.arange(len(trajectory.time), dtype=np.float64), trajectory.time)
    found = [
        record
        for pair, columns in _named_pairs(scene.workspace, names).items()
        for record in _records(pair, time, distance[:, columns].min(axis=1))
    ]
    return tuple(sorted(found, key=lambda record: (record.start, record.first, record.second)))


def find_near_pairs(
    robot: Robot, trajectory: JointTrajectory, obstacles: Sequence[Obstacle], margin: float
) -> dict[tuple[str, str], float]:
    """Find what comes nearer than a margin at the samples of a trajectory, not between them.

    Parameters
    ----------
    robot : Robot
        One with a fixed base stands where its model says (`placed_robot`).
    trajectory : JointTrajectory
        Trajectory of all the robot's joints.
    obstacles : sequence of Obstacle
        Obstacles at rest, or with a pose at each sample of the trajectory.
    margin : float
        Distance below which two bodies are near, m.

    Returns
    -------
    dict of (link, link or obstacle) to float
        Least distance of each pair that comes near, m.
    """
    scene, names = _make_scene(robot, trajectory, obstacles)
    if len(scene.workspace.first) == 0:
        return {}
    samples = np.arange(len(trajectory.time), dtype=np.float64)
    gaps, _ = _gaps_and_travel(scene, samples)
    least = _distances(scene, samples, gaps, gaps < margin).min(axis=0)
    found = {
        pair: float(least[columns].min()) for pair, columns in _named_pairs(scene.workspace, names).items()
    }
    return {pair: distance for pair, distance in found.items() if distance < margin}


def describe_interference(interference: Interference) -> str:
    """Say in a line what is too near what, when and by how much.

    Parameters
    ----------
    interference : Interference
        Penetration to describe.

    Returns
    -------
    str
        One line for a report.
    """
    length = f"{1000 * abs(interference.distance):.0f} mm {'deep' if interference.distance < 0 else 'apart'}"
    return (
        f"{interference.first} and {interference.second} from {interference.start:.2f} to "
        f"{interference.end:.2f} s, {length} at {interference.time:.2f} s"
    )


@dataclass(frozen=True)
class _InterferenceScene:
    """Robot and obstacles with their poses at the samples."""

    workspace: PairWorkspace
    q: Array
    moving: MovingObstacles

    def place(self, sample: float) -> tuple[Array, Array]:
        """Put every shape where it is at a sample or between two: as `place_shapes`."""
        place_obstacles(self.moving, sample)
        before = int(sample)
        q = self.q[before]
        if sample > before:
            q = pin.interpolate(self.workspace.model, q, self.q[before + 1], sample - before)
        return place_shapes(self.workspace, q)


def _make_scene(
    robot: Robot, trajectory: JointTrajectory, obstacles: Sequence[Obstacle]
) -> tuple[_InterferenceScene, list[str]]:
    """Pair links with links and obstacles; name the link or obstacle of each shape."""
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
    workspace = pair_workspace(robot.model, geometry)
    scene = _InterferenceScene(
        workspace,
        _configurations(robot, trajectory),
        find_moving_obstacles(geometry, placed, obstacles),
    )
    return scene, names


def _examine(scene: _InterferenceScene, count: int, margin: float) -> tuple[Array, Array]:
    """Find the instants (S,), in samples, and distances (S, K), m, at which pairs are nearer than a margin.

    Other distances are infinite. Instants between samples are added where the bound on the distance there is
    below the margin.
    """
    samples = np.arange(count, dtype=np.float64)
    gaps, travel = _gaps_and_travel(scene, samples)
    before, after = np.pad(travel, ((1, 0), (0, 0))), np.pad(travel, ((0, 1), (0, 0)))
    distance = _distances(scene, samples, gaps, gaps < margin + np.maximum(before, after))
    doubtful = 0.5 * (distance[:-1] + distance[1:] - travel) < margin
    pieces = np.ceil(np.where(doubtful, travel, 0.0).max(axis=1) / (2.0 * _RESOLUTION)).clip(1.0).astype(int)
    finer = np.concatenate(
        [
            *(start + np.arange(number) / number for start, number in zip(samples[:-1], pieces, strict=True)),
            samples[-1:],
        ]
    )
    examined = np.zeros((len(finer), distance.shape[1]), dtype=bool)
    whole = finer.astype(int)
    examined[:-1] = doubtful[whole[:-1]]
    examined[finer == whole] |= distance < margin
    gaps, _ = _gaps_and_travel(scene, finer)
    distance = _distances(scene, finer, gaps, examined & (gaps < margin))
    return finer, np.where(examined & (distance < margin), distance, np.inf)


def _configurations(robot: Robot, trajectory: JointTrajectory) -> Array:
    """Coordinates of the whole model at each sample (T, nq)."""
    root = pin.neutral(robot.model)[: robot.root_q]
    base = np.tile(root, (len(trajectory.time), 1))
    if robot.floating and trajectory.base is not None:
        base = trajectory.base
    return np.hstack([base, trajectory.q])


def _gaps_and_travel(scene: _InterferenceScene, samples: Array) -> tuple[Array, Array]:
    """Distances of the bounding spheres (S, K), m, and bounds on the travel between samples (S - 1, K), m."""
    workspace = scene.workspace
    middles = np.empty((len(samples), len(workspace.radii), 3))
    rotations = np.empty((*middles.shape, 3))
    for number, sample in enumerate(samples):
        middles[number], rotations[number] = scene.place(float(sample))
    # No point of the sphere is farther from the rotation axis than its radius: a chord of ‖ΔR‖ r at most.
    rotated = np.linalg.norm(np.diff(rotations, axis=0), axis=(2, 3)) / np.sqrt(2.0)
    travel = np.linalg.norm(np.diff(middles, axis=0), axis=2) + rotated * workspace.radii
    return sphere_gaps(workspace, middles), travel[:, workspace.first] + travel[:, workspace.second]


def _distances(scene: _InterferenceScene, samples: Array, gaps: Array, exact: NDArray[np.bool_]) -> Array:
    """Distances (S, K), m, where they must be exact; elsewhere lower bounds of them."""
    distance = gaps.copy()
    for number in np.flatnonzero(exact.any(axis=1)).tolist():
        scene.place(float(samples[number]))
        for pair in np.flatnonzero(exact[number]).tolist():
            distance[number, pair] = pair_distance(scene.workspace, pair)
    return distance


def _named_pairs(workspace: PairWorkspace, names: Sequence[str]) -> dict[tuple[str, str], list[int]]:
    """Pairs of shapes by the names of the links or obstacles that they belong to."""
    pairs: dict[tuple[str, str], list[int]] = {}
    for pair, (first, second) in enumerate(zip(workspace.first, workspace.second, strict=True)):
        pairs.setdefault((names[first], names[second]), []).append(pair)
    return pairs


def _records(pair: tuple[str, str], time: Array, distance: Array) -> list[Interference]:
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
