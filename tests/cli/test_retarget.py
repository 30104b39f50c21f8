"""`simbench retarget`: what it prints, writes and refuses; the retargeting itself is one made by hand."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import retargeted_by_hand as by_hand

from simbench import read_trajectory
from simbench.cli.main import main
from simbench.motion.read_options import ReadOptions
from simbench.retargeting.api import retarget_motion


@pytest.fixture(scope="module")
def made(romeo, drawer_actor, drawer_motion):
    return by_hand.retargeting(romeo, drawer_actor, drawer_motion)


@pytest.fixture
def retargeting(made, monkeypatch, tmp_path):
    """A retargeting that is there at once; tests change what it raises."""
    fake = SimpleNamespace(calls=[], raises=None)

    def retarget_motion(motion, robot, *, physics, method, reading, free, timing, on_progress):
        fake.calls.append((motion, robot, method, reading, free))
        on_progress("read", 1, 1)
        if fake.raises is not None:
            raise fake.raises
        return made

    fake.retarget_motion = retarget_motion
    monkeypatch.setitem(sys.modules, "simbench.retargeting.api", fake)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "90")
    return fake


@pytest.mark.parametrize("suffix", [".csv", ".nc"])
def test_the_trajectory_is_written_and_reads_back(retargeting, made, capsys, tmp_path, suffix):
    words = ["retarget", "walk.trc", "--robot", "romeo", "--unit", "mm", "--up", "y", "--map", "mine.yaml"]
    assert main([*words, "--longest-gap", "0.1", "--out", f"t{suffix}"]) == 0
    assert retargeting.calls == [
        ("walk.trc", "romeo", "auto", ReadOptions("mm", "y", "mine.yaml", longest_gap=0.1), False)
    ]
    assert f"trajectory  t{suffix}\n" in capsys.readouterr().out
    found, wanted = read_trajectory(tmp_path / f"t{suffix}"), made.plan.trajectory
    assert found.joint_names == wanted.joint_names
    for name in ("time", "q", "base"):
        exact = suffix == ".nc"
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=0.0 if exact else 5e-9)
    assert [path.name for path in tmp_path.iterdir()] == [f"t{suffix}"]


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--out", "t.json"], "t.json: the name of a joint trajectory must end in .csv, .pkl, .npz, .nc"),
        (["--out", "nowhere/t.csv"], "nowhere/t.csv: must be a file in a directory that exists"),
        (["--picture", "a.jpg"], "a.jpg: a picture's name must end in .png"),
    ],
)
def test_what_cannot_be_written_is_refused_before_any_work(retargeting, capsys, tmp_path, options, part):
    (tmp_path / "folder.nc").mkdir()
    assert main(["retarget", "actor:drawer", *options]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert part in printed.err
    assert retargeting.calls == []
    assert [path.name for path in tmp_path.iterdir()] == ["folder.nc"]


def test_ctrl_c_is_one_word_and_leaves_nothing(retargeting, capsys, tmp_path):
    retargeting.raises = KeyboardInterrupt()
    assert main(["retarget", "actor:drawer", "--out", "t.nc", "--picture", "a.png"]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "interrupted"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("robot", "source", "reason"),
    [
        ("panda", "actor:waving", "panda has a fixed base; allowed: stand"),
        (
            "mahru",
            "actor:drawer",
            "actor:drawer: hands hold equipment; allowed: stand, or free motion (--free)",
        ),
    ],
)
def test_legs_follow_only_where_they_can(capsys, tmp_path, monkeypatch, robot, source, reason):
    monkeypatch.chdir(tmp_path)
    given = ["--robot", robot, "--physics", "steps", "--out", "t.csv"]
    assert main(["retarget", source, *given]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"error: physics `steps`: {reason}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_walk_is_planned_without_a_scenario():
    made = retarget_motion("deepmimic:humanoid3d_walk", "mahru", method="analytical", physics="steps")
    steps = made.plan.planned.steps
    assert [step.foot for step in steps] in ([0, 1], [1, 0])
    assert made.plan.metrics["follow.step_count"] == len(steps)
    base = made.plan.trajectory.base
    ahead = max(step.position[0] for step in steps) - made.plan.planned.start[:, 0].mean()
    assert 0.3 * ahead < base[-1, 0] - base[0, 0] < 1.1 * ahead
    assert made.plan.errors.tracks
