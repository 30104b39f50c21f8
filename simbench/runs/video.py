"""Video, pictures and motion of a finished run, from its scenario and log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from simbench.errors import RunError
from simbench.motion.trajectory import JointTrajectory
from simbench.options import CameraSection
from simbench.robot.robot import Robot, load_robot, on_pedestal
from simbench.runs.log import open_run
from simbench.runs.log_schema import EQUIPMENT, require_drawable, require_entries
from simbench.runs.scenario.loading import load_finished, scenario_mechanisms
from simbench.runs.scenario.schema import Scenario
from simbench.runs.video_person import place_person
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.fixtures.stored import read_equipment
from simbench.sim.rendering.camera import Renderer, picture_strip
from simbench.sim.rendering.camera import render_video as draw_video
from simbench.sim.rendering.drawing_process import SUFFIXES
from simbench.sim.rendering.portrait import fit_camera
from simbench.sim.rendering.scene_view import Balance, Camera, Frames, move_camera

if TYPE_CHECKING:
    import xarray as xr

OnProgress = Callable[[str, int, int], None]

SPEEDS = (0.01, 100.0)  # Lowest and highest ratio of the run's time to the video's.
# Width of an animated picture, pixels, and its frames per second, unless others are asked for.
ANIMATION_WIDTH, ANIMATION_FPS = 640, 10
ANIMATIONS = (".gif", ".webp")  # Suffixes of animated pictures.
PREVIEW_WIDTH, PREVIEW_FPS = 640, 15  # Width of a preview, pixels, and its frames per second, at most.
# Factor on the camera's distance where a person stands beside the robot, and may be taller.
PERSON_DISTANCE = 1.2
# Standard deviation of the Gaussian that smooths the way of a camera that follows the robot, s.
FOLLOW_S = 0.4
LARGEST_OVERLAY_OFFSET = 20.0  # Largest distance of the reference from the robot, m.


@dataclass(frozen=True)
class View:
    """Part of a finished run, speed and camera of its video."""

    overrides: tuple[str, ...] = ()  # Texts `camera.key=value`, as for `load_scenario`.
    speed: float = 1.0  # Ratio of the run's time to the video's.
    start: float = 0.0  # First moment that is shown, in the time of the run, s.
    end: float | None = None  # Last moment, s; the end of the log if None.
    # Distance by which the reference is shown to the left of the robot in the picture, m; it is not shown if
    # None.
    ghost: float | None = None
    # Whether it is a preview: at most 640 pixels wide, at most 15 frames a second, without shadows.
    fast: bool = False
    # Distance by which the recorded person is shown to the left of the robot in the picture, m; the person is
    # not shown if None.
    person: float | None = None
    # Whether it is an animated picture: at most 640 pixels wide and at most 10 frames a second, unless
    # `overrides` say how wide and how many.
    animation: bool = False


@dataclass(frozen=True)
class VideoScene:
    """Everything that a video of a run shows."""

    robot: Robot
    mechanisms: list[Mechanism]  # Equipment.
    camera: Camera
    times: NDArray[np.float64]  # (F,): times of the frames in the time of the run, s.
    frames: Frames  # Poses of robot and equipment in each frame.
    shadows: bool = True  # Whether bodies cast shadows.


def load_video_scene(
    folder: Path, view: View, rate: float | None = None, *, may_end_before: bool = False
) -> VideoScene:
    """Read from the log of a run, complete or interrupted, what a video shows.

    `folder`: run directory; `view`: part of the run, speed and camera; `rate`: frames per second of the run;
    by default the camera's, at the speed of the view; `may_end_before`: whether the run may end before the
    view does, which then ends with it. Returns robot, equipment, camera and frames. Raises RunError,
    ScenarioError if there is no log, or the view does not fit the run.
    """
    for override in view.overrides:
        if not override.startswith("camera."):
            raise RunError(f"--set {override}: a finished run cannot be changed; allowed: camera.KEY=VALUE")
    if not SPEEDS[0] <= view.speed <= SPEEDS[1]:
        raise RunError(f"--speed {view.speed:g}: allowed: {SPEEDS[0]:g} to {SPEEDS[1]:g}")
    scenario, robot, mechanisms, log = load_drawn_run(folder, view.overrides)
    last = float(log.time[-1])
    end = last if view.end is None else view.end
    if may_end_before:
        end = min(end, last)
    if not 0.0 <= view.start < end <= last:
        asked = f"--start {view.start:g}" + ("" if view.end is None else f" --end {view.end:g}")
        raise RunError(f"{folder}: {asked}: allowed: 0 <= start < end <= {last:g} s, how long it was logged")
    camera = make_camera(scenario.camera, fast=view.fast)
    asked_for = {override.partition("=")[0] for override in view.overrides}
    if view.animation:
        # As small as animated pictures usually are, unless a size is asked for.
        sized = not asked_for.isdisjoint(("camera.width", "camera.height"))
        width = camera.width if sized else ANIMATION_WIDTH
        camera = _shrink(camera, width, camera.fps if "camera.fps" in asked_for else ANIMATION_FPS)
    rate = camera.fps / view.speed if rate is None else rate
    times = view.start + np.arange(max(1, round((end - view.start) * rate))) / rate
    frames = sample_frames(log, mechanisms, times, overlays=scenario.camera.overlays)
    video_times = np.arange(len(times)) / camera.fps
    frames = replace(frames, camera_path=make_camera_path(scenario.camera, log, times, video_times))
    if view.ghost is not None:
        shift, nearest = _left_in_picture(camera, "--ghost-offset", view.ghost), _nearest(log, times)
        base = reconstruct_planned_base(robot, log)[nearest]
        base[:, :3] += shift
        ghost = base, log["joint_reference"].values[nearest]
        camera, frames = _aim_between(camera, shift), replace(frames, ghost=ghost)
    if view.person is not None:
        shift = _left_in_picture(camera, "--person-offset", view.person)
        figure = place_person(folder, robot, log, times, shift)
        farther = 1.0 if "camera.distance_m" in asked_for else PERSON_DISTANCE
        camera = replace(_aim_between(camera, shift), distance_m=farther * camera.distance_m)
        frames = replace(frames, figure=figure)
    return VideoScene(robot, mechanisms, camera, times, frames, not view.fast)


def render_video(
    folder: Path, out: Path | None = None, *, on_progress: OnProgress, view: View | None = None
) -> tuple[Path, Renderer]:
    """Render the video of a run from its log, complete or interrupted.

    Parameters
    ----------
    folder : Path
        Run directory.
    out : Path, optional
        File to write, ending in `.mp4`, `.gif` or `.webp`; `video.mp4` in the run directory by default.
    on_progress : callable (stage, done, total)
        Callback that receives the progress.
    view : View, optional
        Part of the run, speed and camera; by default the whole run as its scenario shows it.

    Returns
    -------
    path : Path
        File of the video.
    renderer : str
        Renderer that drew it: `OpenGL` or `TinyRenderer`.

    Raises
    ------
    RunError
        If there is no log, the view does not fit the run, or the video cannot be written.
    """
    path = video_path(folder, out)
    scene = load_video_scene(folder, replace(view or View(), animation=path.suffix in ANIMATIONS))
    renderer = draw_video(
        path, scene.robot, scene.mechanisms, scene.frames, scene.camera, on_progress, shadows=scene.shadows
    )
    return path, renderer


def video_path(folder: Path, out: Path | None) -> Path:
    """Choose the file of a video, and refuse a name by which its format cannot be told.

    `folder`: run directory; `out`: file that is asked for. Returns the file; `video.mp4` in the run directory
    by default.
    """
    path = Path(out or folder / "video.mp4")
    if path.suffix not in SUFFIXES:
        raise RunError(f"{path}: a video's name must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    return path


def render_strip(
    folder: Path, out: Path, times: Sequence[float], *, width: int = 480, height: int = 360, columns: int = 4
) -> Path:
    """Draw moments of a run side by side.

    Parameters
    ----------
    folder : Path
        Run directory.
    out : Path
        PNG file to write.
    times : sequence of float
        Moments in the time of the run, s.
    width : int
        Width of one picture, pixels.
    height : int
        Height of one picture, pixels.
    columns : int
        Pictures in a row.

    Returns
    -------
    Path
        The file.
    """
    scenario, robot, mechanisms, log = load_drawn_run(folder)
    frames = sample_frames(log, mechanisms, np.asarray(times, dtype=float), overlays=scenario.camera.overlays)
    section = scenario.camera.model_copy(update={"width": width, "height": height})
    path = make_camera_path(section, log, np.asarray(times, dtype=float), np.zeros(len(times)))
    frames = replace(frames, camera_path=path)
    picture_strip(out, robot, mechanisms, frames, make_camera(section), range(len(times)), columns)
    return out


def load_drawn_run(
    folder: Path, overrides: Sequence[str] = (), log: xr.Dataset | None = None
) -> tuple[Scenario, Robot, list[Mechanism], xr.Dataset]:
    """Load robot, equipment and log of a run, complete or interrupted, to draw them.

    `folder`: run directory; `overrides`: texts `camera.key=value`, as for `load_scenario`; `log`: its log
    from `open_run`, if it has been read already. Returns the scenario with a complete camera; the robot, with
    a fixed base on a pedestal; the equipment; and the log. Raises RunError, ScenarioError, RobotError if
    there is no log, nothing was logged, or the log is not of the scenario's robot and equipment.
    """
    log = open_run(folder) if log is None else log
    if not log.sizes["time"]:
        raise RunError(f"{folder}: interrupted before anything was logged")
    scenario = load_finished(Path(folder), overrides)
    stored = read_equipment(str(log[EQUIPMENT.name].values), folder) if EQUIPMENT.name in log else None
    mechanisms, robot = scenario_mechanisms(scenario, stored), load_robot(scenario.robot.name)
    _require_same_run(folder, log, robot, mechanisms)
    if not robot.floating:
        robot = on_pedestal(robot, float(log["base_pose"].values[0, 2]))
    camera = fit_camera(robot, robot.postures.get(scenario.robot.posture), scenario.camera)
    return scenario.model_copy(update={"camera": camera}), robot, mechanisms, log


def _require_same_run(folder: Path, log: xr.Dataset, robot: Robot, mechanisms: Sequence[Mechanism]) -> None:
    """Refuse a log that is not of the robot and the equipment of its scenario."""
    state = ["base_pose", "joint_position", "joint_reference"]
    balance = ["zmp", "support_polygon"] if "zmp" in log else []
    state += ["cog"] if balance else []
    require_entries(log, ("joint", *state, *balance), ("seat",) if robot.floating else (), folder)
    _require_joints(folder, log, robot)
    moving: dict[str, tuple[str, ...]] = {
        f"{each.name}_{joint.name}": ("time",) for each in mechanisms for joint in each.joints
    }
    moving |= {f"{each.name}_stand": ("time", "pose") for each in mechanisms if each.standing}
    if robot.floating and not log.attrs["seat"]:
        moving |= {"contact_planned": ("time", "foot")}
    for name, dims in moving.items():
        if name not in log or log[name].dims != dims:
            raise RunError(f"{folder}: its log has no {name} ({', '.join(dims)}), as its scenario demands")
    require_drawable(log, (*state, *moving), folder, may_be_missing=balance)


def _require_joints(folder: Path, log: xr.Dataset, robot: Robot) -> None:
    if log["joint"].values.astype(str).tolist() != list(robot.joint_names):
        raise RunError(
            f"{folder}: the joints of its log are not those of {robot.name}, the robot of its scenario"
        )


def _nearest(log: xr.Dataset, times: NDArray[np.float64]) -> NDArray[np.intp]:
    return np.clip(np.searchsorted(log.time.values, times - 1e-9), 0, len(log.time) - 1)


def sample_frames(
    log: xr.Dataset, mechanisms: Sequence[Mechanism], times: NDArray[np.float64], *, overlays: bool
) -> Frames:
    """Read the samples of a log at the given times.

    `log`: log of the run, or of a part of it. `mechanisms`: equipment of the run. `times` (F,): times of the
    frames in the time of the run, s. Each shows the first sample that is not before it. `overlays`: whether
    COG, ZMP and support polygon are shown. Returns poses in each frame.
    """
    chosen = log.isel(time=_nearest(log, times))
    balance: Balance | None = None
    joints: dict[str, NDArray[np.float64]] = {}
    for each in mechanisms:
        columns = [chosen[f"{each.name}_{joint.name}"].values for joint in each.joints]
        joints[each.name] = np.stack(columns, axis=1) if columns else np.empty((len(times), 0))
    if overlays and "zmp" in chosen:
        corners = chosen["support_polygon"].values
        polygons = tuple(polygon[~np.isnan(polygon[:, 0])] for polygon in corners)
        balance = chosen["cog"].values[:, :2], chosen["zmp"].values, polygons
    return Frames(
        chosen["base_pose"].values,
        chosen["joint_position"].values,
        joints,
        balance,
        {each.name: chosen[f"{each.name}_stand"].values for each in mechanisms if each.standing},
    )


def _left_in_picture(camera: Camera, option: str, offset: float) -> NDArray[np.float64]:
    """Vector (3,) to the left in the picture, in the world, m."""
    if not abs(offset) <= LARGEST_OVERLAY_OFFSET:
        raise RunError(
            f"{option} {offset:g}: allowed: -{LARGEST_OVERLAY_OFFSET:g} to {LARGEST_OVERLAY_OFFSET:g} m"
        )
    yaw = np.radians(camera.yaw_deg)
    return -offset * np.array([np.cos(yaw), np.sin(yaw), 0.0])


def _aim_between(camera: Camera, shift: NDArray[np.float64]) -> Camera:
    """Aim the camera between the robot and what is displaced from it."""
    return move_camera(camera, 0.5 * shift, 0.0)


def make_camera_path(
    section: CameraSection, log: xr.Dataset, times: NDArray[np.float64], video_times: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Compute how the camera of a scenario moves.

    `section`: the scenario's section `camera`, with a target; `log`: log of the run; `times` (F,): times of
    the frames in the time of the run, s; `video_times` (F,): times of the frames in the video, s. Returns
    displacement and rotation; None of a camera that stands still.
    """
    if not section.follow and section.orbit_s is None:
        return None
    shift, turn = np.zeros((len(times), 3)), np.zeros(len(times))
    if section.follow:
        assert section.target_m is not None
        step = float(np.median(np.diff(log.time.values))) if len(log.time) > 1 else 1.0
        smooth = gaussian_filter1d(log["base_pose"].values[:, :2], FOLLOW_S / step, axis=0, mode="nearest")
        shift[:, :2] = smooth[_nearest(log, times)] - section.target_m[:2]
    if section.orbit_s is not None:
        turn = 360.0 * video_times / section.orbit_s
    return shift, turn


