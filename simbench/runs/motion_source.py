"""The recording that a scenario names: read or performed, resampled, cropped."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from simbench.errors import MotionError, ScenarioError
from simbench.motion.actors import perform_average
from simbench.motion.actors.tasks import PLACES
from simbench.motion.human_motion import HumanMotion, resample, scale_motion
from simbench.motion.motion_inspection import with_doubts
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion
from simbench.motion.trajectory import round_motion
from simbench.options import MotionSection
from simbench.runs.actor_on_fixture import perform_on_fixture
from simbench.runs.scenario.loading import Scenario
from simbench.sim.fixtures import fixture_mechanism
from simbench.sim.fixtures.mechanism import Mechanism

DRAWER = "drawer"
"""The task that is never performed without a fixture of the scenario."""
_FEWEST_SAMPLES = 4
"""Samples that a cubic spline needs."""


def scenario_motion(scenario: Scenario, mechanisms: Sequence[Mechanism]) -> HumanMotion:
    """Read a scenario's recording, or have an actor perform it on the equipment; resample and crop it.

    `scenario`: scenario with its section `motion`; `mechanisms`: mechanisms of the scenario's fixtures.
    Returns the motion at `motion.rate_hz`, from `motion.start_s` to `motion.end_s`, scaled with the
    equipment, displaced by as little as rounding if `variation.rounding_seed` is given. Its doubts are those
    of all of the recording.
    """
    section = scenario.motion
    scheme, _, task = section.source.partition(":")
    uses = any(mechanism.name == task and mechanism.moves for mechanism in mechanisms)
    if scheme == "actor" and (task == DRAWER or uses or (mechanisms and task in PLACES)):
        motion = perform_on_fixture(scenario, [fixture_mechanism(design) for design in scenario.fixtures])
    else:
        motion = _perform_or_read(scenario)
    motion = with_doubts(scale_motion(motion, scenario.equipment_scale))
    if section.speed != 1.0:
        motion = replace(motion, time=motion.time / section.speed)
    if abs(motion.rate - section.rate_hz) > 1e-6 * section.rate_hz:
        motion = resample(motion, section.rate_hz)
    motion = _crop(motion, section.start_s or 0.0, section.end_s)
    if len(motion.time) < _FEWEST_SAMPLES:
        raise MotionError(
            f"{motion.source}: {len(motion.time)} samples at {section.rate_hz:g} Hz are too short to follow; "
            f"at least {_FEWEST_SAMPLES} are needed"
        )
    seed = scenario.variation.rounding_seed
    return motion if seed is None else round_motion(motion, seed)


def _perform_or_read(scenario: Scenario) -> HumanMotion:
    """Let the average person perform, varied by the scenario's seed, or read a recording.

    With a participant's number a source names one recording of the session, whatever the scenario's seed.
    """
    section = scenario.motion
    if section.task:
        raise ScenarioError(
            f"motion.task.{next(iter(section.task))}: {section.source} takes no keys; an actor:<task> on "
            "a fixture of that type does"
        )
    scheme, _, task = section.source.partition(":")
    if scheme == "actor" and ":" not in task:
        return perform_average(task, scenario.seed).motion
    return read_motion(section.source, _reading(section))


def _reading(section: MotionSection) -> ReadOptions:
    """Collect what a scenario declares about its recording."""
    return ReadOptions(
        section.unit,
        section.up,
        section.marker_map,
        section.longest_gap_s,
        strict=section.strict,
        estimate=section.estimate,
        scale=section.scale,
        stature=section.height_m,
        skeleton=section.skeleton,
        body_model=section.body_model,
        fps=section.fps,
        reader=section.reader,
    )


def _crop(motion: HumanMotion, start: float, end: float | None) -> HumanMotion:
    """Cut out the part of a recording between two times; its clock starts at 0."""
    if start == 0.0 and (end is None or end >= motion.time[-1]):
        return motion
    keep = np.flatnonzero((motion.time >= start) & (motion.time <= (np.inf if end is None else end)))
    if len(keep) < 2:
        raise MotionError(
            f"{motion.source}: nothing between {start:g} and {end} s; it lasts {motion.time[-1]:g} s"
        )
    part = slice(keep[0], keep[-1] + 1)
    strokes = motion.strokes
    if strokes is not None:
        complete = (strokes[:, 0] >= keep[0]) & (strokes[:, 1] <= keep[-1])
        strokes = strokes[complete] - keep[0]
    return replace(
        motion,
        time=motion.time[part] - motion.time[keep[0]],
        joints={name: values[part] for name, values in motion.joints.items()},
        segments={name: values[part] for name, values in motion.segments.items()},
        markers={name: values[part] for name, values in motion.markers.items()},
        strokes=strokes,
        filled=tuple(
            replace(gap, first=max(gap.first, keep[0]) - keep[0], last=min(gap.last, keep[-1]) - keep[0])
            for gap in motion.filled
            if gap.last >= keep[0] and gap.first <= keep[-1]
        ),
    )
