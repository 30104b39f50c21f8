"""The command line's `simbench convert`: parse, call, print."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from simbench.cli.completion import complete_robot
from simbench.cli.shared_options import Format, Rate, argument, option, output, reads_trajectory
from simbench.errors import RunError

if TYPE_CHECKING:
    from simbench.motion.trajectory import JointTrajectory
    from simbench.motion.trajectory_files.stored_motion import TrajectoryOptions
    from simbench.robot.robot import Robot

UNITREE_RATE = 30.0  # Rate that the tables without names have, which do not say it, 1/s.


@reads_trajectory("format")
def convert(
    source: Annotated[Path, argument("File of a robot's motion, or a run directory.")],
    file: Annotated[Path, output("File to write.", "FILE", positional=True)],
    robot: Annotated[
        str | None,
        option("Name (simbench robot list) or path; of a run, its own by default.", complete=complete_robot),
    ] = None,
    format: Format = None,
    rate: Rate = None,
    planned: Annotated[
        bool, Option("--planned", help="Of a run, the reference and not what was measured.")
    ] = False,
    source_format: Annotated[
        str | None, option("Format of the source, by default found out.", "NAME")
    ] = None,
    *,
    declared: TrajectoryOptions,
) -> None:
    """Write a robot's motion, from a file or a run, in another format."""
    from simbench.motion.trajectory_files.write import choose_format

    name = choose_format(file, format)
    if planned and not source.is_dir():
        raise RunError(f"{source}: --planned needs a run directory")
    if source.is_dir() and robot is None:
        from simbench.runs.video import read_run_trajectory

        trajectory, own = read_run_trajectory(source, planned=planned)
    elif planned:
        raise RunError(f"{source}: --planned is of the run's own robot; leave out --robot")
    else:
        if robot is None:
            raise RunError(
                f"{source}: give the robot whose motion it is with --robot NAME (simbench robot list)"
            )
        from simbench.motion.trajectory_files import read_robot_motion
        from simbench.robot.robot import load_robot

        own = load_robot(robot)
        motion = read_robot_motion(source, own, replace(declared, format=source_format))
        trajectory = motion.trajectory
        print(f"read  {source} as {motion.format}")
        for note in motion.notes:
            print(f"note: {note}")
        for doubt in motion.doubts:
            print(f"doubt: {doubt}", file=sys.stderr)
    rates = write_motion_file(trajectory, own, file, name, rate, {"source": source.name, "robot": own.name})
    print(f"trajectory  {file}  ({rates})")


def write_motion_file(
    trajectory: JointTrajectory,
    robot: Robot,
    path: Path,
    format: str,
    rate: float | None,
    attributes: dict[str, str | float],
) -> str:
    """Write a robot's motion at a rate.

    `trajectory`: the motion, joints in the order of the robot; `format`: name of the format; `rate`: samples
    per second; None keeps the samples, and takes 30 for `unitree`, whose files do not say it; `attributes`:
    attributes that say where the motion comes from. Returns format, number and rate of the samples, to be
    printed. Raises MotionError the rate is not allowed, or the format cannot hold the motion. Raises OSError
    if the file cannot be written.
    """
    from simbench.motion.trajectory_files.stored_motion import resample_trajectory, uniform_rate
    from simbench.motion.trajectory_files.write import write_robot_motion

    if rate is None and format == "unitree":
        rate = UNITREE_RATE
    if rate is not None and uniform_rate(trajectory.time) != rate:
        trajectory = resample_trajectory(trajectory, rate)
    write_robot_motion(trajectory, robot, path, format, attributes)
    written = uniform_rate(trajectory.time)
    spacing = "at their own times" if written is None else f"at {written:g} Hz"
    return f"{format}, {len(trajectory.time)} samples {spacing}"
