"""Whole-body inverse kinematics over time: arms on their hand targets, legs and pelvis under the COG."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BPoly

from simbench.balance.standing.standing import Stance, solve_com_ik
from simbench.kinematics.arrays import Array
from simbench.kinematics.time_grids import interpolate_change, time_grids
from simbench.kinematics.time_scaling import time_scaling_factor
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.collision.avoidance import HeldPalm, avoid_collisions, clear_path
from simbench.retargeting.collision.clearance import BodyShapes, body_shapes, release_legs
from simbench.retargeting.collision.obstacles import Obstacle
from simbench.retargeting.contact.hand_plan import (
    Equipment,
    HandContact,
    HandPlan,
    contact_at_samples,
    near_contact,
    plan_hands,
)
from simbench.retargeting.contact.transfer import PreferredPath, transfer_frames, transfer_path
from simbench.retargeting.imitation.imitation import Imitation
from simbench.retargeting.imitation.weighted_posture import RETURN_TIME, weighted_posture
from simbench.retargeting.placement.placement import BasePlacement
from simbench.retargeting.timing.stretch import PathLimits, TempoMap, kinematic_limits
from simbench.retargeting.whole_body.stance import (
    OnProgress,
    blend_into_reach,
    compute_zmp_target,
    measure_grip_error,
)
from simbench.retargeting.whole_body.zmp import compute_balancing_cog, estimate_hand_wrench
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

BALANCE_ROUNDS = 4
"""At most so many rounds of arms and legs in turn, before collisions are avoided, and again after it."""
_NEAR_ROUNDS = range(1, 3)
"""Rounds for another tempo of a motion that is solved: what a third one changes is below 0.2 mm."""
_CONVERGED = 3e-5
"""Change of the pelvis' pose, m or rad, below which arms and legs agree."""
_ROUND_TIME = 0.3
"""Time before and after a penetration in which arms are led round the body, s."""
_CLEARANCE, _FREE_CLEARANCE = 0.003, 0.015
"""Margin between links, and between links and equipment, m, and the one of a motion in which hands hold
nothing: there is room for what the joints' control leaves."""
GRIP_TOLERANCE, _GRIP_LOST = 0.001, 0.005
"""Distance from a handle, m, above which another posture is tried; at a few samples a second that is certain
above the second one only."""


@dataclass(frozen=True)
class RobotPlacement:
    """Where the robot stands or sits.

    Parameters
    ----------
    section : RobotSection
        Names the posture of its legs and head.
    base_placement : BasePlacement
        Position, heading and height, and how the COG moves with the hands.
    stance : Stance
        Poses of soles and root link, and the nominal posture.
    embedding : bool
        Whether the legs react to the upper body's motion.
    """

    section: RobotSection
    base_placement: BasePlacement
    stance: Stance
    embedding: bool


@dataclass(frozen=True)
class WholeBodyProblem:
    """Constants of the whole-body inverse kinematics of one plan.

    Parameters
    ----------
    robot : Robot
        Robot with a floating base and n joints.
    settings : RetargetSection
        Method, limits' margins and smoothing.
    equipment : Equipment
        Equipment that the hands hold.
    imitation : Imitation
        Motion of the scaled model, at T samples.
    placement : RobotPlacement
        Stance and base placement of the robot.
    contact : HandContact
        When the hands are on the equipment.
    columns : (m,) int array
        Columns of trunk and arms among the robot's joints.
    limits : (2, m) array
        Lower and upper limits of those joints, margin included, rad.
    speed_limit : (n,) array
        Joint speeds that may be used, rad/s.
    pelvis_height : (T,) array
        Desired height of the pelvis above that of the stance, m.
    on_progress : callable (stage, done, total)
        Called before every round.
    least_slow_down : float
        Least factor by which the motion is slowed.
    acceleration_limit : (n,) array
        Joint accelerations that may be used where time is stretched locally, rad/s²; infinite where there is
        no limit.
    tempo : TempoMap or None
        Tempo of the motion; None to slow all of it by one factor until speed limits hold.
    keeps_tempo : bool
        Whether the recorded clock is kept: the factor is then 1, and limits are kept otherwise.
    """

    robot: Robot
    settings: RetargetSection
    equipment: Equipment
    imitation: Imitation
    placement: RobotPlacement
    contact: HandContact
    columns: NDArray[np.int64]
    limits: Array
    speed_limit: Array
    pelvis_height: Array
    on_progress: OnProgress
    least_slow_down: float = 1.0
    acceleration_limit: Array = field(default_factory=lambda: np.zeros(0))
    tempo: TempoMap | None = None
    keeps_tempo: bool = False

    @property
    def time(self) -> Array:
        """Time of the samples, s, (T,)."""
        return self.imitation.time


