"""Plan how a robot follows a person's steps, with trunk and arms, at the recorded tempo."""

from dataclasses import dataclass, replace

from simbench.balance.controller.whole_body import WholeBodyPlan
from simbench.balance.standing.standing import stand
from simbench.errors import RetargetError
from simbench.motion.human_motion import HumanMotion, require_both_arms
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.body_errors import RobotErrors, compare_with_person
from simbench.retargeting.collision.interference import Interference, find_interference
from simbench.retargeting.imitation.scaled_model import require_human_form
from simbench.retargeting.legs.body import root_rotations, seen_from_root
from simbench.retargeting.legs.candidate import path_at_samples
from simbench.retargeting.legs.followed import followed_steps
from simbench.retargeting.legs.footsteps import FootstepPlan
from simbench.retargeting.legs.pelvis_height import follow_pelvis_height
from simbench.retargeting.legs.person import observe_person
from simbench.retargeting.legs.recorded_tempo import KeptTempo, keep_recorded_tempo
from simbench.retargeting.legs.step_choice import OnProgress, choose_steps, require_followed
from simbench.retargeting.legs.task import BodyMotion, Person, StepFollowingOptions
from simbench.retargeting.legs.upper_body import follow_upper_body
from simbench.retargeting.motion_fidelity import robot_metrics
from simbench.retargeting.reference.reference import Timeline
from simbench.retargeting.reference.trajectory_plan import build_timeline
from simbench.robot.robot import SEATED, Robot


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

    Parameters
    ----------
    robot : Robot
        Robot of human form with two legs.
    motion : HumanMotion
        Recording, resampled.
    options : StepFollowingOptions
        Sections of the scenario.
    on_progress : callable (stage, done, total)
        Called as planning proceeds.

    Returns
    -------
    StepFollowingPlan
        The planned motion.

    Raises
    ------
    MotionError
        If arms or hips were not recorded.
    RetargetError
        If the feet were not, the person is not on level ground and on their feet, the robot's legs cannot
        make such steps, or steps were changed and `retarget.steps_strict` is set.
    """
    require_human_form(robot)
    require_both_arms(motion)
    if options.section.posture == SEATED:
        raise RetargetError("retarget.physics: steps: the robot sits; allowed: standing postures")
    on_progress("imitate", 0, 1)
    person = observe_person(motion)
    motion, body = person.motion, person.body
    rotation = root_rotations(body)
    section = options.section
    stance = stand(robot, (0.0, 0.0), 0.0, section.posture, section.height_m or 0.0)
    upper = follow_upper_body(robot, seen_from_root(motion, body.pelvis, rotation), options.retarget, stance)
    on_progress("imitate", 1, 1)
    heights = follow_pelvis_height(robot, person, options, stance)
    asked = BodyMotion(upper, rotation, heights, 1.0)
    chosen = choose_steps(robot, person, options, asked, on_progress)
    on_progress("transfer", 0, 1)
    kept = keep_recorded_tempo(robot, person, options, stance, asked, chosen)
    best = kept.candidate
    require_followed(robot, person, best)
    on_progress("transfer", 1, 1)
    changes = [f"at {change.time:.2f} s {change.reason}" for change in best.feasible.changes]
    if options.retarget.steps_strict and (changes or best.followed.doubts):
        raise RetargetError(
            f"retarget.steps_strict: {motion.source}: {[*changes, *best.followed.doubts][0]}; allowed: "
            f"steps that "
            f"{robot.name} can take as the person did"
        )
    return _finish(person, options, kept, changes)


def _finish(
    person: Person,
    options: StepFollowingOptions,
    kept: KeptTempo,
    changes: list[str],
) -> StepFollowingPlan:
    """Build the reference of the chosen plan, and say what was made of the person's steps."""
    best, upper = kept.candidate, kept.upper
    setting, steps, followed = best.setting, best.steps, best.followed
    timeline = replace(
        build_timeline(setting, steps, followed.plan, followed.path, options.feedforward),
        steps=followed_steps(best.wanted, best.feasible.plan, setting.duration, options.section.heading_rad),
    )
    path = path_at_samples(best)
    joints = path[:, 7:].copy()
    joints[:, upper.columns] = setting.trajectory.q[:, upper.columns]
    trajectory = JointTrajectory(setting.trajectory.time, joints, setting.robot.joint_names, path[:, :7])
    errors = compare_with_person(
        setting.robot, trajectory, person.motion, heading=options.section.heading_rad
    )
    interferences = find_interference(setting.robot, trajectory, ())
    margin = options.retarget.joint_limit_margin_rad
    planned = best.feasible.plan
    recorded = sum(step.recorded for step in planned.steps)
    notes = [
        *person.recorded.notes,
        f"{recorded} steps of the person are followed, distances {best.wanted.scale:.3f} times the "
        f"person's, feet "
        f"{best.wanted.widened:.3f} m farther apart",
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
    notes += kept.notes
    metrics = {
        **upper.metrics,
        **kept.metrics,
        "retarget.slow_down": 1.0,
        "retarget.duration_s": setting.duration,
        "retarget.interference_count": float(len(interferences)),
        **robot_metrics(setting.robot, trajectory, errors, margin),
        "follow.person_step_count": float(person.recorded.landings),
        "follow.step_count": float(recorded),
        "follow.floor_turn_count": float(person.recorded.turns),
        "follow.changed_step_count": float(len(best.feasible.changes)),
        "follow.scale": best.wanted.scale,
        "follow.widened_m": best.wanted.widened,
        "follow.lowered_m": best.lowered,
    }
    return StepFollowingPlan(
        timeline,
        followed.plan,
        trajectory,
        best.wanted,
        planned,
        metrics,
        errors,
        interferences,
        tuple(notes),
        (*person.recorded.doubts, *changes, *followed.doubts),
        tuple(changes),
    )
