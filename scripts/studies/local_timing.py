"""Compare local stretching of time with slowing all of a motion by one factor, task by task.

python scripts/studies/local_timing.py [SCENARIO]... [--all]

Plans each scenario twice, with `retarget.timing` uniform and local, and prints both durations and the least
time that limits of joint speeds alone leave; the uniform plan's accelerations against their limits, which
`uniform` does not keep, and how long it would take if it did; for the local plan the greatest stretch, the
limit that takes most of the time, and how much of the limits it needs, computed from the planned trajectory:
speeds on the cubic spline through its samples; accelerations over windows of at least five samples, against
`acceleration_limits`; torques by `standing_torques` or RNEA; and the least distance of the planned ZMP from
the edge of the soles, of both plans. Default: the tasks that the uniform factor slows. Exit status 1 if a
local plan takes longer than a uniform one within the same limits of accelerations, whose ZMP is no nearer to
the edge, or is beyond a limit.
"""

import argparse
import sys
import time
from functools import partial
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from rich.console import Console
from rich.table import Table
from scipy.interpolate import make_interp_spline

from simbench.balance.ground_reaction import planned_zmp, standing_torques, support_margins, support_polygons
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import differentiate
from simbench.retargeting.arm.fixed_base import ArmPlan
from simbench.retargeting.arm.on_equipment import plan_fixed_base
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.retargeting.stand.arms_and_legs import hand_wrenches, inertia_onset
from simbench.retargeting.stand.standing_plan import MotionPlan, plan_motion
from simbench.retargeting.timing.stretch import PathLimits, fit_tempo
from simbench.robot.robot import Robot, load_robot
from simbench.robot.robot_limbs import estimated_accelerations
from simbench.runs.motion_source import scenario_motion
from simbench.runs.retargeted_reference import build_whole_body_reference
from simbench.runs.run_plan import PlanInputs, collect_inputs
from simbench.runs.scenario.loading import load_scenario, scenario_mechanisms
from simbench.sim.equipment import describe_handles, find_obstacles

SLOWED = (
    "valves",
    "valves_by_weights",
    "mahru_valves",
    "canoe_paddles",
    "canoe_paddles_by_weights",
    "steering_wheel",
    "steering_wheel_by_weights",
    "ur5_steering_wheel",
    "hand_drill",
    "knife",
    "knife_by_weights",
    "puma560_valves",
)
OTHERS = (
    "drawer",
    "grater",
    "pump",
    "mahru_drawer",
    "mahru_steering_wheel",
    "talos_drawer",
    "panda_drawer",
    "panda_valves",
    "puma560_drawer",
    "puma560_steering_wheel",
    "ur5_drawer",
)
TOLERANCE = 0.002
"""Excess of a limit that counts as none: between the samples of a plan."""


class Use(NamedTuple):
    """Largest ratios of a plan to its limits, and its ZMP's least distance from the soles' edge, m."""

    speed: float
    acceleration: float
    torque: float
    zmp: float


def plan(robot: Robot, inputs: PlanInputs) -> MotionPlan | ArmPlan:
    """Plan a motion as a run does."""
    motion, mechanisms = inputs.motion, inputs.mechanisms
    handles = (motion.handles or describe_handles(mechanisms)) if mechanisms else {}
    equipment = Equipment(handles, partial(find_obstacles, mechanisms, robot), inputs.resistance)
    given = robot, motion, inputs.robot, inputs.retarget, equipment, lambda stage, done, total: None
    if not robot.floating:
        return plan_fixed_base(*given)
    return plan_motion(
        *given,
        embedding=inputs.embedding,
        check=lambda made: build_whole_body_reference(
            robot,
            made,
            inputs.timing,
            feedforward=inputs.feedforward,
            speed_fraction=inputs.retarget.speed_limit_fraction,
        ),
    )


def measure(robot: Robot, inputs: PlanInputs, made: MotionPlan | ArmPlan) -> Use:
    """Compute how much of the limits a plan needs, from its trajectory."""
    trajectory = made.trajectory
    at, q = trajectory.time, trajectory.q
    speed = np.asarray(robot.model.velocityLimit)[robot.root_v :]
    fine = np.arange(at[0], at[-1], 1e-3)
    fastest = (np.abs(make_interp_spline(at, q, k=3).derivative()(fine)) / speed).max()
    found = differentiate(at, q)
    upper = made.upper if isinstance(made, MotionPlan) else range(len(speed))
    limit = np.full(len(speed), np.inf)
    limit[list(upper)] = estimated_accelerations(robot, [robot.joint_names[column] for column in upper])
    torque, margin = _torques(robot, made), np.nan
    if isinstance(made, MotionPlan) and not made.stance.seated:
        margin = _zmp_margin(robot, inputs, made)
    known = robot.motors.torque_limit > 0.0
    return Use(
        float(fastest),
        float((np.abs(found.acceleration) / limit).max()),
        float((np.abs(torque) / robot.motors.torque_limit)[2:-2, known].max()),
        float(margin),
    )


