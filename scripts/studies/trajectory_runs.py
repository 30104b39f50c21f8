"""Run scenarios again from files of their robot's motion, and compare.

python scripts/studies/trajectory_runs.py [SCENARIO ...] [--fps N ...] [--spoil NAME ...] [--out DIR]

Each scenario is run; joint references and measured base are taken from its log at the given rates, written as
Unitree's tables (base position, quaternion x, y, z, w, joints; no header, no rate), and run as trajectories.
The same is done with files that are spoiled: 3 cm too low, turned by 90 degrees and shifted, with noise of
2 mrad and 1 mm, 1.5 times as fast, with feet that slide by 15 % of the way, begun in the middle of a step,
and with hops of 6 cm.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.spatial.transform import Rotation

from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.write import write_robot_motion
from simbench.robot.robot import Robot, load_robot
from simbench.runs.log import open_run
from simbench.runs.pipeline import run_scenario
from simbench.runs.result import RunResult
from simbench.runs.scenario.loading import load_scenario, motion_file_scenario

SCENARIOS = ("g1_walk", "talos_walk", "mahru_walk", "dance", "romeo_wave")
COLUMNS = {
    "fell": "fell",
    "tracking rad": "tracking.rms_rad",
    "ZMP inside": "zmp.inside_fraction",
    "slip m": "feet.slip_m",
    "steps": "steps.count",
    "forward m": "base.forward_m",
    "left m": "base.left_m",
    "turn rad": "base.turn_rad",
    "base error m": "trajectory.base_error_mean_m",
    "foot error m": "trajectory.foot_error_mean_m",
    "joint error rad": "trajectory.joint_error_rms_rad",
    "contacts agree": "trajectory.contact_agreement_fraction",
}


def lower(motion: JointTrajectory) -> JointTrajectory:
    """Lower the base by 3 cm."""
    return with_base(motion, position=base_of(motion)[:, :3] - [0.0, 0.0, 0.03])


def turn(motion: JointTrajectory) -> JointTrajectory:
    """Turn by 90 degrees about the vertical, and shift."""
    rotation = Rotation.from_euler("z", 90.0, degrees=True)
    moved = with_base(motion, position=rotation.apply(base_of(motion)[:, :3]) + np.array([3.0, -2.0, 0.0]))
    return with_base(moved, rotation=rotation * Rotation.from_quat(base_of(motion)[:, 3:]))


def add_noise(motion: JointTrajectory) -> JointTrajectory:
    """Add noise of 2 mrad to the joints and of 1 mm to the base."""
    rng = np.random.default_rng(0)
    noisy = replace(motion, q=motion.q + rng.normal(0.0, 0.002, motion.q.shape))
    return with_base(noisy, position=base_of(motion)[:, :3] + rng.normal(0.0, 0.001, (len(motion.q), 3)))


def hurry(motion: JointTrajectory) -> JointTrajectory:
    """Make it 1.5 times as fast."""
    return replace(motion, time=motion.time / 1.5)


def slide(motion: JointTrajectory) -> JointTrajectory:
    """Stretch the way of the base by 15 %, so that the feet slide."""
    return with_base(motion, position=base_of(motion)[:, :3] * [1.15, 1.15, 1.0])


def cut(motion: JointTrajectory) -> JointTrajectory:
    """Begin in the middle of a single support, 0.3 s after a foot has left the floor."""
    first = int(np.searchsorted(motion.time, 2.5))
    return JointTrajectory(
        motion.time[first:] - motion.time[first],
        motion.q[first:],
        motion.joint_names,
        base_of(motion)[first:],
    )


def hop(motion: JointTrajectory) -> JointTrajectory:
    """Raise the base by 6 cm for half of every 1.2 s from 6 s on."""
    phase = 2.0 * np.pi * (motion.time - 6.0) / 1.2
    height = np.where(motion.time > 6.0, 0.06 * np.maximum(np.sin(phase), 0.0), 0.0)
    return with_base(motion, position=base_of(motion)[:, :3] + height[:, None] * [0.0, 0.0, 1.0])


SPOILERS: dict[str, Callable[[JointTrajectory], JointTrajectory]] = {
    "lower": lower,
    "turn": turn,
    "noise": add_noise,
    "hurry": hurry,
    "slide": slide,
    "cut": cut,
    "hop": hop,
}


def base_of(motion: JointTrajectory) -> np.ndarray:
    """Take the base of a motion that has one."""
    assert motion.base is not None
    return motion.base


def with_base(
    motion: JointTrajectory, position: np.ndarray | None = None, rotation: Rotation | None = None
) -> JointTrajectory:
    """Replace positions or orientations of the base."""
    base = base_of(motion).copy()
    if position is not None:
        base[:, :3] = position
    if rotation is not None:
        base[:, 3:] = rotation.as_quat()
    return replace(motion, base=base)


def motion_of_run(folder: Path, robot: Robot, fps: float) -> JointTrajectory:
    """Take joint references and base of a run from its log, evenly sampled."""
    log = open_run(folder)
    time = log["time"].values
    clock = np.arange(time[1], time[-1], 1.0 / fps)
    rows = np.searchsorted(time, clock)
    return JointTrajectory(
        np.arange(len(rows)) / fps,
        log["joint_reference"].values[rows],
        robot.joint_names,
        log["base_pose"].values[rows],
    )


def run_file(motion: JointTrajectory, robot: Robot, name: str, out: Path) -> RunResult:
    """Write a motion as Unitree's table and run it."""
    path = out / f"{name}.csv"
    write_robot_motion(motion, robot, path, "unitree", {})
    # The table has no rate: a faster motion has another one.
    rate = (len(motion.time) - 1) / motion.time[-1]
    scenario = motion_file_scenario(path, robot.name, [f"motion.fps={rate:.9g}", "motion.quaternion=xyzw"])
    return run_scenario(scenario, out / name, on_progress=False)


def add_line(table: Table, name: str, result: RunResult) -> None:
    """Add the metrics of a run to the table."""
    values = (result.metrics.get(metric) for metric in COLUMNS.values())
    table.add_row(name, *("" if each is None else f"{each:.4g}" for each in values))


def main() -> None:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scenarios", nargs="*", default=SCENARIOS)
    parser.add_argument("--fps", nargs="*", type=float, default=[30.0, 50.0])
    parser.add_argument("--spoil", nargs="*", choices=SPOILERS, default=[])
    parser.add_argument("--out", type=Path, default=Path("trajectory_runs"))
    options = parser.parse_args()
    options.out.mkdir(parents=True)
    table = Table("run", *COLUMNS)
    for name in options.scenarios:
        scenario = load_scenario(name)
        robot = load_robot(scenario.robot.name)
        add_line(table, name, run_scenario(scenario, options.out / name, on_progress=False))
        for fps in options.fps:
            motion = motion_of_run(options.out / name, robot, fps)
            label = f"{name}_{fps:g}"
            add_line(table, label, run_file(motion, robot, label, options.out))
            for spoiler in options.spoil:
                spoiled, label = SPOILERS[spoiler](motion), f"{name}_{fps:g}_{spoiler}"
                result = run_file(spoiled, robot, label, options.out)
                add_line(table, label, result)
                for doubt in result.doubts:
                    print(f"{label}: doubt: {doubt}")
    Console(width=220).print(table)


if __name__ == "__main__":
    main()
