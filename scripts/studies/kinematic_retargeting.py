"""Retarget a person's whole body to a robot by kinematics alone, as widespread retargeters do.

    python scripts/studies/kinematic_retargeting.py [SOURCE] [--robot NAME] [--cycles N] [--fps HZ]
        --out FILE.csv

Inverse kinematics of all joints and of the floating root, frame by frame, warm-started, as GMR does it: the
root follows the pelvis and each foot the ankle, both scaled by the leg's length; elbows and wrists follow the
directions of the person's arms. There are no contacts, no dynamics and no smoothing. A foot points where the
pelvis does and turns about its toes when the ankle rises. The lowest sole of all frames is put on the floor.
`--cycles` repeats a recording of one gait cycle. The file is a table without names at 30 Hz, base and joints
(Unitree's), as such programs write it; `simbench verdict FILE --robot NAME` and `simbench run FILE --robot
NAME` say what is wrong with it.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from simbench.motion.human_motion import HumanMotion
from simbench.motion.readers import read_motion
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.write import write_robot_motion
from simbench.robot.robot import Robot, load_robot
from simbench.robot.sides import SIDES

Array = NDArray[np.float64]

ITERATIONS, DAMPING = 30, 1e-4
WEIGHTS = {"root": 1.0, "foot": 1.0, "arm": 0.3}
REST = 0.02
"""Weight of the posture in which the robot stands: it decides what the tasks leave open."""
STEEPEST = 0.5
"""Largest inclination of a foot whose heel is raised, rad."""
STEP = 0.2
"""Largest step of a joint in an iteration, rad."""


class Targets(NamedTuple):
    """What the robot's frames are to follow in every frame of the recording, T samples, in the world."""

    time: Array
    root: list[pin.SE3]
    feet: dict[str, list[pin.SE3]]
    """Poses of the foot frames."""
    upper_arm: dict[str, Array]
    """Vectors from shoulder to elbow, (T, 3), m."""
    forearm: dict[str, Array]
    """Vectors from elbow to wrist, (T, 3), m."""


def unit(vectors: Array) -> Array:
    """Scale vectors to length 1."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def pelvis_frames(joints: dict[str, Array]) -> Array:
    """Axes of the pelvis (T, 3, 3): y from the right to the left hip, z up along the spine."""
    left = unit(joints["left_hip"] - joints["right_hip"])
    spine = 0.5 * (joints["left_shoulder"] + joints["right_shoulder"])
    spine = unit(spine - 0.5 * (joints["left_hip"] + joints["right_hip"]))
    front = unit(np.cross(left, spine))
    return np.stack([front, left, np.cross(front, left)], axis=2)


def frame_places(robot: Robot, q: Array, roles: list[str]) -> dict[str, Array]:
    """Positions of frames of a robot in a posture, m."""
    model, data = robot.model, robot.model.createData()
    pin.framesForwardKinematics(model, data, q)
    return {role: data.oMf[model.getFrameId(robot.frames[role])].translation.copy() for role in roles}


def make_targets(robot: Robot, motion: HumanMotion, cycles: int, home: Array) -> Targets:
    """Scale a person's motion to a robot, and repeat it."""
    joints = {name: np.asarray(path) for name, path in motion.joints.items()}
    middle = 0.5 * (joints["left_hip"] + joints["right_hip"])
    axes = pelvis_frames(joints)
    leg = np.mean(
        [
            np.linalg.norm(joints[f"{s}_hip"] - joints[f"{s}_knee"], axis=1).mean()
            + np.linalg.norm(joints[f"{s}_knee"] - joints[f"{s}_ankle"], axis=1).mean()
            for s in SIDES
        ]
    )
    ankles = np.stack([joints[f"{side}_ankle"] for side in SIDES], axis=1)
    floor = float(ankles[..., 2].min())
    roles = [f"{s}_{p}" for s in SIDES for p in ("foot", "shoulder", "elbow", "wrist")]
    at = frame_places(robot, home, roles)
    # Straight legs reach as far: the root's height over the soles in the zero posture.
    straight = frame_places(robot, np.concatenate([home[:7], np.zeros_like(home[7:])]), roles)
    own = home[2] - float(np.mean([straight[f"{s}_foot"][2] for s in SIDES]))
    scale = own / float(leg)
    height = scale * (middle[:, 2] - floor)
    step = middle[-1] - middle[0] + (middle[1] - middle[0])
    step[2] = 0.0
    count = len(middle) * cycles
    shift = np.repeat(np.arange(cycles), len(middle))[:, None] * step
    row = np.tile(np.arange(len(middle)), cycles)
    root_at = np.column_stack([scale * (middle[row] + shift)[:, :2], height[row]])
    root = [pin.SE3(axes[k], place) for k, place in zip(row, root_at, strict=True)]
    yaw = np.unwrap(np.arctan2(axes[:, 1, 0], axes[:, 0, 0]))
    feet = {}
    for number, side in enumerate(SIDES):
        path = scale * (ankles[row, number] + shift - [0.0, 0.0, floor])
        # A robot's ankle is not a person's: the feet stand as far apart as the robot's do at rest.
        wide = (at[f"{side}_foot"] - home[:3]) @ [0.0, 1.0, 0.0]
        human = np.mean(np.einsum("ti,ti->t", ankles[:, number] - middle, axes[:, :, 1]))
        path = path + (wide - scale * human) * axes[row][:, :, 1] * [1.0, 1.0, 0.0]
        # A raised ankle turns the foot about its toes, which stay on the floor.
        toe = float(robot.soles[f"{side}_foot"][:, 0].max())
        pitch = np.arcsin((path[:, 2] / toe).clip(0.0, np.sin(STEEPEST)))
        feet[side] = [
            pin.SE3(pin.utils.rotate("z", float(yaw[k])) @ pin.utils.rotate("y", float(p)), place)
            for k, p, place in zip(row, pitch, path, strict=True)
        ]
    upper, fore = {}, {}
    for side in SIDES:
        bones = (("shoulder", "elbow"), ("elbow", "wrist"))
        lengths = [np.linalg.norm(at[f"{side}_{b}"] - at[f"{side}_{a}"]) for a, b in bones]
        upper[side] = lengths[0] * unit(joints[f"{side}_elbow"] - joints[f"{side}_shoulder"])[row]
        fore[side] = lengths[1] * unit(joints[f"{side}_wrist"] - joints[f"{side}_elbow"])[row]
    time = np.arange(count) / motion.rate
    return Targets(time, root, feet, upper, fore)


