"""Whether a robot can do what its kind should: stand, reach, step, track."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simbench.errors import RetargetError, RobotError
from simbench.options import RobotSection
from simbench.retargeting.match.body import describe_match, match_body
from simbench.robot.robot import Robot, load_robot
from simbench.robot.robot_inspection import inspect_robot
from simbench.robot.sides import SIDES
from simbench.runs.robot_check.findings import ABILITIES, Ability, Finding, Verdict, worst
from simbench.runs.robot_check.reaching import check_reaching
from simbench.runs.robot_check.standing import POSTURE, check_standing
from simbench.runs.robot_check.stepping import check_stepping
from simbench.runs.robot_check.tracking import check_tracking
from simbench.runs.robot_check.trial_runs import try_standing, try_stepping, try_sweep
from simbench.system.progress import OnProgress, Progress, shown_progress


@dataclass(frozen=True)
class RobotCheck:
    """What a robot can do, and the numbers that say so.

    Parameters
    ----------
    robot : str
        Name of the robot.
    source : str
        Where its files are from, in one line.
    kind : str
        `humanoid`, `legs without arms`, `arm`, `two arms on a fixed base`, or what else it is.
    expected : tuple of str
        What a robot of this kind should be able to do: some of `stand`, `reach`, `step`, `track`.
    findings : tuple of Finding
        What was looked at, in this order.
    notes : tuple of str
        What the robot is not, or lacks, one line each.
    bones : tuple of str
        Which joints move which bone, one line for each limb like a person's.
    """

    robot: str
    source: str
    kind: str
    expected: tuple[Ability, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    bones: tuple[str, ...] = ()

    @property
    def verdicts(self) -> dict[Ability, Verdict]:
        """Verdict on each ability that was looked at: the worst of its findings."""
        found: dict[Ability, Verdict] = {}
        for ability in ABILITIES:
            about = [finding.verdict for finding in self.findings if finding.ability == ability]
            if about:
                found[ability] = worst(about)
            elif ability in self.expected:
                found[ability] = "no"
        return found

    @property
    def passed(self) -> bool:
        """Whether the robot can do all that one of its kind should, if only just."""
        verdicts = self.verdicts
        return all(verdicts[ability] != "no" for ability in self.expected)

    def why(self, ability: Ability) -> str:
        """Say why a robot can do something only just or not at all.

        Parameters
        ----------
        ability : str
            One of `expected`.

        Returns
        -------
        str
            The findings that decide the verdict, in one line; empty if it is `yes`.
        """
        verdict = self.verdicts[ability]
        if verdict == "yes":
            return ""
        about = [each for each in self.findings if (each.ability, each.verdict) == (ability, verdict)]
        if not about:
            return "not looked at, because the robot does not stand"
        return "; ".join(
            each.reason if each.value is None else f"{each.name} {each.value:.3g} ({each.limit})"
            for each in about
        )

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON.

        Returns
        -------
        dict
            Keys `robot`, `source`, `kind`, `passed`, `verdicts`, `findings`, `notes`, `bones`.
        """
        return {
            "robot": self.robot,
            "source": self.source,
            "kind": self.kind,
            "passed": self.passed,
            "verdicts": {ability: self.verdicts[ability] for ability in self.expected},
            "findings": [finding.as_dict() for finding in self.findings],
            "notes": list(self.notes),
            "bones": list(self.bones),
        }


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
        kind, expected = _kind(robot)
        section = RobotSection(name=str(name_or_path), posture=_posture(robot))
        findings = list(_findings(robot, section, simulate, tell))
    notes = _notes(robot, name_or_path)
    if not simulate:
        notes += ("not simulated: only statics, kinematics, gains and the plan of a gait were looked at",)
    try:
        bones = describe_match(match_body(robot))
    except RetargetError as error:
        bones, notes = (), (*notes, str(error))
    return RobotCheck(
        robot.name,
        "" if robot.source is None else str(robot.source),
        kind,
        expected,
        tuple(findings),
        notes,
        bones,
    )


def _kind(robot: Robot) -> tuple[str, tuple[Ability, ...]]:
    """Tell what kind of robot it is, and what one of this kind should be able to do."""
    arms = sum(f"{side}_arm" in robot.groups for side in SIDES)
    legs = sum(f"{side}_leg" in robot.groups for side in SIDES)
    if not robot.floating:
        kinds = {0: "a fixed base without arms", 1: "arm", 2: "two arms on a fixed base"}
        return kinds[arms], ("reach", "track") if arms else ("track",)
    if legs < 2:
        return "free base without two legs", ("stand",)
    if arms < 2:
        return "legs without arms", ("stand", "step", "track")
    return "humanoid", ABILITIES


def _posture(robot: Robot) -> str:
    """Name the posture in which a robot is checked."""
    for name in (POSTURE, "ready"):
        if name in robot.postures:
            return name
    return next(iter(robot.postures), POSTURE)


def _findings(robot: Robot, section: RobotSection, simulate: bool, tell: OnProgress) -> Iterator[Finding]:
    """Look at everything that the robot's kind has."""
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
    yield from check_tracking(robot, posture)
    if not simulate:
        return
    tell("simulate", 0, 1)
    if stands:
        found = try_standing(section)
        yield from found
        if steps is not None and found[0].verdict != "no":
            yield from try_stepping(steps.place, steps.stepping)
    elif not robot.floating and section.posture in robot.postures:
        yield from try_sweep(robot, section)
    tell("simulate", 1, 1)


def _notes(robot: Robot, name_or_path: str | Path) -> tuple[str, ...]:
    """Say what is doubtful in the URDF, and what the robot lacks if its description was guessed."""
    doubts = inspect_robot(name_or_path).warnings
    more = f", and {len(doubts) - 1} more; simbench robot inspect lists them" if len(doubts) > 1 else ""
    notes = (f"doubtful: {doubts[0]}{more}",) if doubts else ()
    if robot.source is None or not robot.source.guessed:
        return notes
    # It takes half a second to import.
    from simbench.robot.scaffold.scaffold import scaffold_robot

    return (*scaffold_robot(robot.source.urdf).missing, *notes)
