"""Plan the motion of an arm on a fixed base: its flange reproduces the motion of the person's hand."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, product

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk
from simbench.kinematics.obstacles import Obstacle
from simbench.kinematics.tree import first_joint
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RETARGETING_METHODS, RetargetSection, RobotSection
from simbench.retargeting.arm import fixed_base
from simbench.retargeting.arm.fixed_base import plan_free_hand, plan_two_arms
from simbench.retargeting.body_errors import compare_hands
from simbench.retargeting.collision.avoidance import clear_path
from simbench.retargeting.collision.clearance import BodyShapes, add_obstacles, add_self_pairs, convex_shapes
from simbench.retargeting.collision.interference import (
    Interference,
    beside_hands,
    find_interference,
    find_near_pairs,
)
from simbench.retargeting.contact.hand_plan import Equipment, HandPlan, plan_arm_hands
from simbench.retargeting.contact.transfer import PreferredPath, follow_palms
from simbench.retargeting.placement.placement import BasePlacement, choose_placement, given_placement
from simbench.retargeting.placement.reach_model import ReachabilityModel, arm_length, make_hand_path
from simbench.retargeting.placement.root_placement import (
    COARSE,
    NominalPosture,
    ReachProblem,
    ReachTolerances,
    sample_indices,
)
from simbench.retargeting.stand.arms_and_legs import blend_into_reach, measure_grip_error, nearest_poses
from simbench.retargeting.timing.stretch import slowed_by
from simbench.robot.robot import Robot
from simbench.system.progress import OnProgress

# Distance from a handle, m, up to which a flange still grips it: balance does not move it, as it moves a
# palm.
_REACH_TOLERANCE = 0.002
# Multiples of the recording's duration that are tried in turn where the hand misses its handle.
_PACES = (1.0, 1.4, 2.0)
# Slow-down up to which no other base placement or branch is tried.
_GOOD_SLOW_DOWN = 1.05
# Samples of the way between the posture at rest and the motion.
_LEAD_SAMPLES = 61
# Distance aimed at between the arm and all else on the way to the motion and back, m.
_LEAD_CLEARANCE = 0.025
# Distance, m, that the arm is to keep from the equipment beside its hand; tracking takes part of it.
_CLEARANCE = 0.015
# Samples at which it is examined whether an arm that holds the equipment touches it.
_CLEAR_SAMPLES = 9
# Base placements and branches that are examined, and planned from, at most.
_MOST_CHOICES, _MOST_PLANS = 300, 6
# Horizontal distances of a base from the middle of the handles' path, as parts of the arm's length.
_DISTANCES = (0.4, 0.5, 0.6, 0.7, 0.8)
# Directions in which it is seen from there, from straight behind, rad.
_DIRECTIONS = (0.0, 0.4, -0.4, 0.8, -0.8, 1.2, -1.2)
# Heights of the shoulder above the handles on a pedestal, as parts of the arm's length.
_SHOULDER_HEIGHTS = (0.0, -0.25, 0.25, -0.5)
_RANDOM_POSTURES = 10
# Postures to look from are within this distance, rad, of the posture at rest in every joint.
_RANDOM_RANGE = 2.0
# Distance of a joint's mean positions, rad, from which on two candidates are different.
_DIFFERENT = 0.3

# Obstacles for the arm: the equipment, to which hands may be near where it has handles, and the floor; and
# for the hand: shapes of parts with handles that no hand holds, of which only links of hands must be clear.
_Surroundings = tuple[Sequence[Obstacle], Sequence[Obstacle]]


class _Missed(RetargetError):
    """A hand misses its handle by more than the tolerance, though it is in reach."""


def plan_fixed_base(
    robot: Robot,
    motion: HumanMotion,
    section: RobotSection,
    settings: RetargetSection,
    equipment: Equipment,
    on_progress: OnProgress,
) -> fixed_base.ArmPlan:
    """Plan the motion of a robot with a fixed base that follows a recording, in the scene's world frame.

    Where its hands have handles, they do on the equipment what the person's did (`plan_arm`). Without
    equipment, two arms imitate the person's (`plan_two_arms`), and a single one follows one hand
    (`plan_free_hand`).
    """
    holds = any(f"{side}_hand" in robot.hands for side in equipment.handles)
    if settings.method == "bones":
        raise RetargetError(
            f"retarget.method: bones: {robot.name} has a fixed base; "
            f"allowed: {', '.join(method for method in RETARGETING_METHODS if method != 'bones')}"
        )
    both_arms = {"left_arm", "right_arm"} <= robot.groups.keys()
    if settings.method not in RETARGETING_METHODS and (holds or not both_arms):
        raise RetargetError(
            f"retarget.method: {settings.method}: {robot.name} follows hands, not arms; "
            f"allowed: {', '.join(RETARGETING_METHODS)}"
        )
    if holds:
        return plan_arm(robot, motion, section, settings, equipment, on_progress)
    plan_freely = plan_two_arms if both_arms else plan_free_hand
    return plan_freely(robot, motion, section, settings, on_progress)


def plan_arm(
    robot: Robot,
    motion: HumanMotion,
    section: RobotSection,
    settings: RetargetSection,
    equipment: Equipment,
    on_progress: OnProgress,
) -> fixed_base.ArmPlan:
    """Let the hands of a robot with a fixed base do on the equipment what the person's did.

    Such an arm has no human form to imitate: only the palms' paths on the equipment, and near it, are the
    person's. The inverse-kinematics branch of elbow and wrist is chosen once, for all of the handles' path,
    where it keeps farthest from joint limits (`evaluate_placement`); away from the equipment the arm prefers
    its posture at rest. Handles of hands that the robot lacks are left alone.

    Where the first base placement and branch do not serve, others are tried (`_find_alternatives`): what
    touches nothing is better, then what comes near nothing, then what is faster.
    """
    fixed_base.require_used_keys(robot, settings)
    section = section.model_copy(update={"posture": fixed_base.choose_rest(robot, section.posture)})
    handles = {side: handle for side, handle in equipment.handles.items() if f"{side}_hand" in robot.hands}
    equipment = replace(equipment, handles=handles)
    first: list[tuple[BasePlacement, NominalPosture | None]] = []
    error: RetargetError | None = None
    try:
        first.append((choose_placement(robot, section, settings, handles, on_progress), None))
    except RetargetError as caught:
        error = caught
    # A person's hand may come to its handle too fast for the arm's smooth path to meet it there.
    for number, pace in enumerate(_PACES):
        on_progress("transfer", number, len(_PACES))
        slower = replace(motion, time=pace * motion.time)
        others = _find_alternatives(robot, slower, section, settings, equipment)
        best, refused = None, None
        for spot, nominal in chain(first, islice(others, _MOST_PLANS)):
            try:
                found = _plan_from(robot, slower, section, settings, equipment, spot, nominal)
            except RetargetError as caught:
                # Of the first placement, the only one without a branch, it is said why it does not serve.
                refused = caught if nominal is None else refused
                continue
            best = found if best is None or found[:3] < best[:3] else best
            penetrations, near, slow_down, _ = best
            clear = penetrations == 0 and (section.place == "given" or near == 0)
            if clear and slow_down <= _GOOD_SLOW_DOWN:
                break
        error = error or refused
        if best is not None:
            on_progress("transfer", len(_PACES), len(_PACES))
            plan = best[3]
            notes = plan.notes
            if pace > 1.0 and settings.timing != "uniform":
                notes = (f"slowed {pace:g} times beforehand: the hand misses its handle otherwise", *notes)
            return replace(plan, metrics=slowed_by(plan.metrics, pace), notes=notes)
        if not isinstance(refused, _Missed):
            break
    assert error is not None
    raise error


def _find_alternatives(
    robot: Robot, motion: HumanMotion, section: RobotSection, settings: RetargetSection, equipment: Equipment
) -> Iterator[tuple[BasePlacement, NominalPosture]]:
    """Find placements, if any will do, and branches, from which an arm follows its handles, touching nothing.

    First come those for which the joints take the least time from rest and along the path. Whether they touch
    the equipment is examined at some moments of the recording, the same for all: at first and at last the arm
    is on its way between its posture at rest and the equipment. A branch is looked for near the posture at
    rest, and near random ones, on every branch of the elbow.
    """
    handles, home = equipment.handles, robot.postures[section.posture]
    reach = ReachabilityModel(robot, handles, home)
    start = given_placement(robot, section, settings)
    spots = [start]
    if section.place == "auto":
        # Behind the handles, at several distances, directions and heights; the start gives the heading, and
        # the height unless the robot stands on a pedestal of any height.
        length = arm_length(reach)
        path = np.vstack([handle.poses[:, :3, 3] for handle in handles.values()])
        middle = 0.5 * (path.min(axis=0) + path.max(axis=0))
        heights = [start.height]
        if section.height_m is None and robot.base_height > 0.0:
            data = reach.model.createData()
            pin.framesForwardKinematics(reach.model, data, pin.neutral(reach.model))
            frames = [reach.model.getFrameId(reach.robot.frames[f"{side}_shoulder"]) for side in handles]
            shoulder = float(np.mean([data.oMf[frame].translation[2] for frame in frames]))
            levels = [middle[2] + part * length - shoulder for part in _SHOULDER_HEIGHTS]
            heights = sorted({max(0.0, round(float(level), 2)) for level in levels}, key=levels.__contains__)
        spots = []
        for height, direction, part in product(heights, _DIRECTIONS, _DISTANCES):
            ahead = np.array([np.cos(start.heading + direction), np.sin(start.heading + direction)])
            x, y = (middle[:2] - part * length * ahead).tolist()
            spots.append(replace(start, position=(x, y), height=height))
    columns = [robot.joint_names.index(name) for name in reach.model.names[first_joint(reach.model) :]]
    rest, speed = home[columns], np.asarray(robot.model.velocityLimit)[columns]
    problem = ReachProblem(reach, make_hand_path(reach, handles), ReachTolerances())
    poses = sample_indices(len(problem.hand_path.points), COARSE)
    problem = problem.at_few_poses(COARSE)
    random = np.random.default_rng(0)
    around = [rest, *(rest + random.uniform(-_RANDOM_RANGE, _RANDOM_RANGE, (_RANDOM_POSTURES, len(rest))))]
    boxes = list(enumerate(reach.boxes))
    nominals = [NominalPosture(box, np.clip(each, *limits)) for each in around for box, limits in boxes]
    choices = []
    for spot in spots:
        base = np.array([*spot.position, spot.height, spot.heading, 0.0, 0.0])
        means: list[Array] = []
        for nominal in nominals:
            solved = problem.solve(base, nominal, problem.tolerances.least_margin)
            postures = solved.joints
            mean = postures.mean(axis=0)
            if solved.margin >= 0.0 and all(np.abs(mean - other).max() > _DIFFERENT for other in means):
                means.append(mean)
                travel = np.abs(np.diff(postures, axis=0)).sum(axis=0) + np.abs(postures[0] - rest)
                duration = float((travel / speed).max())
                choices.append((duration, spot, NominalPosture(nominal.box, mean), postures))
    choices = sorted(choices, key=lambda choice: choice[0])[:_MOST_CHOICES]
    if not choices:
        return
    spot = choices[0][1]
    scene, _ = fixed_base.place_on_base(robot, spot)
    hands = _plan_hands(scene, motion, settings, equipment, home)
    touching = np.flatnonzero(np.any(list(hands.contact.values()), axis=0))
    held = touching[np.linspace(0, len(touching) - 1, _CLEAR_SAMPLES).astype(int)]
    last = np.full(_CLEAR_SAMPLES, len(motion.time) - 1)
    samples = np.concatenate([np.zeros(_CLEAR_SAMPLES, int), held, last])
    rise = np.linspace(0.0, 1.0, _CLEAR_SAMPLES, endpoint=False)
    # 0 at rest, 1 where the hand holds.
    weight = np.concatenate([rise, np.ones(_CLEAR_SAMPLES), rise[::-1]])
    moments = nearest_poses(handles, hands)[samples]
    arm, beside = _at(_describe_surroundings(scene, equipment, hands), samples)
    obstacles, parts = ({obstacle.name for obstacle in each} for each in (arm, beside))
    for _, spot, nominal, postures in choices:
        joints = np.tile(home, (len(moments), 1))
        for number, column in enumerate(columns):
            reached = np.interp(moments, poses, postures[:, number])
            joints[:, column] += weight * (reached - joints[:, column])
        scene, _ = fixed_base.place_on_base(robot, spot)
        trajectory = JointTrajectory(np.arange(len(joints), dtype=float), joints, robot.joint_names, None)
        near = find_near_pairs(scene, trajectory, arm, _CLEARANCE)
        if any(distance < 0.0 or second in obstacles for (_, second), distance in near.items()):
            continue
        if not any(second in parts for _, second in find_near_pairs(scene, trajectory, beside, 0.0)):
            yield spot, nominal


def _plan_hands(
    scene: Robot, motion: HumanMotion, settings: RetargetSection, equipment: Equipment, home: Array
) -> HandPlan:
    """Plan the hands of a placed robot; refuse a motion in which none comes to its handle."""
    data = scene.model.createData()
    pin.framesForwardKinematics(scene.model, data, home)
    home_poses = {
        side: data.oMf[scene.model.getFrameId(scene.frames[f"{side}_hand"])].homogeneous
        for side in equipment.handles
    }
    hands = plan_arm_hands(motion, equipment.handles, home_poses, settings)
    if not any(touching.any() for touching in hands.contact.values()):
        raise RetargetError(
            f"{scene.name}: nothing to do: {motion.source} brings no hand that it has within "
            f"retarget.contact_distance_m ({settings.contact_distance_m:g}) of its handle"
        )
    return hands


def _describe_surroundings(robot: Robot, equipment: Equipment, hands: HandPlan) -> _Surroundings:
    """Find the obstacles for the arm, the floor among them, and those beside what the hands hold."""
    obstacles = equipment.find_obstacles(hands)
    beside = beside_hands(robot, obstacles, hands.contact, hands.actor)
    return (*obstacles, fixed_base.floor_obstacle(robot)), beside


def _at(surroundings: _Surroundings, samples: int | NDArray[np.int64]) -> _Surroundings:
    """Take the obstacles as they are at some samples, with a pose for each, or at rest at a single one."""
    arm, beside = (
        [each if each.pose.ndim == 2 else replace(each, pose=each.pose[samples]) for each in part]
        for part in surroundings
    )
    return arm, beside


def _find_near(
    scene: Robot, trajectory: JointTrajectory, surroundings: _Surroundings
) -> tuple[Interference, ...]:
    """Find penetrations of an arm, and where it comes nearer to the equipment than `_CLEARANCE`.

    Of the hand's obstacles, only their own penetrations are new: those of the robot's links are known.
    """
    arm, beside = surroundings
    obstacles, parts = ({obstacle.name for obstacle in each} for each in surroundings)
    near = find_interference(scene, trajectory, arm, _CLEARANCE)
    return (
        *(each for each in near if each.distance < 0.0 or each.second in obstacles),
        *(each for each in find_interference(scene, trajectory, beside) if each.second in parts),
    )


def _count(near: Sequence[Interference]) -> tuple[int, int]:
    """Count penetrations, and all that is near."""
    return sum(each.distance < 0.0 for each in near), len(near)


def _plan_from(
    robot: Robot,
    motion: HumanMotion,
    section: RobotSection,
    settings: RetargetSection,
    equipment: Equipment,
    spot: BasePlacement,
    nominal: NominalPosture | None,
) -> tuple[int, int, float, fixed_base.ArmPlan]:
    """Plan from a placement and near a posture, or that with the largest joint-limit margin.

    Return how often a link penetrates the equipment or itself or only comes near the equipment, also from and
    to rest, the slow-down, and the plan. A placement from which the equipment is out of reach is refused.
    """
    home, margin = robot.postures[section.posture], settings.joint_limit_margin_rad
    scene, base = fixed_base.place_on_base(robot, spot)
    hands = _plan_hands(scene, motion, settings, equipment, home)
    lower, upper = fixed_base.limits_of_motion(robot, home, margin)
    resting = np.tile(np.clip(home, lower, upper), (len(motion.time), 1))
    task = equipment.handles, motion.time, resting, robot.joint_names, hands
    preferred, start = blend_into_reach(robot, spot, section.posture, *task, likely=nominal)
    bases = np.tile(base, (len(motion.time), 1))
    path = PreferredPath(motion.time, np.clip(preferred, lower, upper), bases, lower, upper)
    joints = follow_palms(robot.model, robot.frames, path, hands, np.clip(start, lower, upper))
    error, when = measure_grip_error(scene, np.empty((len(joints), 0)), joints, hands, motion.time)
    if error > _REACH_TOLERANCE:
        raise _Missed(
            f"{scene.name}: out of reach: its hand misses the equipment by {1000 * error:.0f} mm at "
            f"{when:.2f} s of the recording (allowed: {1000 * _REACH_TOLERANCE:.0f} mm)"
        )
    time, scaled, notes = fixed_base.scale_time(robot, motion.time, joints, settings)
    trajectory = JointTrajectory(time, joints, robot.joint_names, None)
    surroundings = _describe_surroundings(scene, equipment, hands)
    near = _find_near(scene, trajectory, surroundings)
    interferences = tuple(each for each in near if each.distance < 0.0)
    detours, fraction = [], np.linspace(0.0, 1.0, _LEAD_SAMPLES)
    for end in (0, -1):
        # The way from rest to the motion, straight in a second, or round what it would touch, if less is near
        # then: displacements from the straight way at evenly spaced fractions.
        around, way = _at(surroundings, end), minimum_jerk(fraction, 0.0, 1.0)[:, None]
        straight = JointTrajectory(fraction, home + way * (joints[end] - home), scene.joint_names, None)
        left, detour = _find_near(scene, straight, around), np.zeros_like(straight.q)
        if left:
            # With the pairs of which `_find_near` finds the penetrations.
            geometry = convex_shapes(scene)
            add_self_pairs(scene, geometry)
            add_obstacles(geometry, (*around[0], *around[1]))
            shapes = BodyShapes(scene.model, geometry)
            cleared = clear_path(shapes, straight.q, _LEAD_CLEARANCE, (lower, upper))
            still = _find_near(scene, replace(straight, q=cleared), around)
            if _count(still) < _count(left):
                left, detour = still, cleared - straight.q
        detours.append(detour)
        near += left
    errors = compare_hands(
        fixed_base.free_hands(scene, joints).actor,
        hands.actor,
        {side: np.flatnonzero(touching) for side, touching in hands.contact.items()},
        {},
        held=hands.contact,
        turn_axes=hands.turn_axes,
    )
    metrics = {
        "retarget.hand_max_m": error,
        **scaled,
        **fixed_base.plan_metrics(robot, trajectory, settings, interferences, errors),
    }
    plan = fixed_base.ArmPlan(trajectory, base, home, hands, interferences, metrics, errors, notes=notes)
    penetrations, count = _count(near)
    slow_down = scaled["retarget.slow_down"]
    return penetrations, count - penetrations, slow_down, replace(plan, detours=np.array(detours))
