"""References at every physics step: of a whole body, of an arm on a fixed base, and of its own sweep."""

import itertools
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import pinocchio as pin
from scipy.interpolate import BPoly, make_interp_spline

from simbench.balance.ground_reaction import planned_zmp, standing_torques
from simbench.balance.leg_ik import leg_columns, pelvis_freedom, solve_com_ik, sway_projection
from simbench.errors import ScenarioError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.joint_order import joint_limits
from simbench.options import SWEEP, RobotSection, SimulationSection
from simbench.retargeting.arm.fixed_base import ArmPlan, arm_joints, base_pose, choose_rest
from simbench.retargeting.collision.avoidance import clear_path, is_clear
from simbench.retargeting.placement.placement import base_height
from simbench.retargeting.reference.reference import (
    COAST_TIME,
    MAX_LEAD_STRETCH,
    Flags,
    Reference,
    SampledMotion,
    Segment,
    Timeline,
    assemble,
    plan_lead,
    run_up,
)
from simbench.retargeting.stand.arms_and_legs import require_leg_limits, solve_legs_for_zmp
from simbench.retargeting.stand.standing_plan import MotionPlan
from simbench.robot.robot import Robot
from simbench.robot.robot_limbs import grip_range
from simbench.robot.sides import SIDES

# Margin between the robot's own links on the way to the motion and back, m, and least distance there: less of
# a run-up is taken for it.
_CLEARANCE, _LEAST_CLEARANCE = 0.03, 0.005
# Value of `HandPlan.grip` from which on fingers close: a seventh of a second before the palm rests on its
# handle, for they take several, and the person goes on.
_CLOSING_THRESHOLD = 0.97
# Largest fraction of its speed limit at which a grip closes.
_GRIP_SPEED_FRACTION = 0.8
# Keys of `motion.task` of a sweep and their defaults: displacement of every joint but those that close a
# hand, to the side on which it has more room, rad; greatest speed of every joint, rad/s; number of strokes
# out and back; and pause at every end, s.
_SWEEP_TASK = {"amplitude_rad": 1.0, "speed_rad_s": 1.0, "repetitions": 1.0, "pause_s": 0.25}
# Greatest speed of a minimum-jerk movement over its mean speed (Flash & Hogan 1985).
_PEAK_OVER_MEAN = 1.875
# Longest sweep, s: its reference is held whole in memory, 0.3 MB a second for six joints.
_MAX_SWEEP = 600.0


def fixed_base_reference(robot: Robot, sampled: SampledMotion, feedforward: str, grip: Flags) -> Reference:
    """Make the reference of a robot with a fixed base, its torques (N, n), N·m, without friction.

    `feedforward` is `none`, `gravity` for the weight alone, or `inverse_dynamics`, as in `ControlSection`.
    """
    model, data = robot.model, robot.model.createData()
    path = sampled.position, sampled.velocity, sampled.acceleration
    torques = np.zeros_like(sampled.position)
    if feedforward == "gravity":
        for step, q in enumerate(sampled.position):
            torques[step] = pin.computeGeneralizedGravity(model, data, q)
    elif feedforward == "inverse_dynamics":
        for step, (q, v, a) in enumerate(zip(*path, strict=True)):
            torques[step] = pin.rnea(model, data, q, v, a)
    return Reference(sampled.position, sampled.velocity, torques, sampled.acceleration, grip)


def build_arm_reference(
    robot: Robot, plan: ArmPlan, settings: SimulationSection, *, feedforward: str, speed_fraction: float
) -> Timeline:
    """Sample the plan of an arm on a fixed base at the physics rate, with a beginning and an end at rest.

    With a lead-in the arm starts in its posture and returns to it, hands open: quintic joint curves that meet
    the motion with its own velocity, in `lead_in_s` or as slowly as `speed_fraction` of the speed limits
    asks. Without one, or where the plan wants none, it starts in the motion's first posture and stays in its
    last, its hands as the person's are at the end.
    """
    trajectory, leads = plan.trajectory, settings.lead_in_s if plan.leads else 0.0
    limit = np.tile(np.asarray(robot.model.velocityLimit) * speed_fraction, (2, 1))
    detours, stretch = (plan.detours, MAX_LEAD_STRETCH) if leads > 0.0 else (np.zeros((2, 0, 0)), 1.0)
    where = f"{robot.name}: between its posture and the motion"
    sampled, before = lead_arm(where, robot, trajectory, plan.home, leads, limit, settings, detours, stretch)
    grip = np.zeros((len(sampled.clock), len(robot.hands)), dtype=bool)
    time, clock, after = trajectory.time, sampled.clock - before, None if leads <= 0.0 else 0.0
    for column, role in enumerate(robot.hands):
        contact = plan.hands.contact.get(role.removesuffix("_hand"))
        if contact is not None:
            held = np.interp(clock, time, contact.astype(float), left=0.0, right=after)
            grip[:, column] = held >= 1.0 - 1e-9
    start = settings.settle_s + before
    reference = fixed_base_reference(robot, sampled, feedforward, grip)
    return Timeline(reference, plan.base, start, start + time, plan.hands)