def _shrink(camera: Camera, width: int, fps: int) -> Camera:
    """Limit the width of pictures, pixels, and their number per second."""
    width = min(camera.width, width)
    # H.264 needs an even number.
    height = max(2, 2 * round(0.5 * camera.height * width / camera.width))
    return replace(camera, width=width, height=height, fps=min(camera.fps, fps))


def make_camera(section: CameraSection, *, fast: bool = False) -> Camera:
    """Make the camera of a scenario.

    `section`: the scenario's section `camera`; `fast`: whether the pictures are those of a preview: at most
    640 pixels wide, at most 15 a second.
    """
    camera = Camera(**{field.name: getattr(section, field.name) for field in fields(Camera)})
    return _shrink(camera, PREVIEW_WIDTH, PREVIEW_FPS) if fast else camera


def reconstruct_planned_base(robot: Robot, log: xr.Dataset) -> NDArray[np.float64]:
    """Reconstruct the base poses of the reference, seated or on one planned foot after the other.

    Each planned foot stays where the reference put it down. The balance controller adapts the reference to
    measurements; deviations of the joints and slipping or yielding soles are not included. `log`: log from
    `open_run`. Returns (T, 7): pose of the root link at the log's times in the world frame: x, y, z (m),
    quaternion x, y, z, w. For a robot with a fixed base, that of the log.
    """
    measured = log["base_pose"].values
    if not robot.floating:
        return np.asarray(measured)
    if log.attrs["seat"]:
        return np.tile(measured[0], (len(measured), 1))
    model, data = robot.model, robot.model.createData()
    frames = [model.getFrameId(robot.frames[role]) for role in robot.feet]
    contact, joints = log["contact_planned"].values, log["joint_reference"].values
    configuration = pin.neutral(model)
    standing, anchor = 0, pin.SE3.Identity()
    base = pin.XYZQUATToSE3(measured[0])
    poses = np.empty_like(measured)
    for sample, row in enumerate(joints):
        configuration[robot.root_q :] = row
        pin.framesForwardKinematics(model, data, configuration)
        # Relative to the root, which is at the model's origin.
        feet = [data.oMf[frame].copy() for frame in frames]
        if sample == 0:
            anchor = base * feet[standing]
        base = anchor * feet[standing].inverse()
        if not contact[sample, standing] and contact[sample].any():
            standing = int(contact[sample].argmax())
            anchor = base * feet[standing]
        poses[sample] = pin.SE3ToXYZQUAT(base)
    return poses


def read_run_trajectory(folder: Path, *, planned: bool = False) -> tuple[JointTrajectory, Robot]:
    """Read the motion of the robot of a run, complete or interrupted.

    `folder`: run directory; `planned`: whether to read the reference: joints that were to be followed, and
    the base that the planned feet give, in place of what was measured. Returns the motion at the log's rate,
    from 0 s, joints in the order of the robot, and the robot of the run's scenario. Raises RunError,
    ScenarioError, RobotError if there is no log or no scenario, or the robot of the scenario is not that of
    the log.
    """
    log = open_run(folder)
    robot = load_robot(load_finished(folder).robot.name)
    joints = "joint_reference" if planned else "joint_position"
    needed = ("joint", joints, "base_pose", *(("contact_planned",) if planned and robot.floating else ()))
    require_entries(log, needed, ("seat",) if planned and robot.floating else (), folder)
    _require_joints(folder, log, robot)
    base = None
    if robot.floating:
        base = reconstruct_planned_base(robot, log) if planned else np.asarray(log["base_pose"].values)
    time = np.asarray(log["time"].values, dtype=float)
    values = np.asarray(log[joints].values)
    return JointTrajectory(time - time[0], values, robot.joint_names, base), robot
