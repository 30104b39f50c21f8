"""A run's log from its samples: labelled, with units, and with what metrics need beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.balance.ground_reaction import (
    support_margins,
    support_polygons,
    zmp_from_momentum,
    zmp_from_wrench,
)
from simbench.kinematics.arrays import Array
from simbench.retargeting.reference.reference import Timeline
from simbench.robot.robot import Robot
from simbench.robot.robot_limbs import hand_links
from simbench.robot.sides import SIDES
from simbench.runs.log import Variable, contact_variables, label
from simbench.runs.log_schema import COORDINATE_SIGNALS, EQUIPMENT, LABELS, STROKES
from simbench.runs.preparation import Preparation
from simbench.runs.trajectory_plan import TrackedMotion
from simbench.sim.engine import GRAVITY
from simbench.sim.fixtures.fixture_section import FixtureSection
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.fixtures.stored import describe_equipment
from simbench.sim.recorder import Recorder, derive_signals
from simbench.sim.state import Signal

if TYPE_CHECKING:
    import xarray as xr

# Limits of the joints and the extremes of their motion. Prismatic joints have m, m/s and N.
LIMIT_SIGNALS: tuple[Signal[None], ...] = (
    Signal("position_lower", ("joint",), "rad", "Lower limit of each joint's position."),
    Signal("position_upper", ("joint",), "rad", "Upper limit of each joint's position."),
    Signal("speed_limit", ("joint",), "rad/s", "Limit of each joint's speed."),
    Signal("torque_limit", ("joint",), "N m", "Limit of each motor's torque at the joint."),
    Signal("lowest_position", ("joint",), "rad", "Least position of each joint at any physics step."),
    Signal("highest_position", ("joint",), "rad", "Greatest position of each joint at any physics step."),
    Signal("highest_speed", ("joint",), "rad/s", "Greatest speed of each joint at any physics step."),
    Signal("is_grip", ("joint",), "", "Whether the joint closes a hand.", dtype=bool),
    Signal("is_arm", ("joint",), "", "Whether the joint is one of an arm.", dtype=bool),
)
# Both computations of the ZMP.
ZMP_SIGNALS: tuple[Signal[None], ...] = (
    Signal(
        "zmp",
        ("xy",),
        "m",
        "ZMP on the floor in the world, from the wrench of the floor on the feet; NaN without contact.",
    ),
    Signal(
        "zmp_from_momentum",
        ("xy",),
        "m",
        "ZMP on the floor in the world, from the rate of the momentum and all other wrenches on the robot.",
    ),
)
# What a log samples of the plan of the hands.
HAND_SIGNALS: tuple[Signal[None], ...] = (
    Signal(
        "palm_target",
        ("hand", "xyz"),
        "m",
        "Planned position of the palms in the world; NaN for a hand without a plan.",
    ),
    Signal(
        "palm_actor",
        ("hand", "xyz"),
        "m",
        "Position of the actor's palms in the world, as the robot is to repeat it; NaN for a hand without a "
        "plan.",
    ),
    Signal("hand_contact", ("hand",), "", "Whether each of the actor's hands is in contact.", dtype=bool),
)
# What `add_support_polygon` adds to a log.
SUPPORT_SIGNALS: tuple[Signal[None], ...] = (
    Signal(
        "support_polygon",
        ("corner", "xy"),
        "m",
        "Corners of the support polygon in the world: the convex hull of the points where the feet touch the "
        "floor, padded with NaN.",
    ),
    Signal(
        "zmp_margin",
        (),
        "m",
        "Distance of the ZMP from the edge of the support polygon: positive inside, negative outside, -∞ "
        "without contact.",
    ),
)
# What `build_log` adds to the log of a robot that is balanced.
BALANCE_SIGNALS: tuple[Signal[None], ...] = (
    Signal("cog_desired", ("xy",), "m", "Desired COG in the world."),
    Signal("zmp_desired", ("xy",), "m", "Desired ZMP in the world."),
    Signal("cog_measured", ("xy",), "m", "COG in the world as the balance controller measures it."),
    Signal("zmp_measured", ("xy",), "m", "ZMP in the world as the balance controller measures it."),
    Signal("contact_planned", ("foot",), "", "Whether each foot is planned to be on the floor.", dtype=bool),
)
# Attributes that `build_log` adds to the log of a robot that is balanced.
BALANCE_ATTRIBUTES: tuple[Signal[None], ...] = (
    Signal("steps", (), "", "Number of planned steps.", dtype=int),
    Signal("recovery_steps", (), "", "Number of steps taken to recover from pushes.", dtype=int),
    Signal(
        "landed_early", (), "", "Number of swings that met the floor before their planned end.", dtype=int
    ),
    Signal("balance_gave_up_s", (), "s", "Time from which the balance controller held still; NaN if never."),
)
# Attributes of the log of a run whose physics diverged.
DIVERGENCE_ATTRIBUTES: tuple[Signal[None], ...] = (
    Signal("diverged", (), "", "When the physics diverged and what did first; absent if not.", dtype=str),
)
JOINT_TRAJECTORY: Signal[None] = Signal(
    "joint_trajectory",
    ("joint",),
    "rad",
    "Joint positions of the file that is followed; NaN before and after it.",
)
# What `with_trajectory` adds to a log beside `JOINT_TRAJECTORY`, for a robot on its feet.
TRAJECTORY_SIGNALS: tuple[Signal[None], ...] = (
    Signal(
        "base_trajectory",
        ("pose",),
        "m",
        "Pose of the root in the world that the file that is followed has, as placed; NaN before and after.",
    ),
    Signal(
        "foot_trajectory",
        ("foot", "xyz"),
        "m",
        "Position of the feet in the world that the file that is followed has, as placed; NaN before and "
        "after.",
    ),
    Signal(
        "contact_trajectory",
        ("foot",),
        "",
        "Whether the file that is followed has a foot on the floor.",
        dtype=bool,
    ),
)


def actor_signals(mechanism: Mechanism) -> tuple[Signal[None], ...]:
    """Declare what the log holds of the actor's motion of a fixture, and of what both cut with it.

    `mechanism`: description of the fixture. Returns position of each joint as the actor moved it; for a
    fixture that cuts, the depths of both cuts.
    """
    signals: list[Signal[None]] = [
        Signal(
            f"{mechanism.name}_{joint.name}_actor",
            (),
            joint.unit,
            "Position to which the actor moved the joint.",
        )
        for joint in mechanism.joints
    ]
    if mechanism.cut is not None:
        signals += [
            Signal(f"{mechanism.name}_cut", (), "m", "Depth of the robot's cut."),
            Signal(f"{mechanism.name}_cut_actor", (), "m", "Depth that the actor's motion would cut."),
        ]
    return tuple(signals)


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

    `robot`: robot of the run, in the world's frame; `recorder`: samples of the run; `timeline`: reference of
    the run and the recording's place in it; `mechanisms`: fixtures of the run; `actor_positions` {fixture
    name: (T, J) array}: joint positions of each fixture as the actor moved it, at the recording's samples, m
    or rad; `strokes` (N, 2) int or None: first and last sample of the recording's repetitions; `settle`: time
    of standing still before anything moves, s; `seat`: name of the fixture that the robot sits on; empty if
    it stands. Returns log with labels and units.
    """
    used = slice(0, recorder.count)
    time, model = recorder.time[used], robot.model
    sides = [role.removesuffix("_hand") for role in robot.hands]
    stands = bool(robot.feet) and not seat
    sampled = {name: recorder[name][used] for name in recorder.signals}
    variables = label(list(recorder.signals.values()), sampled, "time")
    arms = {joint for side in SIDES for joint in robot.groups.get(f"{side}_arm", ())}
    grips = {joint for hand in robot.hands.values() for joint in hand.joints}
    limits = {
        "position_lower": np.asarray(model.lowerPositionLimit[robot.root_q :]),
        "position_upper": np.asarray(model.upperPositionLimit[robot.root_q :]),
        "speed_limit": np.asarray(model.velocityLimit[robot.root_v :]),
        "torque_limit": robot.motors.torque_limit,
        "lowest_position": recorder.lowest_position,
        "highest_position": recorder.highest_position,
        "highest_speed": recorder.highest_speed,
        "is_grip": np.array([name in grips for name in robot.joint_names]),
        "is_arm": np.array([name in arms for name in robot.joint_names]),
    }
    variables |= label(LIMIT_SIGNALS, limits) | contact_variables(recorder.events)
    mass = float(pin.computeTotalMass(model))
    if stands:
        others, ground = np.asarray(sampled["other_wrench"]), np.asarray(sampled["foot_wrench"]).sum(axis=1)
        rate, spin = (
            np.gradient(each, time, axis=0) if len(time) > 1 else np.zeros_like(each)
            for each in (sampled["cog_velocity"] * mass, np.asarray(sampled["angular_momentum"]))
        )
        momentum = zmp_from_momentum(
            mass, GRAVITY, np.asarray(sampled["cog"]), rate, spin, others[:, :3], others[:, 3:]
        )
        zmp = {"zmp": zmp_from_wrench(ground[:, :3], ground[:, 3:]), "zmp_from_momentum": momentum}
        variables |= label(ZMP_SIGNALS, zmp, "time")
    # The planned motion of the palms, NaN for a hand without a plan; without any plan only the contact.
    plan, shape = timeline.hands, (len(time), len(sides))
    holding = np.zeros(shape, dtype=bool)
    if plan is not None:
        target, palm = np.full((*shape, 3), np.nan), np.full((*shape, 3), np.nan)
        inside = (time >= timeline.time[0]) & (time <= timeline.time[-1])
        for column, side in enumerate(sides):
            for places, poses in ((target, plan.targets), (palm, plan.actor)):
                for axis in range(3) if side in poses else ():
                    places[:, column, axis] = np.interp(time, timeline.time, poses[side][:, axis, 3])
            if side in plan.contact:
                fraction = np.interp(time, timeline.time, plan.contact[side].astype(float))
                holding[:, column] = inside & (fraction >= 1.0 - 1e-9)
        variables |= label(HAND_SIGNALS, {"palm_target": target, "palm_actor": palm}, "time")
    variables |= label(HAND_SIGNALS, {"hand_contact": holding}, "time")
    for each in mechanisms:
        actor = actor_positions[each.name].T
        paths = [np.interp(time, timeline.time, positions) for positions in actor]
        values: dict[str, Array] = {
            f"{each.name}_{joint.name}_actor": path for joint, path in zip(each.joints, paths, strict=True)
        }
        if each.cut is not None:
            column = each.column(each.cut.joint)
            joint = each.joints[column]
            depth_per_path = joint.friction / each.cut.work_per_depth
            position = recorder[f"{each.name}_{joint.name}"][used]
            for name, path in {"cut": position, "cut_actor": paths[column]}.items():
                depth = depth_per_path * np.concatenate([[0.0], np.cumsum(np.abs(np.diff(path)))])
                values[f"{each.name}_{name}"] = depth[: len(path)]
        variables |= label(actor_signals(each), values, "time")
    bounds = timeline.time[strokes] if strokes is not None else np.empty((0, 2))
    variables |= label((STROKES,), {"strokes": bounds})
    legs = {model.frames[model.getFrameId(robot.frames[role])].parentJoint for role in robot.feet}
    # Links that are fixed to the last joint of a leg.
    foot_links = [
        frame.name for frame in model.frames if frame.type == pin.FrameType.BODY and frame.parentJoint in legs
    ]
    coordinates = {
        "time": time,
        "joint": robot.joint_names,
        "foot": [role.removesuffix("_foot") for role in robot.feet],
        "hand": sides,
        **LABELS,
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
        "hand_links": " ".join(link for role in robot.hands for link in hand_links(robot, role)),
        "foot_links": " ".join(foot_links),
        "thigh_links": " ".join(robot.thighs),
        "seat": seat,
    }
    if recorder.divergence is not None:
        attributes["diverged"] = str(recorder.divergence)
    log = build_dataset(variables, coordinates, attributes)
    return add_support_polygon(log) if stands else log


