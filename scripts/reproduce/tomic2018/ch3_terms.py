"""Chapter 3 of Tomić (2018): what simbench's two further terms of imitation change, and equation 3.16 alone.

python scripts/reproduce/tomic2018/ch3_terms.py [--actors 1,2,...] [--tasks NAME,...] [--results FILE.json]

The thesis's criterion (eq. 3.5) weighs markers, joints, and position and orientation of the hands. simbench
adds the orientation of upper arms and trunk (weight 0.2) and a damping of each coordinate's step (0.03). Each
recording is imitated by one Gauss-Newton step a frame with both, without one, and without either.

Equation 3.16 takes what is imitated to ROMEO at its own size: hands first, damped least squares with λ =
0.003, then joints towards the imitated ones in the null space. Here it is followed as printed, once with the
paths of contact (eq. 3.17: each palm goes as far as the scaled model's) and once without (eq. 3.18: as
ROMEO's own palms go by the imitated joints), the base moving as the person's.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from results import add_results_option, add_session_options, begin_results, write_results

from simbench.motion.actors.session import perform_in_session
from simbench.motion.human_motion import HumanMotion
from simbench.motion.phases import find_phases
from simbench.retargeting.imitation.imitation import (
    Imitation,
    ImitationWeights,
    imitate,
    imitation_errors,
    smooth,
)
from simbench.retargeting.imitation.scaled_model import ScaledActor, calibrate
from simbench.robot.robot import Robot, load_robot
from simbench.robot.robot_limbs import upper_body
from simbench.robot.sides import SIDES

Array = NDArray[np.float64]

TASKS = ("drawer", "valves", "pump")
VARIANTS = {
    "both terms": {},
    "no orientation of upper arms and trunk": {"segment_orientation": 0.0},
    "damping 0.001": {"damping": 0.001},
    "no damping": {"damping": 0.0},
    "neither: eq. 3.5 as printed": {"segment_orientation": 0.0, "damping": 0.0},
    "no orientation, damping 0.001": {"segment_orientation": 0.0, "damping": 0.001},
}
"""The thesis takes a pseudoinverse: the limit of little damping wherever its rank does not change."""
FILTER = (31, 5)
DAMPING = 0.003
"""λ of equation 3.16."""
CONTACT, FREE = "contact (eq. 3.17)", "no contact (eq. 3.18)"


def imitation_numbers(actor: ScaledActor, motion: HumanMotion, variant: str) -> list[float]:
    """Mean errors, mm and degrees, the fastest joint, rad/s, and root mean square jerk, rad/s³."""
    weights = ImitationWeights(**VARIANTS[variant])
    raw = imitate(actor, motion, weights=weights, smoothing_window=1)
    _, joints, _, hands = imitation_errors(Imitation(actor, raw.time, smooth(raw.q, *FILTER)), motion)
    parts = [np.mean([joints[f"{side}_{name}"] for side in SIDES]) for name in ("wrist", "elbow", "shoulder")]
    turn = np.mean([hands[f"{side}_hand"] for side in SIDES])
    speed = np.diff(raw.q[:, 7:], axis=0) / np.diff(motion.time)[:, None]
    jerk = np.diff(smooth(raw.q, *FILTER)[:, 7:], 3, axis=0) * motion.rate**3
    return [*(1e3 * np.array(parts)), np.degrees(turn), np.abs(speed).max(), float(np.sqrt(np.mean(jerk**2)))]


def palms(robot: Robot, model: pin.Model, q: Array) -> list[pin.SE3]:
    """Poses of both palms, and the model's Jacobians in its data afterwards."""
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return [data.oMf[model.getFrameId(robot.frames[f"{side}_hand"])].copy() for side in SIDES]


