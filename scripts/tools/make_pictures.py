"""Draw the pictures of the README and of the gallery: every shipped scenario, and others.

python scripts/tools/make_pictures.py [--only NAME ...] [--runs DIR] [--out docs/pictures]

A picture is named like its scenario, or `robots`, `valves_motion`, `drawer_retarget` or `simbench` (a moving
picture and a still one). A run directory DIR/SCENARIO is drawn as it is; without one the scenario is run.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from moving_picture import draw_moving_picture
from PIL import Image
from strip_drawing import draw_run, save_small

from simbench.motion.motion_inspection import inspect_motion
from simbench.motion.readers import read_motion
from simbench.motion.skeleton_plot import plot_recording
from simbench.retargeting.api import retarget_motion
from simbench.retargeting.imitation.imitation import imitation_errors
from simbench.robot.anthropometry import average_measures
from simbench.robot.body_segments import HanavanBody
from simbench.robot.human import Human, write_human
from simbench.robot.human_skeleton import skeleton_lengths
from simbench.robot.robot import Robot, load_robot
from simbench.runs.pipeline import run_scenario
from simbench.runs.plots.retargeting_plot import draw_retargeting
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import list_scenarios
from simbench.sim.rendering.camera import draw_pictures
from simbench.sim.rendering.portrait import frame_cameras, link_hulls, natural_posture, robot_points
from simbench.sim.rendering.scene_view import Frames

ROBOTS = ("romeo", "mahru", "puma560", "direct_drive_arm")
WOMAN = "female", 1.629, 62.0
"""Stature (m) and mass (kg) of the average person drawn beside the robots."""
RECORDING = "actor:valves:3"
RETARGETED = "actor:drawer:3"


def draw_robots(path: Path) -> None:
    """Draw all robots and a person side by side at the same scale."""
    with tempfile.TemporaryDirectory() as folder:
        measures = average_measures(*WOMAN)
        lengths = skeleton_lengths(measures, WOMAN[1])
        person = write_human(Human(HanavanBody(measures, WOMAN[2]), lengths), Path(folder))
        robots: list[Robot] = [*map(load_robot, ROBOTS), person]
        postures = [natural_posture(robot)[0] for robot in robots]
        clouds = []
        for robot, posture in zip(robots, postures, strict=True):
            cloud = robot_points(robot, link_hulls(robot), posture)
            clouds.append(cloud - [0.0, 0.0, cloud[:, 2].min()])
        cameras = frame_cameras(clouds, [60.0] * len(robots), 280, 420)
        strip = Image.new("RGB", (280 * len(robots), 420))
        for column, (robot, posture, camera) in enumerate(zip(robots, postures, cameras, strict=True)):
            lowest = robot_points(robot, link_hulls(robot), posture)[:, 2].min()
            base = np.array([[0.0, 0.0, -lowest, 0.0, 0.0, 0.0, 1.0]])
            frames = Frames(base, posture[None], {}, None)
            (picture,), _ = draw_pictures(robot, [], frames, camera, [0])
            strip.paste(Image.fromarray(picture), (280 * column, 0))
        save_small(strip, path)


def draw_recording(path: Path) -> None:
    """Draw a recording as `simbench motion inspect --picture` does."""
    plot_recording(inspect_motion(read_motion(RECORDING)), path)


def draw_retargeted(path: Path) -> None:
    """Draw a retargeting as `simbench retarget --picture` does."""
    made = retarget_motion(RETARGETED, "romeo")
    draw_retargeting(made, imitation_errors(made.plan.imitation, made.motion), path)


OTHERS: dict[str, Callable[[Path], None]] = {
    "robots": draw_robots,
    "valves_motion": draw_recording,
    "drawer_retarget": draw_retargeted,
}


def main() -> None:
    """Draw the pictures that are asked for, by default all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = [*OTHERS, *list_scenarios(), "simbench"]
    parser.add_argument("--only", nargs="+", choices=every, default=every, metavar="NAME")
    parser.add_argument(
        "--runs", type=Path, metavar="DIR", help="finished run directories, named by scenario"
    )
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"), metavar="DIR")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:

        def find_run(name: str) -> Path:
            for runs in (options.runs, Path(folder)):
                if runs is not None and (runs / name).is_dir():
                    return Path(runs / name)
            scenario, *overrides = name.split()
            run_scenario(load_scenario(scenario, overrides), Path(folder) / name)
            return Path(folder) / name

        for name in options.only:
            if name == "simbench":
                draw_moving_picture(find_run, options.out / name)
            elif name in OTHERS:
                OTHERS[name](options.out / f"{name}.png")
            else:
                draw_run(find_run(name), options.out / f"{name}.png")
            print(name, flush=True)


if __name__ == "__main__":
    main()
