import json

import pytest

from simbench.cli.main import main
from simbench.resources import resource_dir

RECORDING = "time_s,left_shoulder_x\n0,0\n0.01,0\n"
URDF = '<robot name="a" xmlns:xacro="x"><xacro:macro/></robot>'


def explained(capsys, *words):
    assert main(["explain", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (
            ["zmp.min_margin_m"],
            ["metric", "distance of the ZMP", "higher is better", "zmp_margin"],
        ),
        (["drawer.travel_ratio"], ["drawer.travel_ratio   metric", "drawer_travel_actor"]),
        (["retarget.pelvis_follow"], ["key of a scenario", "COG's horizontal motion", "0.4", "≥ 0, ≤ 1"]),
        (["push.first_ns"], ["Impulse of the first push", "N·s", "required"]),
        (["fixtures.drawer.mass_kg"], ["Mass of the moving drawer", "kg", "2.5"]),
        (["joints.LElbowRoll.limits"], ["joints.LElbowRoll.limits   key of a robot.yaml", "rad"]),
        (["grip.max_force_n"], ["grip.max_force_n   metric", "grip.max_force_n   key of a scenario"]),
        (["foot_wrench"], ["variable of log.nc", "time, foot, axis6", "floor on each foot"]),
        (["valves_left_turn_actor"], ["variable of log.nc", "actor moved the joint"]),
        (["grips_lost"], ["attribute of log.nc"]),
        (["icp"], ["ICP", "arms horizontally forward"]),
        (["support", "polygon"], ["Convex hull"]),
        (["retarget"], ["section of a scenario", "retarget.pelvis_follow", "retarget.similarity"]),
        (["zmp"], ["Zero-moment point", "variable of log.nc", "zmp.inside_fraction"]),
        (["hold_turn"], ["may be one of:", "fixtures.knife.hold_turn_rad", "fixtures.grater.hold_turn_rad"]),
        (["mass_kg"], ["may be one of:", "fixtures.pump.mass_kg"]),
    ],
)
def test_names_are_explained(capsys, words, parts):
    text = explained(capsys, *words)
    assert all(part in text for part in parts), text


@pytest.mark.parametrize(
    ("arguments", "meaning"),
    [
        (["run", "drawr"], "neither a shipped scenario nor a file of this name"),
        (["run", "drawer", "--set", "fixtures.0.mass_g=3"], "The section has no key of this name"),
        (["run", "drawer", "--set", "fixtures.0.mass_kg=2500"], "the usual reason is a wrong unit"),
        (["run", "drawer", "--set", "fixtures.0.mass_kg=heavy"], "The value is text, not a number"),
        (["run", "drawer", "--set", "fixtures.7.mass_kg=3"], "addressed by number, counted from 0"),
        (["run", "drawer", "--set", "seed"], "The override has no ="),
        (["run", "drawer", "--set", "simulation.log_rate_hz=333"], "Samples of the log"),
        (["run", "drawer", "--set", "fixtures.0.type=drawr"], "there is no such fixture"),
        (["robot", "inspect", "romeoo"], "neither a shipped robot nor a file"),
        (["robot", "inspect", "own.xacro"], "Xacro is a macro language"),
        (["motion", "inspect", "nothing.c3d"], "no file at this path"),
        (["motion", "inspect", "own.xyz"], "this one is not read"),
        (["motion", "inspect", "actor:sleeping"], "do not perform this task"),
        (["motion", "inspect", "own.bvh"], "not a BVH file"),
        (["motion", "inspect", "own.c3d"], "not a C3D file"),
        (["motion", "inspect", "own.trc"], "not a TRC file"),
        (["sweep", "drawer", "--vary", "seed"], "values of the varied key"),
        (["report", "nowhere"], "The directory holds no log"),
        (["check", "puma560_sweep", "--update", "--set", "seed=3"], "belongs to the scenario as its file"),
        (["skills", "actor:drawer", "--span", "3", "2"], "The span is empty"),
        (["run", "puma560_sweep", "--out", "full"], "does not overwrite a run"),
    ],
)
def test_a_message_that_simbench_printed_is_explained(capsys, tmp_path, monkeypatch, arguments, meaning):
    monkeypatch.chdir(tmp_path)
    for suffix in ("bvh", "c3d", "trc", "xyz"):
        (tmp_path / f"own.{suffix}").write_text(RECORDING, encoding="utf-8")
    (tmp_path / "own.xacro").write_text(URDF, encoding="utf-8")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").touch()
    assert main(arguments) == 2
    message = capsys.readouterr().err
    text = explained(capsys, *message.split())
    assert meaning in " ".join(text.split()), message + text
    assert "https://" in text


def test_what_a_message_names_is_explained_too(capsys):
    text = explained(capsys, "check failed: zmp.min_margin_m is 0.001, must be ≥ 0.005")
    assert text.startswith("check failed: … is …, must be …")
    assert "distance of the ZMP" in text
    text = explained(capsys, "own.yaml:7: retarget.pelvis_follow: must be less than or equal to 1, got 40")
    assert "The value is above the range" in text
    assert "COG's horizontal motion" in text


def test_a_message_without_an_explanation_of_its_own_has_that_of_its_class(capsys):
    text = explained(capsys, "walk.bvh, line 7: OFFSET 'a b'; it must be three finite numbers")
    assert "A recording cannot be read" in text
    assert "simbench/motion/readers/bvh_hierarchy.py, line" in text


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("retarget.pelvis_folow", "did you mean retarget.pelvis_follow"),
        ("foot_wrnch", "did you mean foot_wrench"),
        ("zmp.min_margin", "may be one of"),
        ("gait.length_m", ""),
        ("qwertyuiop", "allowed:"),
        ("nothing that simbench writes", "allowed:"),
    ],
)
def test_what_is_unknown_is_one_line_with_what_is_spelled_alike(capsys, word, hint):
    status = main(["explain", word])
    printed = capsys.readouterr()
    if status:
        assert status == 2
        assert printed.err.startswith(f"error: nothing is known of '{word}'; ")
        assert printed.err.count("\n") == 1
        assert hint in printed.err
    else:
        assert hint == "may be one of"
        assert hint in printed.out


@pytest.mark.parametrize("kind", ["scenario", "robot"])
def test_schema_prints_the_shipped_schema(capsys, kind):
    assert main(["schema", kind]) == 0
    printed = capsys.readouterr().out
    assert printed == (resource_dir("schemas") / f"{kind}.json").read_text(encoding="utf-8")
    assert json.loads(printed)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_another_schema_is_refused(capsys):
    assert main(["schema", "log"]) == 2
    assert "'scenario', 'robot'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("part", "meaning"),
    [
        ("take.bvh: the person is 9.1 m tall by the bones", "implausible body size"),
        ("comes closest and lacks", "nearly fits"),
        ("error: take.bvh: no marker map fits its names: a, b", "no ready marker map knows"),
        ("the legs cannot balance frame 0: feet", "inverse kinematics of the legs"),
    ],
)
def test_a_part_of_a_message_is_enough(capsys, part, meaning):
    assert main(["explain", part]) == 0
    assert meaning in " ".join(capsys.readouterr().out.split())


def test_words_of_no_message_are_not_explained(capsys):
    assert main(["explain", "a marker of my own making sings"]) == 2
    assert "nothing is known" in capsys.readouterr().err