def build_dataset(
    variables: Mapping[str, Variable | tuple[tuple[str, ...], Any, str]],
    coordinates: Mapping[str, Any],
    attributes: Mapping[str, Any],
) -> xr.Dataset:
    """Combine arrays in a dataset whose variables all have `units`, and a `description` where it is given.

    `variables`: variables by name; `coordinates`: labels of each dimension that has them; `attributes`:
    attributes of the whole run.
    """
    import xarray as xr

    data = {}
    for name, (dims, values, given) in variables.items():
        data[name] = (dims, values, {"units": given} if isinstance(given, str) else given)
    declared = {signal.name: signal for signal in COORDINATE_SIGNALS}
    labels = {}
    for name, values in coordinates.items():
        signal = declared[name]
        units = {"units": signal.unit} if signal.unit else {}
        labels[name] = (name, np.asarray(values), {**units, "description": signal.description})
    return xr.Dataset(data, coords=labels, attrs=dict(attributes))


def add_support_polygon(log: xr.Dataset) -> xr.Dataset:
    """Add the support polygon (`support_polygon`) and the ZMP's signed margin (`zmp_margin`) to a log.

    The polygon is the convex hull of the points where the feet touch the floor, padded with NaN. `log`: log
    with `foot_points` and `zmp`. Returns the log with both variables, m.
    """
    points = log["foot_points"].values
    points = points.reshape(len(points), points.shape[1] * points.shape[2], 2)
    zmp = log["zmp"].values
    polygons = support_polygons(points)
    margins = support_margins(zmp, polygons)
    return log.assign(label(SUPPORT_SIGNALS, {"support_polygon": polygons, "zmp_margin": margins}, "time"))


