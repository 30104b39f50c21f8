"""Retarget clips at the recorded tempo, and print what it costs beside a uniformly slowed plan.

    python scripts/studies/recorded_tempo.py [SOURCE ...] [--robots romeo,mahru] [--simulate] [--json FILE]
        [--no-uniform]

By default the 15 DeepMimic clips of the pybullet wheel; SOURCE is anything that simbench reads. The legs
stand. A line for each clip and robot: duration of the motion over that of the recording; lag of the arms'
directions behind the person's, at the largest cross-correlation, in samples of 5 ms; errors of the
directions of upper arms and forearms, mean and 95th percentile, and of the hands relative to the arm's
length; share of samples and joints on a limit of speed or acceleration; largest ratios of position (beyond
its limit, rad), speed, acceleration and torque to what is allowed, and the ZMP's least distance from the
edge of the soles; rounds and processor time of planning, with that of compilation in the first line. Behind
the bar the factor by which a `uniform` plan slows the clip, and its lag and errors. With `--simulate` each
motion is simulated, standing: whether it fell, share of the time with the ZMP inside, tracking error, share
of saturated torques.
"""

import argparse
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.interpolate import make_interp_spline

from simbench.errors import SimbenchError
from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import frame_poses
from simbench.motion.human_motion import HumanMotion, complete_arms, resample
from simbench.motion.motion_inspection import find_doubts
from simbench.motion.person_body import hang_missing_arm
from simbench.motion.readers import read_motion
from simbench.motion.shipped import clip_names
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.body_errors import summarise_errors
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.retargeting.stand.standing_plan import MotionPlan, plan_motion
from simbench.robot.robot import Robot, load_robot
from simbench.robot.robot_limbs import estimated_accelerations
from simbench.robot.sides import SIDES
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario

RATE = 200.0
MOST_LAG_S = 0.2


