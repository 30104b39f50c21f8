"""Spoil good robot motions with six known faults, and compare the verdict on them with what was done.

    python scripts/studies/verdict_faults.py [MOTION ...] [--rate HZ ...] [--out FILE.json]

Good motions are planned (`wave` and `dance` on ROMEO and the G1, standing) or simulated (`walk` on the G1 and
Mahru: joints and base of the run, which is possible by construction). Each is judged as it is, and spoiled:

- skate: a foot slides 5 cm over the floor, the leg follows;
- penetration: the whole robot sinks 3 cm into the floor;
- limit: a joint goes 10 % beyond its limit;
- torque: a motor can give 1 / 1.5 of what the motion needs;
- cog: the COG is outside the soles for a second, the feet stay;
- jump: a joint jumps by 0.6 rad between two frames.

A fault is found if its check fails, and its first moment is within one frame of the true one. What else fails
is shown too.
"""

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from simbench.balance.ground_reaction import standing_torques
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.api import retarget_motion
from simbench.robot.robot import Robot, load_robot
from simbench.runs.log import open_run
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.verdict.motion_state import examine_motion
from simbench.runs.verdict.physical_checks import check_trajectory
from simbench.runs.verdict.verdict_outcome import Verdict

Array = NDArray[np.float64]

PLANNED = {
    "romeo_wave": ("actor:waving", "romeo"),
    "romeo_dance": ("deepmimic:humanoid3d_dance_b", "romeo"),
    "g1_wave": ("actor:waving", "g1"),
    "g1_dance": ("deepmimic:humanoid3d_dance_b", "g1"),
}
SIMULATED = ("g1_walk", "mahru_walk")
RATES = (200.0, 50.0, 30.0)

LIMIT_JOINTS = {"romeo": "HeadRoll", "g1": "left_wrist_roll_joint", "mahru": "NeckYaw"}
"""Joints that can pass their limit without touching anything."""
JUMP_JOINTS = {"romeo": "NeckYaw", "g1": "right_wrist_yaw_joint", "mahru": "NeckYaw"}
RAISED = {
    "romeo": ("LShoulderPitch", -1.4),
    "g1": ("left_shoulder_roll_joint", 0.9),
    "mahru": ("LShoulderPitch", -0.9),
}
"""Joints that raise an arm, and by how much, rad: its weight is what their torque carries."""

BENDS = (0.0, 0.01, 0.02, 0.025, 0.03, 0.04)
"""How much the pelvis may sink when the COG leaves the soles, m: straight legs cannot follow."""
OUT_BY = 0.015
"""Distance of the COG from the soles, m: more is beyond the ankles of some."""
SKATE, DEPTH, BEYOND, OVERLOAD, OUTSIDE_S, JUMP = 0.05, 0.03, 0.1, 1.5, 1.0, 0.6
REFINEMENT = 4
"""Samples of the spline for each sample of the motion when torques are computed."""
NOTICEABLE = 1e-3
"""Depth from which a penetration exists, m: heights are not known better."""


class Spoiled(NamedTuple):
    """A spoiled motion."""

    robot: Robot
    trajectory: JointTrajectory
    check: str
    """Name of the check that must fail."""
    first: int
    """Sample at which the fault begins."""


class Row(NamedTuple):
    """A line of the table."""

    motion: str
    rate: float
    fault: str
    named: bool
    expected: int | None
    found: int | None
    others: tuple[str, ...]


def resample(trajectory: JointTrajectory, rate: float) -> JointTrajectory:
    """Resample a motion by cubic splines."""
    time = np.arange(trajectory.time[0], trajectory.time[-1], 1.0 / rate)
    assert trajectory.base is not None
    base = make_interp_spline(trajectory.time, trajectory.base, k=3)(time)
    base[:, 3:] /= np.linalg.norm(base[:, 3:], axis=1, keepdims=True)
    q = make_interp_spline(trajectory.time, trajectory.q, k=3)(time)
    return JointTrajectory(time, q, trajectory.joint_names, base)


def good_motion(name: str, folder: Path) -> tuple[Robot, JointTrajectory]:
    """Make a motion that is possible: planned for a standing robot, or simulated."""
    if name in PLANNED:
        source, robot_name = PLANNED[name]
        made = retarget_motion(source, robot_name, physics="stand", on_progress=False)
        return made.robot, made.plan.trajectory
    run_scenario(load_scenario(name), folder / name, on_progress=False)
    log = open_run(folder / name)
    robot = load_robot(str(log.attrs["robot"]))
    used = log["time"].values > log.attrs["motion_start_s"]
    time = log["time"].values[used]
    joints, base = log["joint_position"].values[used], log["base_pose"].values[used]
    log.close()
    return robot, JointTrajectory(time - time[0], joints, robot.joint_names, base)


