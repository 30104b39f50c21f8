"""Short simulations of a robot: standing, steps, a sweep of an arm's joints."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from simbench.errors import SimbenchError
from simbench.options import SWEEP, RobotSection, SteppingSection
from simbench.robot.robot import Robot
from simbench.runs.pipeline import run_scenario
from simbench.runs.plans.sweep_plan import moved_by_sweep
from simbench.runs.robot_check.findings import Ability, Finding, Limits
from simbench.runs.scenario.schema import Scenario
from simbench.sim.engine import usual_engine

_STANDING: dict[str, Limits] = {
    "zmp.inside_fraction": Limits(0.99, 0.9),
    "torque.saturated_fraction": Limits(0.001, 0.05),
    "limits.speed_ratio": Limits(0.5, 1.0),
    "feet.slip_m": Limits(0.001, 0.01),
    "feet.turn_rad": Limits(0.005, 0.05),
}
_STEPPING: dict[str, Limits] = {
    "zmp.inside_fraction": Limits(0.99, 0.95),
    "torque.saturated_fraction": Limits(0.005, 0.05),
    "limits.speed_ratio": Limits(1.5, 5.0),
    "feet.slip_m": Limits(0.003, 0.02),
    "feet.turn_rad": Limits(0.03, 0.15),
}
_TOUCHING = ("contact.self_count", "contact.floor_unintended_count")
"""Metrics of an arm that hits itself or the floor, which says nothing about tracking."""
_TRACKING: dict[str, Limits] = {
    "tracking.rms_rad": Limits(0.005, 0.03),
    "torque.saturated_fraction": Limits(0.01, 0.1),
    "limits.speed_ratio": Limits(1.0, 2.0),
    **dict.fromkeys(_TOUCHING, Limits(0.0, 0.5)),
}
_AMPLITUDES = (1.0, 0.5, 0.2, 0.1)
"""Parts of a sweep's displacement, tried until the arm hits nothing."""
_STILL = {"settle_s": 0.5, "hold_s": 1.5}
"""Two seconds."""
_AMPLITUDE, _SPEED = 0.5, 1.0
"""Largest displacement of the joints in a sweep, rad, and its largest speed, rad/s."""
_ROOM, _FAST = 0.8, 0.5
"""Parts of a joint's range and speed limit that a sweep uses at most."""
_LEAST_AMPLITUDE = 0.02
"""Displacement below which a sweep shows nothing, rad."""


def try_standing(section: RobotSection) -> list[Finding]:
    """Let a robot stand for two seconds.

    `section`: name and standing posture of the robot. Returns what was measured.
    """
    motion = {"source": "joints:still"}
    scenario = Scenario.model_validate(
        {"name": "standing", "robot": section, "motion": motion, "simulation": _STILL}
    )
    metrics = _metrics(scenario)
    if isinstance(metrics, str):
        return [_failed("stand", metrics)]
    track = _findings("track", metrics, {"tracking.rms_rad": _TRACKING["tracking.rms_rad"]}, "standing")
    stand = _findings("stand", metrics, _STANDING, "standing")
    return [_upright("stand", metrics, "standing for 2 s"), *stand, *track]


def try_stepping(section: RobotSection, stepping: SteppingSection) -> list[Finding]:
    """Let a robot make steps forward, sideways and around.

    `section`: name, posture and pelvis height of the robot; `stepping`: commands and steps. Returns what was
    measured.
    """
    scenario = Scenario.model_validate(
        {"name": "steps", "robot": section, "motion": {"source": "joints:still"}, "stepping": stepping}
    )
    metrics = _metrics(scenario)
    if isinstance(metrics, str):
        return [_failed("step", metrics)]
    count, missed = float(metrics.get("steps.count") or 0.0), float(metrics.get("steps.missed_count") or 0.0)
    limits = Limits(0.0, 0.25)
    share = missed / max(count + missed, 1.0)
    reason = f"{missed:.0f} of {count + missed:.0f} planned steps were not made"
    made = Finding("step", "steps.missed_fraction", limits.judge(share), share, str(limits), reason, True)
    return [_upright("step", metrics, "walking"), made, *_findings("step", metrics, _STEPPING, "walking")]


def try_sweep(robot: Robot, section: RobotSection) -> list[Finding]:
    """Let all joints of a robot with a fixed base, but those that close a hand, go out and back together.

    `section`: its name and posture. Returns what was measured.
    """
    posture = robot.postures[section.posture]
    moved, model = moved_by_sweep(robot), robot.model
    room = np.maximum(posture - model.lowerPositionLimit, model.upperPositionLimit - posture)
    room[~moved] = np.inf
    amplitude = min(_AMPLITUDE, _ROOM * float(room.min()))
    if amplitude < _LEAST_AMPLITUDE:
        joint = robot.joint_names[int(room.argmin())]
        reason = (
            f"not simulated: {joint} can move by {room.min():.2g} only from the posture {section.posture}"
        )
        return [Finding("track", "sweep", "marginal", None, "", reason, True)]
    speed = min(_SPEED, _FAST * float(model.velocityLimit[moved].min()))
    measured: dict[str, Any] = {}
    for smaller in _AMPLITUDES:
        swung = smaller * amplitude
        motion = {"source": SWEEP, "task": {"amplitude_rad": swung, "speed_rad_s": speed}}
        scenario = Scenario.model_validate({"name": "sweep", "robot": section, "motion": motion})
        metrics = _metrics(scenario)
        if isinstance(metrics, str):
            return [_failed("track", metrics)]
        measured = metrics
        if not any(metrics.get(name) for name in _TOUCHING):
            break
    what = f"a sweep of all joints by {swung:.2g} rad at up to {speed:.2g} rad/s"
    return _findings("track", measured, _TRACKING, what)


def _metrics(scenario: Scenario) -> dict[str, Any] | str:
    """Run a scenario and return its metrics, or why there are none."""
    settings = scenario.simulation.model_copy(update={"engine": usual_engine()})
    scenario = scenario.model_copy(update={"simulation": settings})
    with tempfile.TemporaryDirectory() as folder:
        try:
            result = run_scenario(scenario, Path(folder) / "run", on_progress=False)
        except SimbenchError as error:
            return str(error)
    return result.diverged or result.metrics


def _failed(ability: Ability, reason: str) -> Finding:
    return Finding(ability, "run", "no", None, "", reason, True)


def _upright(ability: Ability, metrics: Mapping[str, Any], what: str) -> Finding:
    """Whether the robot fell."""
    fell = bool(metrics.get("fell"))
    reason = f"it {'fell' if fell else 'did not fall'} while {what}"
    return Finding(ability, "fell", "no" if fell else "yes", float(fell), "≤ 0", reason, True)


def _findings(
    ability: Ability, metrics: Mapping[str, Any], limits: Mapping[str, Limits], what: str
) -> list[Finding]:
    """Compare metrics of a run with their limits."""
    findings = []
    for name, limit in limits.items():
        value = metrics.get(name)
        verdict = "no" if value is None else limit.judge(float(value))
        reason = f"not measured while {what}" if value is None else f"while {what}"
        findings.append(Finding(ability, name, verdict, value, str(limit), reason, True))
    return findings
