"""CPU time of a frame of a video, by renderer, size and scene, and of a bare frame of the same scene."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import venv
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.table import Table

from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.video import VideoScene, View, load_video_scene
from simbench.sim.rendering import camera
from simbench.sim.rendering.painting import Cast, make_records
from simbench.sim.rendering.scene_view import Frames, light_direction, view_matrix

PEERS = {"pyrender": ("pyrender", "trimesh", "numpy<2"), "vtk": ("vtk",), "mujoco": ("mujoco",)}
"""Other libraries, and the packages that they need beside NumPy and Pillow."""
PEER_FRAMES = 12
SCENES = ("drawer", "valves", "mahru_walk")
VIEWS = {"1280 × 720": View(), "with ghost": View(ghost=1.0), "preview": View(fast=True)}
FEW, MANY = 20, 80
"""Frames of two videos: their difference is the time of frames without that of starting."""

_BARE = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from drawing import load_scene
from simbench.sim.rendering.scene_renderer import open_scene, pose_scene
from simbench.sim.rendering.scene_view import light_direction, projection_matrix, view_matrix
scene = load_scene(Path(sys.argv[2]), "1280 × 720")
view, projection = view_matrix(scene.camera), projection_matrix(scene.camera)
light = light_direction(scene.camera)
with open_scene(scene.robot, scene.mechanisms, scene.camera) as stage:
    for index in range(12):
        if index == 2:
            start = time.process_time()
        pose_scene(stage, scene.frames, index)
        stage.stage.draw(view, projection, light, 1280, 720)
    print((time.process_time() - start) / 10)
"""