def solve(robot: Robot, targets: Targets, home: Array) -> Array:
    """Solve the inverse kinematics of every frame by damped least squares, (T, 7 + n)."""
    model, data = robot.model, robot.model.createData()
    ids = {role: model.getFrameId(name) for role, name in robot.frames.items()}
    low, high = model.lowerPositionLimit, model.upperPositionLimit
    q, path = home.copy(), []
    for k in range(len(targets.time)):
        for _ in range(ITERATIONS if k else 5 * ITERATIONS):
            pin.computeJointJacobians(model, data, q)
            pin.updateFramePlacements(model, data)
            rows, errors = [], []
            poses = [("pelvis", targets.root[k], WEIGHTS["root"])]
            poses += [(f"{s}_foot", targets.feet[s][k], WEIGHTS["foot"]) for s in SIDES]
            for role, target, weight in poses:
                frame = ids[role]
                rows.append(weight * pin.getFrameJacobian(model, data, frame, pin.LOCAL))
                errors.append(weight * pin.log6(data.oMf[frame].actInv(target)).vector)
            for side in SIDES:
                places = [data.oMf[ids[f"{side}_{p}"]].translation for p in ("shoulder", "elbow", "wrist")]
                for a, b, wanted in ((0, 1, targets.upper_arm[side][k]), (1, 2, targets.forearm[side][k])):
                    part = ("shoulder", "elbow", "wrist")
                    jacobians = [
                        pin.getFrameJacobian(model, data, ids[f"{side}_{part[i]}"], pin.LOCAL_WORLD_ALIGNED)[
                            :3
                        ]
                        for i in (a, b)
                    ]
                    rows.append(WEIGHTS["arm"] * (jacobians[1] - jacobians[0]))
                    errors.append(WEIGHTS["arm"] * (wanted - (places[b] - places[a])))
            rest = np.zeros((len(q) - 7, model.nv))
            rest[:, 6:] = REST * np.eye(len(q) - 7)
            rows.append(rest)
            errors.append(REST * (home[7:] - q[7:]))
            matrix, error = np.vstack(rows), np.concatenate(errors)
            change = np.linalg.solve(matrix.T @ matrix + DAMPING * np.eye(model.nv), matrix.T @ error)
            change[6:] = change[6:].clip(-STEP, STEP)
            q = pin.integrate(model, q, change)
            q[7:] = q[7:].clip(low[7:], high[7:])
            if np.abs(change).max() < 1e-5:
                break
        path.append(q.copy())
    return np.array(path)


def put_on_floor(robot: Robot, path: Array) -> Array:
    """Shift the whole motion so that its lowest sole is on the floor."""
    model, data = robot.model, robot.model.createData()
    lowest = np.inf
    for row in path:
        pin.framesForwardKinematics(model, data, row)
        for side in SIDES:
            pose = data.oMf[model.getFrameId(robot.frames[f"{side}_foot"])]
            lowest = min(lowest, *(float(pose.act(corner)[2]) for corner in robot.soles[f"{side}_foot"]))
    path = path.copy()
    path[:, 2] -= lowest
    return path


def retarget(robot: Robot, source: str, cycles: int, fps: float) -> JointTrajectory:
    """Retarget a recording with feet to a robot on legs.

    Parameters
    ----------
    robot : Robot
        Robot with two legs and two arms.
    source : str
        Recording with hips, knees, ankles, shoulders, elbows and wrists.
    cycles : int
        How often it is repeated.
    fps : float
        Samples a second of the result.

    Returns
    -------
    JointTrajectory
        Its motion in the world.
    """
    home = np.concatenate([[0.0, 0.0, robot.base_height, 0.0, 0.0, 0.0, 1.0], robot.postures["standing"]])
    targets = make_targets(robot, read_motion(source), cycles, home)
    path = put_on_floor(robot, solve(robot, targets, home))
    same = np.cumprod(np.where(np.sum(path[1:, 3:7] * path[:-1, 3:7], axis=1) < 0.0, -1.0, 1.0))
    path[1:, 3:7] *= same[:, None]
    time = np.arange(0.0, targets.time[-1], 1.0 / fps)
    path = make_interp_spline(targets.time, path, k=1)(time)
    path[:, 3:7] /= np.linalg.norm(path[:, 3:7], axis=1, keepdims=True)
    return JointTrajectory(time, path[:, 7:], robot.joint_names, path[:, :7])


def main() -> None:
    """Retarget and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", nargs="?", default="deepmimic:humanoid3d_walk")
    parser.add_argument("--robot", default="g1")
    parser.add_argument("--cycles", type=int, default=4)
    parser.add_argument("--fps", type=float, default=30.0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    robot = load_robot(options.robot)
    made = retarget(robot, options.source, options.cycles, options.fps)
    write_robot_motion(made, robot, options.out, "unitree", {})
    print(f"{options.out}: {len(made.time)} samples at {options.fps:g} Hz")


if __name__ == "__main__":
    main()
