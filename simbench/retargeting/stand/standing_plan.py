"""Plan the motion of a standing or seated robot: place it, imitate, solve arms and legs, scale time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, product

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from simbench.balance.ground_reaction import planned_zmp, standing_torques
from simbench.balance.leg_ik import (
    Stance,
    describe_lost_motions,
    pelvis_freedom,
    pelvis_heights,
    stand,
    sway_projection,
)
from simbench.errors import LegReachError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.obstacles import Obstacle
from simbench.motion.human_motion import HumanMotion, require_both_arms
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.body_errors import RobotErrors, compare_with_person, robot_metrics
from simbench.retargeting.collision.clearance import BodyShapes, body_shapes
from simbench.retargeting.collision.interference import Interference, beside_hands, find_interference
from simbench.retargeting.contact.hand_plan import Equipment, HandPlan, detect_contact, near_contact
from simbench.retargeting.contact.transfer import BoneAims
from simbench.retargeting.imitate.problem import ImitationProblem, find_targets, select_parts
from simbench.retargeting.imitation.imitation import (
    METHODS,
    Imitation,
    imitate,
    imitation_metrics,
    speed_difference,
)
from simbench.retargeting.imitation.limited_posture import position_limits, preferred_posture, rounded_posture
from simbench.retargeting.imitation.scaled_model import calibrate, require_human_form
from simbench.retargeting.match.body import match_body
from simbench.retargeting.placement.placement import choose_placement
from simbench.retargeting.stand import arms_and_legs
from simbench.retargeting.stand.standing_tempo import keep_recorded_tempo, torque_reserve
from simbench.retargeting.timing import stretch
from simbench.retargeting.timing.preserve import LEAST_KNOTS
from simbench.robot.robot import SEATED, Robot
from simbench.robot.robot_limbs import close_hands, estimated_accelerations
from simbench.system.progress import OnProgress

# Times that the local tempo is fitted: the equipment's resistance depends on it.
_TEMPO_ROUNDS = 2
# Distance from a handle, m, up to which a hand still grips it.
_REACH_TOLERANCE = 0.02
# Multiples of the recording's duration that are tried in turn where the legs cannot balance the motion.
_PACES = (1.0, 1.4, 2.0, 2.8, 4.0)
# Parts of a motion at the recorded tempo that are given up everywhere, in turn, where they cannot: of the
# pelvis' height, and, in logarithms, of what inertia may cost.
_CALM = (0.0, 0.3, 0.6, 1.0)
# Parts of the body that are the person's, as far as palms on equipment leave them free.
_ARM_BONES = ("upper arm", "forearm", "trunk", "shoulders")
# Time before and after contact, s, over which they come to count beside the preferred posture.
_BONES_TIME = 1.0
# How a motion that needs more is made easier, in turn: standard deviation of the Gaussian that smooths it,
# s at the robot's pace, and least factor by which it is slowed.
_EASIER = ((0.02, 1.0), (0.04, 1.0), (0.08, 1.0), (0.08, 1.4), (0.08, 2.0), (0.08, 2.8), (0.08, 4.0))


@dataclass(frozen=True)
class MotionPlan:
    """Planned motion of a robot on both feet, or seated, before it is simulated."""

    trajectory: JointTrajectory  # All joints of the robot and its base, slowed so that speed limits hold.
    stance: Stance  # Poses of soles and root link, and the nominal posture.
    hands: HandPlan  # Desired motion of the hands at the samples of `trajectory`.
    imitation: Imitation  # Motion of the scaled model at the same samples, at the recording's pace.
    shapes: BodyShapes  # Collision shapes of the upper body, for self-clearance.
    upper: NDArray[np.int64]  # (m,) int: columns of the trunk and the arms in the trajectory.
    limits: Array  # (2, m): lower and upper limits of those joints, margin included, rad.
    interferences: tuple[Interference, ...]  # Links that still penetrate each other or the equipment.
    metrics: dict[str, float]  # Metrics `imitation.*` and `retarget.*`.
    zmp: Array  # (T, 2): desired ZMP in the world frame, m.
    errors: RobotErrors  # Errors of the robot's arms and trunk against the person, at the same samples.
    embedding: bool = True  # Whether the legs react to the upper body's motion.
    notes: tuple[str, ...] = ()  # What slows the motion, one line each.


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
    """Retarget a recording to a robot of human form that stands on both feet, or sits.

    The recording is resampled, in the world frame of the scene. `section` has the base placement, or that
    one is to be found, and the posture of legs and head. The hands hold the equipment, the links keep clear
    of it. `embedding` says whether the legs react to the upper body's motion; otherwise they take it to rest.
    Where `check` raises `LegReachError`, the plan is made again with the pelvis lower, or slower. All joints
    and the base move at speeds that the robot is capable of.

    It is a `MotionError` if an arm was not recorded, a `RetargetError` if the robot has no human form, its
    legs cannot keep balance, or the equipment is out of reach.
    """
    require_human_form(robot)
    require_both_arms(motion)
    holds = bool(equipment.handles)
    settings = stretch.resolve_timing(
        settings, holds_equipment=holds, standing=True, sample_count=len(motion.time)
    )
    keeps_tempo = settings.timing == "preserve"
    # Amplitude cannot give way where hands hold equipment, or between too few samples.
    if keeps_tempo and holds:
        raise RetargetError(
            f"retarget.timing: {motion.source}: hands hold equipment; allowed: local, uniform, got preserve"
        )
    if keeps_tempo and len(motion.time) < LEAST_KNOTS:
        raise RetargetError(
            f"retarget.timing: {motion.source}: {len(motion.time)} samples, and preserve needs "
            f"{LEAST_KNOTS}; allowed: auto, local, uniform, got preserve"
        )
    on_progress("imitate", 0, 1)
    imitation = imitate_person(robot, motion, settings)
    on_progress("imitate", 1, 1)
    search = section.place == "given" and section.posture != SEATED
    heights = pelvis_heights(robot, section.height_m)[::2] if search else (section.height_m,)
    first: LegReachError | None = None
    imitated: dict[tuple[float, float], Array] = {}
    # The arms' inertia moves the COG farther than the legs reach: with more bend in the knees the pelvis can
    # sway farther, and at a slower pace, or with a calmer motion, it need not.
    ways = [(1.0, calm) for calm in _CALM] if keeps_tempo else [(pace, 0.0) for pace in _PACES]
    for (pace, calm), height in product(ways, heights):
        place = section.model_copy(update={"height_m": height})
        slower = motion if pace == 1.0 else replace(motion, time=pace * motion.time)
        followed = replace(imitation, time=slower.time)
        try:
            plan = _plan_in_place(
                robot, slower, followed, place, settings, equipment, on_progress, embedding, calm, imitated
            )
            check(plan)
        except LegReachError as error:
            first = first or error
            continue
        metrics = stretch.slowed_by(plan.metrics, pace)
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


def _plan_in_place(
    robot: Robot,
    motion: HumanMotion,
    imitation: Imitation,
    section: RobotSection,
    settings: RetargetSection,
    equipment: Equipment,
    on_progress: OnProgress,
    embedding: bool,
    calm: float,
    imitated: dict[tuple[float, float], Array],
) -> MotionPlan:
    """Plan at one height of the pelvis, or with the search of a place.

    `imitated` are postures that were found for another height, by `calm` and duration.
    """
    on_progress("transfer", 0, 2 * arms_and_legs.BALANCE_ROUNDS)
    # Where the robot stands or sits, and how.
    placed = choose_placement(robot, section, settings, equipment.handles, on_progress)
    stance = stand(robot, placed.position, placed.heading, section.posture, placed.height)
    shapes = body_shapes(robot, stance.joints)
    contact = detect_contact(robot, imitation, equipment.handles, settings)
    touching, limits = contact.any_hand, position_limits(imitation, settings)
    holds = bool(touching.any()) and settings.transfer == "path"
    lean, free = None, pelvis_freedom(robot, stance)
    if settings.method == "bones" and settings.pelvis_turn_follow and not (touching.any() or stance.seated):
        lean = arms_and_legs.compute_pelvis_turn(robot, motion)
        lean = None if lean is None else (1.0 - calm) * settings.pelvis_turn_follow * lean * free[:3]
    way = calm, float(motion.time[-1])
    posture = imitated.get(way)
    if posture is None:
        posture = preferred_posture(robot, motion, imitation, settings, shapes, holds=holds, lean=lean)
    if lean is not None:
        # With the same lean, it is the same at every height of the pelvis.
        imitated[way] = posture
    if touching.any():
        # Without corners where hands go to equipment.
        posture = rounded_posture(motion.time, posture, *limits)
    elif settings.weights is not None:
        raise RetargetError(
            f"retarget.weights: {motion.source}: hands hold nothing; allowed: motions on equipment"
        )
    height = arms_and_legs.compute_pelvis_height(robot, motion, imitation, placed, section, contact.share)
    columns = np.array([robot.joint_names.index(name) for name in imitation.actor.model.names[2:]])
    bones = None
    if settings.method == "bones" and holds:
        body = replace(match_body(robot), joints=columns)
        targets = select_parts(find_targets(body, motion), _ARM_BONES)
        turn = Rotation.from_euler("z", placed.heading).as_matrix()
        targets = replace(targets, directions=targets.directions @ turn.T)
        aims = ImitationProblem(body, targets, settings)
        bones = BoneAims(aims, stance.joints, near_contact(motion.time, touching, _BONES_TIME))
    problem = arms_and_legs.WholeBodyProblem(
        robot=robot,
        settings=settings,
        equipment=equipment,
        imitation=imitation,
        section=section,
        base_placement=placed,
        stance=stance,
        embedding=embedding and not stance.seated,
        contact=contact,
        columns=columns,
        bones=bones,
        limits=limits,
        speed_limit=np.asarray(robot.model.velocityLimit[6:]) * settings.speed_limit_fraction,
        pelvis_height=settings.pelvis_height_follow * height,
        pelvis_turn=None if lean is None else Rotation.from_euler("z", placed.heading).apply(lean),
        sway=sway_projection(stance, free),
        on_progress=on_progress,
    )
    gave_way: dict[str, float] = {}
    notes: list[str] = []
    obstacles: tuple[Obstacle, ...] = ()
    if settings.timing == "preserve":
        problem, solution, gave_way, notes = keep_recorded_tempo(problem, posture, calm)
    else:
        problem, solution, obstacles, smoothing = _solve_within_torques(problem, posture)
        if smoothing:
            gave_way["retarget.smoothing_s"] = smoothing
    on_progress("transfer", 2 * arms_and_legs.BALANCE_ROUNDS, 2 * arms_and_legs.BALANCE_ROUNDS)
    trajectory, solution, slow_down, left, stretched, note = _scale_time(problem, solution, obstacles)
    moved = solution.base, solution.joints, solution.hands
    error, when = arms_and_legs.measure_grip_error(robot, *moved, motion.time)
    if error > _REACH_TOLERANCE:
        raise RetargetError(
            f"{robot.name}: out of reach: a palm misses the equipment by {1000 * error:.0f} mm at "
            f"{when:.2f} s of the recording (allowed: {1000 * _REACH_TOLERANCE:.0f} mm)"
        )
    metrics = {
        **imitation_metrics(imitation, motion),
        "retarget.hand_max_m": error,
        "retarget.slow_down": slow_down,
        "retarget.duration_s": float(trajectory.time[-1]),
        "retarget.interference_count": float(len(left)),
    }
    if touching.any():
        metrics["retarget.similarity"] = speed_difference(
            motion.time[touching], imitation.q[touching, 7:], solution.joints[touching][:, problem.columns]
        )
    errors = compare_with_person(robot, trajectory, motion, heading=placed.heading, held=contact.contact)
    own = robot_metrics(robot, trajectory, errors, settings.joint_limit_margin_rad)
    return MotionPlan(
        trajectory,
        stance,
        solution.hands,
        imitation,
        shapes,
        problem.columns,
        np.stack(limits),
        left,
        metrics | stretched | gave_way | own,
        solution.zmp,
        errors,
        problem.embedding,
        (*notes, *(each for each in (note, describe_lost_motions(robot, stance)) if each)),
    )


def _solve_within_torques(
    problem: arms_and_legs.WholeBodyProblem, posture: Array
) -> tuple[arms_and_legs.WholeBodyProblem, arms_and_legs.WholeBodyMotion, tuple[Obstacle, ...], float]:
    """Solve arms and legs for a posture (T, m), rad, and keep the links clear of each other and of obstacles.

    A free motion that needs more torque than its motors are to give, beyond what its weight alone needs, is
    smoothed, then slowed. Where a joint comes to a limit or leaves it, its curve has a corner: an
    acceleration that is not the person's, and that a heavy trunk passes on to the legs. The last value is the
    Gaussian's standard deviation, s at the robot's pace; 0 where nothing was smoothed.
    """
    robot, recorded, smooth, smoothing = problem.robot, problem.imitation.time, posture, 0.0
    for width, pace in (*_EASIER, (np.inf, np.inf)):
        motion = arms_and_legs.solve_arms_and_legs(problem, smooth)
        obstacles = tuple(problem.equipment.find_obstacles(motion.hands))
        # Hands that turn farther than the person's keep clear of what is beside their handle.
        hands = motion.hands
        beside = beside_hands(robot, obstacles, hands.contact, hands.actor) if problem.bones else ()
        apart = arms_and_legs.separate_links(problem, motion.base, motion.joints, (*obstacles, *beside))
        motion = apart or motion
        slowest = 1.0 if problem.settings.timing == "local" else _EASIER[-1][1]
        if problem.contact.any_hand.any() or pace > slowest:
            break
        time, slow_down = arms_and_legs.robot_time(problem, motion.joints)
        posed = robot, time, motion.base, motion.joints
        still, moving = (
            np.abs(standing_torques(*posed, inertia=inertia, seated=problem.stance.seated)).max(axis=0)
            / robot.motors.torque_limit
            for inertia in (False, True)
        )
        if not (moving > torque_reserve(still)).any():
            break
        smoothing, problem = width, replace(problem, least_slow_down=pace)
        interval = (recorded[-1] - recorded[0]) / (len(recorded) - 1)
        samples = width / (max(slow_down, pace) * interval)
        smooth = gaussian_filter1d(posture, samples, axis=0, mode="nearest")
    return problem, motion, obstacles, smoothing


def _scale_time(
    problem: arms_and_legs.WholeBodyProblem,
    motion: arms_and_legs.WholeBodyMotion,
    obstacles: Sequence[Obstacle],
) -> tuple[
    JointTrajectory, arms_and_legs.WholeBodyMotion, float, tuple[Interference, ...], dict[str, float], str
]:
    """Slow a motion, all of it or locally, until limits hold; refuse one that the legs' limits do not allow.

    Of the tempos with local stretch, that with the fewest penetrations is taken; all is slowed by one factor
    where none of them serves. Returns the trajectory, the motion, the ratio of the durations, what still
    penetrates with hands closed while they hold something, and metrics and a note of the tempo.
    """
    robot, local = problem.robot, problem.settings.timing == "local"
    stretched = fit_local_tempo(problem, motion) if local else iter(())
    uniform = problem, motion, dict[str, float](), stretch.UNIFORM_INSTEAD if local else ""
    best = None
    for timed, found, metrics, note in chain(stretched, [uniform]):
        if best is not None and timed.tempo is None:
            break
        if metrics.get("retarget.slow_down_max", 1.0) > stretch.MOST_STRETCH:
            continue
        if best is None:
            arms_and_legs.require_leg_limits(robot, found.joints)
        time, slow_down = arms_and_legs.robot_time(timed, found.joints)
        trajectory = JointTrajectory(time, found.joints, robot.joint_names, found.base)
        closed = found.joints.copy()
        for side, touching in problem.contact.contact.items():
            closed[touching] = close_hands(robot, closed[touching], [side])
        left = find_interference(robot, replace(trajectory, q=closed), obstacles)
        if best is None or len(left) < len(best[3]):
            best = trajectory, found, slow_down, left, metrics, note
        if not left:
            break
    assert best is not None
    return best


def fit_local_tempo(
    problem: arms_and_legs.WholeBodyProblem, motion: arms_and_legs.WholeBodyMotion
) -> Iterator[tuple[arms_and_legs.WholeBodyProblem, arms_and_legs.WholeBodyMotion, dict[str, float], str]]:
    """Find the tempo for which speeds, accelerations, torques and the ZMP are inside their limits.

    The path is that of the motion slowed by one factor, with the sway of the pelvis that puts the ZMP where
    it is desired at that pace. Followed faster, it keeps the ZMP inside the soles, by the tempo. Then arms
    and legs are solved once more for the ZMP that is desired, and the tempo is slowed where that path needs
    it: the first motion. The greater sway may take links into each other or palms off their handles; the
    second motion has the path as it was, and the ZMP that it needs is the desired one.

    Yields problems with their tempo, motions, `measure_stretch` and what binds, empty if nothing is
    stretched: the better motion first. It is left out if a palm would miss its handle, or a leg not reach.
    """
    robot, resistance, recorded = problem.robot, problem.equipment.resistance, problem.imitation.time
    # Infinite for the legs, whose accelerations follow from balance, and for joints without a torque limit.
    acceleration = np.full(len(robot.joint_names), np.inf)
    names = problem.imitation.actor.model.names[2:]
    acceleration[problem.columns] = estimated_accelerations(robot, names)

    def find_limits(
        tempo: stretch.TempoMap | None, motion: arms_and_legs.WholeBodyMotion
    ) -> stretch.PathLimits:
        """All limits along a motion; with a tempo also those that depend on the equipment's resistance."""
        joints, speed = motion.joints, problem.speed_limit
        limits = partial(stretch.PathLimits, recorded, joints, speed, acceleration, robot.joint_names)
        if tempo is None:
            return limits()
        time, _ = arms_and_legs.robot_time(replace(problem, tempo=tempo), joints)
        loads = arms_and_legs.hand_wrenches(time, motion.hands, resistance)
        moving = arms_and_legs.inertia_onset(time)
        stance = problem.stance
        path = recorded, motion.base, joints
        return limits(stretch.standing_constraints(robot, stance, *path, loads, moving))

    tempo = stretch.fit_tempo(find_limits(None, motion))
    for _ in range(_TEMPO_ROUNDS):
        limits = find_limits(tempo, motion)
        # Also where accelerations at corners of the path are beyond their limits.
        before, tempo = tempo, stretch.fit_tempo(limits)
        tempo = stretch.slow_for_accelerations(limits, tempo, recorded, motion.joints, acceleration)
        if np.array_equal(before.square, tempo.square):
            break
    timed = replace(problem, tempo=tempo)
    if problem.embedding and not (tempo.square == 1.0).all():
        try:
            balanced = arms_and_legs.solve_at_tempo(timed, motion)
            arms_and_legs.require_leg_limits(robot, balanced.joints)
        except LegReachError:
            pass
        else:
            before_error, error = (
                arms_and_legs.measure_grip_error(robot, each.base, each.joints, each.hands, recorded)[0]
                for each in (motion, balanced)
            )
            if error <= max(before_error, arms_and_legs.GRIP_TOLERANCE):
                at_new = find_limits(tempo, balanced)
                slowed = stretch.fit_tempo(at_new, tempo.square)
                slowed = stretch.slow_for_accelerations(
                    at_new, slowed, recorded, balanced.joints, acceleration
                )
                yield replace(problem, tempo=slowed), balanced, *stretch.measure_stretch(at_new, slowed)
        time, _ = arms_and_legs.robot_time(timed, motion.joints)
        loads = arms_and_legs.hand_wrenches(time, motion.hands, resistance).values()
        wrench = np.asarray(sum(loads, np.zeros((len(time), 6))))
        onset = arms_and_legs.inertia_onset(time)
        zmp, _ = planned_zmp(robot, time, motion.base, motion.joints, wrench, onset)
        motion = replace(motion, zmp=zmp)
    # Where nothing is stretched, the motion is balanced for this tempo.
    yield timed, motion, *stretch.measure_stretch(limits, tempo)


def imitate_person(robot: Robot, motion: HumanMotion, settings: RetargetSection) -> Imitation:
    """Let the scaled model follow a recording, without the limits of the robot, which has human form."""
    return imitate(
        calibrate(robot, motion),
        motion,
        # Hands that hold something follow the scaled model's even where the arms are adapted, or come from a
        # plug-in.
        method=settings.method if settings.method in METHODS else "analytical",
        smoothing_window=settings.smoothing_window,
        smoothing_order=settings.smoothing_order,
    )
