"""Interference over a whole trajectory: what comes too near each other, when, and what hands hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.obstacles import Obstacle
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.collision.clearance import (
    BodyShapes,
    ClearanceScene,
    add_self_pairs,
    convex_shapes,
    link_of,
    pair_distance,
)
from simbench.robot.robot import Robot
from simbench.robot.robot_limbs import hand_links

# Bound on how much deeper than found an interference between two examined instants can be, m.
_RESOLUTION = 1e-3
# Samples, and instants between them, that are examined together.
_BLOCK = 256
# Most instants between the samples of a block: a person's links travel by a tenth of what takes so many.
_MOST_INSTANTS = 65_536
# Distance from a handle's point, m, up to which a shape is what the hand holds.
_HELD_DISTANCE = 0.005
# Sizes of a cylinder, to a micrometre, that tell a knob from the rim that it stands on.
_SIZES = ("radius", "halfLength")


@dataclass(frozen=True)
class Interference:
    """Two bodies that are nearer than allowed without a break."""

    first: str  # A link.
    second: str  # Another link, or an obstacle.
    start: float  # First instant found nearer than the margin, s.
    end: float  # Last instant found nearer than the margin, s.
    distance: float  # Least distance in that time, m; negative: the depth of penetration.
    time: float  # Instant of the least distance, s.


def find_interference(
    robot: Robot, trajectory: JointTrajectory, obstacles: Sequence[Obstacle] = (), margin: float = 0.0
) -> tuple[Interference, ...]:
    """Find where a robot comes nearer than a margin, m, to itself or to obstacles, sorted by start.

    Examined are the pairs of links that can collide (`robot.self_collision_pairs`), and every link with
    every obstacle but those that may touch it. Between two samples the joints move along straight lines and
    the root and the obstacles along screws. There a pair with distances d₀, d₁ whose shapes travel by s
    toward each other at most comes no nearer than (d₀ + d₁ − s) / 2; where that is less than the margin,
    instants between the samples are examined until it can be off by 1 mm at most. So every interference
    deeper than 1 mm is found, and none that does not exist: one for each pair and each time without a break.
    Where links travel by more than half a metre from sample to sample, instants are farther apart.

    The trajectory is that of all the robot's joints; without a base a floating root is at the world's origin,
    and a robot with a fixed base stands where its model says (`placed_robot`).
    """
    if trajectory.joint_names != robot.joint_names:
        raise RetargetError(
            f"{robot.name}: the trajectory is not of all its joints in their order: it has "
            f"{len(trajectory.joint_names)}, the robot {len(robot.joint_names)}"
        )
    scene, pairs = _make_scene(robot, trajectory, obstacles)
    if not pairs:
        return ()
    last = len(trajectory.time) - 1
    every, blocks = np.arange(len(scene.workspace.first)), []
    # Block by block: the pairs of shapes of a long recording at once would take gigabytes. A block goes up to
    # the first sample of the next one.
    for begin in range(0, max(last, 1), _BLOCK):
        end = min(begin + _BLOCK, last)
        # A sample is exact where shapes could come nearer on the way to it or from it, beyond the block too.
        samples = np.arange(max(begin - 1, 0), min(end + 1, last) + 1, dtype=np.float64)
        gaps, travel = _gaps_and_travel(scene, samples, every)
        around = np.maximum(np.pad(travel, ((1, 0), (0, 0))), np.pad(travel, ((0, 1), (0, 0))))
        own = slice(begin - int(samples[0]), end - int(samples[0]) + 1)
        samples, gaps, around, travel = samples[own], gaps[own], around[own], travel[own.start : own.stop - 1]
        distance = _distances(scene, samples, gaps, gaps < margin + around, every)
        doubtful = 0.5 * (distance[:-1] + distance[1:] - travel) < margin
        pieces = np.ceil(np.where(doubtful, travel, 0.0).max(axis=1) / (2.0 * _RESOLUTION))
        pieces *= min(1.0, _MOST_INSTANTS / max(pieces.sum(), 1.0))
        counts = zip(samples[:-1], pieces.clip(1.0).astype(int), strict=True)
        parts = [start + np.arange(number) / number for start, number in counts]
        instants = np.concatenate([*parts, samples[-1:]] if end == last else parts)
        for part in np.array_split(instants, -(-len(instants) // _BLOCK)):
            before = part.astype(int) - begin
            examined = np.zeros((len(part), distance.shape[1]), dtype=bool)
            examined[before < len(doubtful)] = doubtful[before[before < len(doubtful)]]
            at_samples = part == begin + before
            examined[at_samples] |= distance[before[at_samples]] < margin
            looked_at = np.flatnonzero(examined.any(axis=0))
            gaps, _ = _gaps_and_travel(scene, part, looked_at)
            examined = examined[:, looked_at]
            exact = _distances(scene, part, gaps, examined & (gaps < margin), looked_at)
            # Number of the instant, pair, and distance, m, of what is nearer than the margin at it.
            at, pair_at = np.nonzero(examined & (exact < margin))
            blocks.append((part, at, looked_at[pair_at], exact[at, pair_at]))
    instants = np.concatenate([each for each, *_ in blocks])
    offsets = np.cumsum([0, *(len(each) for each, *_ in blocks)])
    row = np.concatenate([at + offset for (_, at, *_), offset in zip(blocks, offsets, strict=False)])
    column, distance = (np.concatenate([block[part] for block in blocks]) for part in (2, 3))
    time, found = np.interp(instants, np.arange(last + 1.0), trajectory.time), []
    for pair, columns in pairs.items():
        here = np.flatnonzero(np.isin(column, columns))
        near, group = np.unique(row[here], return_inverse=True)
        least = np.full(len(near), np.inf)
        np.minimum.at(least, group, distance[here])
        for run in np.split(np.arange(len(near)), np.flatnonzero(np.diff(near) > 1) + 1) if len(near) else ():
            worst = run[np.argmin(least[run])]
            start, end = time[near[run[[0, -1]]]].tolist()
            found.append(Interference(*pair, start, end, float(least[worst]), float(time[near[worst]])))
    return tuple(sorted(found, key=lambda each: (each.start, each.first, each.second)))


def find_near_pairs(
    robot: Robot, trajectory: JointTrajectory, obstacles: Sequence[Obstacle], margin: float
) -> dict[tuple[str, str], float]:
    """Find what comes nearer than a margin, m, at the samples of a trajectory, not between them.

    Arguments as in `find_interference`; returns the least distance, m, of each pair that comes near: a link
    and another or an obstacle.
    """
    scene, pairs = _make_scene(robot, trajectory, obstacles)
    if not pairs:
        return {}
    samples, every = np.arange(len(trajectory.time), dtype=np.float64), np.arange(len(scene.workspace.first))
    least = np.full(len(every), np.inf)
    for begin in range(0, len(samples), _BLOCK):
        part = samples[begin : begin + _BLOCK]
        gaps, _ = _gaps_and_travel(scene, part, every)
        np.minimum(least, _distances(scene, part, gaps, gaps < margin, every).min(axis=0), out=least)
    found = {pair: float(least[columns].min()) for pair, columns in pairs.items()}
    return {pair: distance for pair, distance in found.items() if distance < margin}


def describe_interference(interference: Interference) -> str:
    """Say in a line of a report what is too near what, when and by how much."""
    length = f"{1000 * abs(interference.distance):.0f} mm {'deep' if interference.distance < 0 else 'apart'}"
    return (
        f"{interference.first} and {interference.second} from {interference.start:.2f} to "
        f"{interference.end:.2f} s, {length} at {interference.time:.2f} s"
    )


def _make_scene(
    robot: Robot, trajectory: JointTrajectory, obstacles: Sequence[Obstacle]
) -> tuple[ClearanceScene, dict[tuple[str, str], list[int]]]:
    """Pair links with links and obstacles; group the pairs of shapes by links and obstacles.

    The scene's base has all coordinates of the model at each sample.
    """
    geometry = convex_shapes(robot)
    add_self_pairs(robot, geometry)
    names = [link_of(shape.name) for shape in geometry.geometryObjects]
    names += [obstacle.name for obstacle in obstacles]
    base = trajectory.base
    if base is None or not robot.floating:
        base = np.tile(pin.neutral(robot.model)[: robot.root_q], (len(trajectory.time), 1))
    shapes, q = BodyShapes(robot.model, geometry), np.hstack([base, trajectory.q])
    scene = ClearanceScene(shapes, q, obstacles, robot.name, first_joint=0)
    pairs: dict[tuple[str, str], list[int]] = {}
    for pair, (first, second) in enumerate(zip(scene.workspace.first, scene.workspace.second, strict=True)):
        pairs.setdefault((names[first], names[second]), []).append(pair)
    return scene, pairs


def _place(scene: ClearanceScene, sample: float) -> None:
    """Put every shape where it is at a sample or between two."""
    scene.place_obstacles(sample)
    workspace, before = scene.workspace, int(sample)
    q = scene.base[before]
    if sample > before:
        q = pin.interpolate(workspace.model, q, scene.base[before + 1], sample - before)
    pin.updateGeometryPlacements(workspace.model, workspace.data, workspace.geometry, workspace.placed, q)


def _gaps_and_travel(scene: ClearanceScene, samples: Array, pairs: NDArray[np.int64]) -> tuple[Array, Array]:
    """Distances (S, K), m, of bounding spheres, and bounds on their travel between samples (S - 1, K), m."""
    workspace, first, second = scene.workspace, scene.workspace.first[pairs], scene.workspace.second[pairs]
    middles = np.empty((len(samples), len(workspace.radii), 3))
    rotations = np.empty((*middles.shape, 3))
    for number, sample in enumerate(samples.tolist()):
        _place(scene, sample)
        rotations[number] = workspace.rotations
        offsets = (rotations[number] @ workspace.centers[:, :, None])[:, :, 0]
        middles[number] = np.array(workspace.translations) + offsets
    # No point of the sphere is farther from the rotation axis than its radius: a chord of ‖ΔR‖ r at most.
    rotated = np.linalg.norm(np.diff(rotations, axis=0), axis=(2, 3)) / np.sqrt(2.0)
    travel = np.linalg.norm(np.diff(middles, axis=0), axis=2) + rotated * workspace.radii
    apart = middles[:, second] - middles[:, first]
    gaps = np.sqrt(np.einsum("...i,...i", apart, apart)) - workspace.radii[first] - workspace.radii[second]
    return gaps, travel[:, first] + travel[:, second]


def _distances(
    scene: ClearanceScene, samples: Array, gaps: Array, exact: NDArray[np.bool_], pairs: NDArray[np.int64]
) -> Array:
    """Distances of pairs (S, K), m, where they must be exact; elsewhere lower bounds of them."""
    distance = gaps.copy()
    for number in np.flatnonzero(exact.any(axis=1)).tolist():
        _place(scene, float(samples[number]))
        for pair in np.flatnonzero(exact[number]).tolist():
            distance[number, pair] = pair_distance(scene.workspace, int(pairs[pair]))
    return distance


def beside_hands(
    robot: Robot,
    obstacles: Sequence[Obstacle],
    contact: Mapping[str, NDArray[np.bool_]],
    palms: Mapping[str, Array],
) -> list[Obstacle]:
    """Find what hands must keep clear of in the parts that they hold: all but what is in them.

    A hand holds the shape at its handle's point, and others of that kind and size, such as the segments of a
    rim. Obstacles let hands touch all of a part with handles; those returned are for the links of hands
    only. `contact` (T,) and `palms` (T, 4, 4) say when each side holds, and where.
    """
    kinds = [
        (each.name, type(each.shape).__name__, *(round(getattr(each.shape, size, 0.0), 6) for size in _SIZES))
        for each in obstacles
    ]
    held = set()
    for side in (side for side, touching in contact.items() if touching.any()):
        sample = int(np.flatnonzero(contact[side])[0])
        point = pin.coal.Transform3s(np.eye(3), palms[side][sample, :3, 3])
        for each, kind in zip(obstacles, kinds, strict=True):
            pose = each.pose if each.pose.ndim == 2 else each.pose[sample]
            there = pin.coal.Transform3s(pose[:3, :3], pose[:3, 3])
            request, result = pin.coal.DistanceRequest(), pin.coal.DistanceResult()
            ball = pin.coal.Sphere(1e-4)
            if pin.coal.distance(each.shape, there, ball, point, request, result) < _HELD_DISTANCE:
                held.add(kind)
    links = {frame.name for frame in robot.model.frames if frame.type == pin.FrameType.BODY}
    of_hands = {link for role in robot.hands for link in hand_links(robot, role)}
    others = frozenset(links - of_hands)
    return [
        replace(each, touching=others, grasped_beside=True)
        for each, kind in zip(obstacles, kinds, strict=True)
        if each.touching & of_hands and kind not in held
    ]