def _torques(robot: Robot, made: MotionPlan | ArmPlan) -> Array:
    """Joint torques of a plan at its samples (T, n), N·m, without the equipment's forces."""
    at, q = made.trajectory.time, made.trajectory.q
    if isinstance(made, MotionPlan):
        base, seated = made.trajectory.base, made.stance.seated
        return standing_torques(robot, at, base, q, inertia=True, seated=seated)
    found, data = differentiate(at, q), robot.model.createData()
    states = zip(found.position, found.velocity, found.acceleration, strict=True)
    return np.array([pin.rnea(robot.model, data, *state) for state in states])


def _zmp_margin(robot: Robot, inputs: PlanInputs, made: MotionPlan) -> float:
    """Least distance of the planned ZMP from the soles' edge, m."""
    trajectory, soles = made.trajectory, made.stance.soles
    wrench = sum(hand_wrenches(trajectory.time, made.hands, inputs.resistance).values())
    onset = inertia_onset(trajectory.time)
    zmp, _ = planned_zmp(robot, trajectory.time, trajectory.base, trajectory.q, wrench, onset)
    corners = [
        robot.soles[f"{side}_foot"] @ sole.rotation.T + sole.translation for side, sole in soles.items()
    ]
    polygon = support_polygons(np.concatenate(corners)[None, :, :2])
    return float(support_margins(zmp, np.repeat(polygon, len(zmp), axis=0)).min())


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenario", nargs="*")
    parser.add_argument("--all", action="store_true", help="tasks that are not slowed, too")
    given = parser.parse_args()
    names = given.scenario or (SLOWED + OTHERS if given.all else SLOWED)
    columns = (
        "recorded, s",
        "uniform, s",
        "factor",
        "its acceleration",
        "its ZMP, mm",
        "within limits, s",
        "local, s",
        "ratio",
        "largest",
        "stretched, %",
        "speeds alone, s",
        "speed",
        "acceleration",
        "torque",
        "ZMP, mm",
        "planning, s CPU",
    )
    table = Table("task", *columns, "longer than recorded for")
    missed = False
    for name in names:
        scenario = load_scenario(name)
        robot, mechanisms = load_robot(scenario.robot.name), scenario_mechanisms(scenario)
        motion = scenario_motion(scenario, mechanisms)
        made, seconds = {}, {}
        for timing in ("uniform", "local"):
            section = scenario.retarget.model_copy(update={"timing": timing})
            chosen = scenario.model_copy(update={"retarget": section})
            inputs = collect_inputs(robot, chosen, mechanisms, motion)
            before = time.process_time()
            made[timing] = plan(robot, inputs)
            seconds[timing] = time.process_time() - before
        one, local = made["uniform"], made["local"]
        use, metrics = measure(robot, inputs, local), local.metrics
        limit = np.asarray(robot.model.velocityLimit)[robot.root_v :] * section.speed_limit_fraction
        free = np.full(len(limit), np.inf)
        least = fit_tempo(PathLimits(motion.time, one.trajectory.q, limit, free, robot.joint_names))
        durations = [
            float(times[-1] - times[0]) for times in (motion.time, one.trajectory.time, local.trajectory.time)
        ]
        factor = one.metrics["retarget.slow_down"]
        one_use = measure(robot, inputs, one)
        within = durations[1] * np.sqrt(max(1.0, one_use.acceleration))
        longer = durations[2] > within * (1.0 + TOLERANCE) and not one_use.zmp < use.zmp
        missed |= longer or max(use[:2]) > 1.0 + TOLERANCE or use.torque > 1.0
        table.add_row(
            name,
            f"{durations[0]:.2f}",
            f"{durations[1]:.2f}",
            f"{factor:.3f}",
            f"{one_use.acceleration:.2f}",
            f"{1000 * one_use.zmp:.0f}",
            f"{within:.2f}",
            f"{durations[2]:.2f}",
            f"{metrics['retarget.slow_down']:.3f}",
            f"{metrics['retarget.slow_down_max']:.2f}",
            f"{100 * metrics['retarget.stretched_fraction']:.0f}",
            f"{least.robot[-1]:.2f}",
            f"{use.speed:.3f}",
            f"{use.acceleration:.2f}",
            f"{use.torque:.2f}",
            f"{1000 * use.zmp:.0f}",
            f"{seconds['uniform']:.1f} / {seconds['local']:.1f}",
            local.notes[0].split("most for ")[1] if local.notes else "",
        )
    Console(width=260).print(table)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
