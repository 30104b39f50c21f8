"""Benchmark of imitation: simbench's methods and Pink, mink and PlaCo on the same problem."""

import json
import os
import subprocess
import sys
import time
import venv
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pinocchio as pin

from simbench.kinematics.bounded_ik import Bounds, TrackingModel, follow
from simbench.kinematics.task_matrix import Targets, Tasks, make_workspace
from simbench.kinematics.tree import frame_on_body, kinematic_tree
from simbench.motion.actors.session import perform_in_session
from simbench.motion.human_motion import HumanMotion, InitialPose
from simbench.retargeting.api import retarget_motion
from simbench.retargeting.imitate.plan import ImitationStream
from simbench.retargeting.imitation.imitation import ImitationWeights, imitate
from simbench.retargeting.imitation.scaled_model import calibrate
from simbench.retargeting.match.body import match_body, place_points
from simbench.robot.robot import Robot, load_robot
from simbench.robot.sides import SIDES

PEERS = ("pink", "mink", "placo")
PACKAGES = ("pin-pink", "mink", "placo", "qpsolvers[daqp]")
WEIGHTS = ImitationWeights()
KEPT = ("trunk", "head", "left_arm", "right_arm")
PROBLEMS = {
    "whole criterion: 12 points, 2 orientations": (
        "upper_arm",
        "forearm",
        "hand",
        "shoulder",
        "elbow",
        "wrist",
    ),
    "eight frames: shoulders, elbows, wrists, hand markers": ("hand", "shoulder", "elbow", "wrist"),
}

WHOLE_BODY = "whole body: hips, knees, ankles, shoulders, elbows, wrists of a G1 that walks (29 joints)"
LIMBS = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")


def upper_model(robot: Robot) -> pin.Model:
    """Reduce ROMEO to 25 coordinates: floating base, trunk, head, arms."""
    kept = {"universe", "root_joint", *(name for group in KEPT for name in robot.groups[group])}
    locked = [robot.model.getJointId(name) for name in robot.model.names if name not in kept]
    return pin.buildReducedModel(robot.model, locked, pin.neutral(robot.model))


def followed_frames(robot: Robot, model: pin.Model) -> tuple[pin.Model, np.ndarray]:
    """Add the frames of the criterion to the model, and compute a feasible motion: configurations (T, nq).

    The motion is a person's at two valves, imitated within the robot's limits at the robot's own size.
    """
    motion = perform_in_session(2018, 3, "valves").motion
    actor = calibrate(robot, motion)
    imitation = imitate(actor, motion, limited=True)
    model = model.copy()
    for side in SIDES:
        for part in ("upper_arm", "forearm", "hand"):
            frame = actor.model.frames[actor.markers[f"{side}_{part}"]]
            joint = model.getJointId(actor.model.names[frame.parentJoint])
            model.addFrame(pin.Frame(f"{side}_{part}", joint, frame.placement, pin.FrameType.OP_FRAME), False)
        for part in ("shoulder", "elbow", "wrist"):
            frame = model.frames[model.getFrameId(robot.frames[f"{side}_{part}"])]
            model.addFrame(
                pin.Frame(f"{side}_{part}", frame.parentJoint, frame.placement, pin.FrameType.OP_FRAME), False
            )
    path = np.tile(pin.neutral(model), (len(imitation.q), 1))
    path[:, :7] = imitation.q[:, :7]
    for joint in range(2, actor.model.njoints):
        column = model.joints[model.getJointId(actor.model.names[joint])].idx_q
        path[:, column] = imitation.q[:, actor.model.joints[joint].idx_q]
    return model, path


