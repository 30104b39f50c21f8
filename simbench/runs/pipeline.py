"""From a scenario to a run directory: plan, simulate, measure and write."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Unpack

from simbench.errors import RunError
from simbench.files.json_document import read_json_object
from simbench.files.storage import write_whole
from simbench.options import TRAJECTORY
from simbench.retargeting.reference.reference import Timeline
from simbench.robot.robot import Robot, load_robot
from simbench.robot.variation import draw_variation
from simbench.runs.checks import DIVERGED, check_metrics
from simbench.runs.fidelity_metrics import FollowedRecording, add_fidelity
from simbench.runs.log import write_log
from simbench.runs.log_builder import cumulative_variables
from simbench.runs.log_parts import LogParts
from simbench.runs.metrics import fixture_metrics, run_metrics
from simbench.runs.plugins import GivenPlugins, describe_plugins, name_given, plugin_metrics
from simbench.runs.preparation import (
    OnDoubts,
    Planning,
    complete_scenario,
    fallen_height,
    place_in_world,
    prepare,
)
from simbench.runs.provenance import (
    collect_provenance,
    describe_engine,
    describe_policy,
    describe_robot_files,
)
from simbench.runs.push_metrics import push_metrics
from simbench.runs.result import RunResult
from simbench.runs.run_directory import LOG_PARTS, json_text, run_directory, write_metrics
from simbench.runs.run_log import make_run_log
from simbench.runs.scenario.loading import Scenario, resolved_yaml
from simbench.runs.shield import shielded_from_interrupt
from simbench.runs.step_metrics import step_metrics
from simbench.runs.trajectory_log import trajectory_metrics
from simbench.runs.video import View, make_camera, render_video
from simbench.sim.camera_fitting import fit_camera
from simbench.sim.control.factory import make_control_law
from simbench.sim.control.policy.law import PolicyLaw
from simbench.sim.engines import open_engine
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.loop import LoopOptions, Simulation, simulate
from simbench.sim.push import Push, plan_pushes
from simbench.sim.recorder import Recorder, derive_signals
from simbench.sim.rendering.replay_window import show_simulation
from simbench.system.progress import OnProgress, Progress, shown_progress

if TYPE_CHECKING:
    import xarray as xr

    from simbench.runs.live_video import LiveVideo
    from simbench.runs.live_view import LiveView

PROVENANCE = "provenance.json"
ENGINE = "engine"
"""Metric of every run: name of the physics engine."""


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
        do (`runs.plugins.GivenPlugins`); scenario.yaml and provenance.json name them.

    Returns
    -------
    RunResult
        Metrics, checks and the directory.

    Raises
    ------
    SimbenchError
        For bad input; nothing half-written stays.
    """
    scenario = name_given(scenario, given)
    out, renderer = Path(out), None
    doubts: list[str] = []

    def hear(told: tuple[str, ...]) -> None:
        doubts.extend(told)
        if on_doubts is not None:
            on_doubts(told)

    view = None if isinstance(gui, bool) else gui
    window = gui is True
    engine = open_engine(scenario.simulation.engine)
    if window:
        engine.require_display()
    inputs = {
        "scenario.yaml": resolved_yaml(scenario),
        PROVENANCE: json_text(
            {
                **collect_provenance(scenario.seed, sys.argv),
                "engine": describe_engine(scenario.simulation.engine),
            }
        ),
    }
    with run_directory(out, inputs) as folder, shown_progress(on_progress) as tell:
        robot = load_robot(scenario.robot.name)
        engine.require_robot(robot)
        scenario, notes = complete_scenario(robot, scenario)
        if not scenario.motion.source.startswith(TRAJECTORY):
            scenario = _with_camera(robot, scenario, folder)
        output = Output(Quality(fast) if video else None, window, cache, hear, view)
        outcome = _run(robot, scenario, folder, output, on_progress=tell)
        metrics, diverged, renderer = outcome.metrics, outcome.diverged, outcome.renderer
        if diverged is None:
            # What is checked and was not measured is null, not left out.
            metrics = {**dict.fromkeys(scenario.checks), **metrics}
        write_metrics(folder, metrics)
        if video and renderer is None:
            _, renderer = render_video(folder, None, on_progress=tell, view=View(fast=fast))
    checks = check_metrics(scenario.checks, metrics)
    source = robot.source
    foreign = source is not None and (source.origin != "shipped" or source.urdf_package is not None)
    return RunResult(
        out,
        metrics,
        checks,
        video_file=out / "video.mp4" if video else None,
        renderer=renderer,
        diverged=diverged,
        robot=str(source) if foreign else None,
        notes=(*notes, *outcome.notes),
        doubts=tuple(doubts),
    )


