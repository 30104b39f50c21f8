"""Whether a robot can do what its kind should: stand, reach, step, track; and short simulations of it."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from simbench.errors import RetargetError, RobotError, SimbenchError
from simbench.options import SWEEP, RobotSection, SteppingSection
from simbench.retargeting.match.body import describe_match, match_body
from simbench.robot.robot import Robot, load_robot
from simbench.robot.robot_inspection import RobotInspection
from simbench.robot.sides import SIDES
from simbench.runs.pipeline import run_scenario
from simbench.runs.retargeted_reference import moved_by_sweep
from simbench.runs.robot_check.findings import ABILITIES, Ability, Finding, Limits, Offer, RobotCheck
from simbench.runs.robot_check.offers import offer_steps
from simbench.runs.robot_check.palm_reach import check_reaching
from simbench.runs.robot_check.statics import POSTURE, check_standing, check_stepping, check_tracking
from simbench.runs.scenario.schema import Scenario
from simbench.sim.engine import usual_engine
from simbench.system.progress import OnProgress, Progress, shown_progress

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
# Metrics of an arm that hits itself or the floor, which says nothing about tracking.
_TOUCHING = ("contact.self_count", "contact.floor_unintended_count")
_TRACKING: dict[str, Limits] = {
    "tracking.rms_rad": Limits(0.005, 0.03),
    "torque.saturated_fraction": Limits(0.01, 0.1),
    "limits.speed_ratio": Limits(1.0, 2.0),
    **dict.fromkeys(_TOUCHING, Limits(0.0, 0.5)),
}
_AMPLITUDES = (1.0, 0.5, 0.2, 0.1)  # Parts of a sweep's displacement, tried until the arm hits nothing.
_STILL = {"settle_s": 0.5, "hold_s": 1.5}  # Two seconds.
# Largest displacement of the joints in a sweep, rad, and its largest speed, rad/s.
_AMPLITUDE, _SPEED = 0.5, 1.0
_ROOM, _FAST = 0.8, 0.5  # Parts of a joint's range and speed limit that a sweep uses at most.
_LEAST_AMPLITUDE = 0.02  # Displacement below which a sweep shows nothing, rad.


def check_robot(
    name_or_path: str | Path, *, simulate: bool = True, on_progress: Progress = None
) -> RobotCheck:
    """Judge by numbers whether a robot can stand, reach, step and track.

    Statics, kinematics, gains and a planned gait are looked at first; short simulations then show whether the
    robot stands for two seconds and walks some steps, or whether its arm follows a sweep of all joints. A
    robot with a fixed base is judged by reach and tracking only.

    Parameters
    ----------
    name_or_path : str or Path
        Name of a robot, path of a `robot.yaml` or of the folder that contains one, or path of a URDF, whose
        description is then guessed.
    simulate : bool
        Whether to simulate.
    on_progress : callable (stage, done, total), bool or None
        Callback that receives the progress; or whether progress is shown on the standard error, None for in a
        terminal or a notebook only.

    Returns
    -------
    RobotCheck
        Verdicts and numbers.

    Raises
    ------
    RobotError
        If there is no such robot, it cannot be loaded, or nothing of it moves.
    """
    with shown_progress(on_progress) as tell:
        tell("load", 0, 1)
        robot = load_robot(name_or_path)
        tell("load", 1, 1)
        if not robot.joint_names:
            raise RobotError(f"{robot.name}: no joint moves: there is nothing to check")
        arms = sum(f"{side}_arm" in robot.groups for side in SIDES)
        legs = sum(f"{side}_leg" in robot.groups for side in SIDES)
        expected: tuple[Ability, ...]
        if not robot.floating:
            kinds = {0: "a fixed base without arms", 1: "arm", 2: "two arms on a fixed base"}
            kind, expected = kinds[arms], ("reach", "track") if arms else ("track",)
        elif legs < 2:
            kind, expected = "free base without two legs", ("stand",)
        elif arms < 2:
            kind, expected = "legs without arms", ("stand", "step", "track")
        else:
            kind, expected = "humanoid", ABILITIES
        postures = (POSTURE, "ready", *robot.postures)
        posture = next((name for name in postures if name in robot.postures), POSTURE)
        section = RobotSection(name=str(name_or_path), posture=posture)
        found = list(_look_at(robot, section, simulate, tell))
        findings = tuple(each for each in found if isinstance(each, Finding))
        offers = tuple(each for each in found if isinstance(each, Offer))
    # What is doubtful in the URDF, and what the robot lacks if its description was guessed.
    doubts = RobotInspection(name_or_path).warnings
    more = f", and {len(doubts) - 1} more; simbench robot inspect lists them" if len(doubts) > 1 else ""
    notes: tuple[str, ...] = (f"doubtful: {doubts[0]}{more}",) if doubts else ()
    if robot.source is not None and robot.source.guessed:
        # It takes half a second to import.
        from simbench.robot.scaffold.scaffold import scaffold_robot

        notes = (*scaffold_robot(robot.source.urdf).missing, *notes)
    if not simulate:
        notes += ("not simulated: only statics, kinematics, gains and the plan of a gait were looked at",)
    try:
        bones = describe_match(match_body(robot))
    except RetargetError as error:
        bones, notes = (), (*notes, str(error))
    source = "" if robot.source is None else str(robot.source)
    return RobotCheck(robot.name, source, kind, expected, findings, notes, bones, offers)


def _look_at(
    robot: Robot, section: RobotSection, simulate: bool, tell: OnProgress
) -> Iterator[Finding | Offer]:
    """Look at everything that the robot's kind has, and for what would help where it cannot step."""
    posture = robot.postures.get(section.posture, np.zeros(len(robot.joint_names)))
    stands, steps = False, None
    if robot.floating:
        found, stance = check_standing(robot)
        yield from found
        stands = stance is not None and all(finding.verdict != "no" for finding in found)
    tell("reach", 0, 1)
    yield from check_reaching(robot, posture)
    tell("reach", 1, 1)
    if stands:
        found, steps = check_stepping(robot, section)
        yield from found
        walked = list(found)
    yield from check_tracking(robot, posture)
    if not simulate:
        if stands and any(each.verdict == "no" for each in walked):
            yield from offer_steps(robot, section, steps, None)
        return
    tell("simulate", 0, 1)
    if stands:
        found = try_standing(section)
        yield from found
        if found[0].verdict != "no":
            walked += try_stepping(*steps) if steps is not None else ()
            yield from (each for each in walked if each.simulated)
            if any(each.verdict == "no" for each in walked):
                yield from offer_steps(robot, section, steps, try_stepping)
    elif not robot.floating and section.posture in robot.postures:
        yield from try_sweep(robot, section)
    tell("simulate", 1, 1)


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
    track = _compare_metrics(
        "track", metrics, {"tracking.rms_rad": _TRACKING["tracking.rms_rad"]}, "standing"
    )
    stand = _compare_metrics("stand", metrics, _STANDING, "standing")
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
    return [
        _upright("step", metrics, "walking"),
        made,
        *_compare_metrics("step", metrics, _STEPPING, "walking"),
    ]


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
    return _compare_metrics("track", measured, _TRACKING, what)


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


def _compare_metrics(
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
