"""Track the frames of an imitation problem with another library; `scripts/benchmarks` runs this for each.

python scripts/benchmarks/imitation_peers.py pink|mink|placo FOLDER REPEAT

Does not import simbench. FOLDER holds robot.urdf (a floating base and every frame as a link) and problem.npz
(frames, weights, targets, start, joint names), and receives LIBRARY.json: the shortest time per frame, s,
over REPEAT runs of the whole motion with one differential step per frame within joint limits, and the mean
distance of the points that `measured` lists from their targets, m.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

DT = 0.01
# Functions that reset to the start, track one frame, and return the positions of the tracked frames, (F, 3).
Runner = tuple[Callable[[], None], Callable[[int], None], Callable[[], np.ndarray]]


def with_pink(folder: Path, problem: dict[str, np.ndarray]) -> Runner:
    """Use Pink as its documentation does: frame tasks, default limits, daqp, integration in place."""
    import pinocchio as pin
    from pink import Configuration, solve_ik
    from pink.limits import ConfigurationLimit
    from pink.tasks import FrameTask

    model = pin.buildModelFromUrdf(str(folder / "robot.urdf"), pin.JointModelFreeFlyer())
    order = [model.joints[model.getJointId(str(name))].idx_q for name in problem["joints"]]
    q = pin.neutral(model)
    q[:7] = problem["start"][:7]
    q[order] = problem["start"][7:]
    names = [str(name) for name in problem["frames"]]
    tasks = [
        FrameTask(name, position_cost=float(w), orientation_cost=float(r), lm_damping=0.0)
        for name, w, r in zip(names, problem["position_weight"], problem["turn_weight"], strict=True)
    ]
    poses = [[pin.SE3(pose) for pose in frame] for frame in problem["poses"]]
    state: dict[str, Configuration] = {}

    def reset() -> None:
        state["at"] = Configuration(model, model.createData(), q)
        state["limits"] = [ConfigurationLimit(model)]

    def follow(t: int) -> None:
        for task, pose in zip(tasks, poses[t], strict=True):
            task.set_target(pose)
        at = state["at"]
        velocity = solve_ik(
            at,
            tasks,
            DT,
            solver="daqp",
            damping=float(problem["damping"]),
            limits=state["limits"],
            safety_break=False,
        )
        at.integrate_inplace(velocity, DT)

    def positions() -> np.ndarray:
        return np.array([state["at"].get_transform_frame_to_world(name).translation for name in names])

    return reset, follow, positions


def with_mink(folder: Path, problem: dict[str, np.ndarray]) -> Runner:
    """Use mink as its documentation does: frame tasks, a configuration limit, daqp, integration in place."""
    import mink
    import mujoco

    spec = mujoco.MjSpec.from_file(str(folder / "robot.urdf"))
    root = spec.worldbody.first_body()
    root.add_freejoint()
    model = spec.compile()
    order = [model.joint(str(name)).qposadr[0] for name in problem["joints"]]
    q = np.zeros(model.nq)
    x, y, z, w = problem["start"][3:7]
    q[:7] = [*problem["start"][:3], w, x, y, z]
    q[order] = problem["start"][7:]
    names = [str(name) for name in problem["frames"]]
    tasks = [
        mink.FrameTask(name, "body", position_cost=float(w), orientation_cost=float(r), lm_damping=0.0)
        for name, w, r in zip(names, problem["position_weight"], problem["turn_weight"], strict=True)
    ]
    poses = [[mink.SE3.from_matrix(pose) for pose in frame] for frame in problem["poses"]]
    limits = [mink.ConfigurationLimit(model)]
    at = mink.Configuration(model)

    def reset() -> None:
        at.update(q)

    def follow(t: int) -> None:
        for task, pose in zip(tasks, poses[t], strict=True):
            task.set_target(pose)
        velocity = mink.solve_ik(
            at, tasks, DT, solver="daqp", damping=float(problem["damping"]), limits=limits
        )
        at.integrate_inplace(velocity, DT)

    def positions() -> np.ndarray:
        return np.array([at.get_transform_frame_to_world(name, "body").translation() for name in names])

    return reset, follow, positions


def with_placo(folder: Path, problem: dict[str, np.ndarray]) -> Runner:
    """Use PlaCo as its documentation does: soft tasks, joint limits, regularization, solve and update."""
    import placo

    robot = placo.RobotWrapper(str(folder / "robot.urdf"), placo.Flags.ignore_collisions)
    solver = placo.KinematicsSolver(robot)
    solver.enable_joint_limits(True)
    solver.enable_velocity_limits(False)
    solver.add_regularization_task(float(problem["damping"]))
    names = [str(name) for name in problem["frames"]]
    # Orientation tasks only where they have a weight: a position task has three rows, a frame task six.
    points, orientations = [], []
    for name, w, r in zip(names, problem["position_weight"], problem["turn_weight"], strict=True):
        task = solver.add_position_task(name, np.zeros(3))
        task.configure(name, "soft", float(w) ** 2)
        points.append(task)
        if r > 0.0:
            orientation = solver.add_orientation_task(name, np.eye(3))
            orientation.configure(name + "_turn", "soft", float(r) ** 2)
            orientations.append((len(points) - 1, orientation))
    poses = problem["poses"]
    start = np.eye(4)
    x, y, z, w = problem["start"][3:7]
    start[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    start[:3, 3] = problem["start"][:3]

    def reset() -> None:
        for name, value in zip(problem["joints"], problem["start"][7:], strict=True):
            robot.set_joint(str(name), float(value))
        robot.set_T_world_fbase(start)
        robot.update_kinematics()

    def follow(t: int) -> None:
        for task, pose in zip(points, poses[t], strict=True):
            task.target_world = pose[:3, 3]
        for k, task in orientations:
            task.R_world_frame = poses[t][k][:3, :3]
        solver.solve(True)
        robot.update_kinematics()

    def positions() -> np.ndarray:
        return np.array([robot.get_T_world_frame(name)[:3, 3] for name in names])

    return reset, follow, positions


LIBRARIES = {"pink": with_pink, "mink": with_mink, "placo": with_placo}


def main() -> None:
    """Time one library, and write its result."""
    library, folder, repeat = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    with np.load(folder / "problem.npz") as file:
        problem = dict(file)
    reset, follow, positions = LIBRARIES[library](folder, problem)
    count = len(problem["poses"])
    best, error = np.inf, np.empty(count)
    for _ in range(repeat):
        reset()
        started = time.perf_counter()
        for t in range(count):
            follow(t)
        best = min(best, time.perf_counter() - started)
    reset()
    measured = problem["measured"]
    for t in range(count):
        follow(t)
        error[t] = np.linalg.norm(positions()[measured] - problem["poses"][t][measured, :3, 3], axis=1).mean()
    result = {"seconds": best / count, "points_m": float(error.mean())}
    (folder / f"{library}.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main()
