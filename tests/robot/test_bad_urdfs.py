"""URDFs with faults: each ends in one line and status 2 that leaves nothing behind, or works with a note."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simbench.balance.leg_ik import stand
from simbench.cli.main import main
from simbench.errors import RobotError
from simbench.robot.robot import load_robot
from simbench.robot.robot_limbs import hand_links
from simbench.robot.scaffold.scaffold import scaffold_robot
from simbench.robot.scaffold.writing import write_scaffold
from tests.robot.scaffold.synthetic import Humanoid

SOUND = Humanoid(1.0, 1, plain_names=True).urdf()
ARM_JOINT = re.search(r'<joint name="left_arm3_j".*?</joint>', SOUND, re.DOTALL).group()
THIGH = re.search(r'<link name="left_leg2_b">.*?</link>', SOUND, re.DOTALL).group()

# Fault: text of the file, and what the one line must say.
REFUSED = {
    "an empty file": ("", "not XML: no element found"),
    "xacro": (
        '<robot name="a"><link name="${x}"/></robot>',
        "xacro cannot be expanded: name 'x' is not defined",
    ),
    "negative mass": (
        SOUND.replace(THIGH, re.sub(r'<mass value="[^"]*"', '<mass value="-1"', THIGH)),
        "link `left_leg2_b`: mass -1 kg is negative",
    ),
    "a missing link": (SOUND.replace(THIGH, ""), "left_leg2_b"),
}
# Fault: text of the file, and what a note of the scaffold, or of the reader, must say.
NOTED = {
    "a mimic joint": (
        SOUND.replace(ARM_JOINT, ARM_JOINT.replace("<axis", '<mimic joint="right_arm3_j"/><axis')),
        "left_arm3_j, right_arm3_j share motors",
    ),
    "inertia that is not positive": (SOUND.replace(THIGH, re.sub(r'ixx="[^"]*"', 'ixx="-0.1"', THIGH)), ""),
}
# Fault: text of the file, and what the run that is to stand must say.
CANNOT_STAND = {
    "three legs": (Humanoid(1.0, 2, third_leg=True).urdf(), "balance needs two legs"),
    "feet without shapes": (
        Humanoid(1.0, 2, shapes=False).urdf(),
        "no link of the foot has a collision shape",
    ),
}


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Return what writes a URDF into a folder that is the current one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def write(text: str) -> Path:
        (folder / "a.urdf").write_text(text)
        return folder / "a.urdf"

    return write


@pytest.mark.parametrize("fault", REFUSED)
def test_it_is_refused_in_one_line_by_every_command(write, capsys, fault):
    text, message = REFUSED[fault]
    path = write(text)
    for command in (
        ["robot", "scaffold", "a.urdf"],
        ["robot", "check", "a.urdf"],
        ["run", "mahru_walk", "--set", "robot.name=a.urdf", "--out", "run"],
    ):
        assert main(command) == 2
        error = capsys.readouterr().err.splitlines()
        assert len(error) == 1
        assert message in error[0]
        assert "a.urdf" in error[0]
    assert [each.name for each in path.parent.iterdir()] == ["a.urdf"]


@pytest.mark.parametrize("fault", NOTED)
def test_it_works_with_a_note(write, tmp_path, fault):
    text, message = NOTED[fault]
    found = scaffold_robot(write(text))
    robot = load_robot(write_scaffold(found, tmp_path / "out"))
    assert any(message in note for note in (*found.missing, "" if not message else "-"))
    assert set(robot.groups) >= {"left_leg", "right_leg", "left_arm", "right_arm"}
    assert "standing" in robot.postures


def test_joints_may_have_the_names_of_links(write, tmp_path):
    robot = load_robot(write_scaffold(scaffold_robot(write(SOUND.replace('_j"', '_b"'))), tmp_path / "out"))
    assert set(robot.joint_names) <= {frame.name for frame in robot.model.frames}
    plain = load_robot(write_scaffold(scaffold_robot(write(SOUND)), tmp_path / "plain"))
    assert robot.frames == plain.frames
    for role in ("left_hand", "right_hand"):
        assert hand_links(robot, role) == hand_links(plain, role)
    stances = [stand(each, (0.0, 0.0), 0.0, "standing") for each in (robot, plain)]
    np.testing.assert_allclose(stances[0].joints, stances[1].joints, atol=1e-9)


@pytest.mark.parametrize("fault", CANNOT_STAND)
def test_a_standing_scenario_refuses_it_in_one_line(write, capsys, fault):
    text, message = CANNOT_STAND[fault]
    path = write(text)
    assert main(["run", "mahru_walk", "--set", "robot.name=a.urdf", "--out", "run"]) == 2
    said = capsys.readouterr().err.splitlines()
    # A slow machine also says how far it is.
    error = [line for line in said if line.startswith("error:")]
    assert len(error) == 1
    assert message in error[0]
    assert [each.name for each in path.parent.iterdir()] == ["a.urdf"]


def test_feet_without_a_flat_patch_are_refused_by_name(write):
    robot = load_robot(write(SOUND))
    with pytest.raises(RobotError, match=r"soles.left_foot missing: to stand, a robot needs a flat sole"):
        stand(replace(robot, soles={"right_foot": robot.soles["right_foot"]}), (0.0, 0.0), 0.0, "standing")
