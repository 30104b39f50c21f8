"""The seat of a seated robot: which fixture it is, and whether its height fits the thighs."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from simbench.balance.leg_ik import stand
from simbench.errors import ScenarioError
from simbench.kinematics.arrays import Array
from simbench.kinematics.obstacles import Obstacle
from simbench.options import RobotSection
from simbench.retargeting.collision.clearance import convex_shapes, link_of
from simbench.robot.robot import SEATED, Robot
from simbench.sim.fixtures.mechanism import Mechanism, mechanism_obstacles

_LARGEST_GAP, _LARGEST_PENETRATION = 0.002, 0.0005
"""Largest distance of the thighs above the seat at the start, and in it, m: they settle without a jolt."""


def find_seat(robot: Robot, section: RobotSection, mechanisms: Sequence[Mechanism]) -> Mechanism | None:
    """Find the fixture that a robot sits on.

    `robot`: robot of the scenario. `section`: section `robot` of the scenario. If it gives the robot's
    position, the seat must be below it; a position that is searched for is not known yet. `mechanisms`:
    equipment of the scenario. Returns the seat; None for a robot that does not sit.
    """
    if section.posture != SEATED or not robot.floating:
        return None
    seats = [mechanism for mechanism in mechanisms if mechanism.seat is not None]
    if len(seats) != 1:
        raise ScenarioError(
            f"fixtures: a robot whose robot.posture is {SEATED} sits on one stool; got {len(seats)}"
        )
    if section.place == "given":
        stance = stand(
            robot, section.position_m, section.heading_rad, section.posture, section.height_m or 0.0
        )
        require_seat(robot, np.concatenate([stance.base, stance.joints]), seats[0])
    return seats[0]


def require_seat(robot: Robot, configuration: Array, seat: Mechanism) -> None:
    """Refuse a seat that is not just below the thighs.

    `robot`: robot that sits; `configuration` (nq,): configuration of the robot at the start, in the world;
    `seat`: fixture that carries it.
    """
    gap = measure_seat_gap(robot, configuration, seat)
    if not -_LARGEST_PENETRATION <= gap <= _LARGEST_GAP:
        where = f"{1000 * abs(gap):.1f} mm {'from' if gap > 0.0 else 'inside'} the thighs of {robot.name}"
        raise ScenarioError(
            f"fixtures: {seat.name} is {where}; allowed: 0 to {1000 * _LARGEST_GAP:g} mm below them"
        )


def measure_seat_gap(robot: Robot, configuration: Array, seat: Mechanism) -> float:
    """Measure the distance of a robot's thighs from a seat.

    `robot`: robot that sits; `configuration` (nq,): configuration of the robot in the world; `seat`: fixture
    that carries it. Returns distance of the farther thigh, m; negative: the depth of penetration.
    """
    boards = [
        obstacle for obstacle in mechanism_obstacles(seat, seat.start[None], ()) if obstacle.name == seat.seat
    ]
    geometry = convex_shapes(robot)
    placed = geometry.createData()
    pin.updateGeometryPlacements(robot.model, robot.model.createData(), geometry, placed, configuration)
    return max(
        min(
            _distance(shape.geometry, placed.oMg[index], board)
            for index, shape in enumerate(geometry.geometryObjects)
            if link_of(shape.name) == thigh
            for board in boards
        )
        for thigh in robot.thighs
    )


def _distance(shape: pin.coal.ShapeBase, placement: pin.SE3, board: Obstacle) -> float:
    """Distance between a link's shape and a board of the seat, m."""
    result = pin.coal.DistanceResult()
    own = pin.coal.Transform3s(placement.rotation, placement.translation)
    pose = board.pose if board.pose.ndim == 2 else board.pose[0]
    other = pin.coal.Transform3s(pose[:3, :3], pose[:3, 3])
    return float(pin.coal.distance(shape, own, board.shape, other, pin.coal.DistanceRequest(), result))
