"""Plan a whole-body motion: imitate, detect contact, solve arms and legs, avoid collisions, scale time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from simbench.balance.standing.ground_reaction import standing_torques
from simbench.balance.standing.pelvis_height import pelvis_heights
from simbench.balance.standing.standing import Stance, stand
from simbench.errors import LegReachError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion, require_both_arms
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.body_errors import RobotErrors, compare_with_person
from simbench.retargeting.collision.clearance import BodyShapes, body_shapes
from simbench.retargeting.collision.interference import Interference, find_interference
from simbench.retargeting.collision.obstacles import Obstacle
from simbench.retargeting.contact.hand_plan import Equipment, HandContact, HandPlan, detect_contact
from simbench.retargeting.imitation.imitation import Imitation, imitation_metrics
from simbench.retargeting.imitation.limited_posture import rounded_posture
from simbench.retargeting.imitation.scaled_model import require_human_form
from simbench.retargeting.imitation.weighted_posture import speed_difference
from simbench.retargeting.motion_fidelity import robot_metrics
from simbench.retargeting.timing.preserve import LEAST_KNOTS
from simbench.retargeting.timing.stretch import MOST_STRETCH, UNIFORM_INSTEAD, resolve_timing, slowed_by
from simbench.retargeting.whole_body.arms_and_legs import (
    BALANCE_ROUNDS,
    RobotPlacement,
    WholeBodyMotion,
    WholeBodyProblem,
    bring_within_reach,
    resolve_by_weights,
    robot_time,
    separate_links,
    slow_down_factor,
    solve_arms_and_legs,
)
from simbench.retargeting.whole_body.local_tempo import find_acceleration_limits, fit_local_tempo
from simbench.retargeting.whole_body.posture import imitate_person, position_limits, preferred_posture
from simbench.retargeting.whole_body.recorded_tempo import keep_recorded_tempo
from simbench.retargeting.whole_body.stance import (
    OnProgress,
    choose_placement,
    compute_pelvis_height,
    measure_grip_error,
    require_leg_limits,
)
from simbench.retargeting.whole_body.tempo_checks import torque_reserve
from simbench.robot.grips import close_hands
from simbench.robot.robot import SEATED, Robot

_REACH_TOLERANCE = 0.02
"""Distance from a handle, m, up to which a hand still grips it."""
_PACES = (1.0, 1.4, 2.0, 2.8, 4.0)
"""Multiples of the recording's duration that are tried in turn where the legs cannot balance the motion."""
_CALM = (0.0, 0.3, 0.6, 1.0)
"""Parts of a motion at the recorded tempo that are given up everywhere, in turn, where they cannot: of the
pelvis' height, and, in logarithms, of what inertia may cost."""

_EASIER = ((0.02, 1.0), (0.04, 1.0), (0.08, 1.0), (0.08, 1.4), (0.08, 2.0), (0.08, 2.8), (0.08, 4.0))
"""How a motion that needs more is made easier, in turn: standard deviation of the Gaussian that smooths it,
s at the robot's pace, and least factor by which it is slowed."""


@dataclass(frozen=True)
class MotionPlan:
    """Planned motion of a robot on both feet, or seated, before it is simulated.

    Parameters
    ----------
    trajectory : JointTrajectory
        All joints of the robot and its base, slowed so that speed limits hold.
    stance : Stance
        Poses of soles and root link, and the nominal posture.
    hands : HandPlan
        Desired motion of the hands at the samples of `trajectory`.
    imitation : Imitation
        Motion of the scaled model at the same samples, at the recording's pace.
    shapes : BodyShapes
        Collision shapes of the upper body, for self-clearance.
    upper : (m,) int array
        Columns of the trunk and the arms in the trajectory.
    limits : (2, m) array
        Lower and upper limits of those joints, margin included, rad.
    interferences : tuple of Interference
        Links that still penetrate each other or the equipment.
    metrics : dict of str to float
        Metrics `imitation.*` and `retarget.*`.
    zmp : (T, 2) array
        Desired ZMP in the world frame, m.
    errors : RobotErrors
        Errors of the robot's arms and trunk against the person, at the same samples.
    embedding : bool
        Whether the legs react to the upper body's motion.
    notes : tuple of str
        What slows the motion, one line each.
    """

    trajectory: JointTrajectory
    stance: Stance
    hands: HandPlan
    imitation: Imitation
    shapes: BodyShapes
    upper: NDArray[np.int64]
    limits: Array
    interferences: tuple[Interference, ...]
    metrics: dict[str, float]
    zmp: Array
    errors: RobotErrors
    embedding: bool = True
    notes: tuple[str, ...] = ()


