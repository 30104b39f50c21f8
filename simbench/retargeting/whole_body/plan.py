"""From a recording to a whole-body reference: imitate, fit to the robot, keep balance, slow down."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simbench.balance.standing.standing import Stance, solve_com_ik, stand
from simbench.errors import RetargetError
from simbench.kinematics.time_scaling import time_scaling_factor
from simbench.motion.handles import Handle
from simbench.motion.human_motion import HumanMotion, require_both_arms
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.arm_adaptation.arm_adaptation import adapted_posture
from simbench.retargeting.collision.avoidance import avoid_collisions
from simbench.retargeting.collision.clearance import BodyShapes, body_shapes
from simbench.retargeting.collision.interference import Interference, find_interference
from simbench.retargeting.collision.obstacles import Obstacle
from simbench.retargeting.contact.hand_plan import HandPlan, actor_palms, approach_handles, plan_hands
from simbench.retargeting.contact.phases import contact_phases
from simbench.retargeting.contact.transfer import transfer_frames, transfer_path
from simbench.retargeting.imitation.calibration import calibrate
from simbench.retargeting.imitation.errors import imitation_errors
from simbench.retargeting.imitation.imitation import Imitation, imitate
from simbench.retargeting.imitation.limit_rescaling import rescale_into_limits
from simbench.retargeting.imitation.posture import limited_posture, rounded_posture
from simbench.retargeting.imitation.requirements import require_human_form
from simbench.retargeting.imitation.tasks import WRISTS
from simbench.retargeting.redundancy.robot_motion import weighted_posture
from simbench.retargeting.similarity import speed_difference
from simbench.retargeting.whole_body.stance import (
    check_legs,
    choose_spot,
    follow_hands,
    guide_posture,
    missed_grip,
    pelvis_height,
)
from simbench.retargeting.whole_body.zmp import Resistance, balancing_cog, hand_load
from simbench.robot.grips import close_hands
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

Progress = Callable[[str, int, int], None]

Surroundings = Callable[[HandPlan], Sequence[Obstacle]]

_BALANCE_ROUNDS = 4
_SETTLED = 1e-4
"""Change of the pelvis' pose, m or rad, below which arms and legs agree."""
_CLEARANCE = 0.003
"""Between links, and between links and equipment, m."""
_GRIP_TOLERANCE, _REACH_TOLERANCE = 0.001, 0.02
"""Distance from a handle, m, above which another posture is tried, and up to which a hand still grips it."""


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
    interferences : tuple of Interference
        Links that still come into each other or into the equipment.
    metrics : dict of str to float
        `imitation.*` and `retarget.*`.
    zmp : (T, 2) array
        Where the ZMP is wanted, m.
    embedding : bool
        Whether the legs react to the upper body's motion.
    """

    trajectory: JointTrajectory
    stance: Stance
    hands: HandPlan
    imitation: Imitation
    shapes: BodyShapes
    upper: NDArray[np.int64]
    limits: NDArray[np.float64]
    interferences: tuple[Interference, ...]
    metrics: dict[str, float]
    zmp: NDArray[np.float64]
    embedding: bool = True


def plan_motion(
    robot: Robot,
    motion: HumanMotion,
    place: RobotSection,
    settings: RetargetSection,
    handles: Mapping[str, Handle],
    progress: Progress,
    surroundings: Surroundings = lambda hands: (),
    *,
    resistance: Mapping[str, Resistance] | None = None,
    embedding: bool = True,
) -> MotionPlan:
    """Retarget a recording to a robot that stands on both feet, or sits.

    The arms need the pelvis, the pelvis needs the COG, the COG needs the ZMP, and the ZMP needs the arms:
    arms and legs are solved in turn until the pelvis rests. Who sits has pelvis and legs at rest.

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
    surroundings : callable (HandPlan) -> sequence of Obstacle
        What the robot has to keep clear of while its hands are where they are planned.
    resistance : {side: Resistance}, optional
        Of the equipment to each hand that moves it; none by default.
    embedding : bool
        Whether the legs react to the upper body's motion. Otherwise they take it to rest.

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
    # Arm adaptation is about free motion: where hands hold something, they follow the scaled model's.
    method = "analytical" if settings.method == "arm_adaptation" else settings.method
    imitation = imitate(actor, motion, method=method, smoothing_window=window, smoothing_order=order)
    margin = settings.joint_limit_margin_rad
    limits = lower, upper = (
        actor.model.lowerPositionLimit[7:] + margin,
        actor.model.upperPositionLimit[7:] - margin,
    )
    progress("imitate", 1, 1)

    progress("transfer", 0, 2 * _BALANCE_ROUNDS)
    spot = choose_spot(robot, place, settings, handles, progress)
    stance = stand(robot, spot.position, spot.heading, place.posture, spot.height)
    embedding = embedding and not stance.seated
    shapes = body_shapes(robot, stance.joints)
    posture = _preferred(robot, imitation, motion, settings, shapes, lower, upper)
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
    touching = np.any(list(contact.values()), axis=0)
    if touching.any():
        posture = rounded_posture(motion.time, posture, lower, upper)
    elif settings.weights is not None:
        raise RetargetError(
            f"retarget.weights: {motion.source}: hands hold nothing; allowed: motions on equipment"
        )
    columns = np.array([robot.joint_names.index(name) for name in actor.model.names[2:]])
    joints = np.tile(stance.joints, (len(motion.time), 1))
    joints[:, columns] = posture
    height = settings.pelvis_height_follow * pelvis_height(robot, motion, imitation, spot, place, share)
    base, joints = solve_com_ik(robot, stance, joints, height=height, embedding=embedding)
    limit = np.asarray(robot.model.velocityLimit[6:]) * settings.speed_limit_fraction
    wanted = np.broadcast_to(stance.target, (len(joints), 2))

    def settle(posture: NDArray[np.float64], rounds: range) -> HandPlan:
        """Solve arms, then legs, in turn; changes `base`, `joints` and `wanted`."""
        nonlocal base, joints, wanted
        for turn in rounds:
            progress("transfer", 1 + turn, 2 * _BALANCE_ROUNDS)
            hands = plan_hands(robot, imitation, posture, base, palms, held, share, contact, handles)
            wanted = follow_hands(stance, hands, spot)
            if embedding:
                time = motion.time * time_scaling_factor(motion.time, joints, limit)
                load = hand_load(time, hands, resistance) if resistance else None
                cog = balancing_cog(robot, time, base, joints, wanted, load)
            else:
                cog = wanted
            arms = joints[:, columns] if turn else None
            joints[:, columns] = _transfer(robot, motion.time, settings, posture, base, hands, limits, arms)
            previous = base
            base, joints = solve_com_ik(robot, stance, joints, cog, height, embedding=embedding)
            if np.abs(base - previous).max() < _SETTLED:
                break
        return hands

    hands = settle(posture, range(_BALANCE_ROUNDS))
    if missed_grip(robot, base, joints, hands, motion.time)[0] > _GRIP_TOLERANCE:
        # The person's posture is a dead end for these arms.
        names = tuple(actor.model.names[2:])
        posture, joints[:, columns] = guide_posture(
            robot, spot, place, handles, motion.time, posture, names, hands
        )
        hands = settle(posture, range(1, _BALANCE_ROUNDS))
    if settings.weights is not None:
        shares = np.array(settings.weights.shares)
        posture = weighted_posture(
            robot, motion.time, joints[:, columns], base, touching, shares, lower, upper
        )
        hands = settle(posture, range(1, _BALANCE_ROUNDS))
    obstacles = surroundings(hands)
    gripping = {robot.frames[f"{side}_hand"]: share[side] == 1.0 for side in SIDES}
    clear = avoid_collisions(
        body_shapes(robot, stance.joints, handles),
        motion.time,
        joints[:, columns],
        base,
        gripping,
        lower,
        upper,
        _CLEARANCE,
        obstacles,
        {robot.frames[f"{side}_hand"]: axis for side, axis in hands.turn_axes.items()},
    ).joints
    if not np.array_equal(clear, joints[:, columns]):
        # What has got out of the way is what is preferred from now on.
        joints[:, columns] = clear
        hands = settle(clear, range(_BALANCE_ROUNDS, 2 * _BALANCE_ROUNDS))
    progress("transfer", 2 * _BALANCE_ROUNDS, 2 * _BALANCE_ROUNDS)

    check_legs(robot, joints)
    factor = time_scaling_factor(motion.time, joints, limit)
    trajectory = JointTrajectory(motion.time * factor, joints, robot.joint_names, base)
    interferences = find_interference(robot, _with_fingers(robot, trajectory, contact), obstacles)
    off = imitation_errors(imitation, motion).joints
    errors = np.array([off[name] for name in WRISTS])
    missed, when = missed_grip(robot, base, joints, hands, motion.time)
    if missed > _REACH_TOLERANCE:
        raise RetargetError(
            f"{robot.name}: out of reach: a palm misses the equipment by {1000 * missed:.0f} mm at "
            f"{when:.2f} s of the recording (allowed: {1000 * _REACH_TOLERANCE:.0f} mm)"
        )
    metrics = {
        "imitation.hand_mean_m": float(errors.mean()),
        "imitation.hand_max_m": float(errors.max()),
        "retarget.hand_max_m": missed,
        "retarget.slow_down": factor,
        "retarget.duration_s": float(trajectory.time[-1]),
        "retarget.interference_count": float(len(interferences)),
    }
    if touching.any():
        imitated = imitation.q[touching, 7:]
        metrics["retarget.similarity"] = speed_difference(
            motion.time[touching], imitated, joints[touching][:, columns]
        )
    return MotionPlan(
        trajectory,
        stance,
        hands,
        imitation,
        shapes,
        columns,
        np.stack(limits),
        interferences,
        metrics,
        wanted,
        embedding,
    )