def follow_equation(
    robot: Robot, model: pin.Model, imitated: Array, goals: Sequence[Sequence[pin.SE3]], limited: bool
) -> tuple[Array, Array]:
    """Follow equation 3.16 sample by sample, from the first imitated posture on.

    `imitated` (T, 7 + n): base and joints that imitation found, joints within limits if `limited`; `goals`:
    desired poses of both palms in each sample. Joints that pass a limit are clamped, their columns set to 0,
    and the step is solved again (Baerlocher & Boulic 2004). Returns configurations (T, 7 + n) and errors of
    the palms (T, 12), m and rad, world axes.
    """
    data = model.createData()
    frames = [model.getFrameId(robot.frames[f"{side}_hand"]) for side in SIDES]
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    path, missed = imitated.copy(), np.empty((len(imitated), 12))

    def away(q: Array, goal: Sequence[pin.SE3]) -> Array:
        pin.framesForwardKinematics(model, data, q)
        return np.concatenate(
            [
                part
                for frame, pose in zip(frames, goal, strict=True)
                for part in (
                    pose.translation - data.oMf[frame].translation,
                    pin.log3(pose.rotation @ data.oMf[frame].rotation.T),
                )
            ]
        )

    for t in range(len(imitated)):
        q = imitated[t].copy()
        if t > 0:
            q[7:] = path[t - 1, 7:]
            error = away(q, goals[t])
            pin.computeJointJacobians(model, data, q)
            full = np.vstack(
                [
                    pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:, 6:]
                    for frame in frames
                ]
            )
            step, free = np.zeros(full.shape[1]), np.ones(full.shape[1], dtype=bool)
            while True:
                jacobian = full * free
                damped = jacobian.T @ np.linalg.inv(jacobian @ jacobian.T + DAMPING**2 * np.eye(12))
                null = np.diag(free.astype(float)) - np.linalg.pinv(jacobian, rcond=1e-6) @ jacobian
                held = np.where(free, 0.0, step)
                step = held + damped @ (error - full @ held) - null @ (q[7:] - imitated[t, 7:])
                beyond = free & ((q[7:] + step < lower) | (q[7:] + step > upper))
                if not limited or not beyond.any():
                    break
                step = np.where(
                    beyond, np.clip(q[7:] + step, lower, upper) - q[7:], np.where(free, 0.0, step)
                )
                free &= ~beyond
            q[7:] += step
        path[t], missed[t] = q, away(q, goals[t])
    return path, missed


def equation_numbers(robot: Robot, model: pin.Model, actor: ScaledActor, q: Array, kind: str) -> list[float]:
    """Errors of the palms, mm and degrees, and distance of the joints from the imitated ones, degrees."""
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    wanted = q.copy()
    wanted[:, 7:] = np.clip(q[:, 7:], lower, upper)
    goals = [palms(robot, model, each) for each in wanted]
    if kind == CONTACT:
        theirs = [palms(robot, actor.model, each) for each in q]
        goals = [
            [
                pin.SE3(
                    pose.rotation @ first.rotation.T @ own.rotation,
                    own.translation + pose.translation - first.translation,
                )
                for pose, first, own in zip(each, theirs[0], goals[0], strict=True)
            ]
            for each in theirs
        ]
    path, missed = follow_equation(robot, model, wanted, goals, True)
    position = np.linalg.norm(missed.reshape(-1, 2, 2, 3)[:, :, 0], axis=2)
    turn = np.linalg.norm(missed.reshape(-1, 2, 2, 3)[:, :, 1], axis=2)
    joints = np.degrees(np.abs(path - wanted)[:, 7:])
    values = (1e3 * position, np.degrees(turn), joints)
    return [number for value in values for number in (float(np.mean(value)), float(np.max(value)))]


def _mean(rows: Sequence[Sequence[float]]) -> list[float]:
    return np.mean(rows, axis=0).tolist()


def _table(title: str, *headings: str) -> Table:
    return Table(*headings, title=title, title_justify="left", box=None, pad_edge=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_session_options(parser, [1, 2], TASKS)
    add_results_option(parser)
    given = parser.parse_args(arguments)
    robot = load_robot("romeo")
    model = upper_body(robot)
    terms: dict[str, list[list[float]]] = {variant: [] for variant in VARIANTS}
    moved: dict[tuple[str, str], list[list[float]]] = {}
    for number in given.actors:
        for task in given.tasks:
            motion = perform_in_session(given.session, number, task).motion
            actor = calibrate(robot, motion)
            for variant, rows in terms.items():
                rows.append(imitation_numbers(actor, motion, variant))
            # One repetition, in which the hands hold the equipment.
            first, last = find_phases(motion).boundaries[:2]
            q = imitate(actor, motion).q[(motion.time >= first) & (motion.time <= last)]
            for kind in (CONTACT, FREE):
                moved.setdefault((kind, task), []).append(equation_numbers(robot, model, actor, q, kind))
    results = begin_results(
        __file__, arguments, f"{len(given.actors)} virtual actors, {len(given.tasks)} tasks"
    )
    headings = (
        "hands,\nmm",
        "elbows,\nmm",
        "shoulders,\nmm",
        "hands,\ndegrees",
        "fastest joint,\nrad/s",
        "jerk,\nrad/s³",
    )
    table = _table("Imitation with and without simbench's own terms, means", "criterion", *headings)
    for variant, rows in terms.items():
        table.add_row(variant, *(f"{value:.2f}" for value in _mean(rows)))
    console = Console(width=150)
    console.print(results.add(table, "eq. 3.5, §3.6"), "")
    headings = ("palms, mm", "greatest", "palms, degrees", "greatest", "joints, degrees", "greatest")
    table = _table("Equation 3.16 by itself, within ROMEO's joint limits", "desired paths", "task", *headings)
    for (kind, task), rows in sorted(moved.items()):
        table.add_row(kind, task, *(f"{value:.2f}" for value in _mean(rows)))
    console.print(results.add(table, "eq. 3.16 to 3.18", note="greatest: mean of the recordings' greatest"))
    write_results(given.results, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
