"""Kim & Kim (ICCAS 2005): waving and sign language on a humanoid's arms, compared with the paper's findings.

python scripts/reproduce/kim2005_arm/kim2005_arm.py [--robot mahru] [--seed 2018] [--motions waving,signing]
    [--pictures FOLDER] [--results FILE.json]

The paper's two motions, 642 and 1978 frames at 60 Hz, are performed by a virtual actor who wears the paper's
markers. Each is adapted as in the paper (bounds on position and speed, no springs), with the springs to the
last posture that simbench adds, and with bounds on acceleration, too. A PID controller then drives the robot,
its pelvis held, along the paper's motion in simulation (figures 5 and 6). Two more clips drive the joints
into their bounds: the sign language at four times its speed, and targets that move on at full speed beyond
every joint limit. Exit status 1 if a bound that was set is violated in any frame, or the simulated joints are
further off their reference than they may be.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from figures import draw_hand, draw_joints, draw_strip, simulated_points
from numpy.typing import NDArray
from pid_simulation import held_robot, simulate_pid
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from results import Results, add_results_option, begin_results, write_results

from simbench.errors import SimbenchError
from simbench.kinematics.path_solver import PathBounds
from simbench.motion.actors.session import perform_in_session
from simbench.motion.human_motion import HumanMotion
from simbench.retargeting.arm_adaptation import (
    STIFFNESS,
    WEIGHTS,
    adapt_arms,
    arm_chain,
    arm_joints,
    arm_path,
    joint_bounds,
    place_arm,
)
from simbench.robot.robot import Robot, load_robot

Array = NDArray[np.float64]

RATE = 60.0
"""Frame rate of the motions, Hz."""
TOLERANCE = 1e-9
ON_BOUND = 1e-6
"""Distance from a bound within which a joint counts as being on it, rad or rad/s."""
SPEED_UP = 4
VARIANTS = (
    ("the paper's", {"acceleration": np.inf, "stiffness": 0.0}),
    ("springs", {"acceleration": np.inf}),
    ("springs, accelerations bounded", {}),
)
"""The paper's method; with the springs to the last posture; and simbench's."""
FOLLOWED = np.radians(2.0)
"""Largest RMS error of the simulated joints, rad."""
FIGURES, SHOWN = {"waving": 5, "signing": 6}, 8
"""Figures of the simulated motions, and how many of their postures are drawn."""
PLACES = np.array([[0.0, 0.0, 0.025], [0.075, 0.043, 0.025], [0.075, -0.043, 0.025]])


def violations(q: Array, bounds: PathBounds) -> tuple[int, int, int]:
    """Count violations of position, speed and acceleration bounds, by backward differences from rest."""
    speed = np.diff(q, axis=0, prepend=q[:1]) * RATE
    acceleration = np.diff(speed, axis=0, prepend=0.0 * speed[:1]) * RATE
    return (
        int(np.sum((q < bounds.lower - TOLERANCE) | (q > bounds.upper + TOLERANCE))),
        int(np.sum(np.abs(speed) > bounds.speed + TOLERANCE)),
        int(np.sum(np.abs(acceleration) > bounds.acceleration + TOLERANCE)),
    )


def on_bound(names: Sequence[str], path: Array, side: str, robot: Robot) -> NDArray[np.bool_]:
    """Find the frames in which a joint of an arm is on its position or speed bound."""
    joints = arm_joints(robot, side)
    q, bounds = path[:, [names.index(name) for name in joints]], joint_bounds(robot, joints)
    speed = np.abs(np.diff(q, axis=0, prepend=q[:1])) * RATE
    return np.asarray(
        (
            (q < bounds.lower + ON_BOUND) | (q > bounds.upper - ON_BOUND) | (speed > bounds.speed - ON_BOUND)
        ).any(axis=1)
    )


def faster(motion: HumanMotion, times: int) -> HumanMotion:
    """Speed a motion up by leaving out frames."""

    def kept(tracks: dict[str, Array]) -> dict[str, Array]:
        return {name: track[::times] for name, track in tracks.items()}

    frames = len(motion.time[::times])
    return replace(
        motion,
        time=np.arange(frames) / RATE,
        joints=kept(dict(motion.joints)),
        segments=kept(dict(motion.segments)),
        markers=kept(dict(motion.markers)),
    )


def beyond_limits(robot: Robot, side: str, bounds: PathBounds) -> Array:
    """Track an arm whose joints oscillate at full speed, to a third of their range beyond the limits."""
    chain = arm_chain(robot, side, 0.6, PLACES)
    width = bounds.upper - bounds.lower
    frames = np.arange(int(20 * RATE))
    travel = 0.5 * width + frames[:, None] / RATE * bounds.speed
    span = 5.0 / 3.0 * width
    offset = np.abs((travel + span / 5.0 + span) % (2.0 * span) - span) - width / 3.0
    targets = bounds.lower + offset
    hand, upper_arm = np.empty((len(frames), 3, 3)), np.empty((len(frames), 3))
    for frame, target in enumerate(targets):
        place_arm(chain, target)
        hand[frame] = chain.point[:3]
        upper_arm[frame] = chain.point[3] / np.linalg.norm(chain.point[3])
    first = np.clip(targets[0], bounds.lower, bounds.upper)
    return arm_path(chain, hand, upper_arm, WEIGHTS, STIFFNESS, bounds, 1.0 / RATE, first)[0]


def main() -> int:
    """Print the tables; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--robot", default="mahru")
    parser.add_argument("--seed", type=int, default=2018)
    parser.add_argument(
        "--motions", type=lambda text: text.split(","), default=list(FIGURES), metavar="NAME,..."
    )
    parser.add_argument("--pictures", type=Path, metavar="FOLDER")
    add_results_option(parser)
    options = parser.parse_args()
    motions = ", ".join(options.motions)
    results = begin_results(
        __file__, scope=f"robot {options.robot}, {motions} of one virtual actor, seed {options.seed}"
    )
    try:
        robot = load_robot(options.robot)
        clips = {task: perform_in_session(options.seed, 1, task).motion for task in options.motions}
        status = report(robot, clips, results, options.pictures)
    except SimbenchError as error:
        print(error, file=sys.stderr)
        return 2
    write_results(options.results, results)
    return status


