"""From a scenario to a run directory: plan, simulate, measure and write."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.balance.controller.sections import limb_sections
from simbench.errors import RunError, ScenarioError
from simbench.files.documents.json_document import read_json_object
from simbench.files.storage.whole_file import write_whole
from simbench.motion.missing_arm import hang_missing_arm
from simbench.options import STILL, SWEEP, TRAJECTORY
from simbench.retargeting.fixed_base.base import choose_rest
from simbench.retargeting.reference.joint_sweep import build_sweep_reference
from simbench.retargeting.reference.reference import Timeline, require_finite
from simbench.retargeting.reference.standing import build_standing_reference
from simbench.retargeting.trajectory.tracked import TrajectoryPlan
from simbench.robot.foot_shapes import require_foot_shapes
from simbench.robot.pedestal import on_pedestal
from simbench.robot.robot import SEATED, Robot, load_robot
from simbench.robot.upper_body import has_both_arms
from simbench.robot.variation import draw_variation
from simbench.runs.checks import DIVERGED, check_metrics
from simbench.runs.fidelity_metrics import FollowedRecording, add_fidelity
from simbench.runs.log import write_log
from simbench.runs.log_builder import cumulative_variables, make_log, with_balance
from simbench.runs.log_parts import LogParts
from simbench.runs.metrics import FELL_HEIGHT, fixture_metrics, run_metrics
from simbench.runs.motion_source import scenario_motion
from simbench.runs.plans.cached import PLAN_REUSED, find_plan
from simbench.runs.plans.plan import Plan, collect_inputs
from simbench.runs.provenance import (
    collect_provenance,
    describe_engine,
    describe_robot_files,
    describe_trajectory,
)
from simbench.runs.push_metrics import push_metrics
from simbench.runs.result import RunResult
from simbench.runs.run_directory import LOG_PARTS, json_text, run_directory, write_metrics
from simbench.runs.scenario.loading import Scenario, resolved_yaml, scenario_mechanisms
from simbench.runs.shield import shielded_from_interrupt
from simbench.runs.step_metrics import step_metrics
from simbench.runs.trajectory_log import trajectory_metrics, with_trajectory
from simbench.runs.trajectory_source import plan_scenario_trajectory
from simbench.runs.video import View, make_camera, render_video
from simbench.sim.balance_loop import BalancedRun, balance_plan, balance_run
from simbench.sim.camera_fitting import fit_camera
from simbench.sim.control.factory import make_control_law
from simbench.sim.engine import Fixture, RobotBody
from simbench.sim.engines import open_engine
from simbench.sim.equipment import find_held_mechanisms
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.grasp import EmptyHand, Grip, GripDesign
from simbench.sim.initial_tilt import tilt_base
from simbench.sim.loop import LoopOptions, Simulation, simulate
from simbench.sim.push import Push, plan_pushes
from simbench.sim.recorder import Recorder, derive_signals
from simbench.sim.rendering.replay_window import show_simulation
from simbench.sim.seating import find_seat, require_seat
from simbench.sim.step_fitting import fit_steps
from simbench.system.progress import OnProgress, Progress, shown_progress

if TYPE_CHECKING:
    import xarray as xr

    from simbench.runs.live_video import LiveVideo
    from simbench.runs.live_view import LiveView

PROVENANCE = "provenance.json"
DOUBT_COUNT = "motion.doubt_count"
"""Metric of a run with a recording: number of things that may well be wrong about it."""
ENGINE = "engine"
"""Metric of every run: name of the physics engine."""
OnDoubts = Callable[[tuple[str, ...]], None]


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

    Returns
    -------
    RunResult
        Metrics, checks and the directory.

    Raises
    ------
    SimbenchError
        For bad input; nothing half-written stays.
    """
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
        _require_legs(robot, scenario)
        scenario, notes = _with_own_posture(robot, scenario)
        scenario = _with_fitted_steps(robot, scenario)
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
    """What a video is to look like.

    Parameters
    ----------
    fast : bool
        Whether it is a preview.
    """

    fast: bool


