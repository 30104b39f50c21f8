"""Compare the verdicts of `simbench robot check` with what then happens in runs, and print a table.

    python scripts/studies/robot_verdicts.py [ROBOT ...] [--out FOLDER]

Robots on legs stand for 5 s, walk 1 m forward, 0.3 m to the side and turn by 90 degrees, and imitate a person
who waves; robots with a fixed base make two strokes of a joint sweep. Each run is judged by the bounds of the
scenarios that ship. The verdict of the check without simulations stands beside that with them: the short
simulations of the check are other motions than these. A verdict is wrong if it is `yes` and the run fails, or
`no` and the run holds; `marginal` allows both.
"""

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simbench.errors import SimbenchError
from simbench.robot.robot import Robot, load_robot
from simbench.runs.pipeline import run_scenario
from simbench.runs.retargeted_reference import moved_by_sweep
from simbench.runs.robot_check.abilities import check_robot
from simbench.runs.robot_check.findings import RobotCheck
from simbench.runs.scenario.schema import Scenario

ROBOTS = (
    *("g1_29dof_rev_1_0", "talos_reduced", "romeo_small", "g1", "talos", "human", "anymal"),
    *("kinova", "xarm7", "so100", "z1", "ur10_joint_limited_robot", "baxter"),
)
STANDING: dict[str, Any] = {
    "motion": {"source": "joints:still"},
    "simulation": {"hold_s": 4.5},
    "checks": {"fell": False, "zmp.inside_fraction": {"min": 0.99}, "tracking.rms_rad": {"max": 0.03}},
}
WALKING: dict[str, Any] = {
    "motion": {"source": "joints:still"},
    "stepping": {"commands": [{"forward_m": 1.0}, {"sideways_m": 0.3}, {"turn_rad": 1.5708}]},
    "checks": {
        "fell": False,
        "zmp.inside_fraction": {"min": 0.99},
        "base.forward_error_m": {"max": 0.1},
        "base.turn_error_rad": {"max": 0.1},
    },
}
WAVING: dict[str, Any] = {
    "motion": {"source": "actor:fast_waving", "end_s": 3.0},
    "simulation": {"lead_in_s": 2.0},
    "checks": {"fell": False, "zmp.inside_fraction": {"min": 0.99}, "tracking.rms_rad": {"max": 0.03}},
}
SWEEP_CHECKS: dict[str, Any] = {
    "tracking.rms_rad": {"max": 0.03},
    "torque.saturated_fraction": {"max": 0.01},
    "limits.speed_ratio": {"max": 1.0},
}


class Trial(NamedTuple):
    """A run, and the ability that it needs most."""

    ability: str
    name: str
    scenario: Mapping[str, Any]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--out", type=Path, help="Keep the runs in this folder.")
    arguments = parser.parse_args()
    print("robot\ttrial\twithout simulation\twith\trun\twrong\twhy", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.robots:
            for line in compare(name, arguments.out or Path(folder)):
                print(*line, sep="\t", flush=True)


def compare(name: str, folder: Path) -> Iterator[tuple[str, ...]]:
    """Check a robot and run it.

    Parameters
    ----------
    name : str
        Name or path of the robot.
    folder : Path
        Folder for the runs.

    Yields
    ------
    tuple of str
        Robot, trial, verdict without and with simulation, outcome of the run, whether the verdict with
        simulation is wrong, and why the run failed.
    """
    try:
        robot = load_robot(name)
        before, after = (check_robot(name, simulate=each, on_progress=False) for each in (False, True))
    except SimbenchError as error:
        yield (name, "load", "refused", "refused", "", "", str(error))
        return
    for trial in trials(robot, name):
        outcome, why = run(trial, name, folder)
        verdicts = [verdict(checked, trial) for checked in (before, after)]
        wrong = (verdicts[1], outcome) in (("yes", "fails"), ("no", "holds"))
        yield (Path(name).stem, trial.name, *verdicts, outcome, "WRONG" if wrong else "", why)


def verdict(checked: RobotCheck, trial: Trial) -> str:
    """Return the worst verdict on what a trial needs: whoever walks or waves must stand, too.

    Parameters
    ----------
    checked : RobotCheck
        Outcome of the check.
    trial : Trial
        The trial.

    Returns
    -------
    str
        The verdict.
    """
    needed = {"step": ("stand", "step"), "track": ("stand", "reach", "track")}.get(trial.ability, ("stand",))
    if "stand" not in checked.expected:
        needed = ("track",)
    order = ("yes", "marginal", "no")
    return max((checked.verdicts.get(each, "no") for each in needed), key=order.index)


def trials(robot: Robot, name: str) -> Iterator[Trial]:
    """Choose the runs of a robot.

    Parameters
    ----------
    robot : Robot
        The robot.
    name : str
        Name or path by which it is found.

    Yields
    ------
    Trial
        A run.
    """
    if robot.floating:
        for ability, scenario in (("stand", STANDING), ("step", WALKING), ("track", WAVING)):
            trial = {"stand": "stands", "step": "walks", "track": "waves"}[ability]
            yield Trial(ability, trial, {"name": trial, "robot": {"name": name}, **scenario})
        return
    posture = "ready" if "ready" in robot.postures else next(iter(robot.postures))
    moved = moved_by_sweep(robot)
    limits = robot.model.upperPositionLimit, robot.model.lowerPositionLimit
    room = np.max([np.abs(limit - robot.postures[posture]) for limit in limits], axis=0)[moved].min()
    fastest = robot.model.velocityLimit[moved].min()
    task = {"amplitude_rad": min(0.8, 0.9 * room), "speed_rad_s": min(1.0, 0.8 * fastest), "repetitions": 2}
    motion = {"source": "joints:sweep", "task": task}
    section = {"name": name, "posture": posture}
    scenario = {"name": "sweep", "robot": section, "motion": motion, "checks": SWEEP_CHECKS}
    yield Trial("track", "sweep", scenario)


def run(trial: Trial, name: str, folder: Path) -> tuple[str, str]:
    """Run a trial.

    Parameters
    ----------
    trial : Trial
        The trial.
    name : str
        Name or path of the robot.
    folder : Path
        Folder for the run.

    Returns
    -------
    outcome : str
        `holds`, or `fails` if a check failed or the run was refused.
    why : str
        What failed.
    """
    scenario = Scenario.model_validate(trial.scenario)
    try:
        result = run_scenario(scenario, folder / f"{Path(name).stem}-{trial.name}", on_progress=False)
    except SimbenchError as error:
        return "fails", str(error)
    failed = [
        f"{check.name} {result.metrics.get(check.name)} (must be {check.bound})"
        for check in result.checks
        if not check.passed
    ]
    return ("fails" if failed else "holds"), "; ".join(failed)


if __name__ == "__main__":
    main()