def lead_arm(
    where: str,
    robot: Robot,
    trajectory: JointTrajectory,
    home: Array,
    asked: float,
    speed_limits: Array,
    settings: SimulationSection,
    detours: Array,
    stretch: float = MAX_LEAD_STRETCH,
) -> tuple[SampledMotion, float]:
    """Lead the joints of a fixed-base robot from `home` to a trajectory and back, and sample all of it.

    `speed_limits` and `detours`, (2, n) and (2, K, n), are those of the way to it and from it; other
    arguments are those of `plan_lead`. Also returns how long the way to it takes, s.
    """
    time, joints, limits = trajectory.time, trajectory.q, joint_limits(robot)
    slopes = make_interp_spline(time, joints, k=3).derivative()(time[[0, -1]]) * [[1.0], [-1.0]]
    lead_in, lead_out = (
        plan_lead(where, home, joints[k], slopes[k], asked, limits, speed_limits[k], stretch, detours[k])
        for k in (0, -1)
    )
    whole, path = assemble(lead_in, (time, joints), lead_out)
    sampled = SampledMotion(make_interp_spline(whole, path, k=3), settings, float(whole[-1]))
    return sampled, float(lead_in[0][-1])


def build_whole_body_reference(
    robot: Robot, plan: MotionPlan, settings: SimulationSection, *, feedforward: str, speed_fraction: float
) -> Timeline:
    """Sample the plan of a floating robot at the physics rate, with a beginning and an end at rest.

    With a lead-in the robot starts in its standing posture and returns to it: quintic joint curves that meet
    the motion with its own velocity, in `lead_in_s` or as slowly as `speed_fraction` of the speed limits
    asks. Without one it starts in the motion's first posture. On lead-in and lead-out, too, the COG sways so
    that the ZMP is where it is desired, as far as no hand holds equipment. Refuses legs that leave their
    limits.
    """
    trajectory, stance, hands = plan.trajectory, plan.stance, plan.hands
    assert trajectory.base is not None
    # Blend weight of the actor's hand path: 0 where both hands are free, 1 where one is with equipment.
    share = np.maximum(hands.share["left"], hands.share["right"])
    motion = trajectory.time, trajectory.q, trajectory.base, plan.zmp, share
    speed_limit = np.asarray(robot.model.velocityLimit[6:]) * speed_fraction
    leads = [_whole_body_lead(robot, plan, motion, end, settings.lead_in_s, speed_limit) for end in (0, -1)]
    time, joints, base, zmp, share = assemble(leads[0], motion, leads[1])
    if plan.embedding:
        base, joints = solve_legs_for_zmp(robot, stance, time, base, joints, zmp, 1.0 - share)
        require_leg_limits(robot, joints)
        sway = sway_projection(stance, pelvis_freedom(robot, stance))
        if sway is not None:
            # Where the pelvis does not sway, the ZMP is that of the upper body's motion.
            zmp = zmp + (planned_zmp(robot, time, base, joints)[0] - zmp) @ (np.eye(2) - sway)
    sampled = SampledMotion(make_interp_spline(time, joints, k=3), settings, time[-1])
    before = leads[0][0][-1]
    grip = np.zeros((len(sampled.clock), 2), dtype=bool)
    for hand, side in enumerate(SIDES):
        closing, grip[:, hand] = (
            np.interp(sampled.clock - before, trajectory.time, flag.astype(float), left=0.0) >= 1.0 - 1e-9
            for flag in (hands.grip[side] >= _CLOSING_THRESHOLD, hands.contact[side])
        )
        fraction = min(_GRIP_SPEED_FRACTION, speed_fraction)
        # Fingers are closed while the hand holds and just before, and open otherwise.
        for name in robot.hands[f"{side}_hand"].joints if f"{side}_hand" in robot.hands else ():
            column = robot.joint_names.index(name)
            opened, closed = grip_range(robot, name)
            # A smooth step 3s² − 2s³ is fastest in its middle, at 1.5 times its mean speed.
            greatest = fraction * float(robot.model.velocityLimit[robot.root_v + column])
            duration = 1.5 * abs(closed - opened) / greatest
            level, progress = 0.0, np.empty(len(closing))
            for step, rate in enumerate(np.where(closing, 1.0, -1.0) * settings.timestep_s / duration):
                level = progress[step] = min(max(level + rate, 0.0), 1.0)
            position = opened + (closed - opened) * progress**2 * (3.0 - 2.0 * progress)
            sampled.position[:, column] = position
            sampled.velocity[:, column] = np.gradient(position, settings.timestep_s)
    torque = np.zeros_like(joints)
    if feedforward != "none":
        inertia = feedforward == "inverse_dynamics"
        torque = standing_torques(robot, time, base, joints, inertia=inertia, seated=stance.seated)
    torque = make_interp_spline(time, torque, k=1)(sampled.clock)
    reference = Reference(sampled.position, sampled.velocity, torque, sampled.acceleration, grip)
    cog = make_interp_spline(
        time, planned_zmp(robot, time, base, _balanced_joints(robot, plan, joints))[1], k=3
    )
    cog_velocity = cog.derivative()(sampled.clock)
    cog_velocity[sampled.at_rest] = 0.0
    base_path = make_interp_spline(time, base, k=3)(sampled.clock)
    base_path[:, 3:] /= np.linalg.norm(base_path[:, 3:], axis=1, keepdims=True)
    start = settings.settle_s + before
    zmp = make_interp_spline(time, zmp, k=1)(sampled.clock)
    times = start + trajectory.time
    return Timeline(reference, base[0], start, times, hands, base_path, zmp, cog(sampled.clock), cog_velocity)