class Quality(NamedTuple):
    """What a video is to look like."""

    fast: bool  # Whether it is a preview.


class Output(NamedTuple):
    """What a run shows and keeps beside its log."""

    video: Quality | None  # What the video is to look like; None for no video.
    gui: bool  # Whether Bullet's window is shown, in real time.
    cache: bool  # Whether the plan may come from the cache of plans, and is kept there.
    on_doubts: OnDoubts  # Called with what may well be wrong about the recording, if anything.
    view: LiveView | None  # Scene that browsers show, if any.


class _LogBuilders(NamedTuple):
    """How a log is built of samples, and how the log of a whole run is completed."""

    build: Callable[[Recorder], xr.Dataset]
    complete: Callable[[xr.Dataset], xr.Dataset]


class _Outcome(NamedTuple):
    """What a simulation gave: metrics, how it diverged, what drew its video, and what is to be said."""

    metrics: dict[str, Any]
    diverged: str | None
    renderer: str | None
    notes: tuple[str, ...]


def _run(
    robot: Robot, scenario: Scenario, folder: Path, output: Output, *, on_progress: OnProgress
) -> _Outcome:
    """Simulate a scenario, write its log and perhaps its video."""
    if robot.source is not None:
        _add_provenance(folder, {"robot": describe_robot_files(robot.source)})
    if plugins := describe_plugins(scenario):
        _add_provenance(folder, {"plugins": plugins})
    settings = scenario.simulation
    posture = robot.postures.get(scenario.robot.posture)
    law = make_control_law(robot, scenario.robot.name, scenario.control, settings.timestep_s, posture)
    if scenario.control.policy is not None:
        _add_provenance(folder, {"policy": describe_policy(scenario.control.policy)})
    planning = Planning(output.cache, output.on_doubts, partial(_add_provenance, folder))
    prepared = prepare(robot, scenario, planning, on_progress)
    if isinstance(law, PolicyLaw):
        law.follow(prepared.timeline, prepared.planned_base())
    course, mechanisms, timeline = prepared.course, prepared.mechanisms, prepared.timeline
    scenario = scenario if prepared.way is None else _with_camera(robot, scenario, folder, prepared.way)
    varied, friction = draw_variation(
        scenario.seed, prepared.robot, scenario.variation.mass_fraction, scenario.variation.friction_fraction
    )
    pushes = plan_pushes(scenario.push, settings)
    log_every = round(1.0 / (settings.timestep_s * settings.log_rate_hz))
    steps = len(timeline.reference.position)
    recorder = Recorder(-(-steps // log_every), prepared.robot, mechanisms)
    with open_engine(settings.engine).open_world(
        settings.timestep_s, floor_friction=friction * settings.floor_friction, gui=output.gui
    ) as world:
        simulation = place_in_world(world, prepared, varied, law, pushes)
        body = simulation.body
        build_log = make_run_log(prepared, body.robot)
        fidelity: dict[str, float | None] = {}
        options = LoopOptions(
            log_every,
            fallen_height=fallen_height(prepared),
            realtime=output.gui or (output.view is not None and output.view.realtime),
            progress=lambda done, total: on_progress("simulate", done, total),
        )
        cumulative = cumulative_variables(mechanisms)
        if output.gui:
            show_simulation(world, body, make_camera(scenario.camera))
        elif output.view is not None:
            output.view.open(scenario, prepared.robot, mechanisms, steps * settings.timestep_s)
        with _watched(output.video, folder, scenario, prepared.robot, mechanisms) as live:
            builders = _LogBuilders(
                build_log, _completion(prepared.robot, timeline, prepared.recording, fidelity)
            )
            watchers = [each.add for each in (live, output.view) if each is not None]
            log = _simulate_logged(simulation, recorder, options, folder, builders, cumulative, watchers)
            if live is not None:
                live.finish(log, lambda done, total: on_progress("video", done, total))
    renderer = live.renderer if live is not None else None
    notes = prepared.followed.notes if prepared.followed else tuple(course.notes)
    plan_and_timing: dict[str, Any] = {
        **course.metrics,
        ENGINE: settings.engine,
        **_timing(recorder, settings.timestep_s),
    }
    if recorder.divergence is not None:
        # Nothing that follows from states that are no motion is a result.
        known = {**plan_and_timing, DIVERGED: recorder.divergence.time}
        return _Outcome(known, str(recorder.divergence), renderer, notes)
    measured = _measure(log, scenario, mechanisms, pushes, on_progress)
    own, failed = plugin_metrics(log, scenario)
    return _Outcome({**plan_and_timing, **fidelity, **measured, **own}, None, renderer, (*notes, *failed))


def _with_camera(
    robot: Robot, scenario: Scenario, folder: Path, path: NDArray[np.float64] | None = None
) -> Scenario:
    """Complete a scenario by its camera, from which all of a way (T, 2) is seen, and write it down."""
    known = None if path is None or not path.size else path[np.isfinite(path).all(axis=1)]
    camera = fit_camera(robot, robot.postures.get(scenario.robot.posture), scenario.camera, known)
    scenario = scenario.model_copy(update={"camera": camera})
    write_whole(folder / "scenario.yaml", resolved_yaml(scenario))
    return scenario


def _measure(
    log: xr.Dataset,
    scenario: Scenario,
    mechanisms: Sequence[Mechanism],
    pushes: Sequence[Push],
    on_progress: OnProgress,
) -> dict[str, Any]:
    """Compute the metrics of a log."""
    on_progress("measure", 0, 1)
    metrics: dict[str, Any] = run_metrics(log)
    if scenario.stepping is not None:
        metrics |= step_metrics(metrics, scenario.stepping, int(log.attrs["steps"]))
    if "joint_trajectory" in log:
        metrics |= trajectory_metrics(log)
    if scenario.push is not None:
        metrics |= push_metrics(log, scenario.push, pushes, scenario.simulation.timestep_s)
    for mechanism in mechanisms:
        joints = {joint.name: joint.unit for joint in mechanism.joints}
        metrics |= fixture_metrics(log, mechanism.name, joints)
    on_progress("measure", 1, 1)
    return metrics


def _completion(
    robot: Robot,
    timeline: Timeline,
    recording: FollowedRecording | None,
    fidelity: dict[str, float | None],
) -> Callable[[xr.Dataset], xr.Dataset]:
    """Return what adds the person to a run's log, and its metrics of fidelity to a mapping."""

    def complete(log: xr.Dataset) -> xr.Dataset:
        if recording is None or "diverged" in log.attrs:
            return log
        log, measured = add_fidelity(log, robot, timeline, recording)
        fidelity.update(measured)
        return log

    return complete


def _watched(
    video: Quality | None,
    folder: Path,
    scenario: Scenario,
    robot: Robot,
    mechanisms: Sequence[Mechanism],
) -> AbstractContextManager[LiveVideo | None]:
    """Begin the video of a run, if there is to be one."""
    if video is None:
        return nullcontext()
    # It takes half a second to import.
    from simbench.runs.live_video import live_video

    return live_video(folder, scenario, robot, mechanisms, fast=video.fast)


def _simulate_logged(
    simulation: Simulation,
    recorder: Recorder,
    options: LoopOptions,
    folder: Path,
    builders: _LogBuilders,
    cumulative: Sequence[str],
    watchers: Sequence[Callable[[xr.Dataset], None]],
) -> xr.Dataset:
    """Simulate, write the log to a run directory while the simulation goes on and after it, and return it."""

    def build_part(part: Recorder) -> xr.Dataset:
        derive_signals(part, simulation.body.robot)
        return builders.build(part)

    def watch(part: xr.Dataset) -> None:
        for watcher in watchers:
            watcher(part)

    parts = LogParts(folder / LOG_PARTS, build_part, cumulative, watch if watchers else None)

    def follow(done: int, total: int) -> None:
        options.progress(done, total)
        parts.write_if_due(recorder)

    with shielded_from_interrupt() as interrupted:
        try:
            simulate(simulation, recorder, replace(options, progress=follow, stop=interrupted))
        finally:
            log = builders.complete(builders.build(recorder))
            write_log(log, folder / "log.nc")
            parts.remove()
    watch(log)
    return log


def _add_provenance(folder: Path, entries: Mapping[str, Any]) -> None:
    """Add to the provenance of a run where its robot and its plan came from."""
    path = folder / PROVENANCE
    written = read_json_object(path, RunError)
    write_whole(path, json_text({**written, **entries}))


def _timing(recorder: Recorder, timestep: float) -> dict[str, float]:
    """Compute the metrics of the simulation's speed."""
    metrics = {
        "timing.realtime_factor": recorder.steps * timestep / recorder.wall_time,
        "timing.step_overhead": recorder.wall_time / recorder.step_time,
    }
    if recorder.balance_time:
        metrics["timing.balance_tick_median_s"] = float(np.median(recorder.balance_time))
        metrics["timing.balance_share"] = sum(recorder.balance_time) / recorder.wall_time
    return metrics