@dataclass(frozen=True)
class WholeBodyMotion:
    """Motion of the whole robot at the samples of the recording.

    Parameters
    ----------
    base : (T, 7) array
        Pose of the root link in the world frame: position, m, and quaternion.
    joints : (T, n) array
        Positions of all joints, rad.
    preferred : (T, m) array
        Posture of trunk and arms that the solution stays near, rad.
    hands : HandPlan
        Desired motion of the hands.
    zmp : (T, 2) array
        Desired ZMP in the world frame, m.
    """

    base: Array
    joints: Array
    preferred: Array
    hands: HandPlan
    zmp: Array


def solve_arms_and_legs(problem: WholeBodyProblem, posture: Array) -> WholeBodyMotion:
    """Solve arms and legs in turn for a preferred posture, from the nominal stance on.

    The arms need the pelvis, the pelvis needs the COG, the COG needs the ZMP, and the ZMP needs the arms:
    arms and legs are solved in turn until the pelvis' pose no longer changes. A seated robot's pelvis and
    legs stay at rest.

    Parameters
    ----------
    problem : WholeBodyProblem
        Robot, recording, equipment, limits and settings.
    posture : (T, m) array
        Preferred posture of trunk and arms, rad.

    Returns
    -------
    WholeBodyMotion
        Hands on their targets as far as limits allow, COG over its own. Where a palm is far from its handle,
        the solution of a few samples a second, interpolated: `bring_within_reach` replaces it.
    """
    stance = problem.placement.stance
    joints = np.tile(stance.joints, (len(posture), 1))
    joints[:, problem.columns] = posture
    base, joints = solve_com_ik(
        problem.robot, stance, joints, height=problem.pelvis_height, embedding=problem.placement.embedding
    )
    draft = _solve_draft(problem, posture, base, joints, range(BALANCE_ROUNDS))
    if draft.grip_error > _GRIP_LOST:
        hands = plan_hands(problem.robot, problem.imitation, posture, draft.base, problem.contact)
        zmp = compute_zmp_target(stance, hands, problem.placement.base_placement)
        return WholeBodyMotion(draft.base, draft.joints, posture, hands, zmp)
    return _alternate_at_samples(problem, posture, draft.base, draft.joints, draft.rounds)


def bring_within_reach(problem: WholeBodyProblem, motion: WholeBodyMotion) -> WholeBodyMotion:
    """Solve again near another posture, if with the present one a palm misses its handle.

    The person's posture may lead the robot's arms into a joint limit; the postures found for the base
    placement do not.

    Parameters
    ----------
    problem : WholeBodyProblem
        Robot, recording, equipment, limits and settings.
    motion : WholeBodyMotion
        Solution near the person's posture.

    Returns
    -------
    WholeBodyMotion
        The same if the palms are on their handles.

    Raises
    ------
    RetargetError
        If the equipment is out of reach.
    """
    error, _ = measure_grip_error(problem.robot, motion.base, motion.joints, motion.hands, problem.time)
    if not error > GRIP_TOLERANCE:
        return motion
    preferred, start = blend_into_reach(
        problem.robot,
        problem.placement.base_placement,
        problem.placement.section,
        problem.equipment.handles,
        problem.time,
        motion.preferred,
        tuple(problem.imitation.actor.model.names[2:]),
        motion.hands,
    )
    return _alternate(
        problem, preferred, motion.base, _with_arms(problem, motion.joints, start), range(1, BALANCE_ROUNDS)
    )


