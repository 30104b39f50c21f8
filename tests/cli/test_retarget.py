"""`simbench retarget`: what it prints, writes and refuses; the retargeting itself is one made by hand."""

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import retargeted_by_hand as by_hand

from simbench import read_trajectory
from simbench.cli.main import main
from simbench.cli.retarget import joint_table
from simbench.motion.read_options import ReadOptions
from simbench.motion.trajectory_files.joint_order import JointUse
from simbench.options import PHYSICS, RETARGETING_METHODS, TIMINGS
from simbench.retargeting.api import retarget_motion
from simbench.retargeting.imitation import imitation
from simbench.retargeting.steps.step_following import StepFollowingPlan
from simbench.runs.plots import fidelity_plot
from simbench.runs.plots import retargeting_plot as retarget_picture


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


def test_errors_and_joints_are_tables_in_mm_and_degrees(retargeting, made, capsys):
    assert main(["retarget", "actor:drawer"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = printed.out.splitlines()
    assert max(map(len, lines)) <= 90
    # What the robot does comes first. The mean of both hands is a quarter of the triangle's height.
    assert lines[0].split()[:6] == ["robot", "against", "person", "mean", "95", "%"]
    hand, arm = lines[1].split(), lines[2].split()
    assert (hand[0], hand[3:]) == ("hand", ["50.0", "mm", "0.50", "1.00", "left"])
    assert arm[2:] == ["10.0", "%", "of", "arm", "0.50", "1.00", "left"]
    # 101 samples of it, and 101 zeros.
    assert [float(cell) for cell in hand[1:3]] == pytest.approx([1250.0 / 101.0, 44.95], abs=0.06)
    assert [float(cell) for cell in arm[:2]] == pytest.approx([250.0 / 101.0, 8.99], abs=0.06)
    assert lines[3].split() == ["forearm", "9.0", "9.0", "9.0", "°", "0.00", "0.00", "right"]
    # 13 of 101 samples.
    assert lines[4] == "equipment  held 13% of the time: the arms follow the handles there (palms 2.0 mm off)"
    assert "time       0.20 s longer than recorded, most for speed of LElbowRoll (100 %)\n" in printed.out
    later = printed.out.index("scaled model without limits against recording")
    assert "robot against person" in printed.out[:later]
    rows = {" ".join(line.split()[:-4]): line.split()[-4:] for line in lines if line.strip()}
    # A wrist off by up to 5 mm, the other by none; an elbow by 20 mm, the other by none.
    assert rows["hands (wrists)"] == ["1.25", "4.50", "5.00", "mm"]
    assert rows["elbows"] == ["10.00", "20.00", "20.00", "mm"]
    assert rows["shoulders"] == ["0.00", "0.00", "0.00", "mm"]
    assert rows["hand orientation"] == ["0.00", "0.00", "0.00", "°"]
    assert "imitation.hand_max_m  0.005" in printed.out
    # Half a sine of 2 s, as high as 0.4 of the range: at most π/2 × that a second.
    (elbow,) = (line.split() for line in lines if line.startswith("LElbowRoll"))
    name = "LElbowRoll"
    assert elbow[:6] == [name, "0.0", "96.0", "-120", "to", "120"]
    assert float(elbow[6]) == pytest.approx(24.0, abs=0.11)
    assert float(elbow[7]) == pytest.approx(0.4 * 240.0 * np.pi / 2.0, abs=1.0)
    limit = np.degrees(made.robot.model.velocityLimit[6 + made.robot.joint_names.index(name)])
    assert float(elbow[8]) == pytest.approx(limit, abs=0.51)
    assert elbow[9] == f"{0.4 * 240.0 * np.pi / 2.0 / limit:.0%}"
    assert f"joints that stand still: {len(made.robot.joint_names) - 15}\n" in printed.out
    assert "interference  l_wrist and torso from 0.50 to 0.75 s, 4 mm deep at 0.60 s\n" in printed.out


def test_lines_below_say_the_tempo_and_the_share_at_limits(retargeting, made, capsys):
    assert main(["retarget", "actor:drawer"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (tempo,) = (line for line in lines if line.startswith("tempo"))
    assert tempo.startswith("tempo      2 times as long as the person")
    (limits,) = (line for line in lines if line.startswith("limits"))
    # Half a sine of 2 s up to 0.4 of the range beyond the middle: no joint comes near a limit of position.
    model, time = made.robot.model, made.plan.trajectory.time
    lower, upper = (
        each[7:][made.plan.upper] for each in (model.lowerPositionLimit, model.upperPositionLimit)
    )
    speed = 0.4 * (upper - lower) * np.pi / 2.0 * np.abs(np.cos(np.pi * time / 2.0))[:, None]
    fast = (speed >= 0.99 * 0.95 * model.velocityLimit[6:][made.plan.upper]).any(axis=1).mean()
    assert 0.0 < fast < 1.0
    expected = (
        f"limits     a joint is at a limit of its position 0% of the time, at its speed limit {fast:.0%}"
    )
    assert limits == expected


def test_the_robot_is_drawn_beside_the_person(retargeting, made, capsys, monkeypatch):
    drawn = []
    monkeypatch.setattr(fidelity_plot, "draw_comparison", lambda *all_: drawn.append(all_))
    monkeypatch.setattr(fidelity_plot, "draw_robot", lambda *all_: ["pictures", all_[3]])
    assert main(["retarget", "actor:drawer", "--picture", "b.png", "--beside", "--moments", "3"]) == 0
    assert "picture  b.png\n" in capsys.readouterr().out
    ((shown, path),) = drawn
    assert path == Path("b.png")
    assert len(shown.moments) == 3
    assert shown.pictures[1] is shown.moments
    np.testing.assert_array_equal(shown.robot_time, 2.0 * shown.recording_time)
    np.testing.assert_allclose(shown.errors["right_forearm"], np.radians(9.0))
    assert "left_wrist" in shown.person
    assert "left_wrist" in shown.robot


@pytest.mark.parametrize("count", ["0", "13"])
def test_too_many_or_no_moments_are_refused(retargeting, capsys, count):
    assert main(["retarget", "actor:drawer", "--picture", "b.png", "--beside", "--moments", count]) == 2
    assert "--moments" in capsys.readouterr().err
    assert retargeting.calls == []


def test_an_arm_has_no_body_to_show_beside_the_persons(retargeting, made, capsys, monkeypatch):
    groups = {name: names for name, names in made.robot.groups.items() if name != "left_arm"}
    monkeypatch.setattr(made, "robot", replace(made.robot, groups=groups))
    assert main(["retarget", "actor:drawer", "--picture", "b.png", "--beside"]) == 2
    assert "--beside: romeo follows a hand" in capsys.readouterr().err


def test_doubts_about_the_recording_are_repeated(retargeting, made, capsys, monkeypatch):
    doubtful = replace(made.recording, doubts=("left forearm is long", "feet sink"))
    monkeypatch.setattr(made, "recording", doubtful)
    assert main(["retarget", "actor:drawer"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("doubt      left forearm is long")
    assert lines[at + 1] == "doubt      feet sink"
    assert at < next(number for number, line in enumerate(lines) if line.startswith("scaled model"))


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


def test_the_netcdf_file_says_where_it_is_from(retargeting, tmp_path):
    import xarray as xr

    assert main(["retarget", "actor:drawer", "--out", "t.nc"]) == 0
    with xr.open_dataset("t.nc", engine="h5netcdf") as dataset:
        found = dataset.attrs
    assert found.pop("format").startswith("simbench joint trajectory")
    assert found == {"source": "by hand", "robot": "romeo", "method": "analytical", "slow_down": 2.0}


def test_the_picture_is_drawn_of_that_retargeting(retargeting, made, capsys, monkeypatch):
    drawn = []
    monkeypatch.setattr(retarget_picture, "draw_retargeting", lambda *all_: drawn.append(all_))
    assert main(["retarget", "actor:drawer", "--picture", "a.PNG"]) == 0
    assert "picture  a.PNG\n" in capsys.readouterr().out
    ((shown, errors, path),) = drawn
    assert shown is made
    assert errors[1]["right_elbow"].max() == pytest.approx(0.020)
    assert path == Path("a.PNG")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--out", "t.json"], "t.json: the name of a joint trajectory must end in .csv, .pkl, .npz, .nc"),
        (["--out", "t"], "must end in .csv, .pkl, .npz, .nc"),
        (["--out", "nowhere/t.csv"], "nowhere/t.csv: must be a file in a directory that exists"),
        (["--out", "folder.nc"], "folder.nc: must be a file"),
        (["--picture", "a.jpg"], "a.jpg: the file's name must end in .png"),
        (["--picture", "a.jpg", "--beside"], "a.jpg: the file's name must end in .png"),
        (["--picture", "nowhere/a.png"], "nowhere/a.png: must be a file in a directory that exists"),
        (["--method"], "--method"),
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


def test_an_unknown_method_is_refused_with_those_there_are(capsys):
    assert main(["retarget", "actor:drawer", "--method", "analytic"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"error: unknown method `analytic`; allowed: {', '.join(RETARGETING_METHODS)}"
    assert ("auto", "bones", *imitation.METHODS, "arm_adaptation") == RETARGETING_METHODS


def test_an_unknown_timing_is_refused_with_those_there_are(capsys):
    assert main(["retarget", "actor:drawer", "--timing", "slow"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"error: unknown timing `slow`; allowed: {', '.join(TIMINGS)}"


def test_an_unknown_level_of_physics_is_refused_with_those_there_are(capsys):
    assert main(["retarget", "actor:drawer", "--physics", "walk"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"error: unknown physics `walk`; allowed: {', '.join(PHYSICS)}"


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


def test_help_names_the_levels_of_physics(capsys):
    assert main(["retarget", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f"{physics} (" in shown for physics in PHYSICS)


@pytest.fixture
def followed(retargeting, made, monkeypatch):
    """The retargeting by hand, as if its legs followed the person's steps."""
    change = "at 1.00 s the left foot lands 0.05 s later: swings of at least 0.28 s"
    plan = StepFollowingPlan(
        *(None, None, made.plan.trajectory, None, None),
        metrics={"retarget.slow_down": 1.0, "follow.step_count": 2.0},
        errors=made.plan.errors,
        interferences=(),
        notes=("2 steps of the person are followed",),
        doubts=("the feet slide for 0.20 s", change),
        changes=(change,),
    )
    monkeypatch.setattr(made, "plan", plan)
    monkeypatch.setattr(made, "physics", "steps")
    return change


def test_followed_steps_are_told_with_what_was_changed(followed, capsys):
    assert main(["retarget", "walk.bvh", "--physics", "steps", "--out", "t.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "steps      2 steps of the person are followed" in lines
    assert f"changed    {followed}" in lines
    assert "doubt      the feet slide for 0.20 s" in lines
    assert f"doubt      {followed}" not in lines
    assert any(line.split() == ["follow.step_count", "2"] for line in lines)
    # The model's root turns and leans with the person's, so that its errors against them say nothing.
    assert not any("scaled model without limits" in line for line in lines)
    assert read_trajectory("t.csv").base is not None


def test_the_model_of_a_person_who_steps_is_not_drawn(followed, capsys, tmp_path):
    given = ["--physics", "steps", "--out", "t.csv", "--picture", "a.png"]
    assert main(["retarget", "walk.bvh", *given]) == 2
    assert "--picture: physics `steps` of romeo has no scaled model" in capsys.readouterr().err
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


def test_help_names_the_methods_and_timings(capsys):
    assert main(["retarget", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(timing in shown for timing in TIMINGS)
    assert f"{', '.join(RETARGETING_METHODS)}." in shown


def test_joints_that_slide_are_in_millimetres_and_those_that_turn_in_degrees():
    uses = [
        JointUse("lift", "m", 0.1, 0.25, 0.0, 0.5, 0.3, 0.6),
        JointUse("elbow", "rad", 0.0, np.pi / 6, -np.pi / 2, np.pi / 2, np.pi / 4, np.pi),
    ]
    rows = list(zip(*(column.cells for column in joint_table(uses).columns), strict=True))
    assert [list(row) for row in rows] == [
        ["lift", "100.0", "250.0", "0 to 500", "100.0", "300", "600", "50%", "mm, mm/s"],
        ["elbow", "0.0", "30.0", "-90 to 90", "60.0", "45", "180", "25%", "°, °/s"],
    ]


def test_beside_needs_a_picture(capsys):
    assert main(["retarget", "actor:drawer", "--beside"]) == 2
    assert "--picture FILE.png names" in capsys.readouterr().err
