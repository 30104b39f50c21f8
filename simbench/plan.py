"""From a recording to a whole-body reference: imitate, fit to the robot, keep balance, slow down."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.balance.standing import Stance, balance, leg_columns, stand
from simbench.errors import RetargetError
from simbench.motion.handles import Handle
from simbench.motion.human_motion import HumanMotion, require_both_arms
from simbench.motion.trajectory import JointTrajectory
from simbench.retarget.clearance import BodyShapes, body_shapes
from simbench.retarget.hand_plan import HandPlan, actor_palms, approach_handles, contact_phases, plan_hands
from simbench.retarget.human_form import require_human_form
from simbench.retarget.imitation import Imitation, imitate, joint_errors
from simbench.retarget.initial_configuration import calibrate
from simbench.retarget.pace import slowing_factor
from simbench.retarget.posture import limited_posture
from simbench.retarget.scaling import SIDES
from simbench.retarget.transfer import transfer_frames, transfer_path
from simbench.robot.robot import Robot
from simbench.scenario_schema import RetargetSection, RobotSection

Progress = Callable[[str, int, int], None]

_BALANCE_ROUNDS = 4
_REACH_TOLERANCE = 0.02
"""Distance from the actor's palm, m, up to which a hand still grips what the actor gripped."""


@dataclass(frozen=True)
class MotionPlan:
    """What the robot is to do, before it is simulated.

    Parameters
    ----------
    trajectory : JointTrajectory
        All joints of the robot and its base, slowed so that speed limits hold.
    stance : Stance
    hands : HandPlan
        At the samples of `trajectory`.
    imitation : Imitation
    shapes : BodyShapes
        For self-clearance.
    upper : (m,) int array
        Columns of the trunk and the arms in the trajectory.
    limits : (2, m) array
        Least and greatest position of those joints, margin included, rad.
    metrics : dict of str to float
        `imitation.*` and `retarget.*`.
    """

    trajectory: JointTrajectory
    stance: Stance
    hands: HandPlan
    imitation: Imitation
    shapes: BodyShapes
    upper: NDArray[np.int64]
    limits: NDArray[np.float64]
    metrics: dict[str, float]


def plan_motion(
    robot: Robot,
    motion: HumanMotion,
    place: RobotSection,
    settings: RetargetSection,
    handles: Mapping[str, Handle],
    progress: Progress,
) -> MotionPlan:
    """Retarget a recording to a robot that stands on both feet.

    The arms need the pelvis, the pelvis needs the COG, and the COG needs the arms: arms and legs are solved
    in turn until the pelvis rests.

    Parameters
    ----------
    robot : Robot
    motion : HumanMotion
        Resampled, in the world frame of the scene.
    place : RobotSection
    settings : RetargetSection
    handles : {side: Handle}
        What each hand holds; empty without equipment.
    progress : callable (stage, done, total)

    Returns
    -------
    MotionPlan

    Raises
    ------
    MotionError
        If an arm was not recorded.
    RetargetError
        If the robot has no human form, its legs cannot keep balance, or the equipment is out of reach.
    """
    require_human_form(robot)
    require_both_arms(motion)
    progress("imitate", 0, 1)
    actor = calibrate(robot, motion)
    window, order = settings.smoothing_window, settings.smoothing_order
    imitation = imitate(actor, motion, method=settings.method, smoothing_window=window, smoothing_order=order)
    margin = settings.joint_limit_margin_rad
    lower = actor.model.lowerPositionLimit[7:] + margin
    upper = actor.model.upperPositionLimit[7:] - margin
    progress("imitate", 1, 1)

    progress("transfer", 0, _BALANCE_ROUNDS + 1)
    stance = stand(robot, place.position_m, place.heading_rad, place.posture)
    shapes = body_shapes(robot, stance.joints)
    posture = limited_posture(imitation, motion, shapes, lower, upper)
    palms = actor_palms(imitation, robot)
    phases = {
        side: contact_phases(
            motion.time,
            palms[side][:, :3, 3],
            handles[side].poses[:, :3, 3] if side in handles else np.empty((0, 3)),
            contact_distance=settings.contact_distance_m,
            transition_distance=settings.transition_distance_m,
            transition_time=settings.transition_time_s,
        )
        for side in SIDES
    }
    share = {side: phases[side][0] for side in SIDES}
    contact = {side: phases[side][1] for side in SIDES}
    held = approach_handles(palms, share, contact, handles)
    columns = np.array([robot.joint_names.index(name) for name in actor.model.names[2:]])
    joints = np.tile(stance.joints, (len(motion.time), 1))
    joints[:, columns] = posture
    base, joints = balance(robot, stance, joints)
    for turn in range(_BALANCE_ROUNDS):
        progress("transfer", 1 + turn, _BALANCE_ROUNDS + 1)
        hands = plan_hands(robot, imitation, posture, base, palms, held, share, contact, handles)
        joints[:, columns] = (
            transfer_path(
                robot, motion.time, posture, base, hands, lower, upper, joints[:, columns] if turn else None
            )
            if settings.transfer == "path"
            else transfer_frames(
                robot, posture, base, hands, lower, upper, smoothing_window=window, smoothing_order=order
            )
        )
        previous = base
        base, joints = balance(robot, stance, joints, _follow_hands(stance, hands, settings.pelvis_follow))
        if np.abs(base - previous).max() < 1e-4:
            break
    progress("transfer", _BALANCE_ROUNDS + 1, _BALANCE_ROUNDS + 1)

    _check_legs(robot, joints)
    limit = np.asarray(robot.model.velocityLimit[6:]) * settings.speed_limit_fraction
    factor = slowing_factor(motion.time, joints, limit)
    trajectory = JointTrajectory(motion.time * factor, joints, robot.joint_names, base)
    errors = joint_errors(imitation, motion)
    missed = _missed(robot, motion, base, joints, hands)
    metrics = {
        "imitation.hand_mean_m": float(errors.mean()),
        "imitation.hand_max_m": float(errors.max()),
        "retarget.hand_max_m": missed,
        "retarget.slow_down": factor,
        "retarget.duration_s": float(trajectory.time[-1]),
    }
    return MotionPlan(
        trajectory, stance, hands, imitation, shapes, columns, np.stack([lower, upper]), metrics
    )