def load_scene(folder: Path, view: str) -> VideoScene:
    """Read what a video of a run shows, from the middle of the run on.

    Parameters
    ----------
    folder : Path
        Run directory.
    view : str
        Key of `VIEWS`.

    Returns
    -------
    VideoScene
        The scene with at most `MANY` frames.
    """
    scene = load_video_scene(folder, VIEWS[view])
    first = max(0, len(scene.times) // 2 - MANY // 2)
    return replace(scene, frames=_cut(scene.frames, slice(first, first + MANY)))


def drawing_table(repeat: int, runs: Path | None, peers: Path) -> Table:
    """Tabulate the CPU time of frames.

    Parameters
    ----------
    repeat : int
        Number of measurements of each kind, all kinds in turn; the least counts.
    runs : Path or None
        Folder with a run directory of each of `SCENES`; simulated anew if None.
    peers : Path
        Environment of the other libraries, made if there is none.

    Returns
    -------
    rich.table.Table
        CPU time of a frame with encoding, ms, in all processes; the same divided by that of a frame of
        the engine's renderer alone, once drawn, neither smoothed nor encoded; CPU time of starting, s.
    """
    table = Table("drawing", "renderer", "ms/frame", "bare frame = 1", "starting, s")
    with tempfile.TemporaryDirectory() as name:
        for scenario in SCENES:
            folder = (runs or Path(name)) / scenario
            if not folder.exists():
                run_scenario(load_scenario(scenario), folder)
            table.add_section()
            bare = min(_bare_frame(folder) for _ in range(repeat))
            for row in (*_rows(scenario, folder, repeat, bare), *_peer_rows(folder, peers, repeat, bare)):
                table.add_row(*row)
    return table


def _rows(scenario: str, folder: Path, repeat: int, bare: float) -> list[tuple[str, ...]]:
    """Measure a scene with each renderer."""
    ours, engine = camera.choose_renderer(), camera.TINY_RENDERER
    kinds = [(view, renderer) for view in VIEWS for renderer in dict.fromkeys((ours, engine))]
    scenes = {view: load_scene(folder, view) for view in VIEWS}
    costs = {kind: [] for kind in kinds}
    for _ in range(repeat):
        for view, renderer in kinds:
            costs[view, renderer].append([_video_cost(scenes[view], renderer, n) for n in (FEW, MANY)])
    rows = [(scenario, f"{engine}, bare", f"{1e3 * bare:.1f}", "1.00", "")]
    for (view, renderer), measured in costs.items():
        few, many = np.min(measured, axis=0)
        frame = (many - few) / (MANY - FEW)
        rows.append(
            (f"  {view}", renderer, f"{1e3 * frame:.1f}", f"{frame / bare:.2f}", f"{few - FEW * frame:.2f}")
        )
    return rows


def _peer_rows(folder: Path, peers: Path, repeat: int, bare: float) -> list[tuple[str, ...]]:
    """Measure the same triangles and poses with other libraries, without encoding."""
    shown = load_scene(folder, "1280 × 720")
    view = shown.camera
    cast = Cast(shown.robot, shown.mechanisms, view, ghost=False, video=True, shadows=True)
    records = make_records(cast, _cut(shown.frames, slice(0, PEER_FRAMES)))
    light = light_direction(view)
    solids = cast.content.solids
    rows = []
    with tempfile.TemporaryDirectory() as name:
        np.savez(
            Path(name) / "scene.npz",
            points=np.concatenate([solid.points for solid in solids]),
            triangles=np.concatenate([solid.triangles for solid in solids]),
            colours=np.concatenate([solid.colours for solid in solids]),
            point_count=[len(solid.points) for solid in solids],
            triangle_count=[len(solid.triangles) for solid in solids],
            poses=records["poses"],
            camera=np.linalg.inv(view_matrix(view)),
            opening=np.radians(view.fov_deg),
            light=light / np.linalg.norm(light),
            size=(view.width, view.height),
        )
        for peer in PEERS:
            seconds = [_run_peer(peer, peers, Path(name)) for _ in range(repeat)]
            known = [each for each in seconds if each is not None]
            if known:
                frame = min(known)
                rows.append((f"  {peer}, not encoded", peer, f"{1e3 * frame:.1f}", f"{frame / bare:.2f}", ""))
    return rows


def _run_peer(peer: str, peers: Path, folder: Path) -> float | None:
    """CPU time of a frame of another library, s; print its error and return None if it fails."""
    # pyrender wants another NumPy than the others: each has an environment of its own.
    python = peers / f"drawing-{peer}" / "bin" / "python"
    if not python.exists():
        print(f"installing {peer} into {peers}", file=sys.stderr)
        venv.create(python.parents[1], with_pip=True)
        packages = (*PEERS[peer], "numpy", "pillow")
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    script = Path(__file__).with_name("drawing_peers.py")
    done = subprocess.run([python, script, peer, folder], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{peer}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return float(json.loads((folder / f"{peer}.json").read_text())["seconds"])


def _video_cost(scene: VideoScene, renderer: str, count: int) -> float:
    """Draw and encode frames; return the CPU time of all processes, s."""
    chosen = camera.choose_renderer
    camera.choose_renderer = lambda: renderer
    begin = _cpu_time()
    try:
        with tempfile.TemporaryDirectory() as name:
            used = camera.render_video(
                Path(name) / "a.mp4",
                scene.robot,
                scene.mechanisms,
                _cut(scene.frames, slice(0, count)),
                scene.camera,
                lambda *_: None,
                shadows=scene.shadows,
            )
    finally:
        camera.choose_renderer = chosen
    if used != renderer:
        raise SystemExit(f"{renderer} does not draw here")
    return _cpu_time() - begin


def _bare_frame(folder: Path) -> float:
    """CPU time of a frame that the engine's renderer draws once, s."""
    environment = {**os.environ, "LP_NUM_THREADS": "0", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _BARE, str(Path(__file__).parent), str(folder)]
    printed = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
    # Bullet prints, too.
    return float(printed.split()[-1])


def _cut(frames: Frames, part: slice) -> Frames:
    """Keep a part of the frames."""
    balance, ghost = frames.balance, frames.ghost
    if balance is not None:
        cog, zmp, support = balance
        balance = cog[part], zmp[part], support[part]
    if ghost is not None:
        base, joints = ghost
        ghost = base[part], joints[part]
    return Frames(
        frames.base[part],
        frames.joints[part],
        {name: values[part] for name, values in frames.fixtures.items()},
        balance,
        {name: values[part] for name, values in frames.stands.items()},
        ghost,
    )


def _cpu_time() -> float:
    """CPU time of this process and of those that have ended, s."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
