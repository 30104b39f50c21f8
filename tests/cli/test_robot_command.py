"""`simbench robot`: what is printed, and with which exit status."""

from pathlib import Path

import pybullet_data
import pytest

from simbench.cli.main import main
from simbench.resources import resource_dir
from simbench.robot.robot import load_robot

BULLET_DATA = Path(pybullet_data.getDataPath())


def test_inspect_prints_numbers_by_joint_and_link(capsys):
    assert main(["robot", "inspect", "romeo"]) == 0
    printed = capsys.readouterr()
    rows = [line.split() for line in printed.out.splitlines()]
    assert ["degrees", "of", "freedom", "33", "+", "6"] in rows
    assert ["mass", "40.5294", "kg"] in rows
    assert ["LKneePitch", "y", "0", "2.007", "rad", "6", "38.17", "left_leg"] in rows
    assert ["LKneePitch", "revolute", "LHipPitchLink", "LKneePitchLink"] in rows
    assert ["torso", "9.922", "0.002", "0.000", "-0.049", "0.11", "0.127", "0.13"] in rows
    assert ["doubts:", "none"] in rows
    assert max(map(len, printed.out.splitlines())) <= 80
    assert printed.err == ""


def test_a_robot_that_cannot_be_simulated_returns_1_and_is_still_shown(capsys):
    assert main(["robot", "inspect", str(BULLET_DATA / "humanoid" / "humanoid.urdf")]) == 1
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    reasons = lines[lines.index("cannot be simulated:") + 1 :]
    assert reasons[0].startswith("  joint `chest`: type `spherical` is not supported; allowed: revolute")
    assert ["neck", "spherical", "chest", "neck"] in [line.split() for line in lines]
    assert any(line.startswith("doubts: ") for line in lines)


def test_names_are_shown_as_they_are(capsys, tmp_path):
    path = tmp_path / "a.urdf"
    path.write_text('<robot name="a"><link name="[red]:smile:"/></robot>', encoding="utf-8")
    assert main(["robot", "inspect", str(path)]) == 0
    assert "[red]:smile:" in capsys.readouterr().out


def test_render_says_where_the_picture_is(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    drawn = []
    monkeypatch.setattr(
        "simbench.sim.rendering.portrait.draw_portrait",
        lambda robot, path, *, fast, bones: drawn.append((robot.name, path, fast, bones)) or "EGL",
    )
    assert main(["robot", "render", "romeo"]) == 0
    assert main(["robot", "render", "romeo", "--picture", "a.png", "--fast"]) == 0
    assert capsys.readouterr().out == ("picture  romeo.png  (drawn by EGL)\npicture  a.png  (drawn by EGL)\n")
    assert drawn == [("romeo", Path("romeo.png"), False, False), ("romeo", Path("a.png"), True, False)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rome"], "unknown robot `rome`; known: "),
        (["romeo", "--picture", "no/a.png"], "no/a.png: must be a file in a directory that exists"),
        (["romeo", "--picture", "."], ".: must be a file in a directory that exists"),
    ],
)
def test_render_refuses_in_one_line(capsys, monkeypatch, tmp_path, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(["robot", "render", *arguments]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"error: {message}")
    assert printed.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no XML", "not XML: "),
        ("<sdf/>", "expected <robot> or <mujoco> as the outermost element, found <sdf>"),
    ],
)
def test_what_is_no_urdf_returns_2_in_one_line(capsys, tmp_path, content, message):
    path = tmp_path / "a.urdf"
    path.write_text(content, encoding="utf-8")
    assert main(["robot", "inspect", str(path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {path}: {message}")
    assert printed.err.count("\n") == 1


def test_a_number_that_cannot_be_read_is_a_question_mark_and_an_error_but_no_result(capsys, tmp_path):
    path = tmp_path / "a.urdf"
    inertial = (
        '<inertial><mass value="{}"/><inertia ixx="{}" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    limit = '<limit lower="-1" upper="1" effort="{}" velocity="1"/>'
    path.write_text(
        f'<robot name="a"><link name="b">{inertial.format("two", "1")}</link>'
        f'<link name="c">{inertial.format("1", "nan")}</link>'
        f'<joint name="j" type="revolute"><parent link="b"/><child link="c"/>{limit.format("inf")}'
        '<axis xyz="0 0x1 1"/></joint></robot>',
        encoding="utf-8",
    )
    assert main(["robot", "inspect", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    begin = lines.index("cannot be simulated:")
    assert not [line for line in lines[:begin] if "nan" in line or "inf" in line.split()]
    assert "mass                ? kg" in lines
    assert [line.split()[5:] for line in lines if line.startswith("c ")] == [["?", "?", "?"]]
    assert len(lines[begin + 1 :]) >= 4
    assert not any("taken as" in line for line in lines)


def test_scaffold_writes_a_description_and_prints_each_guess(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    urdf = resource_dir("robots") / "puma560" / "puma560.urdf"
    assert main(["robot", "scaffold", str(urdf)]) == 0
    printed = capsys.readouterr()
    assert "groups.right_arm" in printed.out
    assert printed.out.splitlines()[-1] == "robot  puma560/robot.yaml"
    assert load_robot(tmp_path / "puma560").groups["right_arm"] == load_robot("puma560").groups["right_arm"]
    assert main(["robot", "scaffold", str(urdf)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["robot", "scaffold", str(urdf), "--force"]) == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read"),
        ("<robot", "not"),
        ('<robot name="a"><link name="b"/></robot>', "no joint moves"),
    ],
)
def test_scaffold_of_bad_input_is_one_line_and_writes_nothing(
    capsys, monkeypatch, tmp_path, content, message
):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.urdf"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    assert main(["robot", "scaffold", str(path)]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before
