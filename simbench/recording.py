"""The recording a scenario asks for: read or performed, resampled, cropped."""

from dataclasses import replace
from typing import Any

import numpy as np

from simbench.errors import MotionError, ScenarioError
from simbench.motion.actors import DrawerTask, perform_average, perform_drawer
from simbench.motion.human_motion import HumanMotion, resample
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion
from simbench.retarget.scaling import SIDES
from simbench.scenario import Scenario
from simbench.sim.fixtures import DrawerDesign, handle_poses

DRAWER = "actor:drawer"
"""The task whose equipment is a fixture of the scenario."""
_FEWEST_SAMPLES = 4
"""A cubic needs as many."""


def scenario_motion(scenario: Scenario, designs: list[DrawerDesign]) -> HumanMotion:
    """Read the recording a scenario names, or have it performed on the equipment; resample and crop it.

    Parameters
    ----------
    scenario : Scenario
    designs : list of Design
        Of the scenario's fixtures.

    Returns
    -------
    HumanMotion

    Raises
    ------
    MotionError, ScenarioError
    """
    section = scenario.motion
    motion = _perform_drawer(scenario, designs) if section.source == DRAWER else _perform_or_read(scenario)
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
    return motion


def _perform_or_read(scenario: Scenario) -> HumanMotion:
    """Let the average person perform, varied by the scenario's seed, or read a recording.

    With a participant's number a source names one recording of the session, whatever the scenario's seed.
    """
    section = scenario.motion
    if section.task:
        raise ScenarioError(
            f"motion.task.{next(iter(section.task))}: {section.source} takes no keys; of the actor:<task> "
            f"sources only {DRAWER} does"
        )
    scheme, _, task = section.source.partition(":")
    if scheme == "actor" and ":" not in task:
        return perform_average(task, scenario.seed).motion
    reading = ReadOptions(section.unit, section.up, section.marker_map, section.longest_gap_s)
    return read_motion(section.source, reading)


def _perform_drawer(scenario: Scenario, designs: list[DrawerDesign]) -> HumanMotion:
    """Let the virtual actor use the scenario's own drawer, standing at the world's origin."""
    if not designs:
        raise ScenarioError("motion.source actor:drawer: needs a fixture of type drawer")
    design = designs[0]
    left, right = (handle_poses(design, design.start_opening_m)[side] for side in SIDES)
    middle = 0.5 * (left.translation + right.translation)
    if abs(design.heading_rad) > 1e-9 or abs(middle[1]) > 1e-9:
        raise ScenarioError("fixtures: actor:drawer stands at the origin; allowed: heading_rad 0 and y 0")
    task = DrawerTask(
        distance=float(middle[0]),
        height=float(middle[2]),
        separation=design.handle_separation_m,
        convergence=design.handle_convergence_rad,
        initial_opening=design.start_opening_m,
        rate=scenario.motion.rate_hz,
    )
    values: dict[str, Any] = {}
    known = {"stroke_m": "stroke", "repetitions": "repetitions", "variation": "variation"} | {
        f"{name}_s": name
        for name in (
            "pull_duration",
            "push_duration",
            "initial_duration",
            "transition_duration",
            "descent_duration",
            "grasp_duration",
            "turning_pause",
            "rest_duration",
        )
    }
    for key, value in scenario.motion.task.items():
        if key not in known:
            raise ScenarioError(f"motion.task.{key}: unknown key; allowed: {', '.join(sorted(known))}")
        values[known[key]] = value
    return perform_drawer(replace(task, **values), rng=np.random.default_rng(scenario.seed)).motion


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
        whole = (strokes[:, 0] >= keep[0]) & (strokes[:, 1] <= keep[-1])
        strokes = strokes[whole] - keep[0]
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
