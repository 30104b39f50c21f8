"""Plot of a retargeting: recording against scaled model, and the robot's joints between their limits."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from simbench.errors import RetargetError
from simbench.motion.skeleton_plot import COLOURS
from simbench.motion.trajectory_files.joint_order import joint_units
from simbench.plotting import CONTACT_COLOUR, DPI, WIDTH, Sheet, add_axes, save_png
from simbench.retargeting.api import Retargeting
from simbench.retargeting.arm.fixed_base import ArmPlan
from simbench.retargeting.imitate.plan import KinematicPlan
from simbench.retargeting.imitation.imitation import ImitationErrors, model_poses
from simbench.retargeting.stand.standing_plan import MotionPlan
from simbench.retargeting.steps.step_following import StepFollowingPlan
from simbench.robot.sides import SIDES

RECORDED_COLOUR, LIMIT_COLOUR = "#c4c4c4", "#ececec"
# Pixels: the margins of the figure, the upper plots, a joint's plot and the space around them.
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 66, 34
PATHS_HEIGHT, PATHS_WIDTH, PATHS_SPACE = 300, 290, 62
JOINT_HEIGHT, JOINT_SPACE, HEADING = 104, 58, 116
COLUMNS = 5
# Fraction of a joint's range that is shown beyond its limits.
BEYOND = 0.12
VIEWS = (("from the front", 1, "y (m)"), ("from the actor's right", 0, "x (m)"))


def require_model(made: Retargeting) -> MotionPlan | ArmPlan:
    """Refuse a plan without a scaled model to draw: an arm follows a hand, or the root turns and leans."""
    if isinstance(made.plan, StepFollowingPlan | KinematicPlan):
        raise RetargetError(
            f"--picture: physics `{made.physics}` of {made.robot.name} has no scaled model to draw; allowed: "
            "--beside"
        )
    if made.plan.imitation is None:
        raise RetargetError(
            f"--picture: {made.robot.name} follows a hand, without a model of the person to draw; allowed: "
            "free motion of a robot with two arms"
        )
    return made.plan


def draw_retargeting(made: Retargeting, errors: ImitationErrors, path: Path) -> None:
    """Draw a retargeting as PNG; the file appears under its name only when it is whole.

    Above, the paths of wrists and elbows in the recording and in the scaled model, with both arms at the
    moment of the greatest hand error, and the errors over time. Below, the joints of trunk and arms over
    time, the ranges beyond their limits grey, contact with equipment green.

    Parameters
    ----------
    made : Retargeting
        Retargeted recording.
    errors : ImitationErrors
        Errors of its imitation.
    path : Path
        File to write, PNG.

    Raises
    ------
    OSError
        If the file cannot be written.
    RetargetError
        If there is no scaled model.
    """
    plan, robot = require_model(made), made.robot
    assert plan.imitation is not None
    rows = -(-len(plan.upper) // COLUMNS)
    height = TOP + PATHS_HEIGHT + HEADING + rows * (JOINT_HEIGHT + JOINT_SPACE) - JOINT_SPACE + BOTTOM
    sheet = Sheet(Figure(figsize=(WIDTH / DPI, height / DPI), dpi=DPI), height)

    def write(left: float, top: float, text: str, **style: Any) -> None:
        sheet.figure.text(left / WIDTH, 1 - top / height, text, va="top", parse_math=False, **style)

    poses = model_poses(plan.imitation.actor, plan.imitation.q)
    _, missed, _, _ = errors
    worst = int(np.max([missed[f"{side}_wrist"] for side in SIDES], axis=0).argmax())
    left = LEFT
    recorded, model = made.motion.joints, {name: pose[:, :3, 3] for name, pose in poses.items()}
    for title, across, label in VIEWS:
        axes = add_axes(sheet, left, TOP, PATHS_WIDTH, PATHS_HEIGHT)
        left += PATHS_WIDTH + PATHS_SPACE
        for side in SIDES:
            for name in (f"{side}_elbow", f"{side}_wrist"):
                for points, colour, width in ((recorded, RECORDED_COLOUR, 4.0), (model, COLOURS[side], 1.0)):
                    order, (sideways, up) = 1 if points is recorded else 2, points[name][:, [across, 2]].T
                    axes.plot(sideways, up, color=colour, linewidth=width, zorder=order)
            for points, colour, width in ((recorded, "#777777", 3.5), (model, COLOURS[side], 1.4)):
                arm = np.array([points[f"{side}_{part}"][worst] for part in ("shoulder", "elbow", "wrist")])
                axes.plot(arm[:, across], arm[:, 2], color=colour, linewidth=width, marker="o", zorder=3)
                axes.lines[-1].set_markersize(1.5 * width + 1)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_title(title, loc="left", size=10)
        axes.set_xlabel(label, size=9)
        axes.set_ylabel("height (m)", size=9)
    axes = add_axes(sheet, left, TOP, WIDTH - RIGHT - left, PATHS_HEIGHT)
    time = made.motion.time
    for part, called, style, alpha in (("wrist", "hand", "solid", 1.0), ("elbow", "elbow", "dashed", 0.6)):
        for side in SIDES:
            values, colour = 1000.0 * missed[f"{side}_{part}"], COLOURS[side]
            label = f"{side} {called}: mean {values.mean():.2f}, max {values.max():.2f}"
            axes.plot(time, values, color=colour, linestyle=style, alpha=alpha, linewidth=1.2, label=label)
            axes.axhline(values.mean(), color=colour, linestyle="dotted", linewidth=0.8)
    axes.axvline(time[worst], color="#777777", linewidth=0.8)
    axes.set_xlim(time[0], time[-1])
    # Room for the legend.
    axes.set_ylim(0.0, 1.45 * axes.get_ylim()[1])
    axes.set_title("model against recording (mm)", loc="left", size=10)
    axes.set_xlabel("time of the recording (s); grey line: the arms on the left", size=9)
    axes.legend(loc="upper left", fontsize=8, frameon=False, borderaxespad=0.2)

    source = made.motion.source if len(made.motion.source) <= 60 else f"…{made.motion.source[-59:]}"
    write(LEFT, 14, f"{source} on {robot.name}, {made.method}", size=12, weight="bold")
    key = "grey: recorded; blue: the model's left arm; orange: its right arm"
    write(WIDTH - RIGHT, 17, key, size=9, color="#555555", ha="right")
    slow_down = plan.metrics["retarget.slow_down"]
    pace = f"{slow_down:.3g} times slower than the person"
    if slow_down == 1.0:
        pace = "at the person's pace"
    elif "retarget.slow_down_max" in plan.metrics:
        pace = f"in {slow_down:.3g} times the person's time"
    touches = any(plan.hands.contact[side].any() for side in SIDES)
    note = "grey: beyond the limits" + ("; green: in contact" if touches else "")
    below = TOP + PATHS_HEIGHT + HEADING
    write(LEFT, below - 54, f"Joints of trunk and arms over time (s), {pace}; {note}", size=10)
    wide = (WIDTH - LEFT - RIGHT - (COLUMNS - 1) * PATHS_SPACE) / COLUMNS
    for number, joint in enumerate(plan.upper):
        row, column = divmod(number, COLUMNS)
        top = below + row * (JOINT_HEIGHT + JOINT_SPACE)
        axes = add_axes(sheet, LEFT + column * (wide + PATHS_SPACE), top, wide, JOINT_HEIGHT)
        name, time = robot.joint_names[joint], plan.trajectory.time
        scale, shown = (180.0 / np.pi, "°") if joint_units(robot)[joint] == "rad" else (1000.0, " mm")
        values, index = scale * plan.trajectory.q[:, joint], robot.root_q + joint
        ends = values.min(), values.max()
        limits = scale * np.array(
            [robot.model.lowerPositionLimit[index], robot.model.upperPositionLimit[index]]
        )
        # A continuous joint has none.
        low, high = np.where(np.isfinite(limits), limits, (ends[0] - 1.0, ends[1] + 1.0))
        space = BEYOND * (high - low)
        axes.set_ylim(min(low, ends[0]) - space, max(high, ends[1]) + space)
        axes.axhspan(axes.get_ylim()[0], low, color=LIMIT_COLOUR, linewidth=0)
        axes.axhspan(high, axes.get_ylim()[1], color=LIMIT_COLOUR, linewidth=0)
        side = next((side for side in SIDES if name in robot.groups[f"{side}_arm"]), "")
        touching = np.any([plan.hands.contact[each] for each in ((side,) if side else SIDES)], axis=0)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], touching, [False]])))
        for start, end in zip(edges[::2], edges[1::2] - 1, strict=True):
            axes.axvspan(time[start], time[end], color=CONTACT_COLOUR, linewidth=0, zorder=0)
        axes.plot(time, values, color=COLOURS[side], linewidth=1.2)
        axes.set_xlim(time[0], time[-1])
        axes.xaxis.set_major_locator(MaxNLocator(3, integer=bool(time[-1] - time[0] > 2.0)))
        axes.set_yticks([low, high], [f"{low:.0f}", f"{high:.0f}"])
        axes.set_title(name, loc="left", size=9, parse_math=False)
        nearest = min(ends[0] - limits[0], limits[1] - ends[1])
        axes.set_title(f"{nearest:.1f}{shown} to limit", loc="right", size=7.5, color="#555555")
    save_png(sheet.figure, path)
