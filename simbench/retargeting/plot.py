"""Plot of a retargeting: recording against scaled model, and the robot's joints between their limits."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.skeleton_plot import COLOURS, DPI
from simbench.plotting import save_png
from simbench.retargeting.api import Retargeting
from simbench.retargeting.arm.fixed_base import ArmPlan
from simbench.retargeting.imitate.plan import KinematicPlan
from simbench.retargeting.imitation.errors import ImitationErrors, model_poses
from simbench.retargeting.imitation.imitation import Imitation
from simbench.retargeting.imitation.joint_use import joint_units
from simbench.retargeting.legs.plan import StepFollowingPlan
from simbench.retargeting.whole_body.plan import MotionPlan
from simbench.robot.sides import SIDES

RECORDED_COLOUR = "#c4c4c4"
LIMIT_COLOUR = "#ececec"
CONTACT_COLOUR = "#cfe8cf"
# Pixels: the width of the figure, its margins, the upper plots, a joint's plot and the space around them.
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1200, 64, 24, 66, 34
PATHS_HEIGHT, PATHS_WIDTH, PATHS_SPACE = 300, 290, 62
JOINT_HEIGHT, JOINT_SPACE, HEADING = 104, 58, 116
COLUMNS = 5
# Fraction of a joint's range that is shown beyond its limits.
BEYOND = 0.12
VIEWS = (("from the front", 1, "y (m)"), ("from the actor's right", 0, "x (m)"))


def require_model(made: Retargeting) -> Imitation:
    """Refuse a retargeting without the scaled model of a person that its picture shows.

    Parameters
    ----------
    made : Retargeting
        Retargeted recording.

    Returns
    -------
    Imitation
        Motion of the scaled model.

    Raises
    ------
    RetargetError
        If an arm follows a hand, without such a model, or legs follow the person's steps.
    """
    imitation = _drawn_plan(made).imitation
    if imitation is None:
        raise RetargetError(
            f"--picture: {made.robot.name} follows a hand, without a model of the person to draw; allowed: "
            "free motion of a robot with two arms"
        )
    return imitation


def _drawn_plan(made: Retargeting) -> MotionPlan | ArmPlan:
    """Plan that can be drawn; refuse one that is seen from a root which turns and leans."""
    if isinstance(made.plan, StepFollowingPlan | KinematicPlan):
        raise RetargetError(
            f"--picture: physics `{made.physics}` of {made.robot.name} has no scaled model to draw; allowed: "
            "--beside"
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
    imitation = require_model(made)
    plan = _drawn_plan(made)
    rows = -(-len(plan.upper) // COLUMNS)
    height = TOP + PATHS_HEIGHT + HEADING + rows * (JOINT_HEIGHT + JOINT_SPACE) - JOINT_SPACE + BOTTOM
    figure = Figure(figsize=(WIDTH / DPI, height / DPI), dpi=DPI)

    def place_axes(left: float, top: float, wide: float, tall: float) -> Axes:
        return figure.add_axes((left / WIDTH, 1 - (top + tall) / height, wide / WIDTH, tall / height))

    def write(left: float, top: float, text: str, **style: Any) -> None:
        figure.text(left / WIDTH, 1 - top / height, text, va="top", parse_math=False, **style)

    poses = model_poses(imitation.actor, imitation.q)
    hands = np.stack([errors.joints[f"{side}_wrist"] for side in SIDES])
    worst = int(hands.max(axis=0).argmax())
    for column, view in enumerate(VIEWS):
        left = LEFT + column * (PATHS_WIDTH + PATHS_SPACE)
        _draw_paths(place_axes(left, TOP, PATHS_WIDTH, PATHS_HEIGHT), made, poses, worst, view)
    left = LEFT + len(VIEWS) * (PATHS_WIDTH + PATHS_SPACE)
    _draw_errors(place_axes(left, TOP, WIDTH - RIGHT - left, PATHS_HEIGHT), made, errors, worst)

    source = made.motion.source if len(made.motion.source) <= 60 else f"…{made.motion.source[-59:]}"
    write(LEFT, 14, f"{source} on {made.robot.name}, {made.method}", size=12, weight="bold")
    key = "grey: recorded; blue: the model's left arm; orange: its right arm"
    write(WIDTH - RIGHT, 17, key, size=9, color="#555555", ha="right")
    below = TOP + PATHS_HEIGHT + HEADING
    slow_down = plan.metrics["retarget.slow_down"]
    slower = f"{slow_down:.3g} times slower than the person"
    if "retarget.slow_down_max" in plan.metrics:
        slower = f"in {slow_down:.3g} times the person's time"
    pace = "at the person's pace" if slow_down == 1.0 else slower
    note = "grey: beyond the limits" + ("; green: in contact" if _touches(made) else "")
    write(LEFT, below - 54, f"Joints of trunk and arms over time (s), {pace}; {note}", size=10)
    wide = (WIDTH - LEFT - RIGHT - (COLUMNS - 1) * PATHS_SPACE) / COLUMNS
    units = joint_units(made.robot)
    for number, joint in enumerate(plan.upper):
        row, column = divmod(number, COLUMNS)
        top = below + row * (JOINT_HEIGHT + JOINT_SPACE)
        axes = place_axes(LEFT + column * (wide + PATHS_SPACE), top, wide, JOINT_HEIGHT)
        _draw_joint(axes, made, joint, units[joint])
    save_png(figure, path)


def _draw_paths(
    axes: Axes, made: Retargeting, poses: dict[str, Array], worst: int, view: tuple[str, int, str]
) -> None:
    """Draw the paths of wrists and elbows on the plane of a view, and the arms at one sample."""
    title, across, label = view
    for side in SIDES:
        for part in ("elbow", "wrist"):
            name = f"{side}_{part}"
            recorded, model = made.motion.joints[name], poses[name][:, :3, 3]
            axes.plot(recorded[:, across], recorded[:, 2], color=RECORDED_COLOUR, linewidth=4.0, zorder=1)
            axes.plot(model[:, across], model[:, 2], color=COLOURS[side], linewidth=1.0, zorder=2)
        arm = [f"{side}_{part}" for part in ("shoulder", "elbow", "wrist")]
        for colour, width, points in (
            ("#777777", 3.5, np.array([made.motion.joints[name][worst] for name in arm])),
            (COLOURS[side], 1.4, np.array([poses[name][worst, :3, 3] for name in arm])),
        ):
            axes.plot(points[:, across], points[:, 2], color=colour, linewidth=width, marker="o", zorder=3)
            axes.lines[-1].set_markersize(1.5 * width + 1)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_title(title, loc="left", size=10)
    axes.set_xlabel(label, size=9)
    axes.set_ylabel("height (m)", size=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_errors(axes: Axes, made: Retargeting, errors: ImitationErrors, worst: int) -> None:
    """Draw the errors of wrists and elbows over time, and mark one sample."""
    time = made.motion.time
    for part, called, style, alpha in (("wrist", "hand", "solid", 1.0), ("elbow", "elbow", "dashed", 0.6)):
        for side in SIDES:
            values = 1000.0 * errors.joints[f"{side}_{part}"]
            label = f"{side} {called}: mean {values.mean():.2f}, max {values.max():.2f}"
            axes.plot(
                time, values, color=COLOURS[side], linestyle=style, alpha=alpha, linewidth=1.2, label=label
            )
            axes.axhline(values.mean(), color=COLOURS[side], linestyle="dotted", linewidth=0.8)
    axes.axvline(time[worst], color="#777777", linewidth=0.8)
    axes.set_xlim(time[0], time[-1])
    top = axes.get_ylim()[1]
    # Room for the legend.
    axes.set_ylim(0.0, 1.45 * top)
    axes.set_title("model against recording (mm)", loc="left", size=10)
    axes.set_xlabel("time of the recording (s); grey line: the arms on the left", size=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left", fontsize=8, frameon=False, borderaxespad=0.2)


def _draw_joint(axes: Axes, made: Retargeting, column: int, unit: str) -> None:
    """Draw one joint of trunk or arms, by its column in the trajectory, between its limits."""
    plan, robot = _drawn_plan(made), made.robot
    name = robot.joint_names[column]
    scale, shown = (180.0 / np.pi, "°") if unit == "rad" else (1000.0, " mm")
    values = scale * plan.trajectory.q[:, column]
    ends = values.min(), values.max()
    limits = scale * np.array(
        [
            robot.model.lowerPositionLimit[robot.root_q + column],
            robot.model.upperPositionLimit[robot.root_q + column],
        ]
    )
    # A continuous joint has none.
    low, high = np.where(np.isfinite(limits), limits, (ends[0] - 1.0, ends[1] + 1.0))
    space = BEYOND * (high - low)
    axes.set_ylim(min(low, ends[0]) - space, max(high, ends[1]) + space)
    axes.axhspan(axes.get_ylim()[0], low, color=LIMIT_COLOUR, linewidth=0)
    axes.axhspan(high, axes.get_ylim()[1], color=LIMIT_COLOUR, linewidth=0)
    side = next((side for side in SIDES if name in robot.groups[f"{side}_arm"]), "")
    time = plan.trajectory.time
    touching = np.any([plan.hands.contact[each] for each in ((side,) if side else SIDES)], axis=0)
    for start, end in _stretches(touching):
        axes.axvspan(time[start], time[end], color=CONTACT_COLOUR, linewidth=0, zorder=0)
    axes.plot(time, values, color=COLOURS[side], linewidth=1.2)
    axes.set_xlim(time[0], time[-1])
    axes.xaxis.set_major_locator(MaxNLocator(3, integer=bool(time[-1] - time[0] > 2.0)))
    axes.set_yticks([low, high], [f"{low:.0f}", f"{high:.0f}"])
    axes.set_title(name, loc="left", size=9, parse_math=False)
    nearest = min(ends[0] - limits[0], limits[1] - ends[1])
    axes.set_title(f"{nearest:.1f}{shown} to limit", loc="right", size=7.5, color="#555555")
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _touches(made: Retargeting) -> bool:
    """Whether a hand is ever in contact."""
    return any(bool(_drawn_plan(made).hands.contact[side].any()) for side in SIDES)


def _stretches(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last sample of each run of true flags."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]])))
    return [(int(start), int(end) - 1) for start, end in list(pairwise(edges))[::2]]
