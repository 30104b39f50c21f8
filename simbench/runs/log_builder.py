"""A run's log from its samples: labelled, with units, and with what metrics need beside it."""

from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio as pin
import xarray as xr
from numpy.typing import NDArray

from simbench.balance.standing.support import zmp_from_momentum, zmp_from_wrench
from simbench.kinematics.arrays import Array
from simbench.retargeting.reference.reference import Timeline
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.runs.log import Variable, build_dataset, contact_variables
from simbench.runs.metrics import add_support_polygon
from simbench.sim.balance_loop import OnlineBalance
from simbench.sim.engine import GRAVITY
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.recorder import Recorder


def make_log(
    robot: Robot,
    recorder: Recorder,
    timeline: Timeline,
    mechanisms: Sequence[Mechanism],
    actor_positions: Mapping[str, Array],
    strokes: NDArray[np.int64] | None,
    settle: float,
    seat: str = "",
) -> xr.Dataset:
    """Build the log of a run, complete or interrupted: all recorded signals, and what metrics need beside.

    Parameters
    ----------
    robot : Robot
        Robot of the run, in the world's frame.
    recorder : Recorder
        Samples of the run.
    timeline : Timeline
        Reference of the run and the recording's place in it.
    mechanisms : sequence of Mechanism
        Fixtures of the run.
    actor_positions : {fixture name: (T, J) array}
        Joint positions of each fixture as the actor moved it, at the recording's samples, m or rad.
    strokes : (N, 2) int array or None
        First and last sample of the recording's repetitions.
    settle : float
        Time of standing still before anything moves, s.
    seat : str
        Name of the fixture that the robot sits on; empty if it stands.

    Returns
    -------
    xarray.Dataset
        Log with labels and units.
    """
    used = slice(0, recorder.count)
    time = recorder.time[used]
    sides = [role.removesuffix("_hand") for role in robot.hands]
    stands = bool(robot.feet) and not seat
    variables: dict[str, Variable] = {
        name: (("time", *signal.dims), recorder[name][used], signal.unit)
        for name, signal in recorder.signals.items()
    }
    variables |= _limits(robot, recorder) | contact_variables(recorder.events)
    if stands:
        variables |= _zmp_variables(robot, time, variables)
    variables |= _hand_variables(timeline, sides, time)
    for mechanism in mechanisms:
        positions = actor_positions[mechanism.name]
        paths = [np.interp(time, timeline.time, positions[:, column]) for column in range(positions.shape[1])]
        variables |= _actor_variables(mechanism, recorder, paths)
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
        "mass_kg": float(pin.computeTotalMass(robot.model)),
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
    """Add the desired and the measured COG and ZMP of balance to a log.

    Parameters
    ----------
    log : xarray.Dataset
        Log of the run.
    balancer : OnlineBalance
        Balancer of the run, after it.

    Returns
    -------
    xarray.Dataset
        Log with the variables and attributes of balance.
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


def _zmp_variables(robot: Robot, time: Array, variables: Mapping[str, Variable]) -> dict[str, Variable]:
    """Compute the ZMP from the ground's wrench, and again from momentum and all other wrenches."""

    def values(name: str) -> Array:
        return np.asarray(variables[name][1])

    mass = float(pin.computeTotalMass(robot.model))
    cog, others = values("cog"), values("other_wrench")
    rate = _derivative(time, values("cog_velocity") * mass)
    spin = _derivative(time, values("angular_momentum"))
    ground = values("foot_wrench").sum(axis=1)
    momentum = zmp_from_momentum(mass, GRAVITY, cog, rate, spin, others[:, :3], others[:, 3:])
    return {
        "zmp": (("time", "xy"), zmp_from_wrench(ground[:, :3], ground[:, 3:]), "m"),
        "zmp_from_momentum": (("time", "xy"), momentum, "m"),
    }


def _hand_variables(timeline: Timeline, sides: Sequence[str], time: Array) -> dict[str, Variable]:
    """Sample the planned motion of the palms at the log's times; only the contact if there is no plan."""
    plan = timeline.hands
    if plan is None:
        return {"hand_contact": (("time", "hand"), np.zeros((len(time), len(sides)), dtype=bool), "")}
    return {
        "palm_target": (("time", "hand", "xyz"), _palm_paths(plan.targets, sides, timeline, time), "m"),
        "palm_actor": (("time", "hand", "xyz"), _palm_paths(plan.actor, sides, timeline, time), "m"),
        "hand_contact": (("time", "hand"), _in_contact(plan.contact, sides, timeline, time), ""),
    }


def _actor_variables(mechanism: Mechanism, recorder: Recorder, paths: Sequence[Array]) -> dict[str, Variable]:
    """Label how the actor moved a fixture's joints, and how deep both cut where it is a knife."""
    variables: dict[str, Variable] = {
        f"{mechanism.name}_{joint.name}_actor": (("time",), path, joint.unit)
        for joint, path in zip(mechanism.joints, paths, strict=True)
    }
    if mechanism.cut is not None:
        column = mechanism.column(mechanism.cut.joint)
        joint = mechanism.joints[column]
        depth_per_path = joint.friction / mechanism.cut.work_per_depth
        position = recorder[f"{mechanism.name}_{joint.name}"][: recorder.count]
        for name, path in {"cut": position, "cut_actor": paths[column]}.items():
            depth = depth_per_path * np.concatenate([[0.0], np.cumsum(np.abs(np.diff(path)))])
            variables[f"{mechanism.name}_{name}"] = (("time",), depth[: len(path)], "m")
    return variables


def _limits(robot: Robot, recorder: Recorder) -> dict[str, Variable]:
    """Label the limits of the joints, the extremes of their motion, and which are of arms or grips."""
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
    """List the links that are fixed to the last joint of a leg."""
    model = robot.model
    feet = {model.frames[model.getFrameId(robot.frames[role])].parentJoint for role in robot.feet}
    return [
        frame.name for frame in model.frames if frame.type == pin.FrameType.BODY and frame.parentJoint in feet
    ]


def _derivative(time: Array, values: Array) -> Array:
    """Differentiate samples (S, ...) by time; zero for a single sample."""
    return np.gradient(values, time, axis=0) if len(time) > 1 else np.zeros_like(values)


def _palm_paths(
    poses: Mapping[str, Array],
    sides: Sequence[str],
    timeline: Timeline,
    time: Array,
) -> Array:
    """Positions of the palms at the log's times, (S, H, 3); NaN for a hand without a plan."""
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
    time: Array,
) -> NDArray[np.bool_]:
    """Whether the actor's hands hold at the log's times, (S, H)."""
    inside = (time >= timeline.time[0]) & (time <= timeline.time[-1])
    holding = np.zeros((len(time), len(sides)), dtype=bool)
    for column, side in enumerate(sides):
        if side in contact:
            fraction = np.interp(time, timeline.time, contact[side].astype(float))
            holding[:, column] = inside & (fraction >= 1.0 - 1e-9)
    return holding