def smooth_step(time: Array, start: float, duration: float) -> Array:
    """Minimum-jerk step from 0 to 1."""
    phase = ((time - start) / duration).clip(0.0, 1.0)
    return np.asarray(phase**3 * (10.0 - 15.0 * phase + 6.0 * phase**2))


def pulse(time: Array, start: float, rise: float, hold: float) -> Array:
    """Rise from 0 to 1, hold, and fall."""
    return smooth_step(time, start, rise) - smooth_step(time, start + rise + hold, rise)


def ramp(time: Array, start: float, rise: float, hold: float) -> Array:
    """Rise from 0 to 1 at constant speed, hold, and fall: its first moment is sharp."""
    return np.interp(time, start + np.cumsum([0.0, rise, hold, rise]), [0.0, 1.0, 1.0, 0.0])


def standing_moment(robot: Robot, trajectory: JointTrajectory, needed: float) -> float:
    """Find a time from which both feet stand still for long enough, s: amid the longest such time."""
    feet = examine_motion(robot, trajectory).feet
    still = feet.contact.all(axis=1)
    moved = np.linalg.norm(np.diff(feet.origin, axis=0), axis=-1).max(axis=1)
    still[1:] &= moved < 1e-4
    edges = np.flatnonzero(np.diff(np.concatenate([[False], still, [False]]).astype(int)))
    spans = trajectory.time[edges[1::2] - 1] - trajectory.time[edges[::2]]
    longest = int(spans.argmax())
    if spans[longest] < needed:
        raise SystemExit(f"{robot.name}: no {needed} s with both feet still")
    begin = trajectory.time[edges[2 * longest]]
    return float(begin + 0.5 * (spans[longest] - needed))


def solve_leg(robot: Robot, q: Array, side: str, target: pin.SE3) -> Array:
    """Solve the joints of a leg for a pose of its foot frame by Newton's method."""
    model, data = robot.model, robot.model.createData()
    frame = model.getFrameId(robot.frames[f"{side}_foot"])
    joints = [robot.joint_names.index(name) for name in robot.groups[f"{side}_leg"]]
    columns, q = [6 + joint for joint in joints], q.copy()
    for _ in range(20):
        pin.framesForwardKinematics(model, data, q)
        error = pin.log6(data.oMf[frame].actInv(target)).vector
        if np.abs(error).max() < 1e-9:
            break
        jacobian = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL)[:, columns]
        q[[7 + joint for joint in joints]] += np.linalg.lstsq(jacobian, error, rcond=None)[0]
    return q


def skate(robot: Robot, trajectory: JointTrajectory) -> Spoiled:
    """Slide the left foot outwards over the floor, and back."""
    time = trajectory.time
    start = standing_moment(robot, trajectory, 1.4)
    slid = SKATE * ramp(time, start + 0.1, 0.4, 0.2)
    model, data = robot.model, robot.model.createData()
    frame = model.getFrameId(robot.frames["left_foot"])
    path = np.hstack([trajectory.base, trajectory.q])
    for k in np.flatnonzero(slid > 0.0):
        pin.framesForwardKinematics(model, data, path[k])
        target = data.oMf[frame].copy()
        target.translation = target.translation + target.rotation @ [0.0, slid[k], 0.0]
        path[k] = solve_leg(robot, path[k], "left", target)
    spoiled = replace(trajectory, q=path[:, 7:])
    return Spoiled(robot, spoiled, "foot skate", int((slid > 0.0).argmax()))


def penetrate(robot: Robot, trajectory: JointTrajectory) -> Spoiled:
    """Lower the whole robot into the floor, and raise it again."""
    time = trajectory.time
    start = standing_moment(robot, trajectory, 1.4)
    depth = DEPTH * ramp(time, start + 0.1, 0.3, 0.2)
    base = trajectory.base.copy()
    base[:, 2] -= depth
    return Spoiled(
        robot, replace(trajectory, base=base), "floor penetration", int((depth > NOTICEABLE).argmax())
    )


