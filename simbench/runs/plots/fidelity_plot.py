"""Picture of a robot beside the person that it follows: moments of both, and directions' errors over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import RunError
from simbench.kinematics.arrays import Array
from simbench.motion.skeleton_plot import connect_joints
from simbench.motion.trajectory import JointTrajectory
from simbench.plotting import LEFT, RIGHT, TOP, WIDTH, Sheet, add_axes, new_sheet, save_png, set_time_axis
from simbench.retargeting.body_errors import DIRECTIONS, path_without_heading
from simbench.robot.robot import Robot
from simbench.runs.motion_fidelity import Fidelity
from simbench.sim.rendering.camera import draw_views
from simbench.sim.rendering.portrait import frame_cameras, link_hulls
from simbench.sim.rendering.portrait import robot_points as surface_points
from simbench.sim.rendering.scene_view import Camera, Frames, project

if TYPE_CHECKING:
    import xarray as xr

MOMENTS = 6  # Number of moments in the picture of a run.
PANEL_HEIGHT = 250  # Height of a picture of the person or the robot at a moment, pixels.
# Heights of a caption, of the space above the curves and of the curves, and of the second clock, pixels.
_CAPTION, _GAP, _CURVES, _CLOCK = 24, 34, 200, 42
_LIMB_COLOURS = {"left": "#0072b2", "right": "#d55e00", "": "#555555"}
# Colours that colour-blind readers can tell apart, by part of the body.
_CURVE_COLOURS = {
    "upper_arm": "#0072b2",
    "forearm": "#d55e00",
    "trunk": "#555555",
    "head": "#7b3294",
    "thigh": "#009e73",
    "shank": "#e69f00",
}
_ORDER = ("right", "", "left")  # Sides in the order in which they are drawn: the camera is on the left.
_FLOOR = "#e9e9e9"
_FLOOR_RADIUS = 0.35  # Radius of the disc on the floor below a stick figure, m.
_SAME = 1e-3  # Largest difference of the two clocks, s, for which one is enough.
YAW = 130.0  # Direction of view, degrees: from the front, 40° to the left, where neither arm hides the other.
_PITCH = -9.0  # Elevation of the direction of view, degrees.
# Distance that the whole duration counts for among moments, as metres for each point of the body: of a motion
# that repeats, moments of different repetitions are shown.
_SPREAD = 0.5
# Half the width of the cube about each point of a stick figure that its picture holds, m: hands and head.
_AROUND = 0.12


@dataclass(frozen=True)
class Comparison:
    """A robot beside the person that it follows."""

    title: str  # Title of the picture.
    recording_time: Array  # (T,): times of the samples in the recording, s.
    robot_time: Array  # (T,): the robot's times of the same samples, s.
    person: Mapping[str, Array]  # {str: (T, 3) array}: points of the person's body, m.
    # {str: (T, 3) array}: points of the robot's body, m; NaN where it was not executed.
    robot: Mapping[str, Array]
    # {str: (T,) array}: errors of directions by part of the body, such as `left_upper_arm`, rad; NaN where
    # there is none.
    errors: Mapping[str, Array]
    moments: NDArray[np.int64]  # (K,) int: samples that are shown.
    # Sequence of (height, width, 3) uint8 arrays: pictures of the robot at these moments; without them it is
    # a stick figure.
    pictures: Sequence[NDArray[np.uint8]] | None = None


def direction_errors(fidelity: Fidelity) -> dict[str, Array]:
    """Select the errors of directions.

    `fidelity`: what a robot's motion leaves of the person's, at T samples. Returns {str: (T,) array}: errors
    by part of the body, rad; NaN at samples that were not executed.
    """
    errors = {}
    for track in fidelity.errors.tracks:
        if track.quantity in DIRECTIONS:
            name = "_".join(filter(None, (track.side, *track.quantity.split())))
            errors[name] = np.full(len(fidelity.recording_time), np.nan)
            errors[name][track.samples] = track.values
    return errors


def compare_logged(log: xr.Dataset, title: str) -> Comparison:
    """Take a robot beside the person out of the log of a run.

    `log`: log with the variables of `add_fidelity`; `title`: title of the picture. Returns both as stick
    figures, at six moments.
    """
    names, limbs = ([str(label) for label in log[name].values] for name in ("body_point", "limb"))
    points = np.moveaxis(log["person_point"].values, 1, 0)
    person = {name: each for name, each in zip(names, points, strict=True) if np.isfinite(each).all()}
    robot = dict(zip(names, np.moveaxis(log["robot_point"].values, 1, 0), strict=True))
    time, errors = log["recording_time"].values, log["direction_error"].values
    return Comparison(
        title,
        time,
        log["recording_robot_time"].values,
        person,
        robot,
        {limb: errors[:, column] for column, limb in enumerate(limbs)},
        choose_moments(person, time, MOMENTS),
    )


def panel_size(count: int) -> tuple[int, int]:
    """Compute the size of the picture of one moment.

    `count`: number of moments. Returns width and height, pixels, both even.
    """
    width = (WIDTH - LEFT - RIGHT) // count
    return width - width % 2, PANEL_HEIGHT


def draw_comparison(comparison: Comparison, path: Path) -> None:
    """Draw a robot beside the person as PNG; the file appears under its name only when it is whole.

    Above, the person as a stick figure at some moments, with the recording's time; below, the robot at the
    same moments, with its own. Under them, the errors of directions over the recording's time, each the mean
    of both sides; where the tempo is not the person's, the robot's time is written above them. `path`: file
    to write, PNG. Raises OSError if the file cannot be written.
    """
    slower = float(np.ptp(comparison.robot_time - comparison.recording_time)) > _SAME
    rows = 2 * (PANEL_HEIGHT + _CAPTION)
    content = rows + _GAP + (_CLOCK if slower else 0) + _CURVES
    key = [Line2D([], [], color=_LIMB_COLOURS[side], label=f"{side} limbs") for side in ("left", "right")]
    sheet = new_sheet(content, comparison.title, key)
    width, height = panel_size(len(comparison.moments))
    person, robot = centre_points(comparison.person), centre_points(comparison.robot)
    persons = frame_points(person, comparison.moments, (width, height))
    robots = frame_points(robot, comparison.moments, (width, height))
    for column, moment in enumerate(comparison.moments):
        left = LEFT + column * width
        axes = _panel(sheet, left, TOP, (width, height))
        _draw_figure(axes, person, int(moment), persons[column])
        _caption(axes, f"person {comparison.recording_time[moment]:.2f} s")
        axes = _panel(sheet, left, TOP + PANEL_HEIGHT + _CAPTION, (width, height))
        if comparison.pictures is None:
            _draw_figure(axes, robot, int(moment), robots[column])
        else:
            axes.imshow(comparison.pictures[column], extent=(0, width, height, 0), interpolation="none")
        _caption(axes, f"robot {comparison.robot_time[moment]:.2f} s")
    top = TOP + content - _CURVES
    _draw_direction_errors(add_axes(sheet, LEFT, top, WIDTH - LEFT - RIGHT, _CURVES), comparison, slower)
    # Pictures of a robot have many greys, beside which the colours of the curves must be kept.
    save_png(sheet.figure, path, colours=256)


def _panel(sheet: Sheet, left: float, top: float, size: tuple[int, int]) -> Axes:
    """Add axes in pixels for the picture of a moment."""
    axes = add_axes(sheet, left, top, *size)
    axes.set_xlim(0, size[0])
    axes.set_ylim(size[1], 0)
    axes.set_axis_off()
    return axes


def _caption(axes: Axes, text: str) -> None:
    """Write a line below a picture."""
    axes.text(0.5, -0.02, text, transform=axes.transAxes, ha="center", va="top", size=9)


def _draw_figure(axes: Axes, points: Mapping[str, Array], moment: int, camera: Camera) -> None:
    """Draw a stick figure at a moment, the farther arm and leg first."""
    now = {name: values[[moment]] for name, values in points.items() if np.isfinite(values[moment]).all()}
    if not now:
        axes.text(0.5, 0.5, "not executed", transform=axes.transAxes, ha="center", color="#555555")
        return
    middle = np.mean([values[0, :2] for values in now.values()], axis=0)
    angle = np.linspace(0.0, 2.0 * np.pi, 40)
    disc = np.column_stack(
        [*(middle + _FLOOR_RADIUS * np.column_stack([np.cos(angle), np.sin(angle)])).T, 0 * angle]
    )
    if any(name.endswith("_ankle") for name in now):
        axes.add_patch(Polygon(project_line(camera, disc), color=_FLOOR, linewidth=0))
    for side, _, line in sorted(connect_joints(dict(now)), key=lambda line: _ORDER.index(line[0])):
        x, y = project_line(camera, line[0]).T
        colour = _LIMB_COLOURS[side]
        axes.plot(x, y, color=colour, linewidth=3.0, solid_capstyle="round", solid_joinstyle="round")
        axes.plot(x, y, "o", color=colour, markersize=4.0)
    if "head" in now:
        x, y = project_line(camera, now["head"])[0]
        axes.plot(x, y, "o", color=_LIMB_COLOURS[""], markersize=11.0)


def _draw_direction_errors(axes: Axes, comparison: Comparison, slower: bool) -> None:
    """Draw the directions' errors over the recording's time, the mean of both sides, and mark the moments."""
    time = comparison.recording_time
    for part, colour in _CURVE_COLOURS.items():
        sides = [values for name, values in comparison.errors.items() if name.endswith(part)]
        if sides:
            values = np.degrees(np.mean(sides, axis=0))
            label = f"{part.replace('_', ' ')} {np.nanmean(values):.1f}°"
            axes.plot(time, values, color=colour, linewidth=1.3, label=label)
    for moment in comparison.moments:
        axes.axvline(time[moment], color="#999999", linewidth=0.8, zorder=0)
    axes.set_ylim(bottom=0.0)
    set_time_axis(axes, time)
    axes.set_ylabel("direction error (°)", size=9)
    axes.set_xlabel("time of the recording (s); lines: the moments above; numbers: means", size=9)
    axes.legend(
        loc="upper left", bbox_to_anchor=(0.0, 1.0), ncols=6, fontsize=8, frameon=True, framealpha=0.8
    )
    low, high = axes.get_ylim()
    # Room for the legend.
    axes.set_ylim(low, high + 0.22 * (high - low))
    if slower:
        robot_time = comparison.robot_time
        clock = axes.secondary_xaxis(
            "top", functions=(_clock_map(time, robot_time), _clock_map(robot_time, time))
        )
        clock.set_xlabel("time of the robot (s)", size=9)
        clock.tick_params(labelsize=8)


def _clock_map(first: Array, second: Array) -> Callable[[ArrayLike], Array]:
    """Return the map from one clock to the other, linear between their samples and beyond their ends."""
    slopes = np.diff(second)[[0, -1]] / np.diff(first)[[0, -1]]

    def convert(given: ArrayLike) -> Array:
        at = np.asarray(given, dtype=float)
        before, after = np.minimum(at - first[0], 0.0), np.maximum(at - first[-1], 0.0)
        return np.asarray(np.interp(at, first, second) + slopes[0] * before + slopes[1] * after)

    return convert


def choose_moments(points: Mapping[str, Array], time: Array, count: int) -> NDArray[np.int64]:
    """Choose moments at which the person's postures differ most, by farthest-point sampling.

    `points` {str: (T, 3) array}: points of the person's body over time, m; `time` (T,); `count`: number of
    moments. Returns (K,) int: samples in order, at most `count`.
    """
    body = np.stack(list(points.values()), axis=1)
    posture = (body - body.mean(axis=1, keepdims=True)).reshape(len(time), -1)
    share = (time - time[0]) / (time[-1] - time[0])
    features = np.column_stack([posture, _SPREAD * np.sqrt(body.shape[1]) * share])
    chosen = [int(np.linalg.norm(posture - posture.mean(axis=0), axis=1).argmax())]
    nearest = np.full(len(time), np.inf)
    while len(chosen) < min(count, len(time)):
        nearest = np.minimum(nearest, np.linalg.norm(features - features[chosen[-1]], axis=1))
        chosen.append(int(nearest.argmax()))
    return np.unique(chosen)


def centre_points(points: Mapping[str, Array]) -> dict[str, Array]:
    """Move a body to the origin at every moment, so that one that walks is always at the same distance.

    `points` {str: (T, 3) array}: points of the body over time, m; NaN where they are not known. Returns {str:
    (T, 3) array}: the same points, moved horizontally so that the middle of those that are known is at x = y
    = 0.
    """
    body = np.stack(list(points.values()), axis=1)
    known = np.isfinite(body).all(axis=2, keepdims=True)
    count = np.maximum(known.sum(axis=1), 1)
    middle = np.where(known, body, 0.0).sum(axis=1) / count
    middle[:, 2] = 0.0
    return {name: values - middle for name, values in points.items()}


def frame_points(
    points: Mapping[str, Array], moments: NDArray[np.int64], size: tuple[int, int]
) -> list[Camera]:
    """Place a camera for each moment, so that a stick figure fills its picture.

    `points` {str: (T, 3) array}: points of a body over time, m, at least one; those that are NaN at a moment
    are left out; `moments` (K,) int: samples to show; `size`: width and height of a picture, pixels. Returns
    K cameras with the same scale and line of the floor.
    """
    corners = _AROUND * np.stack(np.meshgrid(*[(-1.0, 1.0)] * 3), axis=-1).reshape(-1, 3)
    clouds = []
    for moment in moments:
        found = np.array([values[moment] for values in points.values()])
        found = found[np.isfinite(found).all(axis=1)]
        # A picture of nothing needs a camera too.
        found = found if len(found) else np.zeros((1, 3))
        clouds.append((found[:, None] + corners).reshape(-1, 3))
    return frame_cameras(clouds, [YAW] * len(moments), *size, _PITCH)


def project_line(camera: Camera, points: Array) -> Array:
    """Project a line of a stick figure to pixels.

    `camera`: camera that sees it; `points` (N, 3): points of the line, m; those that are NaN are left out.
    Returns (M, 2): x to the right and y down from the picture's upper left corner, pixels.
    """
    return project(camera, points[np.isfinite(points).all(axis=1)])


def draw_robot(
    robot: Robot,
    trajectory: JointTrajectory,
    heading: float,
    moments: NDArray[np.int64],
    size: tuple[int, int],
) -> list[NDArray[np.uint8]] | None:
    """Draw a robot at some moments of its motion, seen as the person is.

    `trajectory`: its motion; one without a base is drawn with its root link at the origin; `heading`:
    direction of the robot's x axis in the world frame, rad about z, by which it is turned back; `moments`
    (K,) int: samples to show; `size`: width and height of a picture, pixels. Returns list of (height, width,
    3) uint8 arrays or None: pictures; None if the robot has no shape, or no renderer works.
    """
    hulls = link_hulls(robot)
    if not hulls:
        return None
    base = path_without_heading(trajectory, heading)[moments, :7]
    # A robot that walks is always at the same distance.
    base[:, :2] = 0.0
    joints = trajectory.q[moments]
    turns = Rotation.from_quat(base[:, 3:])
    clouds = [
        turn.apply(surface_points(robot, hulls, posture)) + pose[:3]
        for turn, posture, pose in zip(turns, joints, base, strict=True)
    ]
    if trajectory.base is None:
        # What stands on the floor is not known here: the lowest point does.
        lowest = min(cloud[:, 2].min() for cloud in clouds)
        base[:, 2] -= lowest
        clouds = [cloud - np.array([0.0, 0.0, lowest]) for cloud in clouds]
    cameras = frame_cameras(clouds, [YAW] * len(moments), *size, _PITCH)
    try:
        pictures, _ = draw_views(robot, Frames(base, joints, {}, None), range(len(moments)), cameras)
    except RunError:
        return None
    return pictures