def _whole_body_lead(
    robot: Robot, plan: MotionPlan, motion: Segment, end: int, asked: float, speed_limit: Array
) -> Segment:
    """Plan the way from rest to sample `end` (0 or -1) of a motion and its velocity, within the speed limits.

    The run-up first goes the other way. If the duration asked for is too short for the speed limits, the way
    takes longer and the run-up becomes shorter in the same ratio: the farther it went back, perhaps into the
    body, the faster the way round would have to be. The COG goes from the middle of the soles, or stays, to
    where the plan has it; so does the desired ZMP.
    """
    time, joints, base, zmp, share = motion
    spline = make_interp_spline(time, joints, k=min(3, len(time) - 1))
    velocity = spline.derivative()(time[[0, -1]])[end] * (1.0 if end == 0 else -1.0)
    # A motion that ends at the speed that may be used is left a little faster, still within what joints can.
    most = np.asarray(robot.model.velocityLimit[6:])
    speed_limit = np.maximum(speed_limit, np.minimum(1.02 * np.abs(velocity), most))
    q = np.concatenate([base[end], _balanced_joints(robot, plan, joints[end])])
    cog = pin.centerOfMass(robot.model, robot.model.createData(), q)[:2]
    # COG, desired ZMP, and blend weight of the hands.
    target = np.array([*cog, *zmp[end], share[end]])
    start = np.array([*plan.stance.target, *plan.stance.target, 0.0]) if asked > 0 else target
    upper, longest = plan.upper, asked if asked > 0 else COAST_TIME
    home, limits = plan.stance.joints, (plan.limits[0], plan.limits[1])

    # Ways round the body by how often the run-up was halved: slower, the way is nearly the same.
    ways: defaultdict[int, list[Array]] = defaultdict(list)

    def finish(clock: Array, joints: Array) -> Segment:
        moved, length = joints[:, upper], longest**2 / float(clock[-1])
        for halved in itertools.count():
            path = moved + run_up(clock, moved, velocity[upper], length, limits)
            path = clear_path(plan.shapes, path, _CLEARANCE, limits=limits, ways=ways[halved])
            # A hand that moves towards the body has no room for a long run-up.
            if length <= COAST_TIME / 2.0 or is_clear(plan.shapes, path, _LEAST_CLEARANCE):
                break
            length = max(length / 2.0, COAST_TIME / 2.0)
        joints[:, upper] = np.clip(path, *limits)
        progress = minimum_jerk(clock, 0.0, float(clock[-1]))
        cog, zmp, share = np.hsplit(start + progress[:, None] * (target - start), [2, 4])
        base, joints = solve_com_ik(robot, plan.stance, joints, cog, embedding=plan.embedding)
        return clock, joints, base, zmp, share[:, 0]

    where = f"{robot.name}: on the way {'to' if end == 0 else 'from'} the motion"
    return plan_lead(where, home, joints[end], velocity, asked, limits, speed_limit, finish=finish)


