"""How a robot begins: its seat, and steps that its legs can make."""

from collections.abc import Iterator, Sequence

import numpy as np
import pinocchio as pin

from simbench.balance.leg_ik import leg_length, pelvis_heights, stand
from simbench.errors import BalanceError, RetargetError, ScenarioError
from simbench.kinematics.arrays import Array
from simbench.kinematics.obstacles import Obstacle
from simbench.options import BalanceSection, RobotSection, SimulationSection, SteppingSection
from simbench.retargeting.collision.clearance import convex_shapes, link_of
from simbench.robot.robot import SEATED, Robot
from simbench.sim.balance_loop import balance_run, build_standing_reference
from simbench.sim.fixtures.mechanism import Mechanism, mechanism_obstacles

# Largest distance of the thighs above the seat at the start, and in it, m: they settle without a jolt.
_LARGEST_GAP, _LARGEST_PENETRATION = 0.002, 0.0005


def find_seat(robot: Robot, section: RobotSection, mechanisms: Sequence[Mechanism]) -> Mechanism:
    """Find the fixture that a robot sits on.

    `robot`: robot of the scenario. `section`: section `robot` of the scenario. If it gives the robot's
    position, the seat must be below it; a position that is searched for is not known yet. `mechanisms`:
    equipment of the scenario.
    """
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

    def distance(shape: pin.coal.ShapeBase, placement: pin.SE3, board: Obstacle) -> float:
        own = pin.coal.Transform3s(placement.rotation, placement.translation)
        pose = board.pose if board.pose.ndim == 2 else board.pose[0]
        other = pin.coal.Transform3s(pose[:3, :3], pose[:3, 3])
        return float(
            pin.coal.distance(
                shape, own, board.shape, other, pin.coal.DistanceRequest(), pin.coal.DistanceResult()
            )
        )

    geometry = convex_shapes(robot)
    placed = geometry.createData()
    pin.updateGeometryPlacements(robot.model, robot.model.createData(), geometry, placed, configuration)
    return max(
        min(
            distance(shape.geometry, placed.oMg[index], board)
            for index, shape in enumerate(geometry.geometryObjects)
            if link_of(shape.name) == thigh
            for board in boards
        )
        for thigh in robot.thighs
    )


# Of a step that the legs are not too short for: length, width and lift as parts of the leg's length; rad.
_LENGTH, _WIDTH, _LIFT, _TURN = 0.26, 0.13, 0.04, 0.3
# Parts of those steps that are tried in turn; of the lift, the square root.
_SHORTER = (1.0, 0.8, 0.64, 0.5, 0.4, 0.3)
_RESERVE = 0.05  # Part of each joint's range and speed limit that the plan leaves to the balance controller.


def fit_steps(
    robot: Robot,
    section: RobotSection,
    balance: BalanceSection,
    stepping: SteppingSection,
    settings: SimulationSection,
) -> tuple[RobotSection, SteppingSection]:
    """Choose what a scenario leaves open of the steps and of the pelvis' height.

    `robot`: robot with two legs; `section`: base placement and posture; `stepping`: commands, durations, and
    what is given of the steps; `settings`: physics step, and times to settle and hold. Returns `section`: the
    same with the pelvis' height; `stepping`: the same with length, width, turn and lift of the steps. What
    was given is unchanged. Raises BalanceError if the legs can make no such steps: what hinders the ones that
    come nearest to what was asked. Raises RetargetError if the posture does not stand.
    """
    first: BalanceError | None = None
    candidates = list(_candidates(robot, section, stepping))
    if candidates == [(section, stepping)]:
        # Whether the legs can make the steps is found when they are planned.
        return section, stepping
    # Without a reserve where there is none to be had.
    for reserve in (_RESERVE, 0.0):
        first = None
        for place, steps in candidates:
            try:
                timeline = build_standing_reference(robot, place, settings, None, "none")
                balance_run(robot, timeline, balance, steps, settings, reserve=reserve)
            except BalanceError as error:
                first = first or error
            except RetargetError:
                # The legs do not allow this height, nor a lower one.
                if not place.height_m:
                    raise
            else:
                return place, steps
    assert first is not None
    raise first


def _candidates(
    robot: Robot, section: RobotSection, stepping: SteppingSection
) -> Iterator[tuple[RobotSection, SteppingSection]]:
    """Fill what is open, from the longest steps with the highest pelvis on."""
    length = leg_length(robot)
    heights = pelvis_heights(robot, section.height_m)
    usual = {"step_length_m": _LENGTH * length, "step_width_m": _WIDTH * length, "step_turn_rad": _TURN}
    open_keys = [key for key in usual if getattr(stepping, key) is None]
    lift = stepping.lift_m if stepping.lift_m is not None else _LIFT * length
    for part in _SHORTER if open_keys else (1.0,):
        shorter = {key: float(f"{part * usual[key]:.3g}") for key in open_keys}
        lower = lift if stepping.lift_m is not None else float(f"{np.sqrt(part) * lift:.3g}")
        steps = stepping.model_copy(update={**shorter, "lift_m": lower})
        for height in heights:
            yield section.model_copy(update={"height_m": height}), steps