def _missed(
    robot: Robot,
    motion: HumanMotion,
    base: NDArray[np.float64],
    joints: NDArray[np.float64],
    hands: HandPlan,
) -> float:
    """Measure by how much the planned palms miss the actor's in contact, m; refuse what cannot grip."""
    model, data = robot.model, robot.model.createData()
    worst, when = 0.0, 0
    for side in SIDES:
        frame = model.getFrameId(robot.frames[f"{side}_hand"])
        for sample in np.flatnonzero(hands.contact[side]):
            pin.framesForwardKinematics(model, data, np.concatenate([base[sample], joints[sample]]))
            miss = float(np.linalg.norm(data.oMf[frame].translation - hands.actor[side][sample, :3, 3]))
            if miss > worst:
                worst, when = miss, int(sample)
    if worst > _REACH_TOLERANCE:
        raise RetargetError(
            f"{robot.name}: out of reach: a palm misses the equipment by {1000 * worst:.0f} mm at "
            f"{motion.time[when]:.2f} s of the recording (allowed: {1000 * _REACH_TOLERANCE:.0f} mm); "
            "change robot.position_m, the fixture's place, or the task"
        )
    return worst


def _follow_hands(stance: Stance, hands: HandPlan, fraction: float) -> NDArray[np.float64]:
    """Let the COG target (T, 2), m, go a part of the way with the hands in contact, as a person's does."""
    target = np.tile(stance.target, (len(hands.share["left"]), 1))
    for side in SIDES:
        palm = hands.actor[side][:, :2, 3]
        touching = hands.contact[side]
        if touching.any():
            low, high = palm[touching].min(axis=0), palm[touching].max(axis=0)
            offset = np.clip(palm, low, high) - 0.5 * (low + high)
            target += 0.5 * fraction * hands.share[side][:, None] * offset
    return target


def _check_legs(robot: Robot, joints: NDArray[np.float64]) -> None:
    """Refuse a plan whose pelvis motion is beyond the legs' joint limits."""
    for side in SIDES:
        for column in leg_columns(robot, side):
            low = robot.model.lowerPositionLimit[7 + column]
            high = robot.model.upperPositionLimit[7 + column]
            values = joints[:, column]
            if values.min() < low or values.max() > high:
                raise RetargetError(
                    f"{robot.name}: keeping balance needs {robot.joint_names[column]} between "
                    f"{values.min():.3f} and {values.max():.3f} rad, its limits are {low:.3f} and {high:.3f}"
                )
