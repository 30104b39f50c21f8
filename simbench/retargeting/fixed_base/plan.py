"""Plan the motion of an arm on a fixed base: its flange reproduces the motion of the person's hand."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import pinocchio as pin

from simbench.errors import RetargetError, ScenarioError
from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.body_errors import compare_hands
from simbench.retargeting.collision.clearance import clear_path
from simbench.retargeting.collision.interference import Interference
from simbench.retargeting.contact.arm_hands import plan_arm_hands
from simbench.retargeting.contact.equipment import Equipment
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.retargeting.contact.transfer import PreferredPath, follow_palms
from simbench.retargeting.fixed_base.alternatives import ArmChoice, find_choices, spread_spots
from simbench.retargeting.fixed_base.arm_plan import ArmPlan, free_hands
from simbench.retargeting.fixed_base.base import base_pose, choose_rest, limits_of_motion, rest_posture
from simbench.retargeting.fixed_base.surroundings import (
    Surroundings,
    describe_arm_surroundings,
    find_near,
    is_clear,
    shapes_among,
)
from simbench.retargeting.fixed_base.tempo import scale_time
from simbench.retargeting.motion_fidelity import robot_metrics
from simbench.retargeting.placement.spot import BasePlacement, evaluate_placement
from simbench.retargeting.timing.local import slowed_by
from simbench.retargeting.whole_body.stance import (
    OnProgress,
    blend_into_placement,
    choose_placement,
    given_placement,
    measure_grip_error,
    nearest_poses,
    require_reach,
    used_part,
)
from simbench.robot.pedestal import on_pedestal
from simbench.robot.robot import Robot, placed_robot

_REACH_TOLERANCE = 0.002
"""Distance from a handle, m, up to which a flange still grips it: balance does not move it, as it moves
a palm."""
_PACES = (1.0, 1.4, 2.0)
"""Multiples of the recording's duration that are tried in turn where the hand misses its handle."""
_GOOD_SLOW_DOWN = 1.05
"""Slow-down up to which no other base placement or branch is tried."""
_LEAD_SAMPLES = 61
"""Samples of the way between the posture at rest and the motion."""
_LEAD_CLEARANCE = 0.025
"""Distance aimed at between the arm and all else on the way to the motion and back, m."""
_CLEAR_SAMPLES = 9
"""Samples at which it is examined whether an arm that holds the equipment touches it."""
_MOST_CHOICES, _MOST_PLANS = 300, 6
"""Base placements and branches that are examined, and planned from, at most."""
_USED_KEYS = {
    "joint_limit_margin_rad",
    "speed_limit_fraction",
    "contact_distance_m",
    "transition_distance_m",
    "transition_time_s",
    "timing",
}
"""Keys of `RetargetSection` that mean something to such a robot."""


def plan_arm(
    robot: Robot,
    motion: HumanMotion,
    section: RobotSection,
    settings: RetargetSection,
    equipment: Equipment,
    on_progress: OnProgress,
) -> ArmPlan:
    """Let the hands of a robot with a fixed base do on the equipment what the person's did.

    Such an arm has no human form to imitate: only the palms' paths on the equipment, and near it, are the
    person's. The inverse-kinematics branch of elbow and wrist is chosen once, for all of the handles' path,
    where it keeps farthest from joint limits (`evaluate_placement`); away from the equipment the arm prefers
    its posture at rest.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base.
    motion : HumanMotion
        Recording, resampled, in the world frame of the scene.
    section : RobotSection
        Base placement, or that one is to be found, and the posture at rest.
    settings : RetargetSection
        Margins of limits, and distances and times of contact.
    equipment : Equipment
        Equipment that the person's hands hold. Handles of hands that the robot lacks are left alone.
    on_progress : callable (stage, done, total)
        Called as planning proceeds.

    Returns
    -------
    ArmPlan
        Motion of all joints, at speeds that the robot is capable of.

    Raises
    ------
    ScenarioError
        If a key is set that means nothing to such a robot.
    RetargetError
        If the equipment is out of reach, or only with a jump from one posture to another.
    """
    require_used_keys(robot, settings)
    section = section.model_copy(update={"posture": choose_rest(robot, section.posture)})
    home = rest_posture(robot, section)
    handles = {side: handle for side, handle in equipment.handles.items() if f"{side}_hand" in robot.hands}
    problem = _ArmProblem(robot, motion, section, settings, replace(equipment, handles=handles), home)
    spot, first = None, None
    try:
        spot = choose_placement(robot, section, settings, handles, on_progress)
    except RetargetError as error:
        first = error
    # A person's hand may come to its handle too fast for the arm's smooth path to meet it there.
    for number, pace in enumerate(_PACES):
        on_progress("transfer", number, len(_PACES))
        slower = replace(problem, motion=replace(motion, time=pace * motion.time))
        best, refused = _plan_at_pace(slower, spot)
        first = first or refused
        if best is not None:
            on_progress("transfer", len(_PACES), len(_PACES))
            notes = best.notes
            if pace > 1.0 and settings.timing != "uniform":
                notes = (f"slowed {pace:g} times beforehand: the hand misses its handle otherwise", *notes)
            return replace(best, metrics=slowed_by(best.metrics, pace), notes=notes)
        if not isinstance(refused, _Missed):
            break
    assert first is not None
    raise first