def lag_in_samples(reference: Array, followed: Array, most: int) -> int:
    """Find by how many samples, `most` at most, one motion (T, d) lags behind another; positive: late.

    The lag with the largest correlation coefficient of all signals together over the samples that both have
    at that lag, each signal less its mean there: the smallest of equal ones, 0 if nothing moves.
    """
    count, best, found = len(reference), 0.0, 0
    for lag in sorted(range(-most, most + 1), key=abs):
        early = reference[max(0, -lag) : count - max(0, lag)]
        late = followed[max(0, lag) : count - max(0, -lag)]
        early, late = early - early.mean(axis=0), late - late.mean(axis=0)
        norm = float(np.linalg.norm(early) * np.linalg.norm(late))
        value = float(np.sum(early * late)) / norm if norm > 0.0 else 0.0
        if value > best + 1e-12:
            best, found = value, lag
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", nargs="*", help="Recordings, as simbench reads them.")
    parser.add_argument("--robots", default="romeo,mahru", help="Robots, separated by commas.")
    parser.add_argument("--simulate", action="store_true", help="Also simulate each motion.")
    parser.add_argument("--no-uniform", action="store_true", help="Without the uniformly slowed plans.")
    parser.add_argument("--json", type=Path, help="Also write the rows to this file.")
    arguments = parser.parse_args()
    sources = arguments.sources or [f"deepmimic:{name}" for name in clip_names()]
    rows = []
    for name in arguments.robots.split(","):
        robot = load_robot(name)
        for source in sources:
            row = {"robot": name, "clip": Path(source).name.removeprefix("deepmimic:humanoid3d_")}
            try:
                row |= plan_row(robot, source, uniform=not arguments.no_uniform)
                if arguments.simulate:
                    row |= simulate_row(name, source)
            except SimbenchError as error:
                row["refused"] = str(error)
            rows.append(row)
            print(describe(row), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


def plan_row(robot: Robot, source: str, *, uniform: bool) -> dict[str, float]:
    """Plan a clip at the recorded tempo, and slowed; measure both."""
    recording = read_motion(source)
    recording = replace(recording, doubts=find_doubts(recording))
    if len(complete_arms(recording.joints)) == 1:
        recording = hang_missing_arm(recording)
    motion = resample(recording, max(recording.rate, RATE))
    motion = replace(motion, handles={})
    row: dict[str, float] = {"length_s": float(motion.time[-1] - motion.time[0])}
    start = time.process_time()
    plan = make_plan(robot, motion, "preserve")
    row["plan_s"] = time.process_time() - start
    row |= measure(robot, motion, plan)
    if uniform:
        slowed = make_plan(robot, motion, "uniform")
        row["factor"] = slowed.metrics["retarget.slow_down"]
        row["slow_lag"] = measure_lag(robot, motion, slowed)
        row |= {f"slow_{key}": value for key, value in errors_of(slowed).items()}
    return row


def make_plan(robot: Robot, motion: HumanMotion, timing: str) -> MotionPlan:
    """Plan with the robot standing, hands free."""
    settings = RetargetSection.model_validate({"timing": timing})
    return plan_motion(robot, motion, RobotSection(place="given"), settings, Equipment({}), lambda *_: None)


def errors_of(plan: MotionPlan) -> dict[str, float]:
    """Mean and 95th percentile of the direction errors, degrees, and the hands', % of the arm's length."""
    found = {}
    for summary in summarise_errors(plan.errors):
        name = summary.quantity.replace(" ", "_")
        if summary.unit == "rad" and name in ("upper_arm", "forearm"):
            found[name] = float(np.degrees(summary.mean))
            found[f"{name}_95"] = float(np.degrees(summary.percentile_95))
        elif name == "hand" and not summary.unit:
            found["hand"] = 100.0 * summary.mean
    return found


def measure(robot: Robot, motion: HumanMotion, plan: MotionPlan) -> dict[str, float]:
    """Measure a plan independently of how it was made: limits on a grid of 1 ms, lag, errors."""
    trajectory = plan.trajectory
    time_, model = trajectory.time, robot.model
    spline = make_interp_spline(time_, trajectory.q, k=3)
    fine = np.arange(time_[0], time_[-1], 1e-3)
    position, speed, acceleration = (spline.derivative(order)(fine) for order in range(3))
    beyond = np.maximum(model.lowerPositionLimit[7:] - position, position - model.upperPositionLimit[7:])
    names = [robot.joint_names[column] for column in plan.upper]
    limit = estimated_accelerations(robot, names)
    metrics = plan.metrics
    return {
        "duration": float((time_[-1] - time_[0]) / (motion.time[-1] - motion.time[0])),
        "lag": measure_lag(robot, motion, plan),
        **errors_of(plan),
        "limited": metrics["retarget.tempo_limited_fraction"],
        "position": float(max(beyond.max(), 0.0)),
        "speed": float((np.abs(speed) / model.velocityLimit[6:]).max()),
        "acceleration": float((np.abs(acceleration[:, plan.upper]) / limit).max()),
        "torque": metrics["retarget.tempo_torque_ratio"],
        "zmp_mm": 1000.0 * metrics["retarget.tempo_zmp_margin_m"],
        "left": metrics["retarget.tempo_violation_fraction"],
        "rounds": metrics["retarget.tempo_round_count"],
        "collisions": metrics["retarget.interference_count"],
        "height_mm": 1000.0 * metrics["retarget.amplitude_lost_height_m"],
    }


def measure_lag(robot: Robot, motion: HumanMotion, plan: MotionPlan) -> int:
    """Lag of the arms' directions behind the person's, in samples of the recording's clock."""
    trajectory, model = plan.trajectory, robot.model
    directions = []
    frames = [
        model.getFrameId(robot.frames[f"{side}_{joint}"])
        for side in SIDES
        for joint in ("shoulder", "elbow", "wrist")
    ]
    assert trajectory.base is not None
    placed = [
        pose[:, :3, 3] for pose in frame_poses(model, frames, np.hstack([trajectory.base, trajectory.q]))
    ]
    person = [motion.joints[f"{side}_{joint}"] for side in SIDES for joint in ("shoulder", "elbow", "wrist")]
    for points in (person, placed):
        parts = [points[1] - points[0], points[2] - points[1], points[4] - points[3], points[5] - points[4]]
        directions.append(np.hstack([part / np.linalg.norm(part, axis=1, keepdims=True) for part in parts]))
    return lag_in_samples(directions[0], directions[1], round(MOST_LAG_S * RATE))


def simulate_row(robot: str, source: str) -> dict[str, float]:
    """Simulate a clip at the recorded tempo on standing legs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recorded_tempo.yaml"
        path.write_text(
            f"name: recorded_tempo\nsummary: A clip at the recorded tempo.\nseed: 0\n"
            f"robot: {{name: {robot}, posture: standing}}\n"
            f"motion: {{source: '{source}', rate_hz: {RATE:g}}}\n"
            "retarget: {timing: preserve}\nsimulation: {lead_in_s: 2.0}\n"
        )
        result = run_scenario(load_scenario(str(path)), Path(folder) / "run")
    metrics = result.metrics
    return {
        # A simulation that diverges ends without some of its metrics.
        "fell": float(metrics.get("fell", True)),
        "inside": metrics.get("zmp.inside_fraction", 0.0),
        "tracking": metrics.get("tracking.rms_rad", np.inf),
        "saturated": metrics.get("torque.saturated_fraction", 1.0),
        "slip_mm": 1000.0 * metrics.get("feet.slip_m", np.inf),
    }


def describe(row: dict[str, float]) -> str:
    """Write a row as a line of text."""
    head = f"{row['robot']:6s} {row['clip'][:18]:18s}"
    if "duration" not in row:
        return f"{head} refused: {row['refused']}"
    line = (
        f"{head} {row['length_s']:5.2f} s  x{row['duration']:.2f} lag {row['lag']:+d}"
        f"  arm {row['upper_arm']:5.1f}/{row['upper_arm_95']:5.1f}  fore {row['forearm']:5.1f}/"
        f"{row['forearm_95']:5.1f}  hand {row['hand']:4.1f} %  lim {100 * row['limited']:4.1f} %"
        f"  pos {row['position']:.3f} vel {row['speed']:.3f} acc {row['acceleration']:.3f}"
        f" tau {row['torque']:.2f} zmp {row['zmp_mm']:4.0f} left {100 * row['left']:4.1f} %"
        f" col {row['collisions']:.0f} h {row['height_mm']:3.0f} mm"
        f"  rounds {row['rounds']:.0f} {row['plan_s']:5.2f} s"
    )
    if "factor" in row:
        line += (
            f" | x{row['factor']:5.2f} lag {row['slow_lag']:+d} arm {row['slow_upper_arm']:5.1f}"
            f" fore {row['slow_forearm']:5.1f} hand {row['slow_hand']:4.1f} %"
        )
    if "fell" in row:
        line += (
            f" | {'FELL' if row['fell'] else 'up'} zmp {100 * row['inside']:.1f} %"
            f" track {row['tracking']:.4f} sat {100 * row['saturated']:.2f} % slip {row['slip_mm']:.1f} mm"
        )
    if "refused" in row:
        line += f" | refused: {row['refused']}"
    return line


if __name__ == "__main__":
    main()
