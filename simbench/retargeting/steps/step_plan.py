"""Plan how a robot follows a person's steps, with trunk and arms, at the recorded tempo."""

from dataclasses import dataclass, replace

import numpy as np

from simbench.balance.controller.whole_body import WholeBodyPlan
from simbench.balance.inverted_pendulum import GRAVITY
from simbench.balance.standing.pelvis_height import leg_length
from simbench.balance.standing.standing import Stance, height_range, stand
from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion, require_both_arms
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.body_errors import RobotErrors, compare_with_person
from simbench.retargeting.collision.interference import Interference, find_interference
from simbench.retargeting.imitation.scaled_model import require_human_form
from simbench.retargeting.motion_fidelity import FollowedSteps, robot_metrics
from simbench.retargeting.reference.reference import Timeline
from simbench.retargeting.reference.trajectory_plan import build_timeline
from simbench.retargeting.reference.trajectory_steps import cog_heights
from simbench.retargeting.steps.feasible_footsteps import FootstepPlan
from simbench.retargeting.steps.person_body import low_pass, root_rotations, seen_from_root
from simbench.retargeting.steps.person_contacts import Person, observe_person
from simbench.retargeting.steps.step_candidates import (
    OnProgress,
    StepFollowingOptions,
    choose_steps,
    path_at_samples,
    require_followed,
)
from simbench.retargeting.steps.stepping_upper_body import follow_upper_body, keep_recorded_tempo
from simbench.robot.robot import SEATED, Robot

# Bandwidths of the pelvis' height that are tried in turn, Hz; the first is twice the frequency of steps.
_HEIGHT_BANDWIDTHS = (3.0, 2.4, 1.9, 1.5, 1.2, 0.9, 0.7, 0.5, 0.3)
# Largest vertical acceleration of the COG, as a part of gravity: the pendulum's height is taken to be
# constant, and the soles keep their grip.
_MAX_LIFT = 0.25
# Quantile of the pelvis' heights at which the person is taken to stand upright.
_STANDING_QUANTILE = 0.9
# Fraction used of the heights that the legs allow: the rest is for steps and sway.
_HEIGHT_FRACTION = 0.7
# Largest lowering of the root as a part of its height: at 0.3 a robot counts as fallen, and legs bend further
# for long steps.
_DEEPEST_SQUAT = 0.2


@dataclass(frozen=True)
class StepFollowingPlan:
    """Planned motion of a robot that follows a person's steps.

    Parameters
    ----------
    timeline : Timeline
        Reference at every physics step.
    whole : WholeBodyPlan
        Plan of the balance controller.
    trajectory : JointTrajectory
        Planned joints and base at the recording's samples.
    wanted : FootstepPlan
        The person's footsteps, scaled.
    planned : FootstepPlan
        The footsteps that the robot takes; times of the recording.
    metrics : dict of str to float
        Metrics of the planning.
    errors : RobotErrors
        Errors of the robot's arms and trunk against the person, at the samples of `trajectory`.
    interferences : tuple of Interference
        Links that still penetrate each other.
    notes, doubts : tuple of str
        What was assumed and changed, and what the robot cannot do as the person did, one line each.
    changes : tuple of str
        Those of the doubts that are about single footsteps which were changed.
    """

    timeline: Timeline
    whole: WholeBodyPlan
    trajectory: JointTrajectory
    wanted: FootstepPlan
    planned: FootstepPlan
    metrics: dict[str, float]
    errors: RobotErrors
    interferences: tuple[Interference, ...]
    notes: tuple[str, ...]
    doubts: tuple[str, ...]
    changes: tuple[str, ...]