def plan_motion(
    robot: Robot,
    motion: HumanMotion,
    section: RobotSection,
    settings: RetargetSection,
    equipment: Equipment,
    on_progress: OnProgress,
    *,
    embedding: bool = True,
    check: Callable[[MotionPlan], object] = lambda plan: None,
) -> MotionPlan:
    """Retarget a recording to a robot that stands on both feet, or sits.

    Parameters
    ----------
    robot : Robot
        Robot of human form, with a floating base.
    motion : HumanMotion
        Recording, resampled, in the world frame of the scene.
    section : RobotSection
        Base placement, or that one is to be found, and the posture of legs and head.
    settings : RetargetSection
        Method, limits' margins, contact and smoothing.
    equipment : Equipment
        Equipment that the hands hold and the links keep clear of.
    on_progress : callable (stage, done, total)
        Called as planning proceeds.
    embedding : bool
        Whether the legs react to the upper body's motion. Otherwise they take it to rest.
    check : callable (MotionPlan)
        Called with a plan; where it raises `LegReachError`, the plan is made again with the pelvis lower, or
        slower.

    Returns
    -------
    MotionPlan
        Motion of all joints and of the base, at speeds that the robot is capable of.

    Raises
    ------
    MotionError
        If an arm was not recorded.
    RetargetError
        If the robot has no human form, its legs cannot keep balance, or the equipment is out of reach.
    """
    require_human_form(robot)
    require_both_arms(motion)
    settings = resolve_timing(
        settings,
        holds_equipment=bool(equipment.handles),
        standing=True,
        sample_count=len(motion.time),
    )
    keeps_tempo = settings.timing == "preserve"
    if keeps_tempo:
        _require_room(motion, equipment)
    on_progress("imitate", 0, 1)
    imitation = imitate_person(robot, motion, settings)
    on_progress("imitate", 1, 1)
    search = section.place == "given" and section.posture != SEATED
    heights = pelvis_heights(robot, section.height_m)[::2] if search else (section.height_m,)
    first: LegReachError | None = None
    # The arms' inertia moves the COG farther than the legs reach: with more bend in the knees the pelvis can
    # sway farther, and at a slower pace, or with a calmer motion, it need not.
    ways = [(1.0, calm) for calm in _CALM] if keeps_tempo else [(pace, 0.0) for pace in _PACES]
    for (pace, calm), height in product(ways, heights):
        place = section.model_copy(update={"height_m": height})
        slower = motion if pace == 1.0 else replace(motion, time=pace * motion.time)
        followed = replace(imitation, time=slower.time)
        try:
            plan = _plan_in_place(
                robot,
                slower,
                followed,
                place,
                settings,
                equipment,
                on_progress,
                _Choices(embedding, calm if keeps_tempo else None),
            )
            check(plan)
        except LegReachError as error:
            first = first or error
            continue
        metrics = slowed_by(plan.metrics, pace)
        if height and section.height_m is None:
            metrics["retarget.pelvis_height_m"] = height
        notes = plan.notes
        if pace > 1.0 and settings.timing == "local":
            notes = (f"slowed {pace:g} times beforehand: the legs cannot follow it faster", *notes)
        return replace(plan, metrics=metrics, notes=notes)
    assert first is not None
    if keeps_tempo:
        raise LegReachError(
            f"{first}; not even with a calmer motion at the recorded tempo; retarget.timing uniform slows it"
        )
    raise first