def _with_fingers(
    robot: Robot, trajectory: JointTrajectory, contact: Mapping[str, NDArray[np.bool_]]
) -> JointTrajectory:
    """Close the hands of a trajectory while they hold something."""
    joints = trajectory.q.copy()
    for side, touching in contact.items():
        joints[touching] = close_hands(robot, joints[touching], [side])
    return replace(trajectory, q=joints)


def _preferred(
    robot: Robot,
    imitation: Imitation,
    motion: HumanMotion,
    settings: RetargetSection,
    shapes: BodyShapes,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Trunk and arms (T, n) as they would be without equipment, inside the limits."""
    if settings.method == "arm_adaptation":
        return adapted_posture(robot, motion, margin=settings.joint_limit_margin_rad)
    if settings.posture == "rescaled":
        return rescale_into_limits(motion.time, imitation.q[:, 7:], lower, upper)
    return limited_posture(imitation, motion, shapes, lower, upper)


def _transfer(
    robot: Robot,
    time: NDArray[np.float64],
    settings: RetargetSection,
    posture: NDArray[np.float64],
    base: NDArray[np.float64],
    hands: HandPlan,
    limits: tuple[NDArray[np.float64], NDArray[np.float64]],
    start: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    if settings.transfer == "path":
        return transfer_path(robot, time, posture, base, hands, *limits, start)
    return transfer_frames(
        robot,
        posture,
        base,
        hands,
        *limits,
        smoothing=(settings.smoothing_window, settings.smoothing_order),
    )
