"""Whether a robot can stand, step and track, by posture, gains and planned steps, without simulation."""

import numpy as np
import pinocchio as pin

from simbench.balance.ground_reaction import (
    standing_torques,
    support_margin,
    support_margins,
    support_polygon,
    support_polygons,
    zmp_from_momentum,
)
from simbench.balance.leg_ik import Stance, height_range, leg_columns, leg_length, stand
from simbench.balance.sections import limb_sections
from simbench.errors import BalanceError, RetargetError, RobotError
from simbench.kinematics.arrays import Array
from simbench.options import BalanceSection, RobotSection, SimulationSection, StepCommand, SteppingSection
from simbench.robot.drives import light_foot_fraction
from simbench.robot.robot import Robot
from simbench.robot.robot_limbs import sole_gaps
from simbench.robot.sides import SIDES
from simbench.robot.urdf.normalise import UNLIMITED_EFFORT, UNLIMITED_VELOCITY
from simbench.runs.robot_check.findings import Finding, Limits, judge
from simbench.sim.balance_loop import OnlineBalance, balance_run, build_standing_reference
from simbench.sim.starting_pose import fit_steps

POSTURE = "standing"  # Posture in which a robot is checked, as scenarios name it by default.
_GRAVITY = 9.81
# Good distance of the COG from the edge of the soles, as a part of its height: a COG speed of this part times
# √(g h) brings it to the edge.
_MARGIN = 0.03
_STANDING_TORQUE = Limits(0.7, 1.0)
_STIFFNESS = Limits(2.0, 0.25)
_LOWER = Limits(0.05, 0.0)  # Travel of the pelvis downward, as a part of the leg's length.
# Distance between a sole and the lowest point of its foot's shapes that is too large, as a part of the leg's
# length.
_GAP = 0.01
# Commands that are tried: metres as parts of the leg's length, and rad.
_FORWARD, _SIDEWAYS, _TURN = 0.5, 0.15, 0.6
_LENGTH = Limits(0.13, 0.05)  # Length of a step as a part of the leg's length; 0.26 is the usual one.
_STEP_SPEED = Limits(0.9, 1.0)
_STEP_TORQUE = Limits(0.8, 1.0)
_ZMP = Limits(0.99, 0.9)
_TIMESTEP = 0.001  # Physics step of a scenario by default, s.
_FREQUENCY = Limits(3.0, 1.0)
_STABILITY = Limits(1.5, 5.0)
_POSTURE_LOAD = Limits(0.8, 1.0)
_HEAVIEST_LOAD = Limits(1.0, 2.0)
_ACCELERATION = Limits(40.0, 20.0)
_SPEED = Limits(1.0, 0.2)
_SATURATION = Limits(0.005, 0.001)
_SAMPLES = 64  # Random configurations in which an arm must hold its weight.


def check_standing(robot: Robot) -> tuple[list[Finding], Stance | None]:
    """Judge whether a robot can stand, from its posture and its gains.

    `robot`: any robot. Returns `findings`: what speaks for and against it; `stance`: the stance; None if it
    has none.
    """
    try:
        limb_sections(robot)
        stance = stand(robot, (0.0, 0.0), 0.0, POSTURE)
    except (BalanceError, RobotError) as error:
        return [Finding("stand", "posture", "no", None, "", str(error))], None
    q = np.concatenate([stance.base, stance.joints])
    length, motors = leg_length(robot), robot.motors
    gaps = sole_gaps(robot)
    missing = [role for role, gap in gaps.items() if gap is None]
    limits = Limits(0.1 * _GAP * length, _GAP * length)
    if missing:
        link = robot.frames[missing[0]]
        reason = f"the foot of `{link}` has no collision shape: it would fall through the floor"
        findings = [Finding("stand", "sole_gap_m", "no", None, str(limits), reason)]
    else:
        role = max(gaps, key=lambda each: abs(gaps[each] or 0.0))
        reason = f"between `{robot.frames[role]}` and the lowest point of the foot's collision shapes"
        findings = [judge("stand", "sole_gap_m", abs(gaps[role] or 0.0), limits, reason)]
    cog = pin.centerOfMass(robot.model, robot.model.createData(), q)
    corners = [stance.soles[side].act(corner)[:2] for side in SIDES for corner in robot.soles[f"{side}_foot"]]
    margin = support_margin(cog[:2], support_polygon(np.array(corners)))
    reason = (
        f"of the COG, {cog[2]:.2f} m high, from the edge of the soles; good is {_MARGIN:.0%} of its height"
    )
    limits = Limits(_MARGIN * float(cog[2]), 0.0)
    findings.append(judge("stand", "cog_margin_m", margin, limits, reason))
    torque = standing_torques(robot, np.zeros(1), q[None, :7], q[None, 7:], inertia=False)[0]
    share = np.abs(torque) / motors.torque_limit
    worst = int(share.argmax())
    name, limit = robot.joint_names[worst], motors.torque_limit[worst]
    reason = f"{name} holds {abs(torque[worst]):.3g} of its {limit:.3g} N·m while the robot stands still"
    findings.append(judge("stand", "torque_fraction", float(share[worst]), _STANDING_TORQUE, reason))
    findings.append(_stiffness(robot, q))
    try:
        low, high = height_range(robot, POSTURE)
        reason = f"of the leg's {length:.3g} m: the pelvis can sink by {-low:.3g} m and rise by {high:.3g} m"
        findings.append(judge("stand", "pelvis_travel_fraction", -low / length, _LOWER, reason))
    except RetargetError as error:
        travel = Finding("stand", "pelvis_travel_fraction", "marginal", None, str(_LOWER), str(error))
        findings.append(travel)
    return findings, stance


