"""Video and pictures of a finished run, from its scenario and log."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np
import xarray as xr

from simbench.equipment import scenario_mechanisms
from simbench.errors import RunError
from simbench.robot.robot import Robot, load_robot
from simbench.runs.log import open_run
from simbench.scenario import Scenario, load_scenario
from simbench.scenario_schema import CameraSection
from simbench.sim.camera import Balance, Camera, Frames, Renderer, picture_strip
from simbench.sim.camera import render_video as draw_video
from simbench.sim.fixtures.mechanism import Mechanism

OnProgress = Callable[[str, int, int], None]


def render_video(folder: Path, out: Path | None = None, *, on_progress: OnProgress) -> tuple[Path, Renderer]:
    """Render the video of a run from its log, complete or interrupted.

    Parameters
    ----------
    folder : Path
        Run directory.
    out : Path, optional
        `video.mp4` in the run directory by default.
    on_progress : callable (stage, done, total)

    Returns
    -------
    path : Path
        Of the video.
    renderer : `EGL` or `TinyRenderer`
        Which drew it.

    Raises
    ------
    RunError
        If there is no log, or the video cannot be written.
    """
    scenario, robot, mechanisms, log = _load(folder)
    path = Path(out or folder / "video.mp4")
    if path.suffix != ".mp4":
        raise RunError(f"{path}: a video's name must end in .mp4")
    section = scenario.camera
    count = max(1, round(float(log.time[-1]) * section.fps))
    frames = _frames(log, mechanisms, np.arange(count) / section.fps, overlays=section.overlays)
    return path, draw_video(path, robot, mechanisms, frames, _camera(section), on_progress)


def render_strip(
    folder: Path, out: Path, times: Sequence[float], *, width: int = 480, height: int = 360, columns: int = 4
) -> Path:
    """Draw moments of a run side by side.

    Parameters
    ----------
    folder : Path
        Run directory.
    out : Path
        A PNG file.
    times : sequence of float
        s.
    width, height : int
        Pixels of one picture.
    columns : int
        Pictures in a row.

    Returns
    -------
    Path
    """
    scenario, robot, mechanisms, log = _load(folder)
    frames = _frames(log, mechanisms, np.asarray(times, dtype=float), overlays=scenario.camera.overlays)
    section = scenario.camera.model_copy(update={"width": width, "height": height})
    picture_strip(out, robot, mechanisms, frames, _camera(section), range(len(times)), columns)
    return out


def _load(folder: Path) -> tuple[Scenario, Robot, list[Mechanism], xr.Dataset]:
    log = open_run(folder)
    scenario = load_scenario(Path(folder) / "scenario.yaml")
    mechanisms = scenario_mechanisms(scenario)
    return scenario, load_robot(scenario.robot.name), mechanisms, log


def _frames(log: xr.Dataset, mechanisms: Sequence[Mechanism], times: np.ndarray, *, overlays: bool) -> Frames:
    """Take the samples nearest to the given times."""
    nearest = np.clip(np.searchsorted(log.time.values, times - 1e-9), 0, len(log.time) - 1)
    chosen = log.isel(time=nearest)
    balance = None
    if overlays and chosen.sizes["foot"]:
        corners = chosen["support_polygon"].values
        polygons = tuple(polygon[~np.isnan(polygon[:, 0])] for polygon in corners)
        balance = Balance(chosen["cog"].values[:, :2], chosen["zmp"].values, polygons)
    return Frames(
        chosen["base_pose"].values,
        chosen["joint_position"].values,
        {each.name: _positions(chosen, each) for each in mechanisms},
        balance,
        {each.name: chosen[f"{each.name}_stand"].values for each in mechanisms if each.standing},
    )


def _positions(log: xr.Dataset, mechanism: Mechanism) -> np.ndarray:
    """Positions (T, J) of a mechanism's joints."""
    columns = [log[f"{mechanism.name}_{joint.name}"].values for joint in mechanism.joints]
    return np.stack(columns, axis=1) if columns else np.empty((log.sizes["time"], 0))


def _camera(section: CameraSection) -> Camera:
    return Camera(**{field.name: getattr(section, field.name) for field in fields(Camera)})
