"""Draw figures 4.2 to 4.10 (c) of Tomić (2018): poses by one criterion, and how the joints move in each task.

python scripts/reproduce/tomic2018/ch4_plots.py [--actors 1,2,...] [--out FOLDER]

Single-criterion poses and speeds are of ROMEO in the middle of the drawer's first repetition, as figures 4.2
and 4.3 have them: its palms go as far as a virtual actor's. Joint curves are the means over virtual actors of
the joints that imitation finds on the scaled model, over one normalised repetition, as figures 4.4 (c) to
4.10 (c).
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pinocchio as pin
from matplotlib.figure import Figure
from numpy.typing import NDArray
from transfer_weights import MARGIN, SINGLE, robot_path, romeo

sys.path.insert(0, str(Path(__file__).parents[1]))
from ch4 import COLOURS
from results import add_session_options
from skill_study import THESIS_TASKS

from simbench.errors import SkillError
from simbench.motion.actors.session import perform_in_session
from simbench.motion.phases import find_phases
from simbench.plotting import save_png
from simbench.retargeting.imitation.imitation import imitate
from simbench.retargeting.imitation.scaled_model import calibrate
from simbench.retargeting.imitation.weighted_posture import follow_palms_by_law
from simbench.robot.sides import SIDES

Array = NDArray[np.float64]

FOLDER = Path(__file__).parents[3] / "docs" / "pictures" / "validation"
PHASES = 101
"""Samples of a normalised repetition."""
GROUPS = {
    "trunk": ("TrunkYaw",),
    "shoulder": ("ShoulderPitch", "ShoulderYaw"),
    "elbow": ("ElbowRoll", "ElbowYaw"),
    "wrist": ("WristRoll", "WristYaw", "WristPitch"),
}


def imitated(actor: int, task: str, session: int) -> tuple[pin.Model, Array, Array, Array]:
    """Scaled model, times, configurations and boundaries of the repetitions of a virtual actor's task."""
    motion = perform_in_session(session, actor, task).motion
    scaled = calibrate(romeo()[0], motion)
    return scaled.model, motion.time, imitate(scaled, motion).q, np.asarray(find_phases(motion).boundaries)


def single_criterion_motions(actor: int, session: int) -> tuple[Array, Mapping[str, Array | None], Array]:
    """Times (T,), joints of ROMEO by each criterion (T, n), and of the actor; None where it cannot follow."""
    robot, model = romeo()
    scaled, time, q, cuts = imitated(actor, "drawer", session)
    inside = (time >= cuts[0]) & (time <= cuts[1])
    limits = np.array([[-np.inf], [np.inf]]) + np.zeros((2, model.nv - 6))
    path = robot_path(robot, model, scaled, q[inside], limits + MARGIN * np.array([[1.0], [-1.0]]))
    moved: dict[str, Array | None] = {}
    for name, weights in SINGLE.items():
        try:
            moved[name] = follow_palms_by_law(robot, model, time[inside], path, np.array(weights), *limits)
        except SkillError as error:
            print(f"{name}: {error}", file=sys.stderr)
            moved[name] = None
    return time[inside], moved, q[inside]


def arm_points(model: pin.Model, q: Array) -> dict[str, Array]:
    """Positions (4, 3) of shoulder, elbow, wrist and palm of each arm, m."""
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    robot = romeo()[0]
    roles = ("shoulder", "elbow", "wrist", "hand")
    return {
        side: np.array(
            [data.oMf[model.getFrameId(robot.frames[f"{side}_{role}"])].translation for role in roles]
        )
        for side in SIDES
    }