def plan_step_following(
    robot: Robot, motion: HumanMotion, options: StepFollowingOptions, on_progress: OnProgress
) -> StepFollowingPlan:
    """Plan how a robot on free feet follows a person's steps, turns, squats and sway at the recorded tempo.

    Footsteps are the person's, scaled by the ratio of the legs' lengths or less, so that nine of ten are
    within reach, and made feasible one by one. The ZMP goes from sole to sole, the COG is that of the linear
    inverted pendulum for it, corrected for the bodies' angular momentum (`follow_ideally`). The root turns
    and leans with the person's trunk, and trunk joints and arms follow the person relative to it. If the legs
    cannot follow, steps are planned shorter.

    The recording is resampled. It is a `MotionError` if arms or hips were not recorded, and a `RetargetError`
    if the feet were not, the person is not on level ground and on their feet, the robot's legs cannot make
    such steps, or steps were changed and `retarget.steps_strict` is set.
    """
    require_human_form(robot)
    require_both_arms(motion)
    section, retarget = options.section, options.retarget
    if section.posture == SEATED:
        raise RetargetError("retarget.physics: steps: the robot sits; allowed: standing postures")
    on_progress("imitate", 0, 1)
    person = observe_person(motion)
    motion = person.motion
    stance = stand(robot, (0.0, 0.0), 0.0, section.posture, section.height_m or 0.0)
    seen = seen_from_root(motion, person.body.pelvis, root_rotations(person.body))
    body, _, joints, _ = follow_upper_body(robot, seen, retarget, stance)
    on_progress("imitate", 1, 1)
    heights = _follow_pelvis_height(robot, person, options, stance)
    chosen = choose_steps(robot, person, options, joints, heights, on_progress)
    on_progress("transfer", 0, 1)
    best, metrics, given_up = keep_recorded_tempo(robot, person, options, stance, body, heights, chosen)
    require_followed(robot, person, best)
    on_progress("transfer", 1, 1)
    changes = [f"at {time:.2f} s {reason}" for time, reason in best.changes]
    if retarget.steps_strict and (changes or best.followed.doubts):
        raise RetargetError(
            f"retarget.steps_strict: {motion.source}: {[*changes, *best.followed.doubts][0]}; allowed: steps "
            f"that {robot.name} can take as the person did"
        )
    setting, wanted, planned = best.setting, best.wanted, best.planned
    # The steps with which the person landed within the recording, beside those planned, for the measures of a
    # run.
    pairs = [
        pair
        for pair in zip(wanted.steps, planned.steps, strict=True)
        if pair[0].recorded and pair[0].landing <= setting.duration
    ]
    pairs.sort(key=lambda pair: pair[0].landing)
    landings = [
        (
            np.array([step.landing for step in steps]),
            np.array([step.position for step in steps]).reshape(-1, 2),
            np.array([step.yaw for step in steps]),
        )
        for steps in ([pair[number] for pair in pairs] for number in (0, 1))
    ]
    feet = np.array([step.foot for step, _ in pairs], dtype=np.int64)
    timeline = replace(
        build_timeline(setting, best.steps, best.followed.plan, best.followed.path, options.feedforward),
        steps=FollowedSteps(feet, *landings[0], *landings[1], section.heading_rad),
    )
    path = path_at_samples(best)
    path[:, 7 + body.columns] = setting.trajectory.q[:, body.columns]
    trajectory = JointTrajectory(setting.trajectory.time, path[:, 7:], robot.joint_names, path[:, :7])
    errors = compare_with_person(robot, trajectory, motion, heading=section.heading_rad)
    interferences = find_interference(robot, trajectory, ())
    recorded = sum(step.recorded for step in planned.steps)
    notes = [
        *person.notes,
        f"{recorded} steps of the person are followed, distances {wanted.scale:.3f} times the person's, feet "
        f"{wanted.widened:.3f} m farther apart",
    ]
    if len(planned.steps) > recorded:
        notes.append("the person is in the air at the recording's end: the robot puts the foot down after it")
    if best.lowered > 0.0:
        notes.append(f"the COG is planned {best.lowered:.3f} m lower: level feet need bent knees")
    if best.lean < 1.0:
        notes.append(
            f"{best.lean:.2f} of the trunk's twist against the feet is followed: the hips need their range "
            "for the steps"
        )
    metrics |= {
        "retarget.slow_down": 1.0,
        "retarget.duration_s": setting.duration,
        "retarget.interference_count": float(len(interferences)),
        **robot_metrics(robot, trajectory, errors, retarget.joint_limit_margin_rad),
        "follow.person_step_count": float(person.landings),
        "follow.step_count": float(recorded),
        "follow.floor_turn_count": float(person.turns),
        "follow.changed_step_count": float(len(changes)),
        "follow.scale": wanted.scale,
        "follow.widened_m": wanted.widened,
        "follow.lowered_m": best.lowered,
    }
    return StepFollowingPlan(
        timeline,
        best.followed.plan,
        trajectory,
        wanted,
        planned,
        metrics,
        errors,
        interferences,
        (*notes, *given_up),
        (*person.doubts, *changes, *best.followed.doubts),
        tuple(changes),
    )


def _follow_pelvis_height(
    robot: Robot, person: Person, options: StepFollowingOptions, stance: Stance
) -> Array:
    """Follow the pelvis' ups and downs, scaled by the legs' lengths, as far as the robot's legs allow.

    Returns the height of the COG (T,), m. Its acceleration is bounded by a quarter of gravity: ups and downs
    are smoothed.
    """
    standing = float(cog_heights(robot, np.concatenate([stance.base, stance.joints])[None])[0])
    raised, time = person.body.pelvis[:, 2], person.motion.time
    scale = options.retarget.pelvis_height_follow * leg_length(robot) / person.leg
    height = options.section.height_m or 0.0
    low, high = (_HEIGHT_FRACTION * (end - height) for end in height_range(robot, options.section.posture))
    low = max(low, -_DEEPEST_SQUAT * float(stance.base[2]))
    for bandwidth in _HEIGHT_BANDWIDTHS:
        moved = low_pass(raised, bandwidth, person.motion.rate) - np.quantile(raised, _STANDING_QUANTILE)
        limit = np.maximum(np.abs(np.where(moved < 0.0, low, high)), 1e-9)
        heights = np.asarray(standing + limit * np.tanh(scale * moved / limit))
        if np.abs(np.gradient(np.gradient(heights, time), time)).max() <= _MAX_LIFT * GRAVITY:
            break
    return heights
