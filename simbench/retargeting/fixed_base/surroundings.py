"""What an arm must keep clear of while its hand holds a part of the equipment."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.collision.clearance import BodyShapes, add_obstacles, add_self_pairs, convex_shapes
from simbench.retargeting.collision.interference import Interference, find_interference, find_near_pairs
from simbench.retargeting.collision.obstacles import Obstacle, box_obstacle
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.robot.hand_shapes import hand_links
from simbench.robot.robot import Robot

CLEARANCE = 0.015
"""Distance, m, that the arm is to keep from the equipment beside its hand; tracking takes part of it."""
FLOOR = "floor"
"""Name of the floor as an obstacle."""
_FLOOR_SIZE = (10.0, 10.0, 1.0)
_HELD_DISTANCE = 0.005
"""Distance from a handle's point, m, up to which a shape is what the hand holds."""


@dataclass(frozen=True)
class Surroundings:
    """Obstacles for an arm and for its hand.

    Parameters
    ----------
    arm : tuple of Obstacle
        The equipment, to which hands may be near where it has handles.
    hand : tuple of Obstacle
        Shapes of parts with handles that no hand holds: only the links of hands must be clear of them.
    """

    arm: tuple[Obstacle, ...]
    hand: tuple[Obstacle, ...]

    def at(self, samples: int | NDArray[np.int64]) -> "Surroundings":
        """Take the obstacles as they are at some samples, or at one.

        Parameters
        ----------
        samples : int or (S,) int array
            Samples to take.

        Returns
        -------
        Surroundings
            The obstacles, with a pose for each sample taken, or at rest.
        """
        return Surroundings(*(tuple(_at(each, samples) for each in part) for part in (self.arm, self.hand)))


def describe_arm_surroundings(robot: Robot, obstacles: Sequence[Obstacle], hands: HandPlan) -> Surroundings:
    """Tell apart what a hand holds from the rest of the part that it moves.

    A hand holds the shape at its handle's point, and others of that kind and radius, such as the segments of
    a rim. Contacts of hands with parts that have handles are left out of obstacles, and of the simulation.

    Parameters
    ----------
    robot : Robot
        Robot with hands.
    obstacles : sequence of Obstacle
        The equipment.
    hands : HandPlan
        Planned hand motion.

    Returns
    -------
    Surroundings
        Obstacles for the arm and for the hand.
    """
    links = {frame.name for frame in robot.model.frames if frame.type == pin.FrameType.BODY}
    of_hands = {link for role in robot.hands for link in hand_links(robot, role)}
    points = [
        (int(np.flatnonzero(touching)[0]), hands.actor[side][touching][0, :3, 3])
        for side, touching in hands.contact.items()
        if touching.any()
    ]
    held = {_kind(each) for each in obstacles for sample, point in points if _is_at(each, sample, point)}
    beside = [each for each in obstacles if each.touching & of_hands and _kind(each) not in held]
    others = frozenset(links - of_hands)
    return Surroundings(
        (*obstacles, floor_obstacle(robot)), tuple(replace(each, touching=others) for each in beside)
    )


def floor_obstacle(robot: Robot) -> Obstacle:
    """Describe the floor as an obstacle for what the joints of a robot with a fixed base move.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base; its model may have a free root for planning.

    Returns
    -------
    Obstacle
        A box whose upper face is the floor. Links that no joint moves may touch it, as wheels do.
    """
    root = robot.model.joints[1].id if robot.floating else 0
    still = [
        frame.name
        for frame in robot.model.frames
        if frame.type == pin.FrameType.BODY and frame.parentJoint in (0, root)
    ]
    pose = np.eye(4)
    pose[2, 3] = -0.5 * _FLOOR_SIZE[2]
    return box_obstacle(FLOOR, _FLOOR_SIZE, pose, still)


def find_near(
    scene: Robot, trajectory: JointTrajectory, surroundings: Surroundings
) -> tuple[Interference, ...]:
    """Find penetrations of an arm, and where it comes nearer to the equipment than `CLEARANCE`.

    Parameters
    ----------
    scene : Robot
        Placed robot.
    trajectory : JointTrajectory
        Motion of all its joints.
    surroundings : Surroundings
        At rest, or with a pose at each sample.

    Returns
    -------
    tuple of Interference
        Each with its least distance, m, negative for a penetration.
    """
    names = {obstacle.name for obstacle in surroundings.arm}
    near = find_interference(scene, trajectory, surroundings.arm, CLEARANCE)
    near = tuple(each for each in near if each.distance < 0.0 or each.second in names)
    return near + _by_hand(find_interference(scene, trajectory, surroundings.hand), surroundings)


def shapes_among(scene: Robot, surroundings: Surroundings) -> BodyShapes:
    """Build the collision shapes of a robot on a fixed base, and of what rests about it.

    Parameters
    ----------
    scene : Robot
        Placed robot.
    surroundings : Surroundings
        Obstacles at rest.

    Returns
    -------
    BodyShapes
        Shapes with the pairs of which `find_near` finds the penetrations.
    """
    geometry = convex_shapes(scene)
    add_self_pairs(scene, geometry)
    add_obstacles(geometry, (*surroundings.arm, *surroundings.hand))
    return BodyShapes(scene.model, geometry)


def is_clear(scene: Robot, trajectory: JointTrajectory, surroundings: Surroundings) -> bool:
    """Check at the samples of a trajectory that `find_near` would find nothing there.

    Parameters
    ----------
    scene : Robot
        Placed robot.
    trajectory : JointTrajectory
        Postures of all its joints.
    surroundings : Surroundings
        At rest, or with a pose at each sample.

    Returns
    -------
    bool
        True if it is clear.
    """
    names = {obstacle.name for obstacle in surroundings.arm}
    near = find_near_pairs(scene, trajectory, surroundings.arm, CLEARANCE)
    if any(distance < 0.0 or second in names for (_, second), distance in near.items()):
        return False
    beside = {obstacle.name for obstacle in surroundings.hand}
    return not any(pair[1] in beside for pair in find_near_pairs(scene, trajectory, surroundings.hand, 0.0))


def _by_hand(found: Collection[Interference], surroundings: Surroundings) -> tuple[Interference, ...]:
    """Penetrations of the hand's obstacles, without those of the robot's own links, which are known."""
    names = {obstacle.name for obstacle in surroundings.hand}
    return tuple(each for each in found if each.second in names)


def _at(obstacle: Obstacle, samples: int | NDArray[np.int64]) -> Obstacle:
    return obstacle if obstacle.pose.ndim == 2 else replace(obstacle, pose=obstacle.pose[samples])


def _kind(obstacle: Obstacle) -> tuple[str, str, float]:
    """Part, kind and radius of a shape."""
    return obstacle.name, type(obstacle.shape).__name__, float(getattr(obstacle.shape, "radius", np.nan))


def _is_at(obstacle: Obstacle, sample: int, point: NDArray[np.float64]) -> bool:
    """Whether a shape is at a point (3,) at a sample."""
    pose = obstacle.pose if obstacle.pose.ndim == 2 else obstacle.pose[sample]
    there = pin.coal.Transform3s(pose[:3, :3], pose[:3, 3])
    here = pin.coal.Transform3s(np.eye(3), point)
    request, result = pin.coal.DistanceRequest(), pin.coal.DistanceResult()
    return bool(
        pin.coal.distance(obstacle.shape, there, pin.coal.Sphere(1e-4), here, request, result)
        < _HELD_DISTANCE
    )