def _stiffness(robot: Robot, q: Array) -> Finding:
    """Stiffness of the legs' joints as a multiple of that with which gravity topples the body.

    Joint j alone, with stiffness K_j in each of two legs, carries the mass m_j above it at the height h_j:
    it buckles at m_j g h_j > 2 K_j (a·z_j)² about the horizontal axis a. Dunkerley's estimate for all joints
    in series is 1 / r = Σ_j m_j g h_j (a·z_j)² / (2 K_j), from below.
    """
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.centerOfMass(model, data, q)
    mass, cog = data.mass[0], data.com[0]
    axes = {"forward": np.array([0.0, 1.0, 0.0]), "sideways": np.array([1.0, 0.0, 0.0])}
    ratios = {}
    for name, axis in axes.items():
        compliance = 0.0
        for index in np.concatenate([leg_columns(robot, side) for side in SIDES]):
            joint = model.getJointId(robot.joint_names[index])
            legs = 2.0 * data.mass[joint]
            first_moment = mass * cog[2] - legs * data.oMi[joint].act(data.com[joint])[2]
            moment = first_moment - (mass - legs) * data.oMi[joint].translation[2]
            turned = float(data.J[3:, 6 + index] @ axis) ** 2
            compliance += 0.5 * _GRAVITY * max(moment, 0.0) * turned / (2.0 * robot.motors.stiffness[index])
        ratios[name] = 1.0 / max(compliance, 1e-9)
    direction = min(ratios, key=lambda each: ratios[each])
    reason = f"of the legs' gains against toppling {direction}, as a multiple of gravity's m g h"
    if ratios[direction] < _STIFFNESS.good:
        reason += "; small robots need a shorter bandwidth.timestep_s and simulation.timestep_s"
    return judge("stand", "stiffness_ratio", ratios[direction], _STIFFNESS, reason)


def check_stepping(
    robot: Robot, section: RobotSection
) -> tuple[list[Finding], tuple[RobotSection, SteppingSection] | None]:
    """Judge whether a robot that stands can step.

    The commands are to go forward, sideways and turn. The steps are fitted to the legs, their plan is
    followed with ideal measurements; the ZMP is that of all bodies, which the plan takes for a linear
    pendulum. `robot`: robot that stands in the section's posture; `section`: base placement and posture.
    Returns `findings`: what speaks for and against it; `steps`: height of the pelvis, and
    commands and size of the steps; None if the legs can make none.
    """
    settings, balance, asked = SimulationSection(), BalanceSection(), check_commands(robot)
    try:
        place, stepping = fit_steps(robot, section, balance, SteppingSection(commands=asked), settings)
    except (BalanceError, RetargetError) as error:
        return [Finding("step", "step_length_fraction", "no", None, str(_LENGTH), str(error))], None
    timeline = build_standing_reference(robot, place, settings, None, "none")
    balancer = balance_run(robot, timeline, balance, stepping, settings).balancer
    return judge_steps(robot, place, stepping, balancer), (place, stepping)


