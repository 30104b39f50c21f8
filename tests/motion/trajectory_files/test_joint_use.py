"""Ranges, speeds and units of joints of a trajectory."""

import numpy as np
import pytest

from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.joint_order import joint_units, joint_uses
from simbench.robot.robot import load_robot


def test_range_speed_and_clearance_of_a_swing(romeo):
    time = np.linspace(0.0, 2.0, 401)
    q = np.zeros((401, len(romeo.joint_names)))
    column = romeo.joint_names.index("LElbowRoll")
    # From -0.3 to -0.9 rad, at most 0.3 × 2π × 1.5 rad/s.
    q[:, column] = -0.6 + 0.3 * np.sin(2.0 * np.pi * 1.5 * time)
    uses = {use.name: use for use in joint_uses(romeo, JointTrajectory(time, q, romeo.joint_names))}
    assert tuple(uses) == romeo.joint_names
    elbow = uses["LElbowRoll"]
    joint = romeo.model.getJointId("LElbowRoll")
    index, speed_index = romeo.model.joints[joint].idx_q, romeo.model.joints[joint].idx_v
    assert (elbow.lower, elbow.upper) == (
        romeo.model.lowerPositionLimit[index],
        romeo.model.upperPositionLimit[index],
    )
    assert elbow.speed_limit == romeo.model.velocityLimit[speed_index]
    assert (elbow.lowest, elbow.highest) == pytest.approx((-0.9, -0.3), abs=1e-4)
    assert elbow.clearance == pytest.approx(elbow.lower * -1 - 0.9, abs=1e-4)
    assert elbow.speed == pytest.approx(0.3 * 2.0 * np.pi * 1.5, rel=1e-4)
    assert elbow.unit == "rad"
    still = uses["RElbowRoll"]
    assert (still.lowest, still.highest, still.speed) == (0.0, 0.0, 0.0)


def test_beyond_a_limit_clearance_is_negative(romeo):
    upper = romeo.model.upperPositionLimit[7:]
    q = np.tile(upper + 0.1, (2, 1))
    uses = joint_uses(romeo, JointTrajectory(np.array([0.0, 1.0]), q, romeo.joint_names))
    assert [use.clearance for use in uses] == pytest.approx([-0.1] * len(uses))


def test_joints_that_slide_are_in_metres(tmp_path):
    (tmp_path / "arm.urdf").write_text(
        """<robot name="lift">
        <link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
        ixz="0" iyz="0"/></inertial></link><link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1"
        izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="lift" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
        <limit lower="0" upper="1" velocity="1" effort="1"/></joint>
        <joint name="turn" type="revolute"><parent link="b"/><child link="c"/><axis xyz="0.6 0 0.8"/>
        <limit lower="0" upper="1" velocity="1" effort="1"/></joint></robot>"""
    )
    (tmp_path / "robot.yaml").write_text(
        "name: lift\nurdf: arm.urdf\nbase: fixed\ngroups: {}\nframes: {}\ngains: auto\n"
    )
    assert joint_units(load_robot(tmp_path)) == ("m", "rad")
