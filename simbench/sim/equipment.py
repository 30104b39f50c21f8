"""A scenario's equipment: handle poses, resistance to hands, and joint positions that follow from palms."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.obstacles import Obstacle
from simbench.kinematics.rotation import ROTATION_WEIGHT
from simbench.motion.human_motion import HandlePath
from simbench.retargeting.contact.hand_plan import HandPlan, Resistance
from simbench.robot.robot import Robot
from simbench.robot.robot_limbs import hand_links
from simbench.robot.sides import SIDES
from simbench.sim.engine import Fixture
from simbench.sim.fixtures.mechanism import (
    LATCH_FREQUENCY,
    Mechanism,
    MechanismHandle,
    MechanismJoint,
    handle_poses,
    joint_lever,
    joint_motion,
    mechanism_obstacles,
    moved_inertia,
)

_GRID = 9  # Positions of each joint from which those of a chain are searched.
# Steps of that search, and what keeps it determined where a joint does not move the handle, m².
_GAUSS_NEWTON_STEPS, _DAMPING = 12, 1e-9


def compute_joint_positions(
    mechanism: Mechanism, palms: Mapping[str, Array], contact: Mapping[str, NDArray[np.bool_]]
) -> Array:
    """Compute the joint positions of a mechanism from the poses of palms on its handles.

    Every joint follows the mean of the hands that hold the part it carries, or one further out; while no hand
    does, it keeps its last position. A pose does not show full revolutions: these are counted from the
    joint's initial position. `mechanism`: equipment with the handles; `palms` {side: (T, 4, 4) array}: poses
    of the palms in the world; `contact` {side: (T,) bool array}: whether each hand holds its handle; only of
    the hands that exist. Returns (T, J): positions of the mechanism's joints, m or rad.
    """
    count = len(next(iter(palms.values())))
    positions = np.tile(mechanism.start, (count, 1))
    held: dict[str, Array] = {}
    for side, handle in mechanism.handles.items():
        chain = mechanism.chain(handle.part)
        if side in contact and chain:
            touching = np.flatnonzero(contact[side])
            reached = palms[side][touching]
            if len(chain) > 1:
                found = _positions_of_chain(mechanism, chain, handle, reached)
            else:
                # m, or rad in (-pi, pi].
                joint, point = mechanism.joints[chain[0]], np.array([*handle.point, 1.0])
                axis = np.array(joint.axis)
                at = (mechanism.pose.inverse().homogeneous @ reached @ point)[:, :3] - joint.origin
                rest = (handle.pose.homogeneous @ point)[:3] - joint.origin
                if joint.kind == "slide":
                    found = ((at - rest) @ axis)[:, None]
                else:
                    across = rest - (rest @ axis) * axis
                    found = np.arctan2(at @ np.cross(axis, across), at @ across)[:, None]
            held[side] = np.full((count, len(mechanism.joints)), np.nan)
            held[side][np.ix_(touching, np.array(chain))] = found
    for column, joint in enumerate(mechanism.joints):
        values = np.array([each[:, column] for each in held.values()]).reshape(len(held), count)
        if joint.kind == "turn":
            # Add full revolutions, so that hands agree and follow the samples before.
            latest = joint.start
            for sample in np.flatnonzero(np.isfinite(values).any(axis=0)):
                now = values[:, sample]
                values[:, sample] = now + 2.0 * np.pi * np.round((latest - now) / (2.0 * np.pi))
                latest = float(np.nanmean(values[:, sample]))
        # The mean of the hands that hold; where none does, the last one.
        known = np.isfinite(values)
        holding = known.sum(axis=0)
        mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(holding, 1)
        last = np.maximum.accumulate(np.where(holding > 0, np.arange(count), -1))
        positions[:, column] = np.where(last >= 0, mean[last], joint.start)
    return positions


def _positions_of_chain(
    mechanism: Mechanism, chain: tuple[int, ...], handle: MechanismHandle, palms: Array
) -> Array:
    """Compute the positions (T, C) of several joints in a chain that bring a handle to the palms (T, 4, 4).

    Gauss-Newton from the nearest of a grid of positions finds those from which points of the handle are
    nearest to the palm's: the one that is held, and, unless the hand is free to rotate there, points beside
    it.
    """
    # Points of the palm, homogeneous, that a grip keeps on the handle: they stand for its pose.
    beside = np.empty((0, 3))
    if not handle.level:
        beside = np.eye(3) if handle.axis is None or handle.grip != "pivot" else np.array([handle.axis])
    points = np.array(handle.point) + ROTATION_WEIGHT * np.vstack([np.zeros((1, 3)), beside])
    points = np.hstack([points, np.ones((len(points), 1))])
    target = (mechanism.pose.inverse().homogeneous @ palms @ points.T)[:, :3].transpose(0, 2, 1)
    joints = [mechanism.joints[column] for column in chain]
    # Half a turn to either side without end stops.
    ranges = [
        (joint.start - np.pi, joint.start + np.pi)
        if joint.lowest is None or joint.highest is None
        else (joint.lowest, joint.highest)
        for joint in joints
    ]
    grids = np.meshgrid(*(np.linspace(low, high, _GRID) for low, high in ranges), indexing="ij")
    grid = np.stack([each.ravel() for each in grids], axis=1)
    placed = _points_on_chain(joints, handle, points, grid)[0].reshape(len(grid), -1)
    found = grid[[int(((placed - each.ravel()) ** 2).sum(axis=1).argmin()) for each in target]]
    low, high = np.array(ranges).T
    for _ in range(_GAUSS_NEWTON_STEPS):
        place, slope = _points_on_chain(joints, handle, points, found)
        error = (target - place).reshape(len(found), -1)
        jacobian = slope.reshape(len(found), error.shape[1], len(chain))
        normal = jacobian.transpose(0, 2, 1) @ jacobian + _DAMPING * np.eye(len(chain))
        step = np.linalg.solve(normal, (jacobian.transpose(0, 2, 1) @ error[:, :, None]))[:, :, 0]
        found = np.clip(found + step, low, high)
    return found


def _points_on_chain(
    joints: Sequence[MechanismJoint], handle: MechanismHandle, points: Array, positions: Array
) -> tuple[Array, Array]:
    """Places (T, P, 3) of a handle's points in the mechanism's frame, and their derivatives (T, P, 3, C)."""
    count = len(positions)
    moved = np.tile(np.eye(4), (count, 1, 1))
    before = []
    for column, joint in enumerate(joints):
        before.append(moved)
        moved = moved @ joint_motion(joint, positions[:, column])
    places = (moved @ handle.pose.homogeneous @ points.T)[:, :3].transpose(0, 2, 1)
    slopes = np.empty((*places.shape, len(joints)))
    for column, (joint, frame) in enumerate(zip(joints, before, strict=True)):
        axis = frame[:, :3, :3] @ np.array(joint.axis)
        if joint.kind == "slide":
            slopes[..., column] = axis[:, None, :]
        else:
            center = frame[:, :3, :3] @ np.array(joint.origin) + frame[:, :3, 3]
            slopes[..., column] = np.cross(axis[:, None, :], places - center[:, None, :])
    return places, slopes


_POSITIONS = 101  # Number of joint positions at which the handles of a fixture are described.
_CATCH = {"slide": 0.003, "turn": 0.02}  # Displacement up to which a latch catches, m and rad.
_FULL_TURN = 2.0 * np.pi  # Range of a joint without end stops, rad.


def find_held_mechanisms(mechanisms: Sequence[Mechanism]) -> dict[str, Mechanism]:
    """Tell which mechanism each hand holds: the first that has a handle for it.

    `mechanisms`: equipment of the scenario. Returns {side: Mechanism}.
    """
    return {
        side: mechanism for mechanism in reversed(mechanisms) for side in SIDES if side in mechanism.handles
    }


def positions_of_use(mechanism: Mechanism, travel: Array) -> Array:
    """Compute the joint positions of a mechanism that is used as it is meant to be.

    `mechanism`: equipment that moves. `travel` (T,): for equipment with moves, how many of them are done,
    from 0; beyond their number they are repeated from where the joints are then. Otherwise the displacement
    of every joint, m or rad: all move alike. Returns (T, J): joint positions, m or rad.
    """
    if not mechanism.moves:
        return np.asarray(mechanism.start + travel[:, None])
    ends = np.array([mechanism.start, *(move.positions for move in mechanism.moves)])
    count = len(mechanism.moves)
    rounds = np.floor(travel / count)
    done = travel - rounds * count
    within = [np.interp(done, np.arange(count + 1), column) for column in ends.T]
    return np.asarray(np.stack(within, axis=1) + rounds[:, None] * (ends[-1] - ends[0]))


def describe_handles(mechanisms: Sequence[Mechanism]) -> dict[str, HandlePath]:
    """Describe the poses of the handles over the whole range of the equipment.

    `mechanisms`: equipment of the scenario. Returns {side: HandlePath}: poses in the world; empty without
    equipment.
    """
    handles = {}
    for side, mechanism in find_held_mechanisms(mechanisms).items():
        if mechanism.moves:
            travel = np.linspace(0.0, len(mechanism.moves), _POSITIONS * len(mechanism.moves))
        else:
            ends = [
                (0.0, _FULL_TURN)
                if joint.lowest is None or joint.highest is None
                else (joint.lowest - joint.start, joint.highest - joint.start)
                for joint in mechanism.joints
            ]
            low, high = np.array([(0.0, 0.0), *ends]).T
            travel = np.linspace(low.min(), high.max(), _POSITIONS)
        poses = handle_poses(mechanism, positions_of_use(mechanism, travel))[side]
        still = bool((poses == poses[0]).all())
        start = 0 if still else int(np.abs(travel).argmin())
        handles[side] = HandlePath(poses[:1] if still else poses, find_free_axis(mechanism, side), start)
    return handles


def find_free_axis(mechanism: Mechanism, side: str) -> Array | None:
    """Find the axis about which a hand can rotate freely on its handle.

    A hand that lies on a rod, beside the axis, would move away from it: it keeps its direction. `mechanism`:
    equipment with a handle for the hand; `side`: `left` or `right`. Returns (3,) or None: unit vector in the
    palm's axes; None where the hand cannot rotate.
    """
    handle = mechanism.handles[side]
    free = handle.grip == "pivot" and not np.any(handle.point)
    return np.array(handle.axis) if free else None


def find_obstacles(mechanisms: Sequence[Mechanism], robot: Robot, hands: HandPlan) -> list[Obstacle]:
    """Find the obstacles that a robot must avoid while its hands move the equipment.

    `mechanisms`: equipment of the scenario; `robot`: robot whose palms and fingers may touch parts with
    handles, and whose thighs may touch a seat; `hands`: hand plan with which all equipment moves.
    """
    touching = [link for role in robot.hands for link in hand_links(robot, role)]
    return [
        part
        for mechanism in mechanisms
        for part in mechanism_obstacles(
            mechanism, compute_joint_positions(mechanism, hands.actor, hands.contact), touching, robot.thighs
        )
    ]


def compute_resistance(mechanisms: Sequence[Mechanism]) -> dict[str, Resistance]:
    """Compute the resistance of the equipment to each hand that moves it.

    A revolute joint is felt at the hand's distance r from its axis: friction by 1/r, damping and inertia by
    1/r². Hands on one joint share it. Of joints on joints the largest resistance counts. `mechanisms`:
    equipment of the scenario. Returns {side: Resistance}.
    """
    felt: dict[str, Resistance] = {}
    for side, mechanism in find_held_mechanisms(mechanisms).items():
        handle = mechanism.handles[side]
        point = handle.pose.act(np.array(handle.point))
        chain = mechanism.chain(handle.part)
        # A hand moves one joint after the other: what it feels is at most the largest of each.
        resisting = []
        for column in chain:
            joint = mechanism.joints[column]
            sharing = sum(column in mechanism.chain(each.part) for each in mechanism.handles.values())
            lever = joint_lever(joint, point) if joint.kind == "turn" else 1.0
            damping = 0.5 * (joint.damping + joint.back_damping)
            numbers = joint.friction / lever, damping / lever**2, moved_inertia(mechanism, column) / lever**2
            resisting.append([number / sharing for number in numbers])
        if resisting:
            friction, damping, mass = np.max(resisting, axis=0).tolist()
            felt[side] = friction, damping, mass
    return felt


def resist(fixture: Fixture) -> list[float]:
    """Apply, for one step, the efforts of springs, latches and direction-dependent damping of a fixture.

    `fixture`: equipment whose joints resist. Returns these efforts, N or N·m, one for each joint.
    """
    mechanism = fixture.mechanism
    held = _latch_efforts(fixture) if mechanism.latches else {}
    efforts = [0.0] * len(mechanism.joints)
    for column, joint in enumerate(mechanism.joints):
        springy = joint.stiffness > 0.0 or joint.damping != joint.back_damping
        if not springy and column not in held:
            continue
        position, velocity = fixture.joint_state(column)
        effort = held.get(column, 0.0) - joint.stiffness * (position - joint.rest)
        if joint.damping != joint.back_damping:
            effort -= (joint.damping if velocity > 0.0 else joint.back_damping) * velocity
        fixture.apply_joint_effort(column, effort)
        efforts[column] = effort
    return efforts


def _latch_efforts(fixture: Fixture) -> dict[int, float]:
    """Efforts, N or N·m, of the latches that hold, by the joint's column: springs, critically damped.

    A latch catches within `_CATCH` of the initial position; what is pulled out further has broken it open.
    """
    mechanism = fixture.mechanism
    efforts: dict[int, float] = {}
    for latch, stiffness in zip(mechanism.latches, mechanism.latch_stiffness, strict=True):
        column, releasing = mechanism.column(latch.joint), mechanism.column(latch.released_by)
        moved = fixture.joint_state(releasing)[0] - mechanism.joints[releasing].start
        joint = mechanism.joints[column]
        position, velocity = fixture.joint_state(column)
        out = position - joint.start
        effort = 0.0
        if moved * np.sign(latch.beyond) < abs(latch.beyond) and abs(out) < _CATCH[joint.kind]:
            effort = -stiffness * (out + velocity / (np.pi * LATCH_FREQUENCY))
        efforts[column] = efforts.get(column, 0.0) + effort
    return efforts