def check_commands(robot: Robot) -> tuple[StepCommand, ...]:
    """Choose the commands that are tried, by the length of the robot's legs."""
    length = leg_length(robot)
    return (
        StepCommand(forward_m=float(f"{_FORWARD * length:.3g}")),
        StepCommand(sideways_m=float(f"{_SIDEWAYS * length:.3g}")),
        StepCommand(turn_rad=_TURN),
    )


def judge_steps(
    robot: Robot, place: RobotSection, stepping: SteppingSection, balancer: OnlineBalance
) -> list[Finding]:
    """Judge planned steps by their length, and by speeds, torques and ZMP with ideal measurements."""
    length = leg_length(robot)
    speed, torque, zmp_margin = _follow_plan(robot, balancer)
    names, limits = robot.joint_names, robot.motors.torque_limit
    step = float(stepping.step_length_m or 0.0)
    fast, strong = int(speed.argmax()), int(torque.argmax())
    lowered = f", the pelvis {-(place.height_m or 0.0):.3g} m lower" if place.height_m else ""
    inside, median = float(np.mean(zmp_margin > 0.0)), 1000 * float(np.median(zmp_margin))
    reasons = (
        f"of the leg's {length:.3g} m: the legs can make steps of {step:.3g} m{lowered}",
        f"{names[fast]} comes nearest to its speed limit in the planned steps",
        f"{names[strong]} comes nearest to its torque limit, {limits[strong]:.3g} N·m",
        "of the planned steps the ZMP of all bodies is inside the soles; "
        f"in the median {median:.0f} mm from their edge",
    )
    return [
        judge("step", "step_length_fraction", step / length, _LENGTH, reasons[0]),
        judge("step", "speed_fraction", float(speed[fast]), _STEP_SPEED, reasons[1]),
        judge("step", "torque_fraction", float(torque[strong]), _STEP_TORQUE, reasons[2]),
        judge("step", "zmp_inside_fraction", inside, _ZMP, reasons[3]),
    ]


def _follow_plan(robot: Robot, balancer: OnlineBalance) -> tuple[Array, Array, Array]:
    """Follow planned steps with ideal measurements.

    Returns the largest fraction of each joint's speed limit and torque limit, (n,) each, and the distance of
    the ZMP of all bodies from the edge of the soles, m, (T,).
    """
    whole, gait = balancer.whole, balancer.gait
    model, data = robot.model, robot.model.createData()
    feet = [model.getFrameId(robot.frames[f"{side}_foot"]) for side in SIDES]
    corners = [robot.soles[f"{side}_foot"] for side in SIDES]
    legs, ticks = whole.legs, len(gait.zmp) - 1
    speed, torque = np.zeros(len(robot.joint_names)), np.zeros(len(robot.joint_names))
    momentum, cog = np.zeros((ticks, 6)), np.zeros((ticks, 3))
    points = np.full((ticks, 8, 2), np.nan)
    fastest = model.velocityLimit[6:]
    for tick in range(ticks):
        q = whole.configuration.copy()
        whole.tick(tick, None, None)
        momentum[tick] = pin.computeCentroidalMomentum(model, data, q, whole.velocity)
        cog[tick] = data.com[0]
        for foot, frame in enumerate(feet):
            if gait.contact[tick, foot]:
                sole = pin.updateFramePlacement(model, data, frame)
                points[tick, 4 * foot : 4 * foot + 4] = [sole.act(corner)[:2] for corner in corners[foot]]
        speed[legs] = np.maximum(speed, np.abs(whole.velocity[6:]) / fastest)[legs]
        torque = np.maximum(torque, np.abs(whole.torque) / robot.motors.torque_limit)
    rate = np.asarray(np.gradient(momentum, gait.timestep, axis=0))
    mass, none = pin.computeTotalMass(model), np.zeros(3)
    zmp = zmp_from_momentum(mass, _GRAVITY, cog, rate[:, :3], rate[:, 3:], none, none)
    return speed, torque, support_margins(zmp, support_polygons(points))


