"""A scenario's equipment: handle poses, resistance to the hands, and the actor's motion of it."""

from collections.abc import Callable, Sequence

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.handles import HandlePath
from simbench.retargeting.collision.obstacles import Obstacle
from simbench.retargeting.contact.equipment import Resistance
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.robot.hand_shapes import hand_links
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.sim.engine import Fixture
from simbench.sim.fixtures.mechanism import (
    Mechanism,
    MechanismJoint,
    compute_joint_positions,
    handle_poses,
    mechanism_obstacles,
)
from simbench.sim.fixtures.shapes import compute_inertia

_POSITIONS = 101
"""Number of joint positions at which the handles of a fixture are described."""
_FULL_TURN = 2.0 * np.pi
"""Range of a joint without end stops, rad."""


def find_held_mechanisms(mechanisms: Sequence[Mechanism]) -> dict[str, Mechanism]:
    """Tell which mechanism each hand holds: the first that has a handle for it.

    Parameters
    ----------
    mechanisms : sequence of Mechanism
        Equipment of the scenario.

    Returns
    -------
    {side: Mechanism}
        Mechanism of each hand that has a handle.
    """
    return {
        side: mechanism for mechanism in reversed(mechanisms) for side in SIDES if side in mechanism.handles
    }


def move_joints_alike(mechanism: Mechanism, travel: Array) -> Array:
    """Compute the joint positions of a mechanism whose joints all move alike from their initial positions.

    Parameters
    ----------
    mechanism : Mechanism
        Equipment that moves.
    travel : (T,) array
        Displacement of every joint, m or rad.

    Returns
    -------
    (T, J) array
        MechanismJoint positions, m or rad.
    """
    return np.asarray(mechanism.start + travel[:, None])


def describe_handles(mechanisms: Sequence[Mechanism]) -> dict[str, HandlePath]:
    """Describe the poses of the handles over the whole range of the equipment.

    Parameters
    ----------
    mechanisms : sequence of Mechanism
        Equipment of the scenario.

    Returns
    -------
    {side: HandlePath}
        Poses in the world; empty without equipment.
    """
    handles = {}
    for side, mechanism in find_held_mechanisms(mechanisms).items():
        low, high = 0.0, 0.0
        for joint in mechanism.joints:
            least, most = _way(joint)
            low, high = min(low, least), max(high, most)
        travel = np.linspace(low, high, _POSITIONS)
        poses = handle_poses(mechanism, move_joints_alike(mechanism, travel))[side]
        still = bool((poses == poses[0]).all())
        start = 0 if still else int(np.abs(travel).argmin())
        handles[side] = HandlePath(poses[:1] if still else poses, find_free_axis(mechanism, side), start)
    return handles


def find_free_axis(mechanism: Mechanism, side: str) -> Array | None:
    """Find the axis about which a hand can rotate freely on its handle.

    A hand that lies on a rod, beside the axis, would move away from it: it keeps its direction.

    Parameters
    ----------
    mechanism : Mechanism
        Equipment with a handle for the hand.
    side : str
        `left` or `right`.

    Returns
    -------
    (3,) array or None
        Unit vector in the palm's axes; None where the hand cannot rotate.
    """
    handle = mechanism.handles[side]
    free = handle.grip == "pivot" and not np.any(handle.point)
    return np.array(handle.axis) if free else None


def describe_surroundings(
    mechanisms: Sequence[Mechanism], robot: Robot
) -> Callable[[HandPlan], list[Obstacle]]:
    """Describe the obstacles that a robot must avoid while its hands move the equipment.

    Parameters
    ----------
    mechanisms : sequence of Mechanism
        Equipment of the scenario.
    robot : Robot
        Robot whose palms and fingers may touch parts with handles, and whose thighs may touch a seat.

    Returns
    -------
    callable (HandPlan) -> list of Obstacle
        Gives the parts of all equipment as it moves with a hand plan.
    """
    touching = [link for role in robot.hands for link in hand_links(robot, role)]

    def surroundings(hands: HandPlan) -> list[Obstacle]:
        return [
            part
            for mechanism in mechanisms
            for part in mechanism_obstacles(
                mechanism, compute_actor_positions(mechanism, hands), touching, robot.thighs
            )
        ]

    return surroundings


def compute_actor_positions(mechanism: Mechanism, hands: HandPlan) -> Array:
    """Compute the joint positions of a mechanism that follow from the actor's palms.

    Parameters
    ----------
    mechanism : Mechanism
        Equipment that the actor moves.
    hands : HandPlan
        Motion of the actor's palms, and when they hold.

    Returns
    -------
    (T, J) array
        MechanismJoint positions, m or rad; the initial ones until the hands hold.
    """
    return compute_joint_positions(mechanism, hands.actor, hands.contact)


def compute_resistance(mechanisms: Sequence[Mechanism]) -> dict[str, Resistance]:
    """Compute the resistance of the equipment to each hand that moves it.

    A revolute joint is felt at the hand's distance r from its axis: friction by 1/r, damping and inertia by
    1/r². Hands on one joint share it.

    Parameters
    ----------
    mechanisms : sequence of Mechanism
        Equipment of the scenario.

    Returns
    -------
    {side: Resistance}
        Friction, damping and inertia for each hand that moves a joint.
    """
    felt = {}
    for side, mechanism in find_held_mechanisms(mechanisms).items():
        handle = mechanism.handles[side]
        carrier = mechanism.part(handle.part).joint
        if carrier is None:
            continue
        joint = mechanism.joints[mechanism.column(carrier)]
        sharing = [
            other for other in mechanism.handles.values() if mechanism.part(other.part).joint == carrier
        ]
        lever = _lever(joint, handle.pose.act(np.array(handle.point))) if joint.kind == "turn" else 1.0
        damping = 0.5 * (joint.damping + joint.back_damping)
        numbers = joint.friction / lever, damping / lever**2, _moved_mass(mechanism, joint) / lever**2
        felt[side] = Resistance(*(number / len(sharing) for number in numbers))
    return felt


def resist(fixture: Fixture) -> None:
    """Apply, for one step, the efforts of springs and of direction-dependent damping in a fixture's joints.

    Parameters
    ----------
    fixture : Fixture
        Equipment whose joints resist.
    """
    for column, joint in enumerate(fixture.mechanism.joints):
        if not joint.resists:
            continue
        position, velocity = fixture.joint_state(column)
        effort = -joint.stiffness * position
        if joint.damping != joint.back_damping:
            effort -= (joint.damping if velocity > 0.0 else joint.back_damping) * velocity
        fixture.apply_joint_effort(column, effort)


def _way(joint: MechanismJoint) -> tuple[float, float]:
    """Range of a joint relative to its initial position, m or rad."""
    if joint.lowest is None or joint.highest is None:
        return 0.0, _FULL_TURN
    return joint.lowest - joint.start, joint.highest - joint.start


def _lever(joint: MechanismJoint, point: Array) -> float:
    """Distance of a point from a joint's axis, m."""
    return float(np.linalg.norm(np.cross(joint.axis, point - joint.origin)))


def _moved_mass(mechanism: Mechanism, joint: MechanismJoint) -> float:
    """Mass (kg) of the parts that a joint moves, or their moment of inertia about its axis (kg·m²)."""
    parts = [part for part in mechanism.parts if part.joint == joint.name]
    if joint.kind == "slide":
        return sum(part.mass for part in parts)
    axis, total = np.array(joint.axis), 0.0
    for part in parts:
        body = compute_inertia(part.shapes, part.mass)
        total += float(axis @ body.inertia @ axis) + part.mass * _lever(joint, body.lever) ** 2
    return total