@dataclass(frozen=True)
class _ArmProblem:
    """What a plan is made for."""

    robot: Robot
    motion: HumanMotion
    section: RobotSection
    settings: RetargetSection
    equipment: Equipment
    home: Array


@dataclass(frozen=True)
class _Rated:
    """A plan, and how often a link penetrates the equipment or only comes near it, also from and to rest."""

    plan: ArmPlan
    penetrations: int
    near: int

    def is_good(self, section: RobotSection) -> bool:
        """Whether no other base placement or branch need be tried: it is clear, and hardly slower."""
        clear = self.penetrations == 0 and (section.place == "given" or self.near == 0)
        return clear and self.plan.metrics["retarget.slow_down"] <= _GOOD_SLOW_DOWN

    @property
    def rank(self) -> tuple[int, int, float]:
        """Sort key: what touches nothing is better, then what comes near nothing, then what is faster."""
        return self.penetrations, self.near, self.plan.metrics["retarget.slow_down"]


class _Missed(RetargetError):
    """A hand misses its handle by more than the tolerance, though it is in reach."""


def _plan_at_pace(
    problem: _ArmProblem, spot: BasePlacement | None
) -> tuple[ArmPlan | None, RetargetError | None]:
    """Plan from a base placement, and from others if it is not good; say why the first does not serve."""
    first: _Rated | None = None
    refused: RetargetError | None = None
    try:
        first = None if spot is None else _plan_from(problem, ArmChoice(spot))
    except RetargetError as error:
        refused = error
    good = first is not None and first.is_good(problem.section)
    best = first if good else _best_alternative(problem, first)
    return None if best is None else best.plan, refused


def _best_alternative(problem: _ArmProblem, first: _Rated | None) -> _Rated | None:
    """Plan from other base placements, if any will do, and on other branches; return the best plan."""
    robot, section, home, handles = problem.robot, problem.section, problem.home, problem.equipment.handles
    given = given_placement(robot, section, problem.settings)
    spots = [given]
    if section.place == "auto":
        free = section.height_m is None and robot.base_height > 0.0
        spots = spread_spots(robot, handles, given, home, any_height=free)
    choices = find_choices(robot, handles, spots, home)[:_MOST_CHOICES]
    if not choices:
        return first
    moments, best = _choose_moments(problem, choices[0]), first
    clear = (choice for choice in choices if _is_clear(problem, choice, moments))
    for choice in islice(clear, _MOST_PLANS):
        try:
            rated = _plan_from(problem, choice)
        except RetargetError:
            continue
        if best is None or rated.rank < best.rank:
            best = rated
        if best.is_good(section):
            break
    return best


@dataclass(frozen=True)
class _Moments:
    """Moments of a motion at which it is examined whether an arm is clear of the equipment.

    At first and at last the arm is on its way between its posture at rest and the equipment.

    Parameters
    ----------
    poses : (S,) array
        Pose of the handles' path that the hand holds at each moment.
    weight : (S,) array
        0 at rest, 1 where the hand holds.
    surroundings : Surroundings
        The equipment at these moments.
    """

    poses: Array
    weight: Array
    surroundings: Surroundings