def make_problem(model: pin.Model, path: np.ndarray, parts: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Collect frames, weights, and the target poses (T, F, 4, 4) of a motion."""
    names = [f"{side}_{part}" for part in parts for side in SIDES]
    weight = {"shoulder": WEIGHTS.joint, "elbow": WEIGHTS.joint, "wrist": WEIGHTS.hand}
    data = model.createData()
    ids = [model.getFrameId(name) for name in names]
    poses = np.empty((len(path), len(ids), 4, 4))
    for sample, q in enumerate(path):
        pin.framesForwardKinematics(model, data, q)
        poses[sample] = [data.oMf[frame].homogeneous for frame in ids]
    start = pin.integrate(model, path[0], np.full(model.nv, 0.02))
    return {
        "frames": np.array(names),
        "joints": np.array(list(model.names)[2:]),
        "position_weight": np.array([weight.get(name.partition("_")[2], WEIGHTS.marker) for name in names]),
        "turn_weight": np.array(
            [WEIGHTS.hand_orientation if name.endswith("_hand") else 0.0 for name in names]
        ),
        "damping": np.array(WEIGHTS.damping**2),
        "poses": poses,
        "measured": np.array([names.index(f"{side}_wrist") for side in SIDES]),
        "start": np.clip(
            start,
            np.r_[np.full(7, -np.inf), model.lowerPositionLimit[7:]],
            np.r_[np.full(7, np.inf), model.upperPositionLimit[7:]],
        ),
    }


def whole_body_problem() -> tuple[Robot, pin.Model, dict[str, np.ndarray]]:
    """Collect the joints of a G1's limbs along a walk that it can do: points of weight 1."""
    robot = load_robot("g1")
    result = retarget_motion("deepmimic:humanoid3d_walk", "g1", on_progress=False)
    body, model = match_body(robot), robot.model.copy()
    joint_of = [0, *range(2, model.njoints)]
    for side in SIDES:
        for part in LIMBS:
            point = body.names.index(f"{side}_{part}")
            placement = pin.SE3(np.eye(3), body.position[point])
            joint = joint_of[body.body[point]] or 1
            model.addFrame(pin.Frame(f"{side}_{part}", joint, placement, pin.FrameType.OP_FRAME), False)
    trajectory = result.plan.trajectory
    problem = make_problem(model, np.hstack([trajectory.base, trajectory.q]), LIMBS)
    count = len(problem["frames"])
    problem["position_weight"], problem["turn_weight"] = np.ones(count), np.zeros(count)
    problem["measured"], problem["time"] = np.arange(count), trajectory.time
    return robot, model, problem


def time_stream(robot: Robot, problem: dict[str, np.ndarray], repeat: int) -> tuple[float, float, np.ndarray]:
    """Let `ImitationStream` follow the same points by the directions of the bones between them."""
    places = problem["poses"][:, :, :3, 3]
    joints = {str(name): places[:, k] for k, name in enumerate(problem["frames"])}
    first = {name: track[0] for name, track in joints.items()}
    person = HumanMotion(problem["time"], joints, {}, InitialPose(first, {}), "benchmark")
    best, calls, body = np.inf, [], match_body(robot)
    chosen = [body.names.index(name) for name in joints]
    for _ in range(repeat + 1):
        stream, path = ImitationStream(robot, person), []
        for t, time_s in enumerate(problem["time"]):
            started = time.perf_counter()
            base, q = stream.follow(float(time_s), {name: track[t] for name, track in joints.items()})
            calls.append(time.perf_counter() - started)
            path.append(np.concatenate([base, q]))
        best = min(best, float(np.sum(calls[-len(places) :])))
    reached = place_points(body, np.array(path)).points[:, chosen]
    return best / len(places), float(np.linalg.norm(reached - places, axis=2).mean()), np.array(calls)


def write_urdf(robot: Robot, model: pin.Model, names: np.ndarray, path: Path) -> None:
    """Write the robot for other libraries: legs and grips fixed, no shapes, a link for each tracked frame."""
    tree = ET.fromstring(robot.urdf_text)
    free = set(model.names)
    for link in tree.findall("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    carrier = {joint.get("name"): joint.find("child").get("link") for joint in tree.findall("joint")}
    for joint in tree.findall("joint"):
        if joint.get("name") not in free:
            joint.set("type", "fixed")
    for name in names:
        frame = model.frames[model.getFrameId(str(name))]
        roll, pitch, yaw = pin.rpy.matrixToRpy(frame.placement.rotation)
        ET.SubElement(tree, "link", name=str(name))
        joint = ET.SubElement(tree, "joint", name=f"{name}_frame", type="fixed")
        ET.SubElement(joint, "parent", link=carrier[model.names[frame.parentJoint]])
        ET.SubElement(joint, "child", link=str(name))
        origin = " ".join(f"{value:.17g}" for value in frame.placement.translation)
        ET.SubElement(joint, "origin", xyz=origin, rpy=f"{roll:.17g} {pitch:.17g} {yaw:.17g}")
    extension = ET.SubElement(tree, "mujoco")
    ET.SubElement(extension, "compiler", fusestatic="false", discardvisual="true", strippath="false")
    ET.ElementTree(tree).write(path)


def time_ours(
    model: pin.Model, problem: dict[str, np.ndarray], repeat: int, rounds: int
) -> tuple[float, float, np.ndarray]:
    """Track the motion: least time per frame in one call, s, mean wrist error, m, time of each call, s."""
    tree = kinematic_tree(model)
    frames = [frame_on_body(model, model.getFrameId(str(name))) for name in problem["frames"]]
    oriented = np.flatnonzero(problem["turn_weight"])
    tasks = Tasks(
        np.array([body for body, _, _ in frames]),
        np.array([position for _, _, position in frames]),
        problem["position_weight"],
        np.array([frames[k][0] for k in oriented], dtype=np.int64),
        np.array([frames[k][1] for k in oriented]).reshape(-1, 3, 3),
        problem["turn_weight"][oriented],
    )
    points = np.ascontiguousarray(problem["poses"][:, :, :3, 3])
    orientations = np.ascontiguousarray(problem["poses"][:, oriented, :3, :3])
    low, high = model.lowerPositionLimit[7:].copy(), model.upperPositionLimit[7:].copy()
    bounds = Bounds(low, high, np.full(model.nv, float(problem["damping"])), True)
    tracked, count = TrackingModel(tree, tasks, bounds, make_workspace(tree)), len(points)
    targets = Targets(points, orientations)
    path, cost = np.empty((count, model.nq)), np.empty(count)
    best = np.inf
    for _ in range(repeat + 1):
        state = problem["start"].copy()
        started = time.perf_counter()
        follow(tracked, targets, state, rounds, 0.0, path, cost)
        best = min(best, time.perf_counter() - started)
    if (path[:, 7:] < low).any() or (path[:, 7:] > high).any():
        raise AssertionError("a joint has left its limits")
    data, error = model.createData(), np.empty(count)
    ids = [model.getFrameId(str(problem["frames"][k])) for k in problem["measured"]]
    for sample, q in enumerate(path):
        pin.framesForwardKinematics(model, data, q)
        wrists = np.array([data.oMf[frame].translation for frame in ids])
        error[sample] = np.linalg.norm(
            wrists - problem["poses"][sample, problem["measured"], :3, 3], axis=1
        ).mean()
    state, calls = problem["start"].copy(), np.empty(count * repeat)
    for call in range(len(calls)):
        t = call % count
        if t == 0:
            state[:] = problem["start"]
        frame = Targets(points[t : t + 1], orientations[t : t + 1])
        started = time.perf_counter()
        follow(tracked, frame, state, rounds, 0.0, path[:1], cost[:1])
        calls[call] = time.perf_counter() - started
    return best / count, float(error.mean()), calls


def peers_python(folder: Path) -> Path:
    """Find, or create, an environment with the other libraries, whose Pinocchio differs from ours."""
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"installing {', '.join(PACKAGES)} into {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return python


def run_peer(name: str, python: Path, folder: Path, repeat: int) -> dict[str, float] | None:
    """Time a library in a separate process on the same core; print its error and return None if it fails."""
    script = Path(__file__).with_name("imitation_peers.py")
    done = subprocess.run(
        [python, script, name, folder, str(repeat)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"{name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return json.loads((folder / f"{name}.json").read_text())


def one_core() -> None:
    """Restrict this process and its children to one core and one thread each."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))


def load_problems() -> tuple[Robot, pin.Model, dict[str, dict[str, np.ndarray]]]:
    """Load the robot, and compute both problems."""
    robot = load_robot("romeo")
    model, path = followed_frames(robot, upper_model(robot))
    return robot, model, {title: make_problem(model, path, parts) for title, parts in PROBLEMS.items()}