class Output(NamedTuple):
    """What a run shows and keeps beside its log.

    Parameters
    ----------
    video : Quality or None
        What the video is to look like; None for no video.
    gui : bool
        Whether Bullet's window is shown, in real time.
    cache : bool
        Whether the plan may come from the cache of plans, and is kept there.
    on_doubts : callable (tuple of str)
        Called with what may well be wrong about the recording, if anything.
    view : LiveView or None
        Scene that browsers show, if any.
    """

    video: Quality | None
    gui: bool
    cache: bool
    on_doubts: OnDoubts
    view: LiveView | None


class _Planned(NamedTuple):
    """A planned motion, and the plan of a trajectory or the recording that it follows, if it does."""

    plan: Plan
    trajectory: TrajectoryPlan | None = None
    recording: FollowedRecording | None = None


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
    mechanisms = scenario_mechanisms(scenario)
    seat = find_seat(robot, scenario.robot, mechanisms)
    settings = scenario.simulation
    law = make_control_law(robot, scenario.robot.name, scenario.control, settings.timestep_s)
    course, followed, recording = _plan(robot, scenario, folder, mechanisms, output, on_progress)
    way = _way(course, followed)
    scenario = scenario if way is None else _with_camera(robot, scenario, folder, way)
    require_finite(course.timeline, robot, settings.timestep_s)
    if seat is not None:
        begin = np.concatenate([course.timeline.base, course.timeline.reference.position[0]])
        require_seat(robot, begin, seat)
    if not robot.floating:
        robot = on_pedestal(robot, float(course.timeline.base[2]))
    balanced = _balanced(robot, scenario, course, followed)
    timeline = balanced.timeline if balanced else course.timeline
    variation = scenario.variation
    varied, friction = draw_variation(
        scenario.seed, robot, variation.mass_fraction, variation.friction_fraction
    )
    pushes = plan_pushes(scenario.push, settings)
    log_every = round(1.0 / (settings.timestep_s * settings.log_rate_hz))
    steps = len(timeline.reference.position)
    recorder = Recorder(-(-steps // log_every), robot, mechanisms)
    with open_engine(settings.engine).open_world(
        settings.timestep_s, floor_friction=friction * settings.floor_friction, gui=output.gui
    ) as world:
        fixtures = {each.name: world.add_fixture(each) for each in mechanisms}
        body = world.add_robot(
            varied,
            tilt_base(timeline.base) if robot.floating else timeline.base,
            timeline.reference.position[0],
        )
        grips = _grips(scenario, robot, body, fixtures)
        simulation = Simulation(
            body,
            timeline.reference,
            list(fixtures.values()),
            grips,
            law=law,
            balancer=balanced.balancer if balanced else None,
            pushes=pushes,
            seat=fixtures[seat.name] if seat else None,
        )
        build_log = _log_maker(body.robot, scenario, mechanisms, course, followed, balanced, seat)
        fidelity: dict[str, float | None] = {}
        options = LoopOptions(
            log_every,
            fallen_height=FELL_HEIGHT * float(timeline.base[2]) if robot.floating else -np.inf,
            realtime=output.gui or (output.view is not None and output.view.realtime),
            progress=lambda done, total: on_progress("simulate", done, total),
        )
        cumulative = cumulative_variables(mechanisms)
        if output.gui:
            show_simulation(world, body, make_camera(scenario.camera))
        elif output.view is not None:
            output.view.open(scenario, robot, mechanisms, steps * settings.timestep_s)
        with _watched(output.video, folder, scenario, robot, mechanisms) as live:
            builders = _LogBuilders(build_log, _completion(robot, timeline, recording, fidelity))
            watchers = [each.add for each in (live, output.view) if each is not None]
            log = _simulate_logged(simulation, recorder, options, folder, builders, cumulative, watchers)
            if live is not None:
                live.finish(log, lambda done, total: on_progress("video", done, total))
    renderer = live.renderer if live is not None else None
    notes = followed.notes if followed else tuple(course.notes)
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
    return _Outcome({**plan_and_timing, **fidelity, **measured}, None, renderer, notes)


def _grips(
    scenario: Scenario, robot: Robot, body: RobotBody, fixtures: Mapping[str, Fixture]
) -> list[Grip | EmptyHand]:
    """Make a grip for each hand, if one of them holds equipment."""
    design = GripDesign(**scenario.grip.model_dump())
    held = find_held_mechanisms([fixture.mechanism for fixture in fixtures.values()])
    sides = [role.removesuffix("_hand") for role in robot.hands]
    if not any(side in held for side in sides):
        return []
    return [
        Grip(body, side, fixtures[held[side].name], design) if side in held else EmptyHand() for side in sides
    ]


def _log_maker(
    robot: Robot,
    scenario: Scenario,
    mechanisms: Sequence[Mechanism],
    course: Plan,
    followed: TrajectoryPlan | None,
    balanced: BalancedRun | None,
    seat: Mechanism | None,
) -> Callable[[Recorder], xr.Dataset]:
    """Make the function that builds a log of samples."""
    timeline, settings = balanced.timeline if balanced else course.timeline, scenario.simulation
    sitting_on = seat.name if seat else ""

    def make(recorder: Recorder) -> xr.Dataset:
        log = make_log(
            robot,
            recorder,
            timeline,
            mechanisms,
            course.asked,
            course.strokes,
            settings.settle_s,
            sitting_on,
        )
        log = with_balance(log, balanced.balancer) if balanced else log
        return with_trajectory(log, followed.tracked, settings.timestep_s) if followed else log

    return make


def _way(course: Plan, followed: TrajectoryPlan | None) -> NDArray[np.float64] | None:
    """Way (T, 2) of a robot that follows a trajectory, or a person's steps; None of one that does not."""
    if followed is not None:
        return followed.tracked.base[:, :2]
    return None if course.whole is None else course.whole.gait.cog


def _with_camera(
    robot: Robot, scenario: Scenario, folder: Path, path: NDArray[np.float64] | None = None
) -> Scenario:
    """Complete a scenario by its camera, from which all of a way (T, 2) is seen, and write it down."""
    known = None if path is None or not path.size else path[np.isfinite(path).all(axis=1)]
    camera = fit_camera(robot, robot.postures.get(scenario.robot.posture), scenario.camera, known)
    scenario = scenario.model_copy(update={"camera": camera})
    write_whole(folder / "scenario.yaml", resolved_yaml(scenario))
    return scenario


def _plan(
    robot: Robot,
    scenario: Scenario,
    folder: Path,
    mechanisms: list[Mechanism],
    output: Output,
    on_progress: OnProgress,
) -> _Planned:
    """Plan a scenario's motion."""
    source = scenario.motion.source
    if source.startswith(TRAJECTORY):
        followed = plan_scenario_trajectory(robot, scenario, on_progress)
        path = Path(source.removeprefix(TRAJECTORY))
        described = describe_trajectory(path, followed.notes, followed.doubts)
        _add_provenance(folder, {"trajectory": described})
        if followed.doubts:
            output.on_doubts(followed.doubts)
        return _Planned(Plan(followed.timeline, followed.metrics, {}, None), followed)
    if source in (SWEEP, STILL):
        return _Planned(_plan_own_motion(robot, scenario))
    return _plan_from_recording(robot, scenario, mechanisms, folder, output, on_progress)


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


def _plan_from_recording(
    robot: Robot,
    scenario: Scenario,
    mechanisms: list[Mechanism],
    folder: Path,
    output: Output,
    on_progress: OnProgress,
) -> _Planned:
    """Plan the motion of a robot that follows the scenario's recording, or take the plan from the cache.

    What is doubtful about the recording is told before it is planned, and kept with the plan's record.
    """
    on_progress("read", 0, 1)
    motion = scenario_motion(scenario, mechanisms)
    if has_both_arms(robot) and not scenario.motion.strict:
        motion = hang_missing_arm(motion)
    on_progress("read", 1, 1)
    _add_provenance(folder, {"doubts": list(motion.doubts)})
    if motion.doubts:
        output.on_doubts(motion.doubts)
    inputs = collect_inputs(robot, scenario, mechanisms, motion)
    plan, record = find_plan(robot, inputs, on_progress, cache=output.cache)
    if plan.doubts:
        output.on_doubts(tuple(plan.doubts))
    _add_provenance(folder, {"doubts": [*motion.doubts, *plan.doubts], "plan": asdict(record)})
    doubts = float(len(motion.doubts))
    plan = replace(plan, metrics={**plan.metrics, PLAN_REUSED: record.reused, DOUBT_COUNT: doubts})
    return _Planned(plan, None, FollowedRecording(motion, scenario.motion.speed, scenario.retarget))


def _add_provenance(folder: Path, entries: Mapping[str, Any]) -> None:
    """Add to the provenance of a run where its robot and its plan came from."""
    path = folder / PROVENANCE
    written = read_json_object(path, RunError)
    write_whole(path, json_text({**written, **entries}))


def _plan_own_motion(robot: Robot, scenario: Scenario) -> Plan:
    """Plan the motion of a robot without a recording: a sweep of its joints, or standing still."""
    source = scenario.motion.source
    if scenario.fixtures:
        raise ScenarioError(f"fixtures: motion.source {source} uses none")
    if source == STILL:
        if scenario.motion.task:
            raise ScenarioError(f"motion.task: motion.source {source} has none")
        timeline = build_standing_reference(
            robot, scenario.robot, scenario.simulation, scenario.push, scenario.control.feedforward
        )
        return Plan(timeline, {}, {}, None)
    timeline = build_sweep_reference(
        robot, scenario.robot, scenario.motion.task, scenario.simulation, scenario.control.feedforward
    )
    return Plan(timeline, {}, {}, None)


def _balanced(
    robot: Robot, scenario: Scenario, course: Plan, followed: TrajectoryPlan | None
) -> BalancedRun | None:
    """Set up balance for a robot on its feet; return None for one that sits or has a fixed base."""
    if not robot.floating or scenario.robot.posture == SEATED:
        return None
    whole, timeline = course.whole if followed is None else followed.whole, course.timeline
    if whole is not None:
        return balance_plan(
            robot,
            timeline,
            whole,
            scenario.balance,
            scenario.simulation,
            feedforward=scenario.control.feedforward,
        )
    return balance_run(
        robot,
        timeline,
        scenario.balance,
        scenario.stepping,
        scenario.simulation,
        feedforward=scenario.control.feedforward,
    )


def _with_fitted_steps(robot: Robot, scenario: Scenario) -> Scenario:
    """Write into a scenario what its robot's legs decide."""
    if scenario.stepping is None:
        return scenario
    section, stepping = fit_steps(
        robot, scenario.robot, scenario.balance, scenario.stepping, scenario.simulation
    )
    return scenario.model_copy(update={"robot": section, "stepping": stepping})


def _with_own_posture(robot: Robot, scenario: Scenario) -> tuple[Scenario, tuple[str, ...]]:
    """Replace a posture that a robot with a fixed base lacks by its own, and say so."""
    asked = scenario.robot.posture
    posture = asked if robot.floating else choose_rest(robot, asked)
    if posture == asked:
        return scenario, ()
    note = (
        f"robot.posture: {robot.name} has no posture {asked!r}; it rests in its own, {posture!r} "
        f"(it has: {', '.join(robot.postures)})"
    )
    section = scenario.robot.model_copy(update={"posture": posture})
    return scenario.model_copy(update={"robot": section}), (note,)


def _require_legs(robot: Robot, scenario: Scenario) -> None:
    """Refuse what the robot has no legs for: steps and pushes, and to stand on feet that touch nothing."""
    if scenario.retarget.legs == "follow" and scenario.stepping is not None:
        raise ScenarioError(
            "stepping: the legs follow the person's steps; allowed: with retarget.legs: stand, or no stepping"
        )
    reason = "sits" if scenario.robot.posture == SEATED else "" if robot.floating else "has a fixed base"
    for key in ("stepping", "push"):
        if getattr(scenario, key) is not None and reason:
            raise ScenarioError(f"{key}: {robot.name} {reason}; allowed: a robot on two legs")
    if not reason:
        limb_sections(robot)
        require_foot_shapes(robot)


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