def check_tracking(robot: Robot, posture: Array) -> list[Finding]:
    """Judge whether the joints of a robot can follow a motion.

    `robot`: any robot with joints; `posture` (n,): posture in which inertia and weight are taken, rad.
    Returns what speaks for and against it.
    """
    model, motors, names = robot.model, robot.motors, robot.joint_names
    q = np.concatenate([pin.neutral(model)[: robot.root_q], posture])
    # The diagonal of the mass matrix: inertia of each joint with its limb.
    inertia = np.diag(pin.crba(model, model.createData(), q))[robot.root_v :]
    fingers = [joint for hand in robot.hands.values() for joint in hand.joints]
    limb = np.array([name not in fingers for name in names])
    speeds = model.velocityLimit[robot.root_v :]
    unlimited = [
        name
        for name, torque, speed in zip(names, motors.torque_limit, speeds, strict=True)
        if torque >= UNLIMITED_EFFORT or speed >= UNLIMITED_VELOCITY
    ]
    share = 1.0 - len(unlimited) / len(names)
    named = f"; without: {', '.join(unlimited[:3])}{' …' if len(unlimited) > 3 else ''}" if unlimited else ""
    reason = f"of the joints have limits of torque and speed{named}"
    findings = [judge("track", "limited_fraction", share, Limits(1.0, 0.0), reason)]
    frequency = np.sqrt(motors.stiffness / inertia) / (2.0 * np.pi)
    slow = int(np.flatnonzero(limb)[frequency[limb].argmin()])
    reason = f"of {names[slow]}, the slowest, with its stiffness and the inertia of its limb"
    findings.append(judge("track", "natural_frequency_hz", float(frequency[slow]), _FREQUENCY, reason))
    if robot.feet:
        # How near the gains of the legs are to shaking a foot that the floor only touches.
        gains = (motors.stiffness, motors.damping)
        frames = {role: model.getFrameId(robot.frames[role]) for role in robot.feet}
        fractions = {
            role: light_foot_fraction(model, q, frame, gains, _TIMESTEP) for role, frame in frames.items()
        }
        role = max(fractions, key=lambda each: fractions[each])
        reason = (
            f"of what `{robot.frames[role]}` allows with a physics step of {1000 * _TIMESTEP:g} ms; "
            "far beyond, a foot that the floor only touches shakes"
        )
        findings.append(judge("track", "light_foot_fraction", fractions[role], _STABILITY, reason))
    arms = [name for group, joints in robot.groups.items() if group.endswith("_arm") for name in joints]
    if arms:
        index = [names.index(name) for name in arms]
        # The part of the torque limits that holds the arms, in a posture and in random configurations.
        columns, data = np.array(index), model.createData()
        low = np.maximum(model.lowerPositionLimit[robot.root_q + columns], -np.pi)
        high = np.maximum(low, np.minimum(model.upperPositionLimit[robot.root_q + columns], np.pi))
        configurations = np.tile(q, (_SAMPLES, 1))
        random = np.random.default_rng(0)
        configurations[:, robot.root_q + columns] = random.uniform(low, high, (_SAMPLES, len(columns)))
        for name, limits, where, considered in (
            ("gravity_fraction", _POSTURE_LOAD, "in its posture", q[None]),
            (
                "heaviest_gravity_fraction",
                _HEAVIEST_LOAD,
                f"in the heaviest of {_SAMPLES} others",
                configurations,
            ),
        ):
            torque = np.array([pin.computeGeneralizedGravity(model, data, each) for each in considered])
            share = np.abs(torque[:, robot.root_v + columns]).max(axis=0) / motors.torque_limit[columns]
            weak = int(share.argmax())
            joint = index[weak]
            limit = f"{motors.torque_limit[joint]:.3g} N·m of {names[joint]}"
            reason = f"of the {limit} hold the arm {where}"
            findings.append(judge("track", name, float(share[weak]), limits, reason))
        acceleration = (motors.torque_limit / inertia)[index]
        least = int(acceleration.argmin())
        reason = f"of {arms[least]} at its torque limit; a person's fast waving reaches 50"
        value = float(acceleration[least])
        findings.append(judge("track", "acceleration_rad_s2", value, _ACCELERATION, reason))
        least = int(speeds[index].argmin())
        reason = f"of {arms[least]}, the slowest of the arms; faster motions are slowed down"
        findings.append(judge("track", "speed_rad_s", float(speeds[index][least]), _SPEED, reason))
    error = motors.torque_limit / np.maximum(motors.stiffness, 1e-12)
    least = int(np.flatnonzero(limb)[error[limb].argmin()])
    reason = f"of {names[least]} takes its motor to its limit"
    findings.append(judge("track", "saturation_error_rad", float(error[least]), _SATURATION, reason))
    return findings
