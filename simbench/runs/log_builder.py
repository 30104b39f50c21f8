"""A run's log from its samples: labelled, with units, and with what metrics need beside it."""

from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio as pin
import xarray as xr
from numpy.typing import NDArray

from simbench.balance.standing.support import zmp_from_momentum, zmp_from_wrench
from simbench.retargeting.reference.reference import Timeline
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.runs.log import Variable, build_dataset, contact_variables
from simbench.runs.metrics import add_support_polygon
from simbench.sim.balance_loop import OnlineBalance
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.recorder import FixtureRecord, Recorder
from simbench.sim.world import GRAVITY


def make_log(
    robot: Robot,
    recorder: Recorder,
    timeline: Timeline,
    mechanisms: Sequence[Mechanism],
    actor_positions: Mapping[str, NDArray[np.float64]],
    strokes: NDArray[np.int64] | None,
    settle: float,
    seat: str = "",
) -> xr.Dataset:
    """Label the samples of a run, complete or interrupted.

    Parameters
    ----------
    robot : Robot
    recorder : Recorder
    timeline : Timeline
    mechanisms : sequence of Mechanism
    actor_positions : {fixture name: (T, J) array}
        Where the actor had the joints of the fixture at the recording's samples, m or rad.
    strokes : (N, 2) int array or None
        First and last sample of the recording's repetitions.
    settle : float
        Time of standing still before anything moves, s.
    seat : str
        Name of the fixture that the robot sits on; empty if it stands.

    Returns
    -------
    xarray.Dataset
    """
    used = slice(0, recorder.count)
    time = recorder.time[used]
    mass = float(pin.computeTotalMass(robot.model))
    wrench = recorder.foot_wrench[used]
    push = recorder.push_wrench[used]
    others = recorder.contact_wrench[used] + _grip_wrenches(recorder, used) + push
    cog, rate = recorder.cog[used], _derivative(time, recorder.cog_velocity[used] * mass)
    spin = _derivative(time, recorder.angular_momentum[used])
    ground = wrench.sum(axis=1)
    joint, foot, xyz = ("time", "joint"), ("time", "foot", "axis6"), ("time", "xyz")
    hand3 = ("time", "hand", "xyz")
    variables: dict[str, Variable] = {
        "joint_position": (joint, recorder.joint_position[used], "rad"),
        "joint_velocity": (joint, recorder.joint_velocity[used], "rad/s"),
        "joint_reference": (joint, recorder.joint_reference[used], "rad"),
        "torque_requested": (joint, recorder.torque_requested[used], "N m"),
        "torque_motor": (joint, recorder.torque_motor[used], "N m"),
        "torque_joint": (joint, recorder.torque_joint[used], "N m"),
        "torque_friction": (joint, recorder.torque_friction[used], "N m"),
        "base_pose": (("time", "pose"), recorder.base_pose[used], "m; quaternion x y z w"),
        "base_velocity": (("time", "axis6"), recorder.base_velocity[used], "m/s, rad/s in the root frame"),
        "cog": (xyz, cog, "m"),
        "cog_velocity": (xyz, recorder.cog_velocity[used], "m/s"),
        "angular_momentum": (xyz, recorder.angular_momentum[used], "N m s"),
        "foot_wrench": (foot, wrench, "N, N m about the world origin"),
        "foot_points": (("time", "foot", "point", "xy"), recorder.foot_points[used], "m"),
        "other_wrench": (("time", "axis6"), others, "N, N m about the world origin"),
        "push_wrench": (("time", "axis6"), push, "N, N m about the world origin"),
        "palm_position": (hand3, recorder.palm_position[used], "m"),
        "hand_contact": (("time", "hand"), np.zeros((len(time), len(robot.hands)), dtype=bool), ""),
        "grip_wrench": (("time", "hand", "axis6"), recorder.grip_wrench[used], "N, N m at grip_point"),
        "grip_point": (hand3, recorder.grip_point[used], "m"),
        "grip_engaged": (("time", "hand"), recorder.grip_engaged[used], ""),
        **_limits(robot, recorder),
        **contact_variables(recorder.events),
    }
    stands = bool(robot.feet) and not seat
    if stands:
        variables["zmp"] = (("time", "xy"), zmp_from_wrench(ground[:, :3], ground[:, 3:]), "m")
        variables["zmp_from_momentum"] = (
            ("time", "xy"),
            zmp_from_momentum(mass, GRAVITY, cog, rate, spin, others[:, :3], others[:, 3:]),
            "m",
        )
    sides = [role.removesuffix("_hand") for role in robot.hands]
    if timeline.hands is not None:
        variables["palm_target"] = (hand3, _palm_paths(timeline.hands.targets, sides, timeline, time), "m")
        variables["palm_actor"] = (hand3, _palm_paths(timeline.hands.actor, sides, timeline, time), "m")
        variables["hand_contact"] = (
            ("time", "hand"),
            _in_contact(timeline.hands.contact, sides, timeline, time),
            "",
        )
    for mechanism, record in zip(mechanisms, recorder.fixtures, strict=True):
        asked = actor_positions[mechanism.name]
        paths = [np.interp(time, timeline.time, asked[:, column]) for column in range(asked.shape[1])]
        variables |= _fixture_variables(mechanism, record, used, paths)
    bounds = timeline.time[strokes] if strokes is not None else np.empty((0, 2))
    variables["strokes"] = (("stroke", "bound"), bounds, "s")
    coordinates = {
        "time": time,
        "joint": robot.joint_names,
        "foot": [role.removesuffix("_foot") for role in robot.feet],
        "hand": sides,
        "xyz": ("x", "y", "z"),
        "xy": ("x", "y"),
        "pose": ("x", "y", "z", "qx", "qy", "qz", "qw"),
        "axis6": ("fx", "fy", "fz", "mx", "my", "mz"),
    }
    steps = max(recorder.steps, 1)
    attributes = {
        "robot": robot.name,
        "mass_kg": mass,
        "gravity_m_s2": GRAVITY,
        "settle_s": settle,
        "motion_start_s": timeline.start,
        "grips_lost": recorder.grips_lost,
        "saturated_fraction": recorder.saturated_steps / (steps * len(robot.joint_names)),
        "hand_links": " ".join(link for hand in robot.hands.values() for link in (hand.palm, *hand.fingers)),
        "foot_links": " ".join(_foot_links(robot)),
        "thigh_links": " ".join(robot.thighs),
        "seat": seat,
    }
    log = build_dataset(variables, coordinates, attributes)
    return add_support_polygon(log) if stands else log