def draw_poses(time: Array, moved: Mapping[str, Array | None], q: Array) -> Figure:
    """Figures 4.2 (above: poses, and how far they differ) and 4.3 (below: speeds of the left arm)."""
    _, model = romeo()
    figure = Figure(figsize=(11.0, 7.0), dpi=70, layout="constrained")
    axes = figure.subplots(2, 4)
    middle = len(time) // 2
    elbows = {}
    for name, joints in moved.items():
        if joints is None:
            continue
        for side, points in arm_points(model, np.concatenate([q[middle, :7], joints[middle]])).items():
            for place, (across, up) in zip(axes[0], ((1, 2), (0, 2), (1, 0)), strict=False):
                label = name if side == "left" else None
                place.plot(points[:, across], points[:, up], "o-", color=COLOURS[name], ms=3, label=label)
        every = (np.concatenate(pair) for pair in zip(q[:, :7], joints, strict=True))
        elbows[name] = np.array([arm_points(model, each)["left"][1] for each in every])
    for place, title in zip(axes[0], ("from behind", "from the right", "from above"), strict=False):
        place.set_title(f"arms in the middle, {title}, m", fontsize=9, loc="left")
        place.set_aspect("equal", adjustable="datalim")
    axes[0, 0].invert_xaxis()
    axes[0, 2].invert_xaxis()
    for name, positions in elbows.items():
        away = 1e3 * np.linalg.norm(positions - elbows["velocity"], axis=1)
        axes[0, 3].plot(time - time[0], away, color=COLOURS[name])
    axes[0, 3].set_title("left elbow from velocity's, mm", fontsize=9, loc="left")
    names = [name for name in model.names[2:] if name.startswith("L")]
    chosen = [name for name in names if any(word in name for word in ("Shoulder", "Elbow"))][:4]
    for place, joint in zip(axes[1], chosen, strict=True):
        column = list(model.names[2:]).index(joint)
        own = np.gradient(q[:, 7 + column], time)
        place.plot(time - time[0], own, color="#555555", linewidth=2.0, label="actor")
        for name, joints in moved.items():
            if joints is not None:
                speed = np.gradient(joints[:, column], time)
                place.plot(time - time[0], speed, color=COLOURS[name], linewidth=1.0, label=name)
        place.set_title(f"speed of {joint}, rad/s", fontsize=9, loc="left")
        place.set_xlabel("time, s", fontsize=8)
    figure.legend(*axes[1, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    return figure


def joint_curves(task: str, actors: Sequence[int], session: int) -> tuple[list[str], Array]:
    """Names and mean change of the joints since the start of a repetition (101, n), rad, over all actors."""
    curves = []
    for actor in actors:
        model, time, q, cuts = imitated(actor, task, session)
        for first, last in pairwise(cuts):
            at = np.linspace(first, last, PHASES)
            joints = np.stack([np.interp(at, time, column) for column in q[:, 7:].T], axis=1)
            curves.append(joints - joints[0])
    return list(model.names[2:]), np.mean(curves, axis=0)


def draw_curves(found: Mapping[str, tuple[list[str], Array]]) -> Figure:
    """Figures 4.4 (c) to 4.10 (c)."""
    figure = Figure(figsize=(11.0, 1.9 * len(found) + 0.6), dpi=60, layout="constrained")
    axes = figure.subplots(len(found), len(GROUPS), squeeze=False, sharey="row")
    colours = list(COLOURS.values())
    phase = np.linspace(0.0, 100.0, PHASES)
    for number, (task, (names, curves)) in enumerate(found.items()):
        for place, (group, parts) in zip(axes[number], GROUPS.items(), strict=True):
            place.set_title(f"{task.replace('_', ' ')}: {group}, °", fontsize=9, loc="left")
            place.tick_params(labelsize=7)
            for part, colour in zip(parts, colours, strict=False):
                for prefix, style in (("L", "-"), ("R", "--"), ("", "-")):
                    if prefix + part in names:
                        curve = np.degrees(curves[:, names.index(prefix + part)])
                        place.plot(phase, curve, style, color=colour, linewidth=1.2, label=prefix + part)
            if number == 0:
                place.legend(fontsize=6, frameon=False)
    for place in axes[-1]:
        place.set_xlabel("phase of a repetition, %", fontsize=8)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_session_options(parser, [1, 2, 3])
    parser.add_argument("--out", type=Path, default=FOLDER)
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    poses = draw_poses(*single_criterion_motions(given.actors[0], given.session))
    save_png(poses, given.out / "tomic2018_poses.png")
    found = {task: joint_curves(task, given.actors, given.session) for task in THESIS_TASKS}
    save_png(draw_curves(found), given.out / "tomic2018_joints.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
