"""Verify by brute force that no base placement exists: one least-squares problem over whole-body postures.

The unknowns are the base placement, the height of the pelvis and, for each of some poses along the path of
the hands, the horizontal offset of the pelvis and all joints of legs, trunk and arms. Residuals are: the
errors of the palms at the handles and of the feet on the floor, the distance of the COG from the bounding box
of the soles, the penetration of links, and joint steps of the arms of more than half a radian between poses.
All joints respect their limits, those of trunk and arms with the same margin as the search. The path between
the poses, bent elbows, and a relation between the paths of COG and hands are not required. The problem is
therefore less constrained than the search of `simbench.retargeting.placement`, and it is solved with
Pinocchio's kinematics and scipy's bounded least squares instead of simbench's own. If it has no solution, the
search has none either, as far as a number of random starts can show.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.optimize import least_squares

from simbench.balance.leg_ik import height_range, stand
from simbench.motion.human_motion import HandlePath
from simbench.retargeting.collision.clearance import clearance_rows
from simbench.retargeting.placement.placement import choose_posture
from simbench.retargeting.placement.reach_model import ReachabilityModel
from simbench.robot.robot import Robot

Array = NDArray[np.float64]

_RADIAN = 0.1
"""Weight of a rotation error, m/rad."""
_MARGIN = 0.03
_CLEARANCE = 0.001
_MOST_PAIRS = 16
_JUMP = 0.5
"""Largest step of a joint of trunk and arms between poses, rad."""
_PLACE = 4


@dataclass(frozen=True)
class Problem:
    """Least-squares problem of one robot and the handles of one task.

    The unknowns are x, y, heading and pelvis height of the stance and, for each pose, the horizontal offset
    of the pelvis in the stance's axes and the joint positions. For a robot without legs, offset and height
    are zero.

    Parameters
    ----------
    robot : Robot
        Robot to place.
    reach : ReachabilityModel
        Model of the robot with the shapes of its links.
    handles : {side: HandlePath}
        Paths of the handles.
    samples : (K,) int array
        Indices of the poses on these paths that are solved for.
    joints : (n,) int array
        Indices of the joints that are unknowns.
    rest : (m,) array
        Positions of all joints in the standing posture, rad.
    soles : {side: pinocchio.SE3}
        Poses of the soles in the stance's axes.
    support : (2, 2) array
        Lower and upper bound of x and y of the COG in the stance's axes, m.
    low : array
        Lower bounds of the unknowns.
    high : array
        Upper bounds of the unknowns.
    start_low : array
        Lower bounds of random starts.
    start_high : array
        Upper bounds of random starts.
    """

    robot: Robot
    reach: ReachabilityModel
    handles: dict[str, HandlePath]
    samples: NDArray[np.int64]
    joints: NDArray[np.int64]
    rest: Array
    soles: dict[str, pin.SE3]
    support: Array
    low: Array
    high: Array
    start_low: Array
    start_high: Array


@dataclass(frozen=True)
class Attempt:
    """Solution from one random start, with its remaining errors.

    Parameters
    ----------
    unknowns : array
        The solution.
    cost : float
        Half the sum of squared residuals, m².
    off : float
        Largest distance of a palm from its handle, m.
    turned : float
        Largest rotation error of a palm, rad.
    feet : float
        Largest error of a foot, m or rad.
    cog : float
        Distance of the COG from the bounding box of the soles, m.
    depth : float
        Largest penetration of links, m.
    jump : float
        Largest excess of a joint step over `_JUMP`, rad.
    """

    unknowns: Array
    cost: float
    off: float
    turned: float
    feet: float
    cog: float
    depth: float
    jump: float


def pose_problem(robot: Robot, handles: dict[str, HandlePath], poses: int = 12) -> Problem:
    """Set up the problem of a robot and some poses of its handles, equally spaced along their paths."""
    count = max(len(handle.poses) for handle in handles.values())
    samples = np.unique(np.linspace(0, count - 1, poses).astype(np.int64))
    upper = [*robot.groups.get("trunk", ())]
    upper += [name for side in handles for name in robot.groups[f"{side}_arm"]]
    legs = [name for side in robot.soles for name in robot.groups[side.replace("foot", "leg")]]
    joints = np.array([robot.joint_names.index(name) for name in [*upper, *legs]])
    margin = np.where(np.arange(len(joints)) < len(upper), _MARGIN, 0.0)
    limits = np.stack([robot.model.lowerPositionLimit, robot.model.upperPositionLimit])[:, robot.root_q :]
    low, high = limits[0, joints] + margin, limits[1, joints] - margin
    paths = [handle.poses[:, :2, 3] for handle in handles.values()]
    middle = np.mean([0.5 * (path.min(axis=0) + path.max(axis=0)) for path in paths], axis=0)
    posture = choose_posture(robot)
    rest, soles, support = robot.postures[posture], {}, np.zeros((2, 2))
    heights, sway = [0.0, 0.0], 0.0
    if robot.floating:
        stance = stand(robot, (0.0, 0.0), 0.0, posture)
        rest, soles, sway = stance.joints, stance.soles, 0.15
        heights = [stance.base[2] + end for end in height_range(robot, posture)]
        corners = [
            sole.act(corner)[:2] for side, sole in soles.items() for corner in robot.soles[f"{side}_foot"]
        ]
        support = np.stack([np.min(corners, axis=0), np.max(corners, axis=0)])
    # x, y, heading, height; then offset and joints of each pose. Starts are closer, with the posture's leg
    # joints.
    far, near = (1.3, 1.0) if robot.floating else (1.5, 1.5)
    reach = 0.6
    place = [np.array([*(middle + sign * far * reach), sign * 1.6, heights[sign > 0]]) for sign in (-1, 1)]
    drawn = [np.array([*(middle + sign * near * reach), sign * 1.0, heights[sign > 0]]) for sign in (-1, 1)]
    pose = [np.array([-sway, -sway, *low]), np.array([sway, sway, *high])]
    legs_rest = rest[joints[len(upper) :]]
    posture = [np.concatenate([np.zeros(2), end[2 : 2 + len(upper)], legs_rest]) for end in pose]
    return Problem(
        robot=robot,
        reach=ReachabilityModel(robot, handles, rest),
        handles=handles,
        samples=samples,
        joints=joints,
        rest=rest,
        soles=soles,
        support=support,
        low=np.concatenate([place[0], *[pose[0]] * len(samples)]) - 1e-9,
        high=np.concatenate([place[1], *[pose[1]] * len(samples)]) + 1e-9,
        start_low=np.concatenate([drawn[0], *[posture[0]] * len(samples)]),
        start_high=np.concatenate([drawn[1], *[posture[1]] * len(samples)]),
    )


def brute_force(problem: Problem, trials: int, on_progress: Callable[[int, int], None]) -> list[Attempt]:
    """Solve from random starts, best attempt first; stop when one has no remaining error."""
    random = np.random.default_rng(1)
    width = 2 + len(problem.joints)
    found: list[Attempt] = []
    for trial in range(trials):
        start = random.uniform(problem.start_low, problem.start_high)
        # A start has the same posture in all poses.
        start[_PLACE:] = np.tile(start[_PLACE : _PLACE + width], len(problem.samples))
        kept: dict[bytes, tuple[Array, Array, Attempt]] = {}

        def look(unknowns: Array, kept: dict[bytes, tuple[Array, Array, Attempt]] = kept):
            key = unknowns.tobytes()
            if key not in kept:
                kept.clear()
                kept[key] = _look(problem, unknowns.copy())
            return kept[key]

        solved = least_squares(
            lambda unknowns, look=look: look(unknowns)[0],
            start.clip(problem.low + 1e-10, problem.high - 1e-10),
            lambda unknowns, look=look: look(unknowns)[1],
            bounds=(problem.low, problem.high),
            max_nfev=80,
        )
        found.append(look(solved.x)[2])
        on_progress(trial + 1, trials)
        if found[-1].cost < 1e-9:
            break
    return sorted(found, key=lambda attempt: attempt.cost)


def _look(problem: Problem, unknowns: Array) -> tuple[Array, Array, Attempt]:
    """Compute the residuals, their derivatives, and the largest error of each kind."""
    robot, model = problem.robot, problem.robot.model
    data = model.createData()
    width, root_v = 2 + len(problem.joints), robot.root_v
    turn = pin.utils.rotate("z", unknowns[2])
    wrong: list[Array] = []
    slopes: list[Array] = []
    off = turned = feet = outside = depth = 0.0
    q = np.concatenate([pin.neutral(model)[: robot.root_q], problem.rest])
    for number, sample in enumerate(problem.samples):
        first = _PLACE + number * width
        own = slice(first + 2, first + width)
        q[robot.root_q + problem.joints] = unknowns[own]
        if robot.floating:
            q[:3] = [*unknowns[first : first + 2], unknowns[3]]
        # Columns: offset, height, joints.
        columns = root_v + problem.joints
        at = np.arange(first + 2, first + width)
        if robot.floating:
            columns, at = np.concatenate([[0, 1, 2], columns]), np.concatenate([[first, first + 1, 3], at])
        cog_slope = pin.jacobianCenterOfMass(model, data, q)[:2, columns]
        pin.updateFramePlacements(model, data)

        def add(error: Array, slope: Array, at: Array = at, place: Array | None = None) -> None:
            row = np.zeros((len(error), len(unknowns)))
            row[:, at] = slope
            if place is not None:
                row[:, :3] = place
            wrong.append(error)
            slopes.append(row)

        for side, handle in problem.handles.items():
            frame = model.getFrameId(robot.frames[f"{side}_hand"])
            jacobian = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            jacobian = jacobian[:, columns]
            pose = handle.poses[min(sample, len(handle.poses) - 1)]
            palm = data.oMf[frame]
            away = turn @ palm.translation
            error = away + np.append(unknowns[:2], 0.0) - pose[:3, 3]
            add(error, turn @ jacobian[:3], place=np.array([[1, 0, -away[1]], [0, 1, away[0]], [0, 0, 0]]))
            chords = []
            for axis in np.eye(3) if handle.turn_axis is None else handle.turn_axis[None]:
                now = turn @ palm.rotation @ axis
                chords.append(now - pose[:3, :3] @ axis)
                swing = -_RADIAN / np.sqrt(2.0) * pin.skew(now)
                add(
                    _RADIAN / np.sqrt(2.0) * chords[-1],
                    swing @ turn @ jacobian[3:],
                    place=np.column_stack([np.zeros((3, 2)), swing[:, 2]]),
                )
            off = max(off, float(np.linalg.norm(error)))
            whole = 4.0 if handle.turn_axis is not None else 8.0
            chord = float(np.square(chords).sum()) / whole
            turned = max(turned, 2.0 * float(np.arcsin(np.sqrt(min(chord, 1.0)))))
        for side, sole in problem.soles.items():
            frame = model.getFrameId(robot.frames[f"{side}_foot"])
            twist = pin.log6(sole.actInv(data.oMf[frame]))
            jacobian = pin.Jlog6(sole.actInv(data.oMf[frame])) @ pin.getFrameJacobian(
                model, data, frame, pin.ReferenceFrame.LOCAL
            )
            scale = np.array([1.0, 1.0, 1.0, _RADIAN, _RADIAN, _RADIAN])
            add(scale * twist.vector, scale[:, None] * jacobian[:, columns])
            feet = max(feet, float(np.abs(twist.vector).max()))
        if problem.soles:
            cog = data.com[0][:2]
            beyond = np.maximum(cog - problem.support[1], 0.0) - np.maximum(problem.support[0] - cog, 0.0)
            add(beyond, np.where(beyond[:, None] != 0.0, cog_slope, 0.0))
            outside = max(outside, float(np.abs(beyond).max()))
        shapes = problem.reach.model.names[-len(problem.reach.limits[0]) :]
        upper = [robot.joint_names.index(name) for name in shapes]
        away_rows, missing = clearance_rows(
            problem.reach.pairs,
            q[robot.root_q :][upper],
            _CLEARANCE,
            pin.neutral(problem.reach.model)[: robot.root_q],
        )
        deepest = np.argsort(-missing)[:_MOST_PAIRS]
        rows, short = np.zeros((_MOST_PAIRS, len(upper))), np.zeros(_MOST_PAIRS)
        rows[: len(deepest)], short[: len(deepest)] = -away_rows[deepest], missing[deepest]
        places = [first + 2 + int(np.flatnonzero(problem.joints == joint)[0]) for joint in upper]
        add(short, rows, at=np.array(places))
        depth = max(depth, float(missing.max(initial=0.0)) - _CLEARANCE)
    # Joints of trunk and arms come before those of the legs.
    free = problem.reach.limits.shape[1]
    way = unknowns[_PLACE:].reshape(-1, width)[:, 2 : 2 + free]
    steps = np.diff(way, axis=0)
    over = np.sign(steps) * np.maximum(np.abs(steps) - _JUMP, 0.0)
    rows = np.zeros((over.size, len(unknowns)))
    for number, (pose, joint) in enumerate(np.ndindex(*over.shape)):
        if over[pose, joint] != 0.0:
            at = _PLACE + pose * width + 2 + joint
            rows[number, at], rows[number, at + width] = -_RADIAN, _RADIAN
    wrong.append(_RADIAN * over.ravel())
    slopes.append(rows)
    jump = float(np.abs(over).max(initial=0.0))
    values, derivatives = np.concatenate(wrong), np.vstack(slopes)
    cost = 0.5 * float(values @ values)
    return values, derivatives, Attempt(unknowns, cost, off, turned, feet, outside, depth, jump)