def pass_limit(robot: Robot, trajectory: JointTrajectory) -> Spoiled:
    """Move a joint 10 % of its limit beyond it, and back."""
    time, joint = trajectory.time, robot.joint_names.index(LIMIT_JOINTS[robot.name])
    upper = float(robot.model.upperPositionLimit[7 + joint])
    speed = float(robot.model.velocityLimit[6 + joint])
    start = standing_moment(robot, trajectory, 1.4)
    q = trajectory.q.copy()
    rise = max(0.4, 3.0 * upper / speed)
    weight = pulse(time, start, rise, 0.2)
    q[:, joint] += weight * ((1.0 + BEYOND) * upper - q[:, joint])
    return Spoiled(robot, replace(trajectory, q=q), "joint position", int((q[:, joint] > upper).argmax()))


def needed_torques(robot: Robot, trajectory: JointTrajectory) -> Array:
    """Compute the joint torques (T, n) of a standing motion by another way than the verdict's.

    Central differences on the manifold, of a spline through the samples at several times their rate: at the
    rate itself they flatten a peak of two or three samples.
    """
    fine_count = REFINEMENT * (len(trajectory.time) - 1) + 1
    time = np.linspace(trajectory.time[0], trajectory.time[-1], fine_count)
    base = make_interp_spline(trajectory.time, trajectory.base, k=5)(time)
    base[:, 3:] /= np.linalg.norm(base[:, 3:], axis=1, keepdims=True)
    q = make_interp_spline(trajectory.time, trajectory.q, k=5)(time)
    return np.asarray(standing_torques(robot, time, base, q, inertia=True)[::REFINEMENT])


def overload(robot: Robot, trajectory: JointTrajectory) -> Spoiled:
    """Give a motor of an arm 1 / 1.5 of the torque that the motion needs; the arm rests, and is raised."""
    name, raised = RAISED[robot.name]
    time, joint = trajectory.time, robot.joint_names.index(name)
    start = standing_moment(robot, trajectory, 1.4)
    # Before, arms may have been higher.
    kept = time >= start - 0.3
    trajectory = JointTrajectory(
        time[kept], trajectory.q[kept], trajectory.joint_names, trajectory.base[kept]
    )
    time, q = trajectory.time, trajectory.q.copy()
    arm = [robot.joint_names.index(each) for each in robot.groups["left_arm"]]
    q[:, arm] = robot.postures["standing"][arm]
    speed = float(robot.model.velocityLimit[6 + joint])
    rise = max(0.4, 3.0 * abs(raised) / speed)
    q[:, joint] += raised * pulse(time, start, rise, 0.2)
    torque = needed_torques(robot, replace(trajectory, q=q))[:, joint]
    limits = robot.motors.torque_limit.copy()
    used = (time > start) & (time < start + 2.0 * rise + 0.2)
    limits[joint] = np.abs(torque[used]).max() / OVERLOAD
    weak = replace(robot, motors=replace(robot.motors, torque_limit=limits))
    first = int((used & (np.abs(torque) > limits[joint])).argmax())
    return Spoiled(weak, replace(trajectory, q=q), "joint torque", first)


def shift_cog(
    robot: Robot, path: Array, soles: dict[str, pin.SE3], targets: Array, weight: Array
) -> Array | None:
    """Move the pelvis so that the COG is at its targets, the feet where they are, the legs within limits."""
    model, data = robot.model, robot.model.createData()
    low, high = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    for bend in BENDS:
        shifted, shift = path.copy(), np.zeros(2)
        shifted[:, 2] -= bend * weight
        for k, target in enumerate(targets):
            for _ in range(8):
                row = shifted[k].copy()
                row[:2] += shift
                for side, sole in soles.items():
                    row = solve_leg(robot, row, side, sole)
                error = target - pin.centerOfMass(model, data, row)[:2]
                shift = shift + error
            if np.abs(error).max() > 1e-4 or (row[7:] < low - 1e-4).any() or (row[7:] > high + 1e-4).any():
                break
            shifted[k] = row
        else:
            return shifted
    return None