def resolve_by_weights(problem: WholeBodyProblem, motion: WholeBodyMotion) -> WholeBodyMotion:
    """Let the weighted criteria move trunk and arms while hands hold something, if the settings say so.

    Parameters
    ----------
    problem : WholeBodyProblem
        What is to be solved; `settings.weights` gives the criteria's weights.
    motion : WholeBodyMotion
        Solution whose palms keep the handles.

    Returns
    -------
    WholeBodyMotion
        The same if there are no weights.
    """
    if problem.settings.weights is None:
        return motion
    posture = weighted_posture(
        problem.robot,
        problem.time,
        motion.joints[:, problem.columns],
        motion.base,
        problem.contact.any_hand,
        near_contact(problem.time, problem.contact.any_hand, RETURN_TIME),
        np.array(problem.settings.weights.shares),
        *problem.limits,
    )
    return _alternate(problem, posture, motion.base, motion.joints, range(1, BALANCE_ROUNDS))


def separate_links(
    problem: WholeBodyProblem, motion: WholeBodyMotion, obstacles: Sequence[Obstacle]
) -> WholeBodyMotion:
    """Move trunk and arms clear of the robot's own links and of obstacles; held palms keep their poses.

    Parameters
    ----------
    problem : WholeBodyProblem
        Robot, recording, equipment, limits and settings.
    motion : WholeBodyMotion
        Solution whose links may be too near to something.
    obstacles : sequence of Obstacle
        Obstacles at rest, or with a pose at each of the T samples.

    Returns
    -------
    WholeBodyMotion
        The same if nothing was too near.
    """
    robot, hands = problem.robot, motion.hands
    joints = motion.joints[:, problem.columns]
    palms = {
        robot.frames[f"{side}_hand"]: HeldPalm(hands.share[side] == 1.0, hands.turn_axes[side])
        for side in SIDES
    }
    shapes = body_shapes(robot, problem.placement.stance.joints, problem.equipment.handles)
    shapes, legs = release_legs(robot, shapes, motion.base, motion.joints)
    free = not problem.contact.any_hand.any()
    margin = _FREE_CLEARANCE if free else _CLEARANCE
    clear, missing = avoid_collisions(
        shapes, problem.time, joints, motion.base, problem.limits, margin, palms, (*obstacles, *legs)
    )
    blocked = missing > margin
    if free and blocked.any():
        still = body_shapes(robot, problem.placement.stance.joints)
        clear = _lead_round(still, problem.time, clear, problem.limits, blocked)
    if np.array_equal(clear, joints):
        return motion
    # The separated posture is preferred from now on.
    rounds = range(BALANCE_ROUNDS, 2 * BALANCE_ROUNDS)
    return _alternate(problem, clear, motion.base, _with_arms(problem, motion.joints, clear), rounds)


def _lead_round(
    shapes: BodyShapes, time: Array, joints: Array, limits: Array, blocked: NDArray[np.bool_]
) -> Array:
    """Lead free arms (T, m) round the body where a person's arms pass through the place of the robot's."""
    changed, last = joints.copy(), len(time) - 1
    velocity = np.gradient(joints, time, axis=0)
    end = -1
    for at in np.flatnonzero(blocked):
        if at <= end:
            continue
        start, end = np.searchsorted(time, (time[at] - _ROUND_TIME, time[at] + _ROUND_TIME)).tolist()
        end = min(end, last)
        # The arms pass through it at a speed at which nothing is left to bend: a way past it is made anew.
        ends = [[joints[each], velocity[each], np.zeros(joints.shape[1])] for each in (start, end)]
        way = BPoly.from_derivatives(time[[start, end]], ends)(time[start : end + 1])
        changed[start : end + 1] = clear_path(
            shapes, np.clip(way, *limits), _FREE_CLEARANCE, (limits[0], limits[1])
        )
    return changed