def _require_room(motion: HumanMotion, equipment: Equipment) -> None:
    """Raise `RetargetError` where amplitude cannot give way."""
    if equipment.handles:
        raise RetargetError(
            f"retarget.timing: {motion.source}: hands hold equipment; allowed: local, uniform, got preserve"
        )
    if len(motion.time) < LEAST_KNOTS:
        raise RetargetError(
            f"retarget.timing: {motion.source}: {len(motion.time)} samples, and preserve needs "
            f"{LEAST_KNOTS}; allowed: auto, local, uniform, got preserve"
        )


class _Choices(NamedTuple):
    """Whether legs react to the upper body, and what is given up everywhere to keep the recorded tempo."""

    embedding: bool
    calm: float | None


def _plan_in_place(
    robot: Robot,
    motion: HumanMotion,
    imitation: Imitation,
    section: RobotSection,
    settings: RetargetSection,
    equipment: Equipment,
    on_progress: OnProgress,
    choices: _Choices,
) -> MotionPlan:
    """Plan at one height of the pelvis, or with the search of a place."""
    on_progress("transfer", 0, 2 * BALANCE_ROUNDS)
    calm = choices.calm
    placement = _place_robot(robot, section, settings, equipment, on_progress, embedding=choices.embedding)
    shapes = body_shapes(robot, placement.stance.joints)
    contact = detect_contact(robot, imitation, equipment.handles, settings)
    limits = np.stack(position_limits(imitation, settings))
    posture = _desired_posture(robot, imitation, motion, settings, shapes, contact)
    problem = WholeBodyProblem(
        robot=robot,
        settings=settings,
        equipment=equipment,
        imitation=imitation,
        placement=placement,
        contact=contact,
        columns=np.array([robot.joint_names.index(name) for name in imitation.actor.model.names[2:]]),
        limits=limits,
        speed_limit=np.asarray(robot.model.velocityLimit[6:]) * settings.speed_limit_fraction,
        pelvis_height=settings.pelvis_height_follow
        * compute_pelvis_height(robot, motion, imitation, placement.base_placement, section, contact.share),
        on_progress=on_progress,
        acceleration_limit=find_acceleration_limits(robot, imitation, settings),
        keeps_tempo=calm is not None,
    )
    gave_way: dict[str, float] = {}
    notes: tuple[str, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    if calm is None:
        problem, solution, obstacles, smoothing = _solve_within_torques(problem, posture)
        if smoothing:
            gave_way["retarget.smoothing_s"] = smoothing
    else:
        problem, solution, gave_way, notes = keep_recorded_tempo(problem, posture, calm)
    on_progress("transfer", 2 * BALANCE_ROUNDS, 2 * BALANCE_ROUNDS)
    timed = _stretch_time(problem, solution, obstacles)
    problem, solution, interferences = timed.problem, timed.solution, timed.interferences
    trajectory, slow_down = _scale_time(problem, solution)
    paced = {"retarget.slow_down": slow_down, "retarget.duration_s": float(trajectory.time[-1])}
    metrics = _measure_plan(problem, solution, motion, paced, interferences)
    metrics |= timed.metrics
    errors = compare_with_person(
        robot,
        trajectory,
        motion,
        heading=placement.base_placement.heading,
        held=contact.contact,
    )
    margin = settings.joint_limit_margin_rad
    metrics |= {**gave_way, **robot_metrics(robot, trajectory, errors, margin)}
    return MotionPlan(
        trajectory,
        placement.stance,
        solution.hands,
        imitation,
        shapes,
        problem.columns,
        limits,
        interferences,
        metrics,
        solution.zmp,
        errors,
        placement.embedding,
        (*notes, *timed.notes),
    )


def _place_robot(
    robot: Robot,
    section: RobotSection,
    settings: RetargetSection,
    equipment: Equipment,
    on_progress: OnProgress,
    *,
    embedding: bool,
) -> RobotPlacement:
    """Choose where the robot stands or sits, and how."""
    base_placement = choose_placement(robot, section, settings, equipment.handles, on_progress)
    stance = stand(
        robot, base_placement.position, base_placement.heading, section.posture, base_placement.height
    )
    return RobotPlacement(section, base_placement, stance, embedding and not stance.seated)


def _desired_posture(
    robot: Robot,
    imitation: Imitation,
    motion: HumanMotion,
    settings: RetargetSection,
    shapes: BodyShapes,
    contact: HandContact,
) -> Array:
    """Imitate the person with trunk and arms (T, m), rad, without corners where hands go to equipment."""
    posture = preferred_posture(robot, motion, imitation, settings, shapes)
    if contact.any_hand.any():
        return rounded_posture(motion.time, posture, *position_limits(imitation, settings))
    if settings.weights is not None:
        raise RetargetError(
            f"retarget.weights: {motion.source}: hands hold nothing; allowed: motions on equipment"
        )
    return posture


def _solve_within_torques(
    problem: WholeBodyProblem, posture: Array
) -> tuple[WholeBodyProblem, WholeBodyMotion, tuple[Obstacle, ...], float]:
    """Solve arms and legs; smooth, then slow a free motion that needs more torque than motors give.

    Where a joint comes to a limit or leaves it, its curve has a corner: an acceleration that is not the
    person's, and that a heavy trunk passes on to the legs. The last value is the Gaussian's standard
    deviation, s at the robot's pace; 0 where nothing was smoothed.
    """
    solution, obstacles = _solve_motion(problem, posture)
    smoothing = 0.0
    if problem.contact.any_hand.any():
        return problem, solution, obstacles, smoothing
    for width, pace in _EASIER:
        if pace > 1.0 and problem.settings.timing == "local":
            break
        trajectory, slow_down = _scale_time(problem, solution)
        if not _needs_too_much_torque(problem, trajectory):
            break
        smoothing, problem = width, replace(problem, least_slow_down=pace)
        interval = (problem.time[-1] - problem.time[0]) / (len(problem.time) - 1)
        samples = width / (max(slow_down, pace) * interval)
        smooth = gaussian_filter1d(posture, samples, axis=0, mode="nearest")
        solution, obstacles = _solve_motion(problem, smooth)
    return problem, solution, obstacles, smoothing


def _solve_motion(problem: WholeBodyProblem, posture: Array) -> tuple[WholeBodyMotion, tuple[Obstacle, ...]]:
    """Solve arms and legs for a preferred posture (T, m), rad, and keep the links clear of each other."""
    solution = solve_arms_and_legs(problem, posture)
    solution = bring_within_reach(problem, solution)
    solution = resolve_by_weights(problem, solution)
    obstacles = tuple(problem.equipment.find_obstacles(solution.hands))
    return separate_links(problem, solution, obstacles), obstacles


def _needs_too_much_torque(problem: WholeBodyProblem, trajectory: JointTrajectory) -> bool:
    """Whether a motion needs more torque than its motors are to give, beyond what its weight alone needs."""
    assert trajectory.base is not None
    robot, seated = problem.robot, problem.placement.stance.seated
    still, moving = (
        np.abs(
            standing_torques(
                robot, trajectory.time, trajectory.base, trajectory.q, inertia=inertia, seated=seated
            )
        ).max(axis=0)
        / robot.motors.torque_limit
        for inertia in (False, True)
    )
    return bool((moving > torque_reserve(still)).any())


def _scale_time(problem: WholeBodyProblem, solution: WholeBodyMotion) -> tuple[JointTrajectory, float]:
    """Slow a motion, all of it or locally, until limits hold: the trajectory, and the ratio of durations."""
    names = problem.robot.joint_names
    if problem.tempo is not None:
        time = robot_time(problem, solution.joints)
        factor = float((time[-1] - time[0]) / (problem.time[-1] - problem.time[0]))
        return JointTrajectory(time, solution.joints, names, solution.base), factor
    factor = slow_down_factor(problem, solution.joints)
    return JointTrajectory(problem.time * factor, solution.joints, names, solution.base), factor


class _Timed(NamedTuple):
    """A motion with its tempo, what still penetrates in it, and what is to be said of the tempo."""

    problem: WholeBodyProblem
    solution: WholeBodyMotion
    interferences: tuple[Interference, ...]
    metrics: Mapping[str, float] = {}
    notes: tuple[str, ...] = ()


def _stretch_time(
    problem: WholeBodyProblem, solution: WholeBodyMotion, obstacles: Sequence[Obstacle]
) -> _Timed:
    """Stretch time locally, if the settings say so; refuse a motion that the legs' limits do not allow."""
    best: _Timed | None = None
    if problem.settings.timing == "local":
        for found in fit_local_tempo(problem, solution):
            if found.metrics.get("retarget.slow_down_max", 1.0) > MOST_STRETCH:
                continue
            if best is None:
                require_leg_limits(problem.robot, found.motion.joints)
            trajectory, _ = _scale_time(found.problem, found.motion)
            left = _find_interference(found.problem, trajectory, obstacles)
            if best is None or len(left) < len(best.interferences):
                notes = (found.note,) if found.note else ()
                best = _Timed(found.problem, found.motion, left, found.metrics, notes)
            if not left:
                break
        if best is not None:
            return best
    require_leg_limits(problem.robot, solution.joints)
    trajectory, _ = _scale_time(problem, solution)
    left = _find_interference(problem, trajectory, obstacles)
    notes = (UNIFORM_INSTEAD,) if problem.settings.timing == "local" else ()
    return _Timed(problem, solution, left, {}, notes)


def _find_interference(
    problem: WholeBodyProblem, trajectory: JointTrajectory, obstacles: Sequence[Obstacle]
) -> tuple[Interference, ...]:
    """Find what still penetrates, with hands closed while they hold something."""
    closed = _close_fingers(problem.robot, trajectory, problem.contact.contact)
    return find_interference(problem.robot, closed, obstacles)


def _close_fingers(
    robot: Robot, trajectory: JointTrajectory, contact: Mapping[str, NDArray[np.bool_]]
) -> JointTrajectory:
    """Close the hands of a trajectory while they hold something."""
    joints = trajectory.q.copy()
    for side, touching in contact.items():
        joints[touching] = close_hands(robot, joints[touching], [side])
    return replace(trajectory, q=joints)


def _measure_plan(
    problem: WholeBodyProblem,
    solution: WholeBodyMotion,
    motion: HumanMotion,
    paced: Mapping[str, float],
    interferences: Sequence[Interference],
) -> dict[str, float]:
    """Measure a plan's errors, pace and similarity; refuse it if a palm misses its handle."""
    robot, time = problem.robot, motion.time
    error, when = measure_grip_error(robot, solution.base, solution.joints, solution.hands, time)
    if error > _REACH_TOLERANCE:
        raise RetargetError(
            f"{robot.name}: out of reach: a palm misses the equipment by {1000 * error:.0f} mm at "
            f"{when:.2f} s of the recording (allowed: {1000 * _REACH_TOLERANCE:.0f} mm)"
        )
    metrics = {
        **imitation_metrics(problem.imitation, motion),
        "retarget.hand_max_m": error,
        **paced,
        "retarget.interference_count": float(len(interferences)),
    }
    touching = problem.contact.any_hand
    if touching.any():
        metrics["retarget.similarity"] = speed_difference(
            time[touching],
            problem.imitation.q[touching, 7:],
            solution.joints[touching][:, problem.columns],
        )
    return metrics