def with_balance(log: xr.Dataset, balancer: OnlineBalance) -> xr.Dataset:
    """Add what balance wanted and measured.

    Parameters
    ----------
    log : xarray.Dataset
    balancer : OnlineBalance

    Returns
    -------
    xarray.Dataset
    """
    whole, gait = balancer.whole, balancer.gait
    ticks = np.rint(log["time"].values / gait.timestep).astype(int).clip(0, len(gait.zmp) - 1)
    plane = ("time", "xy")
    logged = {
        "cog_desired": (plane, gait.cog[ticks], {"units": "m"}),
        "zmp_desired": (plane, gait.zmp[ticks], {"units": "m"}),
        "cog_measured": (plane, whole.cog[ticks], {"units": "m"}),
        "zmp_measured": (plane, whole.zmp[ticks], {"units": "m"}),
        "contact_planned": (("time", "foot"), gait.contact[ticks], {"units": ""}),
    }
    gave_up = np.nan if whole.gave_up is None else whole.gave_up * gait.timestep
    attributes = {
        "steps": gait.steps,
        "recovery_steps": whole.recovery_steps,
        "landed_early": whole.landing.early,
        "balance_gave_up_s": gave_up,
    }
    return log.assign(logged).assign_attrs(attributes)


def _fixture_variables(
    mechanism: Mechanism, record: FixtureRecord, used: slice, paths: Sequence[NDArray[np.float64]]
) -> dict[str, Variable]:
    """Label the samples of a fixture: its joints, where it stands, and what the robot's contacts do to it."""
    variables: dict[str, Variable] = {}
    for column, joint in enumerate(mechanism.joints):
        name = f"{mechanism.name}_{joint.name}"
        variables[name] = (("time",), record.position[used, column], joint.unit)
        variables[f"{name}_velocity"] = (("time",), record.velocity[used, column], f"{joint.unit}/s")
        variables[f"{name}_actor"] = (("time",), paths[column], joint.unit)
    if mechanism.cut is not None:
        column = mechanism.column(mechanism.cut.joint)
        per_way = mechanism.joints[column].friction / mechanism.cut.work_per_depth
        depths = {"cut": record.position[used, column], "cut_actor": paths[column]}
        for name, way in depths.items():
            depth = per_way * np.concatenate([[0.0], np.cumsum(np.abs(np.diff(way)))])
            variables[f"{mechanism.name}_{name}"] = (("time",), depth[: len(way)], "m")
    if mechanism.standing:
        stand = record.stand[used]
        variables[f"{mechanism.name}_stand"] = (("time", "pose"), stand, "m; quaternion x y z w")
    wrench = record.contact_wrench[used]
    variables[f"{mechanism.name}_contact_wrench"] = (
        ("time", "axis6"),
        wrench,
        "N, N m about the world origin",
    )
    return variables


