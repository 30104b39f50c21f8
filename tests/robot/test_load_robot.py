"""Loading a robot: what is found, and the one line that says what is wrong."""

from pathlib import Path

import pytest

from simbench import resources
from simbench.errors import RobotError
from simbench.robot.robot import load_robot

ROMEO = resources.resource_dir("robots") / "romeo"


def altered(folder: Path, old: str, new: str) -> Path:
    text = (
        (ROMEO / "robot.yaml")
        .read_text(encoding="utf-8")
        .replace("urdf: romeo.urdf", f"urdf: {ROMEO}/romeo.urdf")
    )
    assert old in text
    path = folder / "robot.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def test_name_folder_and_file_load_the_same_robot() -> None:
    by_name, by_folder, by_file = map(load_robot, ("romeo", ROMEO, ROMEO / "robot.yaml"))
    assert by_name.joint_names == by_folder.joint_names == by_file.joint_names


def test_data_of_an_installed_wheel_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "PACKAGE", tmp_path / "simbench")
    assert resources.resource_dir("robots") == tmp_path / "robots"
    (tmp_path / "simbench/data/robots").mkdir(parents=True)
    assert resources.resource_dir("robots") == tmp_path / "simbench/data/robots"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: romeo", "name: romeo\nwheels: 4", r"unknown key `wheels`; allowed: name, urdf"),
        ("joints: [LHand]", "finger: LHand", r"unknown key `hands\.left_hand\.finger`"),
        (
            "trunk: [TrunkYaw]",
            "trunk: [TrunkRoll]",
            r"groups\.trunk: unknown joint `TrunkRoll`; allowed: .*TrunkYaw",
        ),
        ("trunk: torso", "trunk: chest", r"frames\.trunk: unknown frame `chest`; allowed: .*torso"),
        ("  LWristRoll: [104, 13.9]\n", "", r"motors: no row for LWristRoll, RWristRoll; every joint"),
        (
            "LKneePitch: 0.5",
            "LKneePitch: -0.5",
            r"standing\.LKneePitch: -0\.5 rad is outside .* 0\.0000\.\.2\.0071",
        ),
        ("soles:\n  left_foot", "soles:\n  left_shoe", r"soles: unknown frame role `left_shoe`"),
        (
            "r_fingers, RElbowYawLink], [torso",
            "r_fingers, REar], [torso",
            r"self_collision: unknown link `REar`",
        ),
    ],
)
def test_malformed_description_names_the_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = altered(tmp_path, old, new)
    with pytest.raises(RobotError, match=message) as caught:
        load_robot(path)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value) or "juliet" in message


def test_urdf_that_is_not_one(tmp_path: Path) -> None:
    (tmp_path / "romeo.urdf").write_text("<robot", encoding="utf-8")
    (tmp_path / "robot.yaml").write_bytes((ROMEO / "robot.yaml").read_bytes())
    with pytest.raises(RobotError, match=r"romeo\.urdf: not XML: unclosed token"):
        load_robot(tmp_path)