def _choose_moments(problem: _ArmProblem, choice: ArmChoice) -> _Moments:
    """Choose moments of the recording; they are the same for all base placements."""
    scene, _ = _placed(problem.robot, choice.spot)
    hands = _plan_hands(scene, problem.motion, problem.equipment, problem.settings, problem.home)
    touching = np.flatnonzero(np.any(list(hands.contact.values()), axis=0))
    held = touching[np.linspace(0, len(touching) - 1, _CLEAR_SAMPLES).astype(int)]
    count = len(problem.motion.time)
    samples = np.concatenate([np.zeros(_CLEAR_SAMPLES, int), held, np.full(_CLEAR_SAMPLES, count - 1)])
    rise = np.linspace(0.0, 1.0, _CLEAR_SAMPLES, endpoint=False)
    weight = np.concatenate([rise, np.ones(_CLEAR_SAMPLES), rise[::-1]])
    nearest = nearest_poses(problem.equipment.handles, hands)
    surroundings = describe_arm_surroundings(scene, problem.equipment.find_obstacles(hands), hands)
    return _Moments(nearest[samples].astype(float), weight, surroundings.at(samples))


def _is_clear(problem: _ArmProblem, choice: ArmChoice, moments: _Moments) -> bool:
    """Whether an arm on its way to the equipment and holding it, as chosen, touches nothing."""
    robot = problem.robot
    joints = np.tile(problem.home, (len(moments.poses), 1))
    for number, name in enumerate(choice.joint_names):
        column = robot.joint_names.index(name)
        reached = np.interp(moments.poses, choice.poses, choice.postures[:, number])
        joints[:, column] += moments.weight * (reached - joints[:, column])
    scene, _ = _placed(robot, choice.spot)
    time = np.arange(len(joints), dtype=float)
    trajectory = JointTrajectory(time, joints, robot.joint_names, None)
    return is_clear(scene, trajectory, moments.surroundings)


def _placed(robot: Robot, spot: BasePlacement) -> tuple[Robot, Array]:
    """Put the robot into the scene; return it and the pose (7,) of its root link."""
    base = base_pose(spot.position, spot.heading, spot.height)
    return placed_robot(on_pedestal(robot, spot.height), base), base


def _from_rest(trajectory: JointTrajectory, home: Array, sample: int) -> JointTrajectory:
    """Move from the posture at rest straight to a sample of a trajectory, from rest to rest in a second."""
    time = np.linspace(0.0, 1.0, _LEAD_SAMPLES)
    joints = home + minimum_jerk(time, 0.0, 1.0)[:, None] * (trajectory.q[sample] - home)
    return JointTrajectory(time, joints, trajectory.joint_names, None)


def _lead_round(
    problem: _ArmProblem, scene: Robot, straight: JointTrajectory, surroundings: Surroundings
) -> tuple[Array, tuple[Interference, ...]]:
    """Lead a way from rest round what it would touch: its displacement (S, n), rad, and what stays near."""
    near = find_near(scene, straight, surroundings)
    kept = np.zeros_like(straight.q)
    if not near:
        return kept, near
    home = problem.home
    limits = limits_of_motion(problem.robot, home, problem.settings.joint_limit_margin_rad)
    joints = clear_path(shapes_among(scene, surroundings), straight.q, _LEAD_CLEARANCE, limits=limits)
    still = find_near(scene, replace(straight, q=joints), surroundings)
    if _count(still) < _count(near):
        return joints - straight.q, still
    return kept, near


def _count(near: Sequence[Interference]) -> tuple[int, int]:
    """Count penetrations, and all that is near."""
    return sum(each.distance < 0.0 for each in near), len(near)