def build_log(prepared: Preparation, robot: Robot, recorder: Recorder, *, derive: bool = False) -> xr.Dataset:
    """Build the log of what a recorder holds.

    `prepared`: what is simulated; `robot`: the robot in the simulation; `derive`: whether the signals that
    follow from others are computed first, as of a part of a run.
    """
    if derive:
        derive_signals(recorder, robot)
    settings, course, followed = prepared.scenario.simulation, prepared.course, prepared.followed
    log = make_log(
        robot,
        recorder,
        prepared.timeline,
        prepared.mechanisms,
        course.asked,
        course.strokes,
        settings.settle_s,
        prepared.seat.name if prepared.seat else "",
    )
    designs: Any = zip(prepared.scenario.fixtures, prepared.mechanisms, strict=True)
    # Who reads the run need not have their code.
    if plugged := [each for design, each in designs if isinstance(design, FixtureSection)]:
        log = log.assign(label((EQUIPMENT,), {EQUIPMENT.name: describe_equipment(plugged)}))
    if prepared.balanced:
        # The desired and the measured COG and ZMP.
        whole, gait = prepared.balanced.balancer.whole, prepared.balanced.balancer.gait
        ticks = np.rint(log["time"].values / gait.timestep).astype(int).clip(0, len(gait.zmp) - 1)
        logged = {
            "cog_desired": gait.cog[ticks],
            "zmp_desired": gait.zmp[ticks],
            "cog_measured": whole.cog[ticks],
            "zmp_measured": whole.zmp[ticks],
            "contact_planned": gait.contact[ticks],
        }
        attributes = {
            "steps": gait.steps,
            "recovery_steps": whole.recovery.steps if whole.recovery else 0,
            "landed_early": whole.landing.early,
            "balance_gave_up_s": np.nan if whole.gave_up is None else whole.gave_up * gait.timestep,
        }
        log = log.assign(label(BALANCE_SIGNALS, logged, "time")).assign_attrs(attributes)
    return with_trajectory(log, followed.tracked, settings.timestep_s) if followed else log


def with_trajectory(log: xr.Dataset, tracked: TrackedMotion, timestep: float) -> xr.Dataset:
    """Add the trajectory that a run follows to its log.

    `tracked`: the trajectory at every physics step; `timestep`: physics step, s. Returns log with the
    variables of the trajectory.
    """
    steps = np.rint(log["time"].values / timestep).astype(int) - 1
    rows = steps.clip(0, len(tracked.joints) - 1)
    joints = label((JOINT_TRAJECTORY,), {"joint_trajectory": tracked.joints[rows]}, "time")
    log = log.assign(joints)
    if not tracked.base.shape[1]:
        return log
    values = {
        "base_trajectory": tracked.base[rows],
        "foot_trajectory": tracked.feet[rows, :, :3],
        "contact_trajectory": tracked.contact[rows],
    }
    return log.assign(label(TRAJECTORY_SIGNALS, values, "time"))