def _balanced_joints(robot: Robot, plan: MotionPlan, joints: Array) -> Array:
    """Positions (..., n) that balance knows of, rad: without embedding those of trunk, arms, head at rest."""
    if plan.embedding:
        return joints
    frozen = np.broadcast_to(plan.stance.joints, joints.shape).copy()
    for side in SIDES:
        frozen[..., leg_columns(robot, side)] = joints[..., leg_columns(robot, side)]
    return frozen


def moved_by_sweep(robot: Robot) -> Flags:
    """Tell which joints a sweep moves, (n,): all but those that close a hand."""
    closing = {joint for hand in robot.hands.values() for joint in hand.joints}
    return np.isin(robot.joint_names, sorted(set(arm_joints(robot)) - closing))


def build_sweep_reference(
    robot: Robot,
    section: RobotSection,
    task: Mapping[str, float],
    settings: SimulationSection,
    feedforward: str,
) -> Timeline:
    """Build the reference of a sweep: all joints but fingers go out and back on minimum-jerk paths.

    `task` has keys of `motion.task`. Refuses robots that float or have no such posture, and a sweep that is
    too long, too short or beyond limits.
    """
    if robot.floating:
        raise ScenarioError(f"motion.source {SWEEP}: needs a robot with a fixed base; {robot.name} floats")
    start, timestep = robot.postures[choose_rest(robot, section.posture)], settings.timestep_s
    for key, value in task.items():
        if key not in _SWEEP_TASK:
            raise ScenarioError(f"motion.task.{key}: unknown key; allowed: {', '.join(_SWEEP_TASK)}")
        if not value > 0.0 and not (key == "pause_s" and value == 0.0):
            raise ScenarioError(f"motion.task.{key}: must be greater than 0, got {value:g}")
    amplitude, speed, repetitions, pause = ({**_SWEEP_TASK, **task}[key] for key in _SWEEP_TASK)
    if repetitions != int(repetitions):
        raise ScenarioError(f"motion.task.repetitions: must be a whole number, got {repetitions:g}")
    stroke = _PEAK_OVER_MEAN * amplitude / speed
    if stroke < timestep:
        raise ScenarioError(f"motion.task: a stroke takes {stroke:.3g} s; at least a step, {timestep:g} s")
    if 0.0 < pause < timestep:
        raise ScenarioError(f"motion.task.pause_s: {pause:g}; allowed: 0, or from a step, {timestep:g} s")
    total = 2.0 * repetitions * (stroke + pause)
    if total > _MAX_SWEEP:
        raise ScenarioError(f"motion.task: would take {total:.4g} s; at most {_MAX_SWEEP:g} s")
    moved = moved_by_sweep(robot)
    lowest, highest = joint_limits(robot)
    below, above = start - lowest, highest - start
    for name, most in zip(robot.joint_names, np.where(moved, np.maximum(below, above), np.inf), strict=True):
        if most < amplitude:
            raise ScenarioError(
                f"motion.task.amplitude_rad: {amplitude:g} is beyond the limits of {name}; "
                f"at most {most:.3f} from this posture"
            )
    for name, limit in zip(
        robot.joint_names, np.where(moved, robot.model.velocityLimit, np.inf), strict=True
    ):
        if limit < speed:
            raise ScenarioError(
                f"motion.task.speed_rad_s: {speed:g} is beyond the speed limit of {name}, {limit:g} rad/s"
            )
    # To the side on which each joint has more room.
    end = start + np.where(moved, np.where(above >= below, 1.0, -1.0), 0.0) * amplitude
    knots, stops = [settings.settle_s], [start]
    for target in (end, start) * int(repetitions):
        knots += [knots[-1] + stroke, knots[-1] + stroke + pause]
        stops += [target, target]
    if pause == 0.0:
        knots, stops = knots[:1] + knots[1::2], stops[:1] + stops[1::2]
    rest = np.zeros_like(start)
    path = BPoly.from_derivatives(knots, [[stop, rest, rest] for stop in stops])
    sampled = SampledMotion(path, settings, knots[-1], knots[0])
    open_hands = np.zeros((len(sampled.clock), len(robot.hands)), dtype=bool)
    reference = fixed_base_reference(robot, sampled, feedforward, open_hands)
    base = base_pose(section.position_m, section.heading_rad, base_height(robot, section))
    return Timeline(reference, base, settings.settle_s, np.array([knots[0], knots[-1]]))
