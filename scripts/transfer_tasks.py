"""How well does a robot do the tasks a placement says it can? Contact, joint limits and corners, in numbers.

python scripts/transfer_tasks.py [--robot NAME] [--participant N] [--seed N] [--task NAME]...

For every task that has a place to stand: the farthest a planned palm is from its handle in contact (turns
that a handle leaves free do not count), the greatest change of a joint's speed from one hundredth of a second
to the next as part of its limit, at the pace of the plan, how far any joint passes its limits, and what still
comes into each other. Exit status 1 if a bar is missed: 1 mm, 0.5 degrees, 5 %, 0.
"""

import argparse
import sys

import numpy as np
import pinocchio as pin
from rich.console import Console
from rich.table import Table
from scipy.interpolate import make_interp_spline

from simbench.display import progress_bars
from simbench.errors import RetargetError
from simbench.motion.actors.session import perform_in_session
from simbench.motion.actors.tasks import PLACES
from simbench.plan import MotionPlan, plan_motion
from simbench.retarget.scaling import SIDES
from simbench.robot.robot import Robot, load_robot
from simbench.scenario_schema import RetargetSection, RobotSection

BARS = {"mm": 1.0, "degrees": 0.5, "speed jump, %": 5.0, "past limits, rad": 0.0}
STEP = 0.01


def contact_errors(robot: Robot, plan: MotionPlan) -> tuple[float, float]:
    """Greatest distance, m, and angle, rad, of the palms from their handles in contact, by Pinocchio."""
    model, data = robot.model, robot.model.createData()
    off, turned = [0.0], [0.0]
    for side in SIDES:
        frame, axis = model.getFrameId(robot.frames[f"{side}_hand"]), plan.hands.turn_axes[side]
        for sample in np.flatnonzero(plan.hands.contact[side]):
            q = np.concatenate([plan.trajectory.base[sample], plan.trajectory.q[sample]])
            pin.framesForwardKinematics(model, data, q)
            wanted = plan.hands.actor[side][sample]
            rotation = wanted[:3, :3].T @ data.oMf[frame].rotation
            off.append(float(np.linalg.norm(data.oMf[frame].translation - wanted[:3, 3])))
            turned.append(
                float(np.linalg.norm(pin.log3(rotation)))
                if axis is None
                else float(np.arccos(np.clip(axis @ rotation @ axis, -1.0, 1.0)))
            )
    return max(off), max(turned)


def speed_jump(robot: Robot, plan: MotionPlan) -> float:
    """Greatest change of speed in a hundredth of a second, as part of the joint's speed limit."""
    time = plan.trajectory.time
    speed = make_interp_spline(time, plan.trajectory.q).derivative()(np.arange(time[0], time[-1], STEP))
    return float((np.abs(np.diff(speed, axis=0)) / robot.model.velocityLimit[6:]).max())


def past_limits(robot: Robot, plan: MotionPlan) -> float:
    """How far any joint passes its limits, rad or m; 0 inside."""
    q = plan.trajectory.q
    low, high = robot.model.lowerPositionLimit[7:], robot.model.upperPositionLimit[7:]
    return float(max(0.0, (low - q).max(), (q - high).max()))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--robot", default="romeo")
    parser.add_argument("--participant", type=int, default=3)
    parser.add_argument("--seed", type=int, default=2018)
    parser.add_argument("--task", action="append", choices=list(PLACES))
    given = parser.parse_args()
    robot = load_robot(given.robot)
    table = Table("task", *BARS, "slowed by", "interferences", title=f"{robot.name}, {given.participant}")
    missed = False
    for task in given.task or PLACES:
        motion = perform_in_session(given.seed, given.participant, task).motion
        try:
            with progress_bars(Console(stderr=True)) as on_progress:
                place = RobotSection(place="auto")
                plan = plan_motion(robot, motion, place, RetargetSection(), motion.handles, on_progress)
        except RetargetError as error:
            table.add_row(task, "refused")
            print(error, file=sys.stderr)
            continue
        off, turned = contact_errors(robot, plan)
        numbers = (1e3 * off, np.degrees(turned), 100 * speed_jump(robot, plan), past_limits(robot, plan))
        missed |= any(number > bar for number, bar in zip(numbers, BARS.values(), strict=True))
        slowed, left = plan.metrics["retarget.slow_down"], len(plan.interferences)
        table.add_row(task, *(f"{number:.3f}" for number in numbers), f"{slowed:.2f}", str(left))
    Console().print(table)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
