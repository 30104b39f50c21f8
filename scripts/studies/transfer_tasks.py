"""Measure plans of all tasks for which a base placement exists: contact error, joint limits, speed jumps.

python scripts/studies/transfer_tasks.py [--robot NAME] [--participant N] [--seed N] [--task NAME]...

For every task with a placement: the largest distance of a planned palm from its handle in contact (rotations
that the handle leaves free do not count); the largest jump of a joint's speed, and its largest change within
a hundredth of a second at the speed of the plan (an acceleration where the speed does not jump), as fractions
of the speed limit; the largest violation of a joint limit; and the links that penetrate each other. Exit
status 1 if a bound is exceeded: 1 mm, 0.5 degrees, 5 % for a jump anywhere and for a change in transitions, 0
for joint limits.
"""

import argparse
import sys

import numpy as np
import pinocchio as pin
from rich.console import Console
from rich.table import Table
from scipy.interpolate import make_interp_spline

from simbench.cli.console import progress_bars
from simbench.errors import RetargetError
from simbench.motion.actors.session import perform_in_session
from simbench.motion.actors.tasks import PLACES
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.retargeting.stand.standing_plan import MotionPlan, plan_motion
from simbench.robot.robot import Robot, load_robot
from simbench.robot.sides import SIDES

BARS = {
    "mm": 1.0,
    "degrees": 0.5,
    "speed jump, %": 5.0,
    "speed change in transitions, %": 5.0,
    "past limits, rad": 0.0,
}
STEP = 0.01
"""s."""
AROUND = 10
"""Number of steps before and after a transition that are counted as part of it."""


def contact_errors(robot: Robot, plan: MotionPlan) -> tuple[float, float]:
    """Compute the largest distance, m, and angle, rad, of palms from handles in contact, with Pinocchio."""
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
    """Compute the largest difference of a joint's speed before and after a sample, as a fraction of its
    limit.

    Both speeds are derivatives of cubics through four samples on one side, so that a discontinuity is
    detected and a smooth acceleration, however large, is not.
    """
    step = plan.trajectory.time[1] - plan.trajectory.time[0]
    q = plan.trajectory.q
    one_sided = np.array([-11.0, 18.0, -9.0, 2.0]) / (6.0 * step)
    count = len(q) - 6
    after = sum(w * q[3 + k : 3 + k + count] for k, w in enumerate(one_sided))
    before = -sum(w * q[3 - k : 3 - k + count] for k, w in enumerate(one_sided))
    return float((np.abs(after - before) / robot.model.velocityLimit[6:]).max())


def speed_changes(robot: Robot, plan: MotionPlan) -> tuple[float, float]:
    """Compute the largest speed changes in 0.01 s as fractions of the limit: in transitions, and overall."""
    time = plan.trajectory.time
    at = np.arange(time[0], time[-1], STEP)
    speed = make_interp_spline(time, plan.trajectory.q).derivative()(at)
    change = (np.abs(np.diff(speed, axis=0)) / robot.model.velocityLimit[6:]).max(axis=1)
    between = np.any([(share > 0.0) & (share < 1.0) for share in plan.hands.share.values()], axis=0)
    near = np.convolve(np.interp(at[1:], time, between.astype(float)) > 0.0, np.ones(2 * AROUND + 1), "same")
    return float(change[near > 0.0].max(initial=0.0)), float(change.max())


def past_limits(robot: Robot, plan: MotionPlan) -> float:
    """Compute the largest violation of a joint limit, rad or m; 0 if there is none."""
    q = plan.trajectory.q
    low, high = robot.model.lowerPositionLimit[7:], robot.model.upperPositionLimit[7:]
    return float(max(0.0, (low - q).max(), (q - high).max()))


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--robot", default="romeo")
    parser.add_argument("--participant", type=int, default=3)
    parser.add_argument("--seed", type=int, default=2018)
    parser.add_argument("--task", action="append", choices=list(PLACES))
    given = parser.parse_args()
    robot = load_robot(given.robot)
    table = Table(
        "task",
        *BARS,
        "change anywhere, %",
        "slowed by",
        "interferences",
        title=f"{robot.name}, {given.participant}",
    )
    missed = False
    for task in given.task or PLACES:
        motion = perform_in_session(given.seed, given.participant, task).motion
        try:
            with progress_bars(Console(stderr=True)) as on_progress:
                place = RobotSection(place="auto")
                equipment = Equipment(motion.handles)
                plan = plan_motion(robot, motion, place, RetargetSection(), equipment, on_progress)
        except RetargetError as error:
            table.add_row(task, "refused")
            print(error, file=sys.stderr)
            continue
        off, turned = contact_errors(robot, plan)
        inside, anywhere = speed_changes(robot, plan)
        numbers = (
            1e3 * off,
            np.degrees(turned),
            100 * speed_jump(robot, plan),
            100 * inside,
            past_limits(robot, plan),
        )
        missed |= any(number > bar for number, bar in zip(numbers, BARS.values(), strict=True))
        slowed, left = plan.metrics["retarget.slow_down"], len(plan.interferences)
        row = [f"{number:.3f}" for number in numbers]
        table.add_row(task, *row, f"{100 * anywhere:.1f}", f"{slowed:.2f}", str(left))
    Console().print(table)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