def report(
    robot: Robot, clips: dict[str, HumanMotion], results: Results, pictures: Path | None = None
) -> int:
    """Adapt all clips and print the results; return the exit status."""
    passed = 0
    table = Table(
        title=f"{robot.name}: person minus scaled robot in mm and degrees; violations of bounds",
        caption="axis: nine hand coordinates; point: distance of wrist, thumb, pinky; µs/frame: both arms",
    )
    for heading in ("motion", "method", "arm"):
        table.add_column(heading, no_wrap=True)
    numbers = ("axis mean", "axis max", "point mean", "upper arm", "position", "speed")
    for heading in (*numbers, "accel.", "µs/frame"):
        table.add_column(heading, justify="right")
    findings = Table(title="Thumb and pinky, mean distance, mm; the paper's method")
    for heading in ("motion", "arm", "no joint on a bound", "a joint on a bound", "frames on a bound"):
        findings.add_column(heading, justify="left" if heading in ("motion", "arm") else "right")

    adapted = dict(clips)
    if "signing" in clips:
        adapted[f"signing ×{SPEED_UP}"] = faster(clips["signing"], SPEED_UP)
    # Compile before the time is measured.
    adapt_arms(robot, faster(next(iter(clips.values())), 300))
    planned = {}
    for name, motion in adapted.items():
        for label, options in VARIANTS:
            start = time.process_time()
            names, path, hand_errors, upper_arm_errors = adapt_arms(robot, motion, **options)
            duration = 1e6 * (time.process_time() - start) / len(motion.time)
            counts = violations(path, joint_bounds(robot, names))
            passed += counts[0] + counts[1] + (0 if "acceleration" in options else counts[2])
            for row, side in enumerate(hand_errors):
                errors = hand_errors[side]
                distance = np.linalg.norm(errors, axis=2)
                table.add_row(
                    *((f"{name} ({len(motion.time)})", label) if row == 0 else ("", "")),
                    side,
                    f"{1e3 * np.abs(errors).mean():.1f}",
                    f"{1e3 * np.abs(errors).max():.1f}",
                    f"{1e3 * distance.mean():.1f}",
                    f"{np.degrees(upper_arm_errors[side].mean()):.1f}",
                    *([*map(str, counts), f"{duration:.0f}"] if row == 0 else [""] * 4),
                )
                planned[name, label] = (names, path, hand_errors)
                if label == VARIANTS[0][0]:
                    bound, tips = on_bound(names, path, side, robot), distance[:, 1:].mean(axis=1)
                    findings.add_row(
                        name,
                        side,
                        f"{1e3 * tips[~bound].mean():.1f}" if not bound.all() else "-",
                        f"{1e3 * tips[bound].mean():.1f}" if bound.any() else "-",
                        f"{100 * bound.mean():.0f} %",
                    )
    stress = Table(title="Targets that oscillate at full speed beyond all limits; violations of bounds")
    for heading in ("arm", "frames", "on a limit", "position", "speed", "accel."):
        stress.add_column(heading, justify="left" if heading == "arm" else "right")
    for side in hand_errors:
        bounds = joint_bounds(robot, arm_joints(robot, side))
        path = beyond_limits(robot, side, bounds)
        counts = violations(path, bounds)
        passed += sum(counts)
        resting = np.mean((path < bounds.lower + ON_BOUND) | (path > bounds.upper - ON_BOUND))
        stress.add_row(side, str(len(path)), f"{100 * resting:.0f} %", *map(str, counts))
    simulated, worst = simulate(robot, clips, planned, pictures)
    console = Console(width=130)
    for each in (table, findings, stress):
        console.print(results.add(each))
    console.print(results.add(simulated, "figures 5 and 6"))
    remark = (
        "Paper: the three markers' trajectories and the humanoid's points agree well in both motions; small "
        "errors of thumb and pinky in some parts, put down to position and speed limits; accelerations left "
        "for later. It gives no numbers, nor its robot's limits.\n"
        f"Ours: violations of bounds that were set, in all clips: {passed}."
    )
    console.print(results.remark(remark))
    results.check(f"violations of bounds that were set: {passed}", passed == 0)
    what = "RMS error of the simulated joints, worst arm, degrees"
    results.check(
        f"{what}: {np.degrees(worst):.2f}, at most {np.degrees(FOLLOWED):.1f}", bool(worst <= FOLLOWED)
    )
    return int(not all(check.holds for check in results.checks))