def _limits(robot: Robot, recorder: Recorder) -> dict[str, Variable]:
    model = robot.model
    arms = {joint for side in SIDES for joint in robot.groups.get(f"{side}_arm", ())}
    grips = {joint for hand in robot.hands.values() for joint in hand.joints}
    return {
        "position_lower": (("joint",), np.asarray(model.lowerPositionLimit[robot.root_q :]), "rad"),
        "position_upper": (("joint",), np.asarray(model.upperPositionLimit[robot.root_q :]), "rad"),
        "speed_limit": (("joint",), np.asarray(model.velocityLimit[robot.root_v :]), "rad/s"),
        "torque_limit": (("joint",), robot.motors.torque_limit, "N m"),
        "lowest_position": (("joint",), recorder.lowest_position, "rad"),
        "highest_position": (("joint",), recorder.highest_position, "rad"),
        "highest_speed": (("joint",), recorder.highest_speed, "rad/s"),
        "is_grip": (("joint",), np.array([name in grips for name in robot.joint_names]), ""),
        "is_arm": (("joint",), np.array([name in arms for name in robot.joint_names]), ""),
    }


def _foot_links(robot: Robot) -> list[str]:
    model = robot.model
    feet = {model.frames[model.getFrameId(robot.frames[role])].parentJoint for role in robot.feet}
    return [
        frame.name for frame in model.frames if frame.type == pin.FrameType.BODY and frame.parentJoint in feet
    ]


def _grip_wrenches(recorder: Recorder, used: slice) -> NDArray[np.float64]:
    """Sum of the grips' forces on the palms, and their moment about the world origin."""
    force, torque = recorder.grip_wrench[used, :, :3], recorder.grip_wrench[used, :, 3:]
    moment = torque + np.cross(recorder.grip_point[used], force)
    return np.concatenate([force.sum(axis=1), moment.sum(axis=1)], axis=1)


def _derivative(time: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.gradient(values, time, axis=0) if len(time) > 1 else np.zeros_like(values)


def _palm_paths(
    poses: Mapping[str, NDArray[np.float64]],
    sides: Sequence[str],
    timeline: Timeline,
    time: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Positions of the palms at the log's times, (S, H, 3); NaN for a hand of which nothing is asked."""
    paths = np.full((len(time), len(sides), 3), np.nan)
    for column, side in enumerate(sides):
        if side in poses:
            for axis in range(3):
                paths[:, column, axis] = np.interp(time, timeline.time, poses[side][:, axis, 3])
    return paths


def _in_contact(
    contact: Mapping[str, NDArray[np.bool_]],
    sides: Sequence[str],
    timeline: Timeline,
    time: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Whether the actor's hands hold at the log's times, (S, H)."""
    inside = (time >= timeline.time[0]) & (time <= timeline.time[-1])
    holding = np.zeros((len(time), len(sides)), dtype=bool)
    for column, side in enumerate(sides):
        if side in contact:
            shares = np.interp(time, timeline.time, contact[side].astype(float))
            holding[:, column] = inside & (shares >= 1.0 - 1e-9)
    return holding
