"""Draw the README's pictures (robots, a recording, scenarios from their logs) and print its table's numbers.

python scripts/tools/make_pictures.py [--out docs/pictures]
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from simbench.motion.inspection import inspect_motion
from simbench.motion.readers import read_motion
from simbench.motion.skeleton_plot import plot_recording
from simbench.retargeting.api import retarget_motion
from simbench.retargeting.imitation.errors import imitation_errors
from simbench.retargeting.plot import draw_retargeting
from simbench.robot.human.average_person import average_measures
from simbench.robot.human.body_segments import predict_body
from simbench.robot.human.human import build_human, write_human
from simbench.robot.human.human_skeleton import skeleton_lengths
from simbench.robot.robot import Robot, load_robot
from simbench.runs.log import open_run
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.video import render_strip
from simbench.sim.rendering.camera import Frames, draw_pictures
from simbench.sim.rendering.portrait import natural_posture
from simbench.sim.rendering.portrait_camera import frame_cameras
from simbench.sim.rendering.robot_points import link_hulls, robot_points

MOMENTS = {
    "drawer": (0.5, 2.4, 4.0, 5.45),
    "dance": (2.7, 4.2, 6.8, 8.0),
    "puma560_sweep": (0.5, 1.4, 1.8, 2.4),
}
"""Times of the pictures in each strip, s."""

EQUIPMENT = (
    "mahru_drawer",
    "valves",
    "mahru_valves",
    "hand_drill",
    "knife",
    "grater",
    "canoe_paddles",
    "steering_wheel",
    "mahru_steering_wheel",
    "pump",
    "puma560_valves",
    "puma560_drawer",
    "puma560_steering_wheel",
)
"""Scenarios shown before the hands arrive and at three times in the first stroke."""
SMALL = 240
"""Width and height of these pictures, pixels."""

NUMBERS = (
    "fell",
    "retarget.slow_down",
    "imitation.hand_mean_m",
    "tracking.rms_rad",
    "hands.rms_m",
    "zmp.min_margin_m",
    "drawer.travel_ratio",
    "timing.realtime_factor",
)


ROBOTS = ("romeo", "mahru", "puma560", "direct_drive_arm")
WOMAN = "female", 1.629, 62.0
"""Stature (m) and mass (kg) of the average person drawn beside the robots."""


def draw_robots(path: Path) -> None:
    """Draw all robots and a person side by side at the same scale."""
    with tempfile.TemporaryDirectory() as folder:
        measures = average_measures(*WOMAN)
        lengths = skeleton_lengths(measures, WOMAN[1])
        person = write_human(build_human(predict_body(measures, WOMAN[2]), lengths), Path(folder))
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
        strip.save(path, optimize=True)


def stroke_moments(run: Path) -> tuple[float, ...]:
    """Compute four times, s: 2 s before the first stroke of a run, and at 1/6, 1/2 and 5/6 of that stroke."""
    start, end = open_run(run)["strokes"].values[0]
    return (max(0.0, start - 2.0), *(start + share * (end - start) for share in (1 / 6, 1 / 2, 5 / 6)))


RECORDING = "actor:valves:3"
RETARGETED = "actor:drawer:3"


def main() -> None:
    """Draw all pictures, and print the numbers of the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"), metavar="DIR")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    draw_robots(out / "robots.png")
    plot_recording(inspect_motion(read_motion(RECORDING)), out / "valves_motion.png")
    made = retarget_motion(RETARGETED, "romeo", "analytical")
    draw_retargeting(made, imitation_errors(made.plan.imitation, made.motion), out / "drawer_retarget.png")
    for name in (*MOMENTS, *EQUIPMENT):
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            metrics = run_scenario(load_scenario(name), run).metrics
            times, size = (MOMENTS[name], 400) if name in MOMENTS else (stroke_moments(run), SMALL)
            render_strip(run, out / f"{name}.png", times, width=size, height=size, columns=len(times))
        numbers = (f"{key} {metrics[key]}" for key in NUMBERS if key in metrics)
        print(f"{name}: {', '.join(numbers)}")


if __name__ == "__main__":
    main()
