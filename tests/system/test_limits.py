"""Budgets of what files declare: refused before memory or time is spent."""

import re
from pathlib import Path

import numpy as np
import pytest
import trimesh

from simbench.errors import MotionError
from simbench.files.arrays import read_array_file
from simbench.kinematics.tree import kinematic_tree
from simbench.motion.trajectory_files import read_robot_motion
from simbench.robot.robot import load_robot
from simbench.robot.urdf.mesh_files import InvalidMeshError, load_triangles
from simbench.robot.urdf.source import BULLET_JOINTS
from simbench.sim.control.policy_law import LOAD_LIMIT, STEP_LIMIT
from simbench.sim.control.policy_process import MEMORY
from simbench.system import limits
from simbench.system.limits import FASTEST_BASE, FASTEST_TURN, SHORTEST_STEP


def write_header(path, shape):
    """Write the header of an array of float64 of some shape, without the array."""
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return path


@pytest.mark.parametrize("shape", [(10**9, 0), (0, 10**9), (10**6, 0, 10**6)])
def test_an_array_without_numbers_has_no_giant_shape(tmp_path, shape):
    with pytest.raises(MotionError, match="allowed: 50000000"):
        read_array_file(write_header(tmp_path / "a.npy", shape), MotionError)


@pytest.fixture(scope="module")
def g1():
    return load_robot("g1")


def write_motion(path, rate, **changed):
    """Write a motion of 20 samples of the G1 that stands still, at a rate, Hz."""
    base = np.tile([0.0, 0.0, 0.8], (20, 1))
    arrays = {
        "dof_pos": np.zeros((20, 29)),
        "root_pos": base,
        "root_rot": np.tile([0.0, 0.0, 0.0, 1.0], (20, 1)),
    }
    np.savez(path, **(arrays | changed), fps=rate)
    return path


@pytest.mark.parametrize(("factor", "allowed"), [(0.99, True), (1.01, False)])
def test_speeds_are_bounded(tmp_path, g1, factor, allowed):
    assert not kinematic_tree(g1.model).sliding.any()
    for name, column, fastest in (("root_pos", 0, FASTEST_BASE), ("dof_pos", 3, FASTEST_TURN)):
        values = np.zeros((20, 29)) if name == "dof_pos" else np.tile([0.0, 0.0, 0.8], (20, 1))
        values[10:, column] = factor * fastest / 500.0
        path = write_motion(tmp_path / f"{name}.npz", 500.0, **{name: values})
        if allowed:
            assert len(read_robot_motion(path, g1).trajectory.time) == 20
        else:
            with pytest.raises(MotionError, match=rf"moves at .* at 0\.018 s; allowed: {fastest:g} "):
                read_robot_motion(path, g1)


def test_samples_are_not_nearer_than_the_shortest_step(tmp_path, g1):
    path = write_motion(tmp_path / "a.npz", 50.0, time=np.arange(20) * SHORTEST_STEP)
    assert read_robot_motion(path, g1).trajectory.time[1] == pytest.approx(SHORTEST_STEP)
    path = write_motion(tmp_path / "b.npz", 50.0, time=np.arange(20) * 1e-12)
    with pytest.raises(MotionError, match=re.escape("samples 0 and 1 are 1e-12 s apart; allowed: 0.0001 s")):
        read_robot_motion(path, g1)


def test_a_motion_without_joints_is_refused(tmp_path, g1):
    path = write_motion(tmp_path / "a.npz", 50.0, dof_pos=np.zeros((20, 0)))
    with pytest.raises(MotionError, match="no columns of joints"):
        read_robot_motion(path, g1)


def test_an_angle_within_a_turn_and_a_quaternion_of_the_other_sign_are_no_speed(tmp_path):
    robot, time = load_robot("g1"), np.arange(20) / 500.0
    joints = np.zeros((20, len(robot.joint_names)))
    joints[:, 3] = np.where(time < 0.02, 3.1, -3.1)
    base = np.tile([0.0, 0.0, 0.8, 0.0, 0.0, 0.0, 1.0], (20, 1))
    base[10:, 3:] *= -1.0
    path = tmp_path / "a.npz"
    np.savez(path, dof_pos=joints, root_pos=base[:, :3], root_rot=base[:, 3:], fps=500.0)
    assert read_robot_motion(path, robot).trajectory.q[-1, 3] == -3.1
    joints[10, 3] = 1e6
    np.savez(path, dof_pos=joints, root_pos=base[:, :3], root_rot=base[:, 3:], fps=500.0)
    with pytest.raises(MotionError, match=r"allowed: 1000 rad/s"):
        read_robot_motion(path, robot)


def test_a_mesh_that_is_shown_often_is_counted_before_it_is_built(tmp_path):
    ball, scene = trimesh.creation.icosphere(subdivisions=4), trimesh.Scene()
    for number in range(1200):
        scene.add_geometry(ball, geom_name="ball", node_name=f"n{number}")
    path = tmp_path / "many.glb"
    path.write_bytes(scene.export(file_type="glb"))
    with pytest.raises(InvalidMeshError, match="55296000 numbers; allowed: 50000000"):
        load_triangles(path)


def test_the_page_about_trust_has_these_limits():
    page = (Path(__file__).parents[2] / "docs" / "concepts" / "trust.md").read_text(encoding="utf-8")
    lines = page.partition("## Limits")[2].splitlines()
    rows = dict(line.strip("| ").split(" | ") for line in lines if line.startswith("| "))
    numbers = {
        name: [float(each) for each in re.findall(r"[\d.]+", text.replace(" 000", "000"))]
        for name, text in rows.items()
    }
    assert numbers["speed of a robot's base"] == [limits.FASTEST_BASE, limits.FASTEST_TURN]
    assert numbers["speed of a joint"] == [limits.FASTEST_TURN, limits.FASTEST_SLIDE]
    (rate,) = [text for name, text in numbers.items() if name.startswith("rate")]
    assert rate == [limits.RATES[1] / 1e3, limits.SHORTEST_STEP]
    assert numbers["samples of a motion"] == [limits.MOST_SAMPLES]
    assert numbers["numbers of all arrays of a file"] == [limits.MOST_NUMBERS, 8e-6 * limits.MOST_NUMBERS]
    assert numbers["texts of a file"] == [limits.MOST_TEXTS]
    assert numbers["shapes of a piece of equipment"] == [limits.MOST_SHAPES]
    assert numbers["joints of a robot that move"] == [limits.MOST_JOINTS, BULLET_JOINTS]
    assert numbers["links, joints and shapes of a URDF"] == [limits.MOST_ELEMENTS]
    assert numbers["numbers of an observation of a policy, its past included"] == [limits.MOST_OBSERVATIONS]
    assert numbers["time of an ONNX policy for one step, and to load"] == [STEP_LIMIT, LOAD_LIMIT]
    assert numbers["memory of an ONNX policy"] == [MEMORY / 2**30]