def _plan_from(problem: _ArmProblem, choice: ArmChoice) -> _Rated:
    """Plan from a base placement; refuse one from which the equipment is out of reach."""
    robot, motion, settings, home = problem.robot, problem.motion, problem.settings, problem.home
    scene, base = _placed(robot, choice.spot)
    hands = _plan_hands(scene, motion, problem.equipment, settings, home)
    joints = _follow_hands(problem, choice, hands, base)
    error = _require_reach(scene, joints, hands, motion)
    scaled = scale_time(robot, motion.time, joints, settings)
    trajectory = JointTrajectory(scaled.time, joints, robot.joint_names, None)
    surroundings = describe_arm_surroundings(scene, problem.equipment.find_obstacles(hands), hands)
    near = find_near(scene, trajectory, surroundings)
    interferences = tuple(each for each in near if each.distance < 0.0)
    detours = []
    for end in (0, -1):
        straight = _from_rest(trajectory, home, end)
        detour, left = _lead_round(problem, scene, straight, surroundings.at(end))
        detours.append(detour)
        near += left
    metrics = {
        "retarget.hand_max_m": error,
        "retarget.slow_down": scaled.slow_down,
        "retarget.duration_s": float(trajectory.time[-1]),
        "retarget.interference_count": float(len(interferences)),
        **scaled.metrics,
    }
    errors = compare_hands(
        free_hands(scene, joints).actor,
        hands.actor,
        {side: np.flatnonzero(touching) for side, touching in hands.contact.items()},
        {},
        held=hands.contact,
        turn_axes=hands.turn_axes,
    )
    metrics |= robot_metrics(robot, trajectory, errors, settings.joint_limit_margin_rad)
    penetrations, _ = _count(near)
    plan = ArmPlan(
        trajectory,
        base,
        home,
        hands,
        interferences,
        metrics,
        errors,
        detours=np.array(detours),
        notes=scaled.notes,
    )
    return _Rated(plan, penetrations, len(near) - penetrations)


def require_used_keys(robot: Robot, settings: RetargetSection) -> None:
    """Refuse keys that say how to imitate a person's posture, or how legs move with the hands.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base, whose hand follows a person's.
    settings : RetargetSection
        Keys of the scenario.

    Raises
    ------
    ScenarioError
        If a key has another value than its default and means nothing to such a robot.
    """
    usual = RetargetSection()
    for key in RetargetSection.model_fields:
        if getattr(settings, key) != getattr(usual, key) and key not in _USED_KEYS:
            raise ScenarioError(
                f"retarget.{key}: says nothing to {robot.name}, whose base is fixed; allowed: "
                f"{getattr(usual, key)!r}"
            )


def _plan_hands(
    scene: Robot, motion: HumanMotion, equipment: Equipment, settings: RetargetSection, home: Array
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


def _follow_hands(problem: _ArmProblem, choice: ArmChoice, hands: HandPlan, base: Array) -> Array:
    """Bring the hands to their targets, elsewhere near the posture at rest: joints (T, n), rad."""
    robot, time, home = problem.robot, problem.motion.time, problem.home
    lower, upper = limits_of_motion(robot, home, problem.settings.joint_limit_margin_rad)
    resting = np.tile(np.clip(home, lower, upper), (len(time), 1))
    handles = used_part(problem.equipment.handles, hands)
    placed = evaluate_placement(robot, handles, choice.spot, problem.section.posture, likely=choice.nominal)
    reached = require_reach(robot, placed)
    preferred, start = blend_into_placement(reached, handles, time, resting, robot.joint_names, hands)
    bases = np.tile(base, (len(time), 1))
    path = PreferredPath(time, np.clip(preferred, lower, upper), bases, lower, upper)
    return follow_palms(robot.model, robot.frames, path, hands, np.clip(start, lower, upper))


def _require_reach(scene: Robot, joints: Array, hands: HandPlan, motion: HumanMotion) -> float:
    """Refuse a plan whose hand misses its handle; return the greatest distance, m."""
    error, when = measure_grip_error(scene, np.empty((len(joints), 0)), joints, hands, motion.time)
    if error > _REACH_TOLERANCE:
        raise _Missed(
            f"{scene.name}: out of reach: its hand misses the equipment by {1000 * error:.0f} mm at "
            f"{when:.2f} s of the recording (allowed: {1000 * _REACH_TOLERANCE:.0f} mm)"
        )
    return error
