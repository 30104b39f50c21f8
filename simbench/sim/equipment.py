"""A scenario's equipment: where hands can hold it, what it opposes to them, and how far an actor moved it."""

from collections.abc import Callable, Sequence

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.handles import Handle
from simbench.retargeting.collision.obstacles import Obstacle
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.retargeting.whole_body.zmp import Resistance
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.sim.engine import Fixture
from simbench.sim.fixtures.mechanism import (
    Joint,
    Mechanism,
    asked_positions,
    handle_poses,
    mechanism_obstacles,
)
from simbench.sim.fixtures.shapes import inertia

_PLACES = 101
"""Along a fixture's way, at which its handles are described."""
_TURN = 2.0 * np.pi
"""The way of what turns on and on, rad."""


def held_by(mechanisms: Sequence[Mechanism]) -> dict[str, Mechanism]:
    """Tell which mechanism each hand holds: the first that has a handle for it.

    Parameters
    ----------
    mechanisms : sequence of Mechanism

    Returns
    -------
    {side: Mechanism}
    """
    return {
        side: mechanism for mechanism in reversed(mechanisms) for side in SIDES if side in mechanism.handles
    }


def along_the_way(mechanism: Mechanism, travel: Array) -> Array:
    """Joint positions of a mechanism whose joints all go the same way from where they are found.

    Parameters
    ----------
    mechanism : Mechanism
    travel : (T,) array
        m or rad.

    Returns
    -------
    (T, J) array
    """
    return np.asarray(mechanism.start + travel[:, None])


def fixture_handles(mechanisms: Sequence[Mechanism]) -> dict[str, Handle]:
    """Describe where equipment lets hands be, over all of its way.

    Parameters
    ----------
    mechanisms : sequence of Mechanism

    Returns
    -------
    {side: Handle}
        World; empty without equipment.
    """
    handles = {}
    for side, mechanism in held_by(mechanisms).items():
        low, high = 0.0, 0.0
        for joint in mechanism.joints:
            least, most = _way(joint)
            low, high = min(low, least), max(high, most)
        poses = handle_poses(mechanism, along_the_way(mechanism, np.linspace(low, high, _PLACES)))[side]
        still = bool((poses == poses[0]).all())
        handles[side] = Handle(poses[:1] if still else poses, turn_axis(mechanism, side))
    return handles


def turn_axis(mechanism: Mechanism, side: str) -> Array | None:
    """Axis (3,) in the palm's axes about which a hand is free to turn; None where it is held fully.

    A hand that lies on a rod, beside the axis, would move away from it: it keeps its direction.
    """
    handle = mechanism.handles[side]
    free = handle.grip == "pivot" and not np.any(handle.point)
    return np.array(handle.axis) if free else None


def fixture_surroundings(
    mechanisms: Sequence[Mechanism], robot: Robot
) -> Callable[[HandPlan], list[Obstacle]]:
    """Say what a robot has to keep clear of while its hands move the equipment.

    Parameters
    ----------
    mechanisms : sequence of Mechanism
    robot : Robot
        Its palms and fingers may touch what has handles, its thighs a seat.

    Returns
    -------
    callable (HandPlan) -> list of Obstacle
    """
    touching = [link for hand in robot.hands.values() for link in (hand.palm, *hand.fingers)]

    def surroundings(hands: HandPlan) -> list[Obstacle]:
        return [
            part
            for mechanism in mechanisms
            for part in mechanism_obstacles(
                mechanism, actor_positions(mechanism, hands), touching, robot.thighs
            )
        ]

    return surroundings


def actor_positions(mechanism: Mechanism, hands: HandPlan) -> Array:
    """Compute the joint positions of a mechanism that the actor's palms ask for.

    Parameters
    ----------
    mechanism : Mechanism
    hands : HandPlan

    Returns
    -------
    (T, J) array
        m or rad; the start until hands come.
    """
    return asked_positions(mechanism, hands.actor, hands.contact)


def fixture_resistance(mechanisms: Sequence[Mechanism]) -> dict[str, Resistance]:
    """Tell what the equipment opposes to each hand that moves it.

    What turns is felt at the hand's distance r from its axis: friction by 1/r, damping and inertia by 1/r².
    Hands on one joint share it.

    Parameters
    ----------
    mechanisms : sequence of Mechanism

    Returns
    -------
    {side: Resistance}
        Of hands that move something.
    """
    felt = {}
    for side, mechanism in held_by(mechanisms).items():
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


def _way(joint: Joint) -> tuple[float, float]:
    """Least and most that a joint can go from where it is found, m or rad."""
    if joint.lowest is None or joint.highest is None:
        return 0.0, _TURN
    return joint.lowest - joint.start, joint.highest - joint.start


def _lever(joint: Joint, place: Array) -> float:
    """Distance of a place from a joint's axis, m."""
    return float(np.linalg.norm(np.cross(joint.axis, place - joint.origin)))


def _moved_mass(mechanism: Mechanism, joint: Joint) -> float:
    """Mass (kg) of what a joint moves, or its moment of inertia about the joint's axis (kg·m²)."""
    parts = [part for part in mechanism.parts if part.joint == joint.name]
    if joint.kind == "slide":
        return sum(part.mass for part in parts)
    axis, total = np.array(joint.axis), 0.0
    for part in parts:
        body = inertia(part.shapes, part.mass)
        total += float(axis @ body.inertia @ axis) + part.mass * _lever(joint, body.lever) ** 2
    return total
