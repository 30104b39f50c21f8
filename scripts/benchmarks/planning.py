"""CPU seconds of planning recordings of 10, 30 and 100 s, and whether they grow with the length.

python scripts/benchmarks/planning.py [--recording NAME] [--robot NAME] [--timing MODE]

The recording is repeated, each time from where it ended, and resampled to 60 Hz. It is planned once before
the measurements, which compiles what is compiled.
"""

import argparse
import time
from dataclasses import replace

import numpy as np
from rich.console import Console
from rich.table import Table

from simbench.motion.human_motion import HumanMotion, resample
from simbench.motion.readers import read_motion
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.retargeting.stand.standing_plan import plan_motion
from simbench.robot.robot import Robot, load_robot

RATE = 60.0
DURATIONS = (10.0, 30.0, 100.0)


def repeat_motion(motion: HumanMotion, count: int) -> HumanMotion:
    """Repeat a recording, each time from where it ended.

    Parameters
    ----------
    motion : HumanMotion
        Recording of T samples.
    count : int
        Number of repetitions.

    Returns
    -------
    HumanMotion
        Recording of `count` (T - 1) + 1 samples; each repetition begins below the pelvis of the one before.
    """
    pelvis = motion.joints["pelvis"]
    way = (pelvis[-1] - pelvis[0]) * (1.0, 1.0, 0.0)
    to_there = np.zeros((4, 4))
    to_there[:3, 3] = way

    def repeated(values: np.ndarray, shift: np.ndarray | float) -> np.ndarray:
        parts = [values[:-1] + number * shift for number in range(count)]
        return np.concatenate([*parts, values[-1:] + (count - 1) * shift])

    return replace(
        motion,
        time=repeated(motion.time, motion.time[-1] - motion.time[0]),
        joints={name: repeated(values, way) for name, values in motion.joints.items()},
        segments={name: repeated(values, to_there) for name, values in motion.segments.items()},
    )


def planning_seconds(robot: Robot, motion: HumanMotion, settings: RetargetSection) -> float:
    """Plan a motion and measure the processor's time.

    Parameters
    ----------
    robot : Robot
        Robot that stands.
    motion : HumanMotion
        Recording.
    settings : RetargetSection
        Timing and the rest of the retargeting.

    Returns
    -------
    float
        CPU time, s.
    """
    begin = time.process_time()
    plan_motion(robot, motion, RobotSection(place="given"), settings, Equipment({}), lambda *_: None)
    return time.process_time() - begin


def main() -> None:
    """Plan the three durations and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--recording", default="deepmimic:humanoid3d_walk")
    parser.add_argument("--robot", default="romeo")
    parser.add_argument("--timing", default="preserve", choices=("preserve", "local", "uniform"))
    arguments = parser.parse_args()
    robot, motion = load_robot(arguments.robot), read_motion(arguments.recording)
    settings = RetargetSection.model_validate({"timing": arguments.timing})
    length = motion.time[-1] - motion.time[0]
    planning_seconds(robot, resample(repeat_motion(motion, 2), RATE), settings)
    table = Table("duration [s]", "samples", "CPU [s]", "CPU per second of motion [ms]")
    for duration in DURATIONS:
        longer = resample(repeat_motion(motion, max(1, round(duration / length))), RATE)
        seconds = planning_seconds(robot, longer, settings)
        reached = longer.time[-1]
        table.add_row(
            f"{reached:.1f}", str(len(longer.time)), f"{seconds:.2f}", f"{1000 * seconds / reached:.0f}"
        )
    Console().print(table)


if __name__ == "__main__":
    main()