def simulate(
    robot: Robot,
    clips: dict[str, HumanMotion],
    planned: dict[tuple[str, str], tuple[Sequence[str], Array, dict[str, Array]]],
    pictures: Path | None,
) -> tuple[Table, float]:
    """Simulate adapted motions under PID control; return the table and the largest RMS error, rad."""
    table = Table(title="Simulated under PID control, pelvis held: joints minus reference, hand minus person")
    texts = ("motion", "method", "arm")
    for heading in (
        *texts,
        "RMS, deg",
        "maximum, deg",
        "torque, % of limit",
        "point mean, mm",
        "planned, mm",
    ):
        table.add_column(heading, justify="left" if heading in texts else "right")
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        touching, passing = (held_robot(robot.name, Path(folder), contacts) for contacts in (True, False))
    cases = (
        (VARIANTS[0][0], "", touching),
        (VARIANTS[-1][0], "", touching),
        (VARIANTS[0][0], ", without contact of links", passing),
    )
    for (name, motion), (label, more, held) in product(clips.items(), cases):
        names, path, hand_errors = planned[name, label]
        q, torque = simulate_pid(held, names, path, RATE)
        person, robots = simulated_points(robot, motion, names, q)
        limit = held.motors.torque_limit[[held.joint_names.index(each) for each in names]]
        for row, side in enumerate(person):
            columns = [k for k, each in enumerate(names) if each in robot.groups[f"{side}_arm"]]
            off = (q - path)[:, columns]
            rms = float(np.sqrt(np.mean(off**2)))
            worst = max(worst, rms)
            distance = np.linalg.norm((person[side] - robots[side])[:, :3], axis=2)
            table.add_row(
                *((name, label + more) if row == 0 else ("", "")),
                side,
                f"{np.degrees(rms):.2f}",
                f"{np.degrees(np.abs(off).max()):.2f}",
                f"{100 * np.abs(torque / limit)[:, columns].max():.0f}",
                f"{1e3 * distance.mean():.1f}",
                f"{1e3 * np.linalg.norm(hand_errors[side], axis=2).mean():.1f}",
            )
        if pictures is None or label != VARIANTS[0][0] or more:
            continue
        at = (np.linspace(0.12, 0.95, SHOWN) * (len(path) - 1)).astype(int)
        draw_strip(pictures / f"kim2005_arm_figure{FIGURES[name]}.png", motion.time, at, person, robots)
        if name == "waving":
            right = [k for k, each in enumerate(names) if each in robot.groups["right_arm"]]
            joints, hand = [names[k] for k in right], person["right"][:, :3]
            draw_hand(pictures / "kim2005_arm_figure3.png", motion.time, hand, hand_errors["right"])
            file = pictures / "kim2005_arm_figure4.png"
            bounds = joint_bounds(robot, joints)
            draw_joints(file, motion.time, joints, path[:, right], bounds, q[:, right])
    return table, worst


if __name__ == "__main__":
    sys.exit(main())
