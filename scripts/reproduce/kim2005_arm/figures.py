"""Figures 3 to 6: hand trajectories, joint positions between their bounds, and the simulated motion."""

import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))
from small_pictures import save_picture

from simbench.kinematics.path_solver import PathBounds
from simbench.motion.human_motion import HumanMotion
from simbench.retargeting.arm_adaptation import arm_chain, arm_targets, place_arm
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

matplotlib.use("Agg")
import matplotlib.pyplot as plt

Array = NDArray[np.float64]

POINTS, AXES = ("thumb", "pinky", "wrist"), "XYZ"
COLUMNS = (1, 2, 0)
"""Of wrist, thumb and pinky, in the paper's order."""


def draw_hand(path: Path, time: Array, hand: Array, errors: Array) -> None:
    """Draw figure 3: hand points (T, 3, 3) from the shoulder, person and robot, mm."""
    figure, axes = plt.subplots(3, 3, figsize=(10, 7), sharex=True, layout="constrained")
    for row, (name, point) in enumerate(zip(POINTS, COLUMNS, strict=True)):
        for column, axis in enumerate(axes[row]):
            axis.plot(time, 1e3 * hand[:, point, column], "-", lw=1.0, label="person")
            robot = hand - errors
            axis.plot(time, 1e3 * robot[:, point, column], "--", lw=1.0, label="scaled robot")
            axis.set_title(f"{AXES[column]} of {name}, mm", fontsize=9)
    axes[0, 0].legend(fontsize=8)
    for axis in axes[-1]:
        axis.set_xlabel("time, s")
    save_picture(figure, path)
    plt.close(figure)


def draw_joints(
    path: Path, time: Array, names: Sequence[str], q: Array, bounds: PathBounds, followed: Array
) -> None:
    """Draw figure 4: joint positions (T, n) between the bounds of each frame, and as simulated, rad."""
    step = bounds.speed * float(time[1] - time[0])
    before = np.vstack([q[:1], q[:-1]])
    lower, upper = np.maximum(bounds.lower, before - step), np.minimum(bounds.upper, before + step)
    figure, axes = plt.subplots(2, 3, figsize=(10, 6), sharex=True, layout="constrained")
    for joint, axis in enumerate(axes.ravel()[: q.shape[1]]):
        axis.plot(time, q[:, joint], "-", lw=1.0, label="adapted")
        axis.plot(time, upper[:, joint], "--", lw=0.7, color="tab:red", label="upper limit")
        axis.plot(time, lower[:, joint], ":", lw=0.9, color="tab:red", label="lower limit")
        axis.plot(time, followed[:, joint], "-", lw=0.7, color="black", label="simulated, PID")
        axis.set_title(f"joint {joint + 1}, {names[joint]}, rad", fontsize=9)
    axes[0, 0].legend(fontsize=8)
    for axis in axes[-1]:
        axis.set_xlabel("time, s")
    save_picture(figure, path)
    plt.close(figure)


def simulated_points(
    robot: Robot, motion: HumanMotion, names: Sequence[str], q: Array
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Compute hand points and elbow (T, 4, 3) from the shoulder by side, m: the person's, and the robot's."""
    person, robots = {}, {}
    for side in SIDES:
        hand, upper_arm, local, length = arm_targets(motion, side)
        chain = arm_chain(robot, side, length, local)
        columns = [names.index(name) for name in names if name in robot.groups[f"{side}_arm"]]
        points = np.empty((len(q), 4, 3))
        for frame, each in enumerate(q[:, columns]):
            place_arm(chain, each)
            points[frame] = chain.point
        joints = [motion.joints[f"{side}_{part}"] for part in ("shoulder", "elbow")]
        reach = np.linalg.norm(joints[1] - joints[0], axis=1)
        person[side] = np.concatenate([hand, (reach[:, None] * upper_arm)[:, None]], axis=1)
        robots[side] = points
    return person, robots


def draw_strip(
    path: Path, time: Array, frames: Sequence[int], person: dict[str, Array], robots: dict[str, Array]
) -> None:
    """Draw figures 5 and 6 from the front: the person's arms above, those of the simulated robot below."""
    figure, axes = plt.subplots(2, len(frames), figsize=(1.5 * len(frames), 3.5), layout="constrained")
    for row, (arms, name) in enumerate(((person, "person"), (robots, "simulated robot"))):
        for axis, frame in zip(axes[row], frames, strict=True):
            axis.plot([-0.17, 0.17, 0.12, -0.12, -0.17], [0.0, 0.0, -0.5, -0.5, 0.0], color="0.7")
            axis.add_patch(plt.Circle((0.0, 0.17), 0.1, fill=False, color="0.7"))
            for side, colour in (("left", "tab:blue"), ("right", "tab:red")):
                wrist, thumb, pinky, elbow = arms[side][frame]
                # Seen from the front, the left arm (y > 0) is on the right.
                at = 0.17 if side == "left" else -0.17
                line = np.array([np.zeros(3), elbow, wrist, thumb, pinky, wrist])
                axis.plot(at + line[:, 1], line[:, 2], "-", color=colour, lw=1.5)
            axis.set(xlim=(-0.8, 0.8), ylim=(-0.7, 0.75), aspect="equal", xticks=[], yticks=[])
            if row == 0:
                axis.set_title(f"{time[frame]:.1f} s", fontsize=9)
        axes[row, 0].set_ylabel(name)
    save_picture(figure, path)
    plt.close(figure)