def slow_down_factor(problem: WholeBodyProblem, joints: Array) -> float:
    """Find the factor by which a motion is slowed: until speed limits hold, or as the problem asks.

    Parameters
    ----------
    problem : WholeBodyProblem
        Gives the time of the samples, the speed limits and the least factor.
    joints : (T, n) array
        Positions of all joints, rad.

    Returns
    -------
    float
        Factor of the duration, 1 or more.
    """
    if problem.keeps_tempo:
        return 1.0
    factor = time_scaling_factor(problem.time, joints, problem.speed_limit)
    return max(factor, problem.least_slow_down)


def robot_time(problem: WholeBodyProblem, joints: Array) -> Array:
    """Find the robot's time of each sample: by the problem's tempo, else all slowed by one factor.

    Parameters
    ----------
    problem : WholeBodyProblem
        Gives the time of the samples, the speed limits, and the tempo if there is one.
    joints : (T, n) array
        Positions of all joints, rad.

    Returns
    -------
    (T,) array
        Time of the samples, s, at which speed limits hold.
    """
    if problem.tempo is None:
        return problem.time * slow_down_factor(problem, joints)
    time = problem.tempo(problem.time)
    # A cubic spline through stretched samples is not quite the stretched spline.
    return time * time_scaling_factor(time, joints, problem.speed_limit)


def motion_limits(problem: WholeBodyProblem, joints: Array) -> PathLimits:
    """Bound the rate of a motion by the speed and acceleration limits of its joints.

    Parameters
    ----------
    problem : WholeBodyProblem
        Gives the time of the samples and the limits.
    joints : (T, n) array
        Positions of all joints, rad.

    Returns
    -------
    PathLimits
        Limits along the motion.
    """
    limits = problem.speed_limit, problem.acceleration_limit
    return kinematic_limits(problem.time, joints, *limits, problem.robot.joint_names)


def solve_at_tempo(problem: WholeBodyProblem, motion: WholeBodyMotion) -> WholeBodyMotion:
    """Solve arms and legs again near a solution, for another tempo of the same motion.

    Parameters
    ----------
    problem : WholeBodyProblem
        What is to be solved, with a tempo.
    motion : WholeBodyMotion
        Solution at another tempo.

    Returns
    -------
    WholeBodyMotion
        Solution whose legs balance it at the problem's tempo.
    """
    return _alternate_at_samples(problem, motion.preferred, motion.base, motion.joints, _NEAR_ROUNDS)


def _alternate(
    problem: WholeBodyProblem, posture: Array, base: Array, joints: Array, rounds: range
) -> WholeBodyMotion:
    """Solve arms, then legs, in turn, starting from a base and joints; round 0 starts the arms anew."""
    draft = _solve_draft(problem, posture, base, joints, rounds)
    return _alternate_at_samples(problem, posture, draft.base, draft.joints, draft.rounds)


class _Draft(NamedTuple):
    """Start of `_alternate_at_samples` for all samples, and how far a palm is from its handle, m."""

    base: Array
    joints: Array
    rounds: range
    grip_error: float


def _solve_draft(
    problem: WholeBodyProblem, posture: Array, base: Array, joints: Array, rounds: range
) -> _Draft:
    """Let arms and legs agree at a few samples a second: at all of them they then do after a round or two.

    Without hands that hold something, and where arms are solved frame by frame, there is nothing to gain.
    """
    grids = time_grids(problem.time)
    if problem.settings.transfer != "path" or not problem.contact.any_hand.any() or len(grids) == 1:
        return _Draft(base, joints, rounds, 0.0)
    samples = grids[0]
    part = _at_samples(problem, samples)
    found = _alternate_at_samples(part, posture[samples], base[samples], joints[samples], rounds)
    error, _ = measure_grip_error(problem.robot, found.base, found.joints, found.hands, part.time)
    return _Draft(
        base + interpolate_change(problem.time, samples, found.base - base[samples]),
        joints + interpolate_change(problem.time, samples, found.joints - joints[samples]),
        range(max(rounds.start, 1), rounds.stop),
        error,
    )


