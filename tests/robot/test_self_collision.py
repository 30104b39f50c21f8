"""Collision pairs of a robot whose description lists none, against geometry worked out by hand."""

from pathlib import Path

import pytest
import urdf_texts as texts

from simbench.errors import RobotError
from simbench.robot.robot import Robot, load_robot

BOX = '<collision><origin xyz="{at}"/><geometry><box size="{size}"/></geometry></collision>'


def link(name: str, at: str, size: str) -> str:
    return texts.link(name).replace("</link>", BOX.format(at=at, size=size) + "</link>")


def arm(folder: Path, lines: str = "", reach: float = 2.5) -> Robot:
    """A post and three bars of 0.4 m; the last one can fold back onto the first, and meets the post."""
    limit = f'<limit lower="-{reach}" upper="{reach}" effort="50" velocity="5"/>'
    texts.write(
        folder,
        link("post", "0 0 0", "0.1 0.1 0.1"),
        texts.joint("one", "post", "first", axis="0 0 1", xyz="0.1 0 0", inside=limit),
        link("first", "0.2 0 0", "0.3 0.04 0.04"),
        texts.joint("two", "first", "second", axis="0 0 1", xyz="0.4 0 0", inside=limit),
        link("second", "0.2 0 0", "0.3 0.04 0.04"),
        texts.joint("three", "second", "third", axis="0 0 1", xyz="0.4 0 0", inside=limit),
        link("third", "0.2 0 0", "0.3 0.04 0.04"),
    )
    text = f"name: test\nurdf: robot.urdf\nbase: fixed\ngroups: {{}}\ngains: auto\n{lines}"
    (folder / "robot.yaml").write_text(text, encoding="utf-8")
    return load_robot(folder)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_links_that_can_meet_are_pairs_and_neighbours_are_none(tmp_path: Path) -> None:
    """The second bar folds back to 0.24 m from the post, too far from it; the third reaches both."""
    pairs = {frozenset(pair) for pair in arm(tmp_path).self_collision_pairs}
    assert pairs == {frozenset(pair) for pair in (("post", "third"), ("first", "third"))}


def test_links_that_never_come_near_are_no_pairs(tmp_path: Path) -> None:
    """With joints that turn by 0.3 rad the arm stays nearly straight."""
    assert arm(tmp_path, reach=0.3).self_collision_pairs == ()


def test_links_that_touch_in_a_posture_of_the_robot_are_no_pairs(tmp_path: Path) -> None:
    folded = "postures: {folded: {two: 2.2, three: 2.2}}\n"
    robot = arm(tmp_path, folded)
    assert frozenset(("first", "third")) not in {frozenset(pair) for pair in robot.self_collision_pairs}


def test_a_list_is_kept_and_an_empty_one_means_none(tmp_path: Path) -> None:
    assert arm(tmp_path, "self_collision: []\n").self_collision_pairs == ()
    listed = arm(tmp_path, "self_collision: [[[post], [third]]]\n")
    assert listed.self_collision_pairs == (("post", "third"),)


def test_pairs_are_kept_by_content_and_a_damaged_file_is_made_again(tmp_path: Path, own_cache: Path) -> None:
    first = arm(tmp_path).self_collision_pairs
    (kept,) = own_cache.rglob("*.json")
    kept.write_text('[["a", "b"]]', encoding="utf-8")
    with pytest.raises(RobotError):
        arm(tmp_path)
    kept.write_text("damaged", encoding="utf-8")
    assert arm(tmp_path).self_collision_pairs == first
    arm(tmp_path, reach=0.3)
    assert len([*own_cache.rglob("*.json")]) == 2


def test_shipped_pairs_of_an_arm_are_found_again(tmp_path: Path) -> None:
    """PUMA 560's list was made by hand."""
    shipped = load_robot("puma560")
    text = (shipped.urdf.parent / "robot.yaml").read_text(encoding="utf-8")
    begin = text.index("self_collision:")
    end = text.index("\n\n", begin) if "\n\n" in text[begin:] else len(text)
    own = tmp_path / "robot.yaml"
    unlisted = (text[:begin] + text[end:]).replace("urdf: puma560.urdf", f"urdf: {shipped.urdf}")
    own.write_text(unlisted, encoding="utf-8")
    derived = {frozenset(pair) for pair in load_robot(own).self_collision_pairs}
    assert derived == {frozenset(pair) for pair in shipped.self_collision_pairs}