def lean_out(robot: Robot, trajectory: JointTrajectory) -> Spoiled:
    """Move the COG beyond the toes or the heels for a second, the feet where they are."""
    model, data = robot.model, robot.model.createData()
    start = standing_moment(robot, trajectory, 1.9)
    used = np.flatnonzero((trajectory.time >= start) & (trajectory.time < start + 1.9))
    path = np.hstack([trajectory.base, trajectory.q])
    pin.framesForwardKinematics(model, data, path[used[0]])
    soles = {
        side: data.oMf[model.getFrameId(robot.frames[f"{side}_foot"])].copy() for side in ("left", "right")
    }
    cogs = np.array([pin.centerOfMass(model, data, row)[:2].copy() for row in path])
    corners = np.vstack([[soles[s].act(c)[:2] for c in robot.soles[f"{s}_foot"]] for s in soles])
    # Outside for a second: the way there and back takes the rest of the time.
    weight = pulse(trajectory.time[used], start, 0.6, OUTSIDE_S - 0.33)
    # Ankles that bend little allow it backwards only.
    for sign in (1.0, -1.0):
        outward = sign * soles["left"].rotation[:2, 0]
        away = float((corners @ outward).max() - (cogs[used] @ outward).min())
        targets = cogs[used] + np.outer(weight * (away + OUT_BY), outward)
        shifted = shift_cog(robot, path[used], soles, targets, weight)
        if shifted is not None:
            break
    else:
        raise SystemExit(f"{robot.name}: the legs cannot move the COG out of the soles")
    path[used] = shifted
    moved = np.array([pin.centerOfMass(model, data, row)[:2].copy() for row in path[used]])
    outside = (moved @ outward) > (corners @ outward).max()
    spoiled = replace(trajectory, base=path[:, :7], q=path[:, 7:])
    return Spoiled(robot, spoiled, "COG", int(used[outside.argmax()]))


def jump(robot: Robot, trajectory: JointTrajectory) -> Spoiled:
    """Let a joint jump between two frames, and back 0.3 s later."""
    joint = robot.joint_names.index(JUMP_JOINTS[robot.name])
    start = standing_moment(robot, trajectory, 1.0) + 0.3
    jumped = (trajectory.time >= start) & (trajectory.time < start + 0.3)
    q = trajectory.q.copy()
    room = robot.model.upperPositionLimit[7 + joint] - q[jumped, joint].max()
    q[jumped, joint] += JUMP if room > JUMP else -JUMP
    return Spoiled(robot, replace(trajectory, q=q), "jump", int(jumped.argmax()))


FAULTS: dict[str, Callable[[Robot, JointTrajectory], Spoiled]] = {
    "skate": skate,
    "penetration": penetrate,
    "limit": pass_limit,
    "torque": overload,
    "cog": lean_out,
    "jump": jump,
}


def judge_fault(motion: str, rate: float, fault: str, spoiled: Spoiled) -> Row:
    """Compare the verdict on a spoiled motion with what was done to it."""
    judged = check_trajectory(spoiled.robot, spoiled.trajectory)
    check = judged.check(spoiled.check)
    found = None if check.first is None else check.first.frame
    named = found is not None and abs(found - spoiled.first) <= 1
    return Row(motion, rate, fault, named, spoiled.first, found, _others(judged, spoiled.check))


def _others(judged: Verdict, name: str) -> tuple[str, ...]:
    """Names of the checks that fail beside the one that should."""
    return tuple(check.name for check in judged.failed if check.name != name)


def study(motions: Sequence[str], rates: Sequence[float]) -> list[Row]:
    """Judge all motions, good and spoiled, at all rates."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in motions:
            robot, made = good_motion(name, Path(folder))
            for rate in rates:
                trajectory = resample(made, rate)
                judged = check_trajectory(robot, trajectory)
                rows.append(Row(name, rate, "none", judged.passed, None, None, _others(judged, "")))
                print(line(rows[-1]), flush=True)
                for fault, spoil in FAULTS.items():
                    rows.append(judge_fault(name, rate, fault, spoil(robot, trajectory)))
                    print(line(rows[-1]), flush=True)
    return rows


def line(row: Row) -> str:
    """Write a line of the table."""
    mark = "ok" if row.named else "WRONG"
    others = ", ".join(row.others) or "-"
    frames = "" if row.expected is None else f"expected {row.expected:5}  found {row.found!s:5}"
    return f"{row.motion:12} {row.rate:5.0f} Hz  {row.fault:12} {mark:6} {frames:29}  others: {others}"


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("motions", nargs="*", default=[*PLANNED, *SIMULATED])
    parser.add_argument("--rate", type=float, nargs="*", default=RATES)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = study(arguments.motions, arguments.rate)
    wrong = [row for row in rows if not row.named]
    print(f"{len(rows) - len(wrong)} of {len(rows)} as expected")
    if arguments.out is not None:
        result: list[dict[str, Any]] = [row._asdict() for row in rows]
        arguments.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