def at_samples(
    problem: WholeBodyProblem, motion: WholeBodyMotion, samples: NDArray[np.int64]
) -> tuple[WholeBodyProblem, WholeBodyMotion]:
    """Take some samples of a motion.

    Parameters
    ----------
    problem : WholeBodyProblem
        The problem at T samples.
    motion : WholeBodyMotion
        Its solution.
    samples : (K,) int array
        The samples to keep.

    Returns
    -------
    problem : WholeBodyProblem
        The problem at these samples.
    motion : WholeBodyMotion
        The solution there.
    """
    part = _at_samples(problem, samples)
    base, preferred = motion.base[samples], motion.preferred[samples]
    hands = plan_hands(problem.robot, part.imitation, preferred, base, part.contact)
    return part, WholeBodyMotion(base, motion.joints[samples], preferred, hands, motion.zmp[samples])


def _at_samples(problem: WholeBodyProblem, samples: NDArray[np.int64]) -> WholeBodyProblem:
    """Take some samples of the problem."""
    imitation = problem.imitation
    return replace(
        problem,
        imitation=replace(imitation, time=imitation.time[samples], q=imitation.q[samples]),
        contact=contact_at_samples(problem.contact, samples),
        pelvis_height=problem.pelvis_height[samples],
    )


def _alternate_at_samples(
    problem: WholeBodyProblem, posture: Array, base: Array, joints: Array, rounds: range
) -> WholeBodyMotion:
    """Solve arms and legs in turn as `_alternate` does, at all samples of a problem."""
    robot, placement = problem.robot, problem.placement
    for number in rounds:
        problem.on_progress("transfer", 1 + number, 2 * BALANCE_ROUNDS)
        hands = plan_hands(robot, problem.imitation, posture, base, problem.contact)
        zmp = compute_zmp_target(placement.stance, hands, placement.base_placement)
        cog = _desired_cog(problem, base, joints, hands, zmp)
        start = joints[:, problem.columns] if number else None
        arms = _solve_arms(problem, posture, base, hands, start)
        previous = base
        base, joints = solve_com_ik(
            robot,
            placement.stance,
            _with_arms(problem, joints, arms),
            cog,
            problem.pelvis_height,
            start=base,
            embedding=placement.embedding,
        )
        if np.abs(base - previous).max() < _CONVERGED:
            break
    return WholeBodyMotion(base, joints, posture, hands, zmp)


def _with_arms(problem: WholeBodyProblem, joints: Array, arms: Array) -> Array:
    """Replace trunk and arms (T, m) in the positions of all joints (T, n), rad."""
    joints = joints.copy()
    joints[:, problem.columns] = arms
    return joints


def _desired_cog(problem: WholeBodyProblem, base: Array, joints: Array, hands: HandPlan, zmp: Array) -> Array:
    """COG (T, 2), m, for the desired ZMP at the motion's pace; without embedding the ZMP itself."""
    if not problem.placement.embedding:
        return zmp
    time = robot_time(problem, joints)
    resistance = problem.equipment.resistance
    wrench = estimate_hand_wrench(time, hands, resistance) if resistance else None
    return compute_balancing_cog(problem.robot, time, base, joints, zmp, wrench)


def _solve_arms(
    problem: WholeBodyProblem, posture: Array, base: Array, hands: HandPlan, start: Array | None
) -> Array:
    """Bring the palms to their targets, trunk and arms (T, m) near a posture, rad."""
    robot, settings = problem.robot, problem.settings
    path = PreferredPath(problem.time, posture, base, *problem.limits)
    if settings.transfer == "path":
        return transfer_path(robot, path, hands, start)
    return transfer_frames(robot, path, hands, (settings.smoothing_window, settings.smoothing_order))
