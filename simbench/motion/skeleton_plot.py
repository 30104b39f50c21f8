"""Plot of a recording: the skeleton at several moments side by side, and the speed of the hands below."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion, complete_arms
from simbench.motion.motion_inspection import MotionInspection
from simbench.plotting import save_png
from simbench.robot.sides import SIDES

# The camera stands in front of the actor and this much to their left.
AZIMUTH = np.radians(40.0)
SCREEN_RIGHT = np.array([-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0])
# From the wrist to the middle of the fingers, m.
HAND_LENGTH = 0.12
ARM = ("shoulder", "elbow", "wrist", "fingers")
LEG = ("hip", "knee", "ankle", "toe")
HEEL = ("ankle", "heel", "toe")
SPINE = ("mid_hip", "pelvis", "chest", "mid_shoulder", "neck", "head")

# Colours that colour-blind readers can tell apart.
COLOURS = {"left": "#0072b2", "right": "#d55e00", "": "#555555"}
PHASE_COLOURS = {"icp": "#cfe8cf", "tgp": "#fbeab8", "pmp": "#dde3f6", "rest": "#e6e6e6"}
# Pixels: width of the picture, margins around its two plots, and their heights.
WIDTH, LEFT, RIGHT, TOP, BETWEEN, BOTTOM = 1200, 72, 20, 52, 66, 56
FIGURES_HEIGHT, SPEEDS_HEIGHT = 380, 170
DPI = 100
# Number of figures: as many as fit if a metre has at least this many pixels, within these bounds.
MOST_FIGURES, FEWEST_FIGURES, FEWEST_PIXELS = 8, 4, 165
# Distance between two figures, m.
SPACE = 0.15
# A body whose lowest recorded point is higher than this has no recorded legs, and the plot need not reach
# down to the floor, m.
LEGLESS = 0.4
GAP_COLOUR = "#aa0000"


def plot_recording(inspection: MotionInspection, path: Path) -> None:
    """Plot a recording as PNG; the file appears under its name only when it is complete.

    The upper plot shows up to eight moments at equal intervals, seen from the front and the actor's left,
    side by side; the lower one the speed of the hands with phases, primitives and filled gaps.

    Parameters
    ----------
    inspection : MotionInspection
        The recording and its measures.
    path : Path
        PNG file to write.

    Raises
    ------
    MotionError
        If the file cannot be written.
    """
    motion = inspection.motion
    lines = build_stick_figure(motion)
    row_width = WIDTH - LEFT - RIGHT
    # Moments at equal intervals, as many as fit.
    right = np.max([across.max(axis=1) for _, _, across, _ in lines], axis=0)
    left = np.min([across.min(axis=1) for _, _, across, _ in lines], axis=0)
    for count in range(min(MOST_FIGURES, len(motion.time)), 0, -1):
        times = np.linspace(motion.time[0], motion.time[-1], count)
        frames = np.abs(motion.time[:, None] - times).argmin(axis=0)
        widths = right[frames] - left[frames] + SPACE
        if count <= FEWEST_FIGURES or widths.sum() <= row_width / FEWEST_PIXELS:
            break
    low = float(np.min([up[frames].min() for *_, up in lines]))
    high = float(np.max([up[frames].max() for *_, up in lines]))
    low = low if low > LEGLESS else min(low, 0.0)
    margin, width = 0.05 * (high - low), float(widths.sum())
    centres = np.cumsum(widths) - 0.5 * widths - 0.5 * (left + right)[frames]
    low, high = low - margin, high + margin
    # Metres a pixel: limited by width or by height.
    scale = max(width / row_width, (high - low) / FIGURES_HEIGHT)
    row_height = (high - low) / scale
    height = round(TOP + row_height + BETWEEN + SPEEDS_HEIGHT + BOTTOM)
    figure = Figure(figsize=(WIDTH / DPI, height / DPI), dpi=DPI)

    def place_axes(bottom: float, tall: float) -> Axes:
        return figure.add_axes((LEFT / WIDTH, bottom / height, row_width / WIDTH, tall / height))

    figures = place_axes(BOTTOM + SPEEDS_HEIGHT + BETWEEN, row_height)
    spare = 0.5 * (row_width * scale - width)
    figures.set_xlim(-spare, width + spare)
    figures.set_ylim(low, high)
    figures.spines[["top", "right", "bottom"]].set_visible(False)
    # The line is the floor.
    figures.axhline(0.0, color="#888888", linewidth=1.0, zorder=0)
    figures.set_xticks([])
    figures.yaxis.set_major_locator(MultipleLocator(0.5 if high - low > 1.0 else 0.2))
    figures.set_ylabel("height (m)")
    for frame, middle in zip(frames, centres, strict=True):
        for side, arm, across, up in lines:
            figures.plot(
                middle + across[frame],
                up[frame],
                color=COLOURS[side],
                linewidth=2.8 if arm else 1.8,
                alpha=1.0 if arm or not side else 0.6,
                solid_capstyle="round",
                marker="o",
                markersize=4.0 if arm else 2.5,
            )
        label, below = f"{motion.time[frame]:.2f} s", figures.get_xaxis_transform()
        figures.text(middle, -0.02, label, transform=below, ha="center", va="top")
    _draw_speeds(place_axes(BOTTOM, SPEEDS_HEIGHT), inspection, motion.time[frames])
    heading = 1 - 16 / height
    name = motion.source if len(motion.source) <= 70 else f"…{motion.source[-69:]}"
    title = f"{name}    {motion.time[-1] - motion.time[0]:.2f} s at {motion.rate:.4g} Hz"
    figure.text(LEFT / WIDTH, heading, title, size=12, weight="bold", va="top", parse_math=False)
    view = "from the front and the actor's left"
    figure.text(1 - RIGHT / WIDTH, heading, view, size=9, color="#555555", ha="right", va="top")
    try:
        save_png(figure, path)
    except OSError as error:
        raise MotionError(f"{path}: cannot be written: {error.strerror or error}") from error


def build_stick_figure(motion: HumanMotion) -> list[tuple[str, bool, Array, Array]]:
    """Connect the recorded joints of a body by lines, as seen from in front of the actor and their left.

    Returns lines in the order in which they are drawn, the side farther from the camera first: `left`,
    `right`, or empty for the middle of the body; whether the joints are those of an arm; and image
    coordinates (T, N) of the N joints: distance to the right of the body's centre at the same time, m, and
    height above the floor, m.
    """
    points = dict(motion.joints)
    for side in complete_arms(motion.joints):
        hand = motion.segments[f"{side}_hand"]
        points[f"{side}_fingers"] = points[f"{side}_wrist"] + HAND_LENGTH * hand[:, :3, 0]
    lines = connect_joints(points)
    middle = next(points[name] for name in ("pelvis", "mid_hip", "mid_shoulder", *points) if name in points)
    return [(side, arm, (line - middle[:, None]) @ SCREEN_RIGHT, line[..., 2]) for side, arm, line in lines]


def connect_joints(points: dict[str, Array]) -> list[tuple[str, bool, Array]]:
    """Connect the joints of a body by lines, as far as they are there: spine, girdles, legs and arms.

    `points` {str: (T, 3) array}: positions, m, named as the joints of a recording; the middles of hips and
    shoulders are added. Returns list of (str, bool, (T, N, 3) array): side, empty for the middle of the body;
    whether it is an arm; positions of the line's joints, m.
    """
    for joint in ("hip", "shoulder"):
        pair = [points[f"{side}_{joint}"] for side in SIDES if f"{side}_{joint}" in points]
        if len(pair) == 2:
            points[f"mid_{joint}"] = np.mean(pair, axis=0)
    chains: list[tuple[str, Sequence[str]]] = [("", SPINE)]
    chains += [("", [f"{side}_{joint}" for side in SIDES]) for joint in ("hip", "shoulder")]
    for side in ("right", "left"):
        limbs = (LEG, HEEL, ARM) if f"{side}_heel" in points else (LEG, ARM)
        chains += [(side, [f"{side}_{joint}" for joint in limb]) for limb in limbs]
    found = [(side, names, [points[name] for name in names if name in points]) for side, names in chains]
    return [
        (side, names[-1].endswith(ARM[-1]), np.stack(line, axis=1))
        for side, names, line in found
        if len(line) > 1
    ]


def _draw_speeds(axes: Axes, inspection: MotionInspection, moments: Array) -> None:
    """Draw the speed of the hands, phases, primitives, filled gaps, and the moments (K,) shown above, s."""
    motion, phases = inspection.motion, inspection.phases
    fastest = max(hand.peak for hand in inspection.hands)
    axes.set_xlim(motion.time[0], motion.time[-1])
    axes.set_ylim(0.0, 1.08 * fastest or 1.0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("hand speed (m/s)")
    across = axes.get_xaxis_transform()
    for name, colour in PHASE_COLOURS.items():
        phase = getattr(phases, name)
        if phase is not None:
            axes.axvspan(*phase, color=colour, linewidth=0, label=name if name == "rest" else name.upper())
    for hand in inspection.hands:
        label = f"{hand.side} hand"
        axes.plot(motion.time, hand.values, color=COLOURS[hand.side], linewidth=1.2, label=label)
    if len(phases.boundaries):
        style: dict[str, Any] = {"linewidth": 1.0, "transform": across, "label": "primitives"}
        axes.vlines(phases.boundaries, 0, 1, "#333333", "dashed", **style)
    if motion.filled:
        time, last = motion.time, len(motion.time) - 1
        starts = np.array([time[max(gap.first - 1, 0)] for gap in motion.filled])
        ends = np.array([time[min(gap.last + 1, last)] for gap in motion.filled])
        spans = np.stack([starts, ends - starts], axis=1).tolist()
        axes.broken_barh(spans, (0, 0.06), color=GAP_COLOUR, transform=across, label="gaps filled")
    marks: dict[str, Any] = {"color": "#333333", "markersize": 6, "clip_on": False, "transform": across}
    axes.plot(moments, np.ones(len(moments)), "v", label="moments above", **marks)
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 1.04),
        ncols=10,
        frameon=False,
        fontsize=9,
        borderaxespad=0,
        handlelength=1.4,
        columnspacing=1.4,
    )
