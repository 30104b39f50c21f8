"""A scenario from call to run directory: plan, simulate, measure and write."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Unpack

from simbench.files.storage import typed_output, write_whole
from simbench.motion.readers import SCHEMES, SUFFIXES, find_reader
from simbench.options import BALANCE_CONTROLLERS, CONTROL_LAWS, RETARGETING_METHODS, TRAJECTORY
from simbench.plugins.declarations import is_plugin
from simbench.plugins.entry_points import give_reference, load_plugin
from simbench.robot.robot import Robot, draw_variation, load_robot
from simbench.robot.robot_limbs import describe_bare_mass
from simbench.runs.baseline import DIVERGED, check_metrics
from simbench.runs.log import LogParts, write_log
from simbench.runs.log_builder import build_log
from simbench.runs.metrics import measure_run
from simbench.runs.motion_fidelity import add_fidelity
from simbench.runs.preparation import (
    OnDoubts,
    Planning,
    Preparation,
    complete_scenario,
    place_in_world,
    prepare,
)
from simbench.runs.provenance import collect_provenance, describe_policy, describe_robot_files
from simbench.runs.result import RunResult
from simbench.runs.run_directory import (
    LOG_PARTS,
    PROVENANCE,
    DirectoryTaken,
    json_text,
    run_directory,
    shielded_from_interrupt,
    unused_run_path,
    write_metrics,
)
from simbench.runs.scenario.loading import load_scenario, override_scenario, resolved_yaml
from simbench.runs.scenario.scenario_files import Overrides
from simbench.runs.scenario.schema import Scenario
from simbench.runs.video import View, make_camera, render_video
from simbench.sim.control.laws import ControlLaw
from simbench.sim.control.policy_law import PolicyLaw
from simbench.sim.control.torque_law import make_control_law
from simbench.sim.engine import open_engine
from simbench.sim.fixtures import TYPES
from simbench.sim.loop import LoopOptions, simulate
from simbench.sim.push import Push, plan_pushes
from simbench.sim.recorder import Recorder
from simbench.sim.rendering.portrait import fit_camera
from simbench.sim.rendering.scene_renderer import show_simulation
from simbench.system.progress import OnProgress, Progress, shown_progress

if TYPE_CHECKING:
    import xarray as xr

    from simbench.runs.live_view import LiveVideo, LiveView

ENGINE = "engine"  # Metric of every run: name of the physics engine.
# Keys of a scenario that name what is given, and its options.
_KEYS = {
    "control_law": ("control.law", "control.options"),
    "balancer": ("balance.controller", "balance.options"),
    "retargeter": ("retarget.method", "retarget.options"),
}


class GivenPlugins(TypedDict, total=False):
    """What a Python program may pass to a run instead of naming it in the scenario.

    Each is a function of the arguments that its group has (`plugins.groups`), or a section with the method of
    that group: a class, or an instance with values.
    """

    control_law: Any
    """Makes the control law from (robot, timestep), as a plug-in of `simbench.control_laws`."""
    balancer: Any
    """Makes the balance controller from (robot, plan, timestep), as one of `simbench.balance_controllers`."""
    retargeter: Any
    """Converts (robot, motion) to joint positions, as one of `simbench.retargeters`."""


def run(
    scenario: str | Path | Scenario,
    overrides: Overrides = (),
    *,
    out: str | Path | None = None,
    video: bool = False,
    cache: bool = True,
    on_progress: Progress = None,
    **given: Unpack[GivenPlugins],
) -> RunResult:
    """Retarget, simulate and measure a scenario.

    Parameters
    ----------
    scenario : str, Path or Scenario
        Name (`simbench list scenarios`), path of a YAML file, or what `load_scenario` returned.
    overrides : mapping of str to object, or sequence of str
        Values to set: `{"control.stiffness_scale": 2}`, `{"control": {"stiffness_scale": 2}}`, or texts
        `control.stiffness_scale=2` as after `--set`.
    out : str or Path, optional
        Run directory to make; by default `runs/SCENARIO-TIME`.
    video : bool
        Whether video.mp4 is rendered at once; the result's `video` does it later.
    cache : bool
        Whether the plan of the motion may come from the cache of plans; the run is the same, bit for bit.
    on_progress : callable (stage, done, total), bool or None
        Callback that receives the progress of each stage; or whether progress is shown on the standard error,
        None for in a terminal or a notebook only.
    **given : control_law, balancer, retargeter
        Functions or sections of yours in the place of those that the scenario names: see `run_scenario`.

    Returns
    -------
    RunResult
        Metrics, checks, and the log, plots, video and report when they are asked for.

    Raises
    ------
    SimbenchError
        For bad input; nothing half-written stays.
    """
    resolved = (
        override_scenario(scenario, overrides)
        if isinstance(scenario, Scenario)
        else load_scenario(scenario, overrides)
    )
    while True:
        folder = unused_run_path(resolved.name) if out is None else typed_output(out)
        try:
            return run_scenario(resolved, folder, video=video, cache=cache, on_progress=on_progress, **given)
        except DirectoryTaken:
            # Another process chose the same name in the same second.
            if out is not None:
                raise


def run_scenario(
    scenario: Scenario,
    out: str | Path,
    *,
    video: bool = False,
    fast: bool = False,
    gui: bool | LiveView = False,
    cache: bool = True,
    on_progress: Progress = None,
    on_doubts: OnDoubts | None = None,
    **given: Unpack[GivenPlugins],
) -> RunResult:
    """Retarget, simulate and measure a scenario, and write a run directory.

    Parameters
    ----------
    scenario : Scenario
        Scenario from `load_scenario`.
    out : str or Path
        Run directory to make.
    video : bool
        Also render video.mp4, while the simulation goes on where that is possible.
    fast : bool
        Whether the video is a preview: at most 640 pixels wide, at most 15 frames a second, without shadows.
    gui : bool or LiveView
        Show Bullet's window, in real time; or the scene, in browsers.
    cache : bool
        Take the plan of the motion from the cache of plans if it is there, and keep it there if not. The run
        is the same, bit for bit.
    on_progress : callable (stage, done, total), bool or None
        Callback that receives the progress of each stage; or whether progress is shown on the standard error,
        None for in a terminal or a notebook only.
    on_doubts : callable (tuple of str), optional
        Called before anything is planned with what may well be wrong about the recording, one line each; not
        called if there is nothing.
    **given : control_law, balancer, retargeter
        Functions or sections of the program that take the place of those that the scenario names, as plug-ins
        do (`runs.pipeline.GivenPlugins`); scenario.yaml and provenance.json name them.

    Returns
    -------
    RunResult
        Metrics, checks and the directory.

    Raises
    ------
    SimbenchError
        For bad input; nothing half-written stays.
    """
    changes: dict[str, Any] = {}
    for name, value in given.items():
        if value is not None:
            # `FILE.py:NAME` if a file defines it at its top level, which a scenario can be run with again
            # without the program; otherwise `python:NAME`.
            key, options = _KEYS[name]
            changes |= {key: give_reference(value), options: None}
    scenario, out = override_scenario(scenario, changes), Path(out)
    view = None if isinstance(gui, bool) else gui
    engine = open_engine(scenario.simulation.engine)
    if gui is True:
        engine.require_display()
    provenance = collect_provenance(scenario.seed, sys.argv, scenario.simulation.engine)
    inputs = {"scenario.yaml": resolved_yaml(scenario), PROVENANCE: json_text(provenance)}
    with run_directory(out, inputs) as folder, shown_progress(on_progress) as tell:
        add_provenance = partial(_add_provenance, folder, provenance)
        robot = load_robot(scenario.robot.name)
        source = robot.source
        engine.require_robot(robot)
        scenario, notes = complete_scenario(robot, scenario)
        if not scenario.motion.source.startswith(TRAJECTORY):
            scenario = _with_camera(robot, scenario, folder)
        if source is not None:
            add_provenance({"robot": describe_robot_files(source)})

        settings, control, motion = scenario.simulation, scenario.control, scenario.motion
        named = [
            ("control_laws", control.law, CONTROL_LAWS),
            ("balance_controllers", scenario.balance.controller, BALANCE_CONTROLLERS),
            ("retargeters", scenario.retarget.method, RETARGETING_METHODS),
            ("marker_maps", motion.marker_map, ()),
            ("policies", control.policy and control.policy.callable, ()),
            *(("fixtures", fixture.type, TYPES) for fixture in scenario.fixtures),
            *(("metrics", section.plugin, ()) for section in scenario.metrics.values()),
        ]
        used = [(group, str(name)) for group, name, shipped in named if is_plugin(group, name, shipped)]
        own = motion.source.partition(":")[0] in SCHEMES or motion.source.endswith(tuple(SUFFIXES))
        reader = find_reader(motion.source, motion.reader) if motion.reader or not own else None
        used += [] if reader is None else [("readers", reader)]
        if used:
            origins = [load_plugin(*plugin).origin._asdict() for plugin in dict.fromkeys(used)]
            add_provenance({"plugins": origins})

        posture = robot.postures.get(scenario.robot.posture)
        law = make_control_law(robot, scenario.robot.name, control, settings.timestep_s, posture)
        if control.policy is not None:
            add_provenance({"policy": describe_policy(control.policy)})
        planning = Planning(cache, on_doubts or Planning().on_doubts, add_provenance)
        prepared = prepare(robot, scenario, planning, tell)
        course, followed = prepared.course, prepared.followed

        if isinstance(law, PolicyLaw):
            law.follow(prepared.timeline, prepared.planned_base())
        if prepared.way is not None:
            scenario = _with_camera(robot, scenario, folder, prepared.way)
        pushes = plan_pushes(scenario.push, settings) if scenario.push else ()
        log, fidelity, recorder, renderer = _simulate(
            prepared, scenario, law, pushes, folder, gui is True, view, fast if video else None, tell
        )

        notes = (*notes, *(followed.notes if followed else course.notes))
        metrics: dict[str, Any] = {
            **course.metrics,
            ENGINE: settings.engine,
            "timing.realtime_factor": recorder.steps * settings.timestep_s / recorder.wall_time,
            "timing.step_overhead": recorder.wall_time / recorder.step_time,
        }
        if recorder.balance_time:
            metrics["timing.balance_tick_median_s"] = float(np.median(recorder.balance_time))
            metrics["timing.balance_share"] = sum(recorder.balance_time) / recorder.wall_time
        if recorder.divergence is not None:
            # Nothing that follows from states that are no motion is a result.
            metrics[DIVERGED] = recorder.divergence.time
        else:
            tell("measure", 0, 1)
            measured, failed = measure_run(log, scenario, prepared.mechanisms, pushes)
            tell("measure", 1, 1)
            # What is checked and was not measured is null, not left out.
            metrics = {**dict.fromkeys(scenario.checks), **metrics, **fidelity, **measured}
            bare = describe_bare_mass(robot)
            notes = (*notes, *failed, *([bare] if bare else ()))
        write_metrics(folder, metrics)
        if video and renderer is None:
            _, renderer = render_video(folder, None, on_progress=tell, view=View(fast=fast))
    foreign = source is not None and (source.origin != "shipped" or source.urdf_package is not None)
    return RunResult(
        out,
        metrics,
        check_metrics(scenario.checks, metrics),
        video_file=out / "video.mp4" if video else None,
        renderer=renderer,
        diverged=None if recorder.divergence is None else str(recorder.divergence),
        robot=str(source) if foreign else None,
        notes=notes,
        doubts=prepared.doubts,
    )


def _simulate(
    prepared: Preparation,
    scenario: Scenario,
    law: ControlLaw,
    pushes: Sequence[Push],
    folder: Path,
    window: bool,
    view: LiveView | None,
    fast: bool | None,
    on_progress: OnProgress,
) -> tuple[xr.Dataset, dict[str, float | None], Recorder, str | None]:
    """Simulate a prepared scenario, and write its log while the simulation goes on and after it.

    `scenario`: with its camera; `window`: whether Bullet's is shown; `view`: scene in browsers; `fast`:
    whether the video is a preview, None without one. Returns the log, metrics of fidelity, the samples, and
    the renderer of the video if it was drawn.
    """
    settings, robot, mechanisms = scenario.simulation, prepared.robot, prepared.mechanisms
    variation = scenario.variation
    fidelity: dict[str, float | None] = {}
    live: LiveVideo | None = None
    varied, friction = draw_variation(
        scenario.seed, robot, variation.mass_fraction, variation.friction_fraction
    )
    log_every = round(1.0 / (settings.timestep_s * settings.log_rate_hz))
    steps = len(prepared.timeline.reference.position)
    recorder = Recorder(-(-steps // log_every), robot, mechanisms, energies=settings.energy)
    with ExitStack() as stack:
        opened = open_engine(settings.engine).open_world(
            settings.timestep_s, floor_friction=friction * settings.floor_friction, gui=window
        )
        world = stack.enter_context(opened)
        simulation = place_in_world(world, prepared, varied, law, pushes)
        body = simulation.body
        if window:
            show_simulation(world, body, make_camera(scenario.camera))
        elif view is not None:
            view.open(scenario, robot, mechanisms, steps * settings.timestep_s)
        if fast is not None:
            # It takes half a second to import.
            from simbench.runs.live_view import live_video

            live = stack.enter_context(live_video(folder, scenario, robot, mechanisms, fast=fast))
        watchers = [each.add for each in (live, view) if each is not None]
        # The depths of cuts are zero at the first sample of a log and grow from there.
        cutting = [each.name for each in mechanisms if each.cut is not None]
        depths = [f"{name}_{which}" for name in cutting for which in ("cut", "cut_actor")]
        make = partial(build_log, prepared, body.robot)
        parts = LogParts(folder / LOG_PARTS, partial(make, derive=True), depths, watchers)

        def follow(done: int, total: int) -> None:
            on_progress("simulate", done, total)
            parts.write_if_due(recorder)

        with shielded_from_interrupt() as interrupted:
            options = LoopOptions(
                log_every,
                fallen_height=prepared.fallen_height,
                realtime=window or (view is not None and view.realtime),
                progress=follow,
                stop=interrupted,
            )
            try:
                simulate(simulation, recorder, options)
            finally:
                log = make(recorder)
                if prepared.recording is not None and recorder.divergence is None:
                    log, fidelity = add_fidelity(
                        log,
                        robot,
                        prepared.timeline,
                        prepared.recording,
                        scenario.motion.speed,
                        scenario.retarget,
                    )
                write_log(log, folder / "log.nc")
                rmtree(folder / LOG_PARTS, ignore_errors=True)
        for watcher in watchers:
            watcher(log)
        if live is not None:
            live.finish(log, lambda done, total: on_progress("video", done, total))
    return log, fidelity, recorder, live.renderer if live is not None else None


def _with_camera(
    robot: Robot, scenario: Scenario, folder: Path, path: NDArray[np.float64] | None = None
) -> Scenario:
    """Complete a scenario by its camera, from which all of a way (T, 2) is seen, and write it down."""
    known = None if path is None or not path.size else path[np.isfinite(path).all(axis=1)]
    camera = fit_camera(robot, robot.postures.get(scenario.robot.posture), scenario.camera, known)
    scenario = scenario.model_copy(update={"camera": camera})
    write_whole(folder / "scenario.yaml", resolved_yaml(scenario))
    return scenario


def _add_provenance(folder: Path, written: dict[str, Any], entries: Mapping[str, Any]) -> None:
    """Add to the provenance of a run where its robot and its plan came from."""
    written.update(entries)
    write_whole(folder / PROVENANCE, json_text(written))
